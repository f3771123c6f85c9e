/** @module Authentication in the API document, with the security schemes, and who may call each endpoint. */

import type { Auth, Endpoint } from '../http/endpoint.ts';

/** How callers of the endpoint authenticate. */
export const securityOf = ({ auth, alsoPlatformAdmins }: Endpoint): Record<string, string[]>[] => [
  ...SECURITY[auth],
  ...(alsoPlatformAdmins ? [{ platformAdmin: [] }] : []),
];

const SECURITY: Readonly<Record<Auth, readonly Record<string, string[]>[]>> = {
  session: [{ session: [] }, { bearer: [] }],
  'session-or-guest': [{ session: [] }, { bearer: [] }, { guestToken: [] }, {}],
  'session-or-token': [{ session: [] }, { bearer: [] }, { guestToken: [] }],
  public: [],
  'platform-admin': [{ platformAdmin: [] }, { bearer: [] }],
  'provider-signature': [],
};

export const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: `The id of a session at the identity service. The service reads from the session who the user is, the user's
      organization and whether the user is a platform admin; roles come from the membership in the organization. For tests, the
      query parameter \`session_id\` does the same unless the operator has switched it off. If a request has several credentials, the
      first of these counts: \`X-Session-ID\`, \`Authorization\`, \`session_id\`, guest token.`,
  },
  platformAdmin: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: `The id of a platform admin's session at the identity service, sent in the same way as any session.`,
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: `A token of the identity service in \`Authorization: Bearer …\`: a JWT, whose signature, issuer, audience and expiry
      are checked, or an opaque token, which is looked up like a session id. It stands for the same user as a session.`,
  },
  guestToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Guest-Token',
    description: `The \`guest_token\` of a guest's create request. It is valid for 7 days unless the operator sets another lifetime. It reads the
      payments of this guest with their refunds and disputes, reads the guest's payment methods, and confirms the guest's payments. A create
      request with the token creates its record for the same guest. The query parameter \`token\` does the same. A guest without a token sends
      \`guest_data\` in the body of a create request. Such a request may name a customer, payment method or address that has the same e-mail
      address and is at most an hour old; the new record then belongs to the guest of that record. An e-mail address alone opens no records.
      If a request has a session too, the token is tried if the session alone gets 404.`,
  },
} as const;

/** Who may call, in a sentence of the operation's description. */
export const WHO_MAY_CALL: Readonly<Record<Auth, string>> = {
  session: 'Needs a session of a signed-in user.',
  'session-or-guest': 'Needs a session, a guest token, or `guest_data` in the body.',
  'session-or-token': 'Needs a session or a guest token.',
  public: 'Needs no credential.',
  'platform-admin': 'Needs the session of a platform admin.',
  'provider-signature': 'Only for the provider: the signature over the raw body is verified.',
};
