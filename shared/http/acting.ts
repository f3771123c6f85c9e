/**
 * @module Decides which scope a service key's request needs and for whom it acts, before the route's records are read.
 * A request with X-Act-For acts for the named payer; without the header it acts for the merchant. Declines count per
 * network in X-Payer-Address if the key sends this header, else per key.
 */

import { scopeMissing } from '../access/access.ts';
import type { ActedFor } from '../access/authenticate.ts';
import { type Caller, type KeyIdentity, mayAsMerchant } from '../access/caller.ts';
import { type RouteScopes, type Scope, scopesOfRoute } from '../access/scopes.ts';
import { DomainError, invalid, type Problem } from '../core/errors.ts';
import { normalizedEmail } from '../core/text.ts';
import { networkIn } from './client-address.ts';
import type { Exchange } from './exchange.ts';
import { emailSchema, SAID_USER_ID } from './fields.ts';

const HEADER = 'x-act-for';
const FORM = /^(user|organization|guest):(\S{1,255})$/;
const EMAIL_HEADER = 'x-act-for-email';

const ADDRESS_HEADER = 'x-payer-address';

/** The headers that only service keys may send, by lower-cased name. */
const OF_KEYS: Readonly<Record<string, string>> = {
  [HEADER]: 'X-Act-For',
  [EMAIL_HEADER]: 'X-Act-For-Email',
  [ADDRESS_HEADER]: 'X-Payer-Address',
};

type WithHeaders = Pick<Exchange, 'headers'>;

const sentIn = ({ headers }: WithHeaders, name: string): string => headers[name]?.trim() ?? '';

/** @throws DomainError VALIDATION_ERROR */
const payerNetworkIn = (exchange: WithHeaders): string | undefined => {
  const text = sentIn(exchange, ADDRESS_HEADER);
  if (text === '') return undefined;
  const network = networkIn(text);
  if (network === undefined) {
    throw invalid([{ path: OF_KEYS[ADDRESS_HEADER] ?? '', rule: 'format', message: 'must be one IP address' }]);
  }
  return network;
};

/** @throws DomainError VALIDATION_ERROR with every problem of both headers */
const payerIn = (exchange: Pick<Exchange, 'headers' | 'deps'>): ActedFor | undefined => {
  const [text, email] = [sentIn(exchange, HEADER), sentIn(exchange, EMAIL_HEADER)];
  const { looksUp } = exchange.deps.callers;
  const [, kind, id] = FORM.exec(text) ?? [];
  const problems = [
    ...(text === '' ? [] : problemsOfPayer(kind, id, looksUp)),
    ...(email === '' ? [] : problemsOfEmail(email, kind, looksUp)),
  ];
  if (problems.length > 0) throw invalid(problems);
  if (kind === undefined || id === undefined) return undefined;
  if (kind === 'organization') return { kind, organizationId: id };
  if (kind === 'guest') return { kind, guestId: id };
  return { kind: 'user', userId: id, ...(email !== '' && { email: normalizedEmail(email) }) };
};

const problemsOfPayer = (kind: string | undefined, id: string | undefined, looksUp: boolean): readonly Problem[] => {
  const wrong = (message: string) => [{ path: 'X-Act-For', rule: 'format', message }];
  if (kind === undefined || id === undefined) return wrong('must be user:<id>, organization:<id> or guest:<guest_id>');
  const isSaid = kind === 'user' && !looksUp;
  return isSaid && !SAID_USER_ID.test(id)
    ? wrong('the id of a user must be 1 to 64 letters, digits or . _ - @ | : + =')
    : [];
};

const problemsOfEmail = (email: string, kind: string | undefined, looksUp: boolean): readonly Problem[] => {
  const wrong = (rule: string, message: string) => [{ path: 'X-Act-For-Email', rule, message }];
  if (looksUp)
    return wrong('unknown', 'is only for IDENTITY_LOOKUP=off; the identity service names the e-mail address');
  if (kind !== 'user') return wrong('unknown', 'is only for X-Act-For: user:<id>');
  return emailSchema.safeParse(email).success ? [] : wrong('format', 'must be an e-mail address');
};

/**
 * Returns the caller with the rights of this request. For a key with X-Act-For, returns the named payer.
 * @throws DomainError INSUFFICIENT_PERMISSIONS, ACTING_REQUIRED, VALIDATION_ERROR, USER_NOT_FOUND, RESOURCE_NOT_FOUND
 * (an unknown guest) or IDENTITY_UNAVAILABLE
 */
export const actingCaller = async (exchange: Exchange): Promise<Caller> => {
  const { caller, spec, deps } = exchange;
  if (caller.kind !== 'key') {
    if (caller.kind !== 'anonymous') refuseActing(exchange);
    return caller;
  }
  const scopes = scopesOfRoute(spec.id);
  if (!scopes) throw new DomainError('INSUFFICIENT_PERMISSIONS', { message: 'No service key may do this' });
  exchange.payerNetwork = payerNetworkIn(exchange);
  const payer = payerIn(exchange);
  if (!payer) {
    requireMerchantScope(exchange, caller.key, scopes);
    return caller;
  }
  if (scopes.payer === undefined) throw merchantRequired(scopes.keys ?? scopes.merchant);
  requireScope(caller.key, scopes.payer);
  if (payer.kind !== 'user' && spec.id.startsWith(ORGANIZATION_ROUTES)) {
    throw new DomainError('INSUFFICIENT_PERMISSIONS', { message: 'Name a user in X-Act-For' });
  }
  return deps.callers.actFor(caller.key, payer);
};

/** A key that acts for a payer cannot use its merchant scopes in the same request. */
const merchantRequired = (scope: Scope | undefined): DomainError =>
  new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'Only the merchant may do this; send the request without X-Act-For',
    ...(scope !== undefined && { details: { required_scope: scope } }),
  });

const ORGANIZATION_ROUTES = 'organizations.';

const requireMerchantScope = (
  exchange: Exchange,
  key: KeyIdentity,
  { merchant, keys, held, payer, ownersList }: RouteScopes,
): void => {
  if (held === undefined || !key.scopes.includes(held)) requireScope(key, keys ?? merchant ?? payer);
  if (merchant === undefined && exchange.spec.auth !== 'session-or-guest') throw new DomainError('ACTING_REQUIRED');
  if (ownersList === undefined) return;
  const { parameter, ofAll } = ownersList;
  if (parameter !== undefined && (exchange.query[parameter] ?? '') !== '') return;
  const orOwner = parameter === undefined ? '' : `, or ${parameter} in the query`;
  throw new DomainError('ACTING_REQUIRED', {
    message: `Name the payer in X-Act-For${orOwner}, or use ${ofAll} for the records of all`,
  });
};

const requireScope = ({ scopes }: KeyIdentity, scope: Scope | undefined): void => {
  if (scope === undefined || !scopes.includes(scope)) throw scopeMissing(scope);
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS if a caller without a key sends one of the headers in OF_KEYS */
export const refuseActing = (exchange: WithHeaders): void => {
  const sent = Object.keys(OF_KEYS).find((name) => sentIn(exchange, name) !== '');
  if (sent === undefined) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', { message: `${OF_KEYS[sent]} is only for service keys` });
};

/** @throws DomainError ACTING_REQUIRED if a key neither names a payer nor sends a guest's data */
export const requirePayer = ({ caller, spec }: Pick<Exchange, 'caller' | 'spec'>, sendsGuestData: boolean): void => {
  if (caller.kind !== 'key' || sendsGuestData || scopesOfRoute(spec.id)?.merchant !== undefined) return;
  throw new DomainError('ACTING_REQUIRED', {
    message: 'Name the payer in X-Act-For, as user:<id>, organization:<id> or guest:<guest_id>, or send guest_data',
  });
};

/**
 * @throws DomainError INSUFFICIENT_PERMISSIONS for staff with read access to the record; ADMIN_REQUIRED for other users
 */
export const requireMerchant = ({ spec, caller }: Pick<Exchange, 'spec' | 'caller'>): void => {
  if (spec.auth !== 'platform-admin' || caller.kind !== 'session' || caller.key) return;
  const scopes = scopesOfRoute(spec.id);
  if (scopes ? mayAsMerchant(caller, scopes.merchant) : caller.isAdmin) return;
  const readScope = spec.access?.record?.readScope;
  throw mayAsMerchant(caller, readScope) ? scopeMissing(scopes?.merchant) : new DomainError('ADMIN_REQUIRED');
};
