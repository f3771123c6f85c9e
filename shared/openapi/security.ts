/** @module The security schemes and each endpoint's callers in the API document. */

import { type RouteScopes, rolesOfScope, type Scope, scopesOfRoute } from '../access/scopes.ts';
import type { Auth, Endpoint } from '../http/endpoint.ts';

/** How callers of the endpoint authenticate. */
export const securityOf = ({ id, auth, alsoPlatformAdmins, opens }: Endpoint): Record<string, string[]>[] => [
  ...SECURITY[auth],
  ...(opens && auth !== 'link-token' ? SECURITY['link-token'] : []),
  ...(alsoPlatformAdmins ? [{ platformAdmin: [] }] : []),
  ...(scopesOfRoute(id) ? [{ serviceKey: [] }] : []),
];

const SECURITY: Readonly<Record<Auth, readonly Record<string, string[]>[]>> = {
  session: [{ session: [] }, { bearer: [] }],
  'session-or-guest': [{ session: [] }, { bearer: [] }, { guestToken: [] }, {}],
  'session-or-token': [{ session: [] }, { bearer: [] }, { guestToken: [] }],
  public: [],
  'platform-admin': [{ platformAdmin: [] }, { bearer: [] }],
  'provider-signature': [],
  'link-token': [{ linkToken: [] }],
};

export const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: `The id of a session at the identity service. The session gives the user, the user's organization and
      whether the user is a platform admin; roles come from the membership in the organization. For tests, the
      query parameter \`session_id\` does the same unless the operator has switched it off. If a request has several credentials, the
      first of these counts: \`X-Session-ID\`, \`Authorization\`, \`session_id\`, guest token.`,
  },
  platformAdmin: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: `The session id of a platform admin, sent like any session id. A user with a staff role (support, finance or
      operations) may also call the operations whose scope the role has.`,
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: `A token of the identity service in \`Authorization: Bearer …\`: a JWT, whose signature, issuer, audience and expiry
      are checked, or an opaque token, which is looked up like a session id. It stands for the same user as a session.`,
  },
  serviceKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'psk_…',
    description: `A service key of your backend, sent as \`Authorization: Bearer psk_…\`. A platform admin creates it with
      \`POST /admin/keys\`. The key may do what its scopes permit; each operation names them in its description and in \`x-scopes\`.
      With the header \`X-Act-For\` the request has the rights of the named payer, without it those of the merchant. Keep a key out of browsers and apps.`,
  },
  guestToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Guest-Token',
    description: `The \`guest_token\` of a guest's create request. It is valid for 7 days unless the operator sets another lifetime. It reads the
      payments of this guest with their refunds and disputes, reads the guest's payment methods, and confirms the guest's payments. A create
      request with the token creates its record for the same guest. The query parameter \`token\` does the same. A guest without a token sends
      \`guest_data\` in the body of a create request. Such a request may name, by our id, a customer, payment method or address that has the
      same e-mail address, was created from the same network and is at most an hour old; the new record then belongs to the guest of that
      record, and its \`guest_token\` opens the new record alone. An e-mail address alone opens no records.
      If a request has a session too, the token is tried if the session alone gets 404.`,
  },
  linkToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Link-Token',
    description: `The token of a link to a hosted page: the part of its URL after \`#\`. It opens one payment, subscription or payment link, for the
      routes of \`/pay\` only, with the rights of the record's payer; the token of a payment link also works for \`POST
      /discounts/check\`. An invalid token gets 404.`,
  },
} as const;

/** The sentences about callers in the operation's description. */
export const whoMayCall = ({ id, auth }: Pick<Endpoint, 'id' | 'auth'>): string => {
  const { merchant, keys, held, payer, ownersList } = scopesOfRoute(id) ?? {};
  if (merchant === undefined && payer === undefined) return WHO_MAY_CALL[auth];
  return [
    auth === 'platform-admin' ? FOR_THE_MERCHANT : WHO_MAY_CALL[auth],
    `A service key needs the scope ${scopesOfKey({ merchant: keys ?? merchant, payer }, auth)}.`,
    ...(ownersList ? [withoutPayer(ownersList)] : []),
    ...(merchant === undefined ? [] : [staffWith(merchant)]),
    ...(held === undefined ? [] : [`For a held payment, the merchant needs \`${held}\` instead.`, staffWith(held)]),
  ].join(' ');
};

const scopesOfKey = ({ merchant, payer }: Scoped, auth: Auth): string => {
  if (payer === merchant || payer === undefined) return `\`${merchant}\``;
  const withPayer = `\`${payer}\` with \`X-Act-For\`${OR_A_GUEST[auth] ?? ''}`;
  return merchant === undefined ? withPayer : `${withPayer}, or \`${merchant}\` without it`;
};

interface Scoped {
  readonly merchant: Scope | undefined;
  readonly payer: Scope | undefined;
}

/** A key may also send guest_data to name the payer. */
const OR_A_GUEST: Readonly<Partial<Record<Auth, string>>> = { 'session-or-guest': ' or `guest_data`' };

/** Without X-Act-For, a key names the list's owner in the query, or uses the list of all owners. */
const withoutPayer = ({ parameter, ofAll }: NonNullable<RouteScopes['ownersList']>): string => {
  const namesOwner = parameter === undefined ? '' : `names the owner in \`${parameter}\`, or `;
  return `Without \`X-Act-For\` a key ${namesOwner}uses \`${ofAll}\`.`;
};

const staffWith = (scope: Scope): string => {
  const roles = rolesOfScope(scope);
  if (roles.length === 0) return `No staff role has \`${scope}\`.`;
  return `Staff roles with \`${scope}\`: ${roles.join(', ')}.`;
};

const FOR_THE_MERCHANT = 'Needs the session of a platform admin or of staff with the scope, or a service key.';

const WHO_MAY_CALL: Readonly<Record<Auth, string>> = {
  session: 'Needs a session of a signed-in user.',
  'session-or-guest': 'Needs a session, a guest token, or `guest_data` in the body.',
  'session-or-token': 'Needs a session or a guest token.',
  public: 'Needs no credential.',
  'platform-admin': 'Needs the session of a platform admin. No staff role and no service key may call.',
  'provider-signature': 'Only for the provider: the signature over the raw body is verified.',
  'link-token': 'Needs the token of a link to a hosted page in `X-Link-Token`.',
};
