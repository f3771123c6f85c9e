/** @module Reads the caller of a request from a session, a guest token, or guest_data in the body. */

import * as z from 'zod';
import type { Credentials } from '../access/authenticate.ts';
import { type Caller, isMemberCaller, keyOfCaller } from '../access/caller.ts';
import { DomainError, ERRORS } from '../core/errors.ts';
import { normalizedEmail } from '../core/text.ts';
import { clientAddress, networkOf } from './client-address.ts';
import type { Endpoint } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { LONGEST_GUEST_TOKEN } from './guest-fields.ts';
import type { ApiRequest } from './request.ts';

/**
 * The credentials that `auth` accepts; an empty credential counts as absent. A route without guests does not need the
 * secret of guest tokens.
 */
export const credentialsOf = (exchange: Exchange): Credentials | undefined => {
  const { spec, headers, query } = exchange;
  if (spec.auth === 'provider-signature' || spec.auth === 'link-token') return undefined;
  // A request for a page has no credentials, because PayPal returns payers to the hosted page with its own `token`
  // parameter.
  if (spec.serves !== 'data') return undefined;
  const takesSessions = spec.auth !== 'public';
  return {
    sessionId: takesSessions ? sent(headers['x-session-id'], LONGEST_SESSION) : undefined,
    authorization: takesSessions ? sent(headers['authorization'], LONGEST_SESSION) : undefined,
    querySession: takesSessions ? sent(query['session_id'], LONGEST_SESSION) : undefined,
    guestToken: guestsMayCall(spec) ? guestTokenOf(exchange) : undefined,
    address: addressOf(exchange),
  };
};

/** The maximum length of a session, such as a JWT. */
const LONGEST_SESSION = 4_096;

/**
 * @throws DomainError SESSION_INVALID for an overlong or malformed credential; checked before the credential is read
 */
const sent = (credential: string | undefined, longest: number): string | undefined => {
  if (credential === undefined) return undefined;
  if (credential.length > longest || !credential.isWellFormed()) throw new DomainError('SESSION_INVALID');
  return credential.trim() || undefined;
};

const guestTokenOf = ({ headers, query }: Pick<Exchange, 'headers' | 'query'>): string | undefined =>
  sent(headers['x-guest-token'], LONGEST_GUEST_TOKEN) ?? sent(query['token'], LONGEST_GUEST_TOKEN);

/** Reads a session request's additional guest token. If the token is invalid, the caller gets the session's error. */
export const guestBeside = async (exchange: Exchange): Promise<Caller | undefined> => {
  const { spec, caller, deps } = exchange;
  const guestToken = guestTokenOf(exchange);
  const isSession = caller.kind === 'session' && caller.key === undefined;
  if (spec.auth !== 'session-or-token' || !isSession || guestToken === undefined) return undefined;
  const none = {
    sessionId: undefined,
    authorization: undefined,
    querySession: undefined,
    address: addressOf(exchange),
  };
  return deps.callers.authenticate({ ...none, guestToken }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'SESSION_INVALID') return undefined;
    throw error;
  });
};

const guestsMayCall = ({ auth, uses }: Exchange['spec']): boolean =>
  auth === 'session-or-guest' ||
  auth === 'session-or-token' ||
  (auth === 'public' && uses.includes('secrets:guest-tokens'));

export const namesGuest = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'guest_data' in body && body.guest_data !== undefined;

/** True if the body, valid or not, is from a guest, on a route that creates records for guests. */
export const sendsGuest = ({ spec, caller }: Exchange, body: unknown): boolean =>
  spec.auth === 'session-or-guest' &&
  (caller.kind === 'guest' ? caller.key === undefined : caller.kind === 'anonymous' && namesGuest(body));

/** @throws DomainError AUTHENTICATION_REQUIRED, or GUEST_NOT_ALLOWED if the route accepts no guest_data. */
export const requireCredential = (exchange: Exchange, body: unknown): void => {
  const { spec, caller, opened } = exchange;
  if (caller.kind !== 'anonymous' || opened || !takesCredentials(spec)) return;
  if (!namesGuest(body) && guestTokenOf(exchange) === undefined) throw credentialRequired(spec);
  if (spec.auth !== 'session-or-guest') throw new DomainError('GUEST_NOT_ALLOWED');
};

const takesCredentials = ({ auth }: Endpoint): boolean =>
  auth !== 'public' && auth !== 'provider-signature' && auth !== 'link-token';

/** The message names every credential accepted by the route. */
const credentialRequired = ({ auth }: Endpoint): DomainError => {
  const byGuests = {
    'session-or-token': ', or X-Guest-Token as a guest',
    'session-or-guest': ', or X-Guest-Token or guest_data in the body as a guest',
  };
  const forGuests = auth === 'session-or-token' || auth === 'session-or-guest' ? byGuests[auth] : '';
  return new DomainError('AUTHENTICATION_REQUIRED', {
    message: `${ERRORS.AUTHENTICATION_REQUIRED[1]}${forGuests}`,
  });
};

const guestDataSchema = z.looseObject({
  guest_data: z.object({
    email: z.string().transform(normalizedEmail),
    name: z.string().optional(),
    phone: z.string().optional(),
  }),
});

/**
 * The holder of a guest token keeps the guest_id if guest_data has the same e-mail address. Otherwise the guest gets a
 * new guest_id, because an e-mail address alone gives no access. A token that opens only one record also leads to a new
 * guest_id.
 */
export const guestOf = (exchange: Exchange, body: unknown): Caller => {
  const { spec, caller, deps } = exchange;
  if (spec.auth === 'link-token') return starterOf(exchange, body) ?? caller;
  if (spec.auth !== 'session-or-guest' || isMemberCaller(caller)) return caller;
  const named = guestDataSchema.safeParse(body).data?.guest_data;
  const holder = caller.kind === 'guest' ? caller : undefined;
  // A caller with only the token of a hosted page is a guest without an e-mail address.
  const email = named?.email ?? holder?.email ?? (exchange.opened && '');
  if (email === undefined) return caller;
  const details = { name: named?.name, phone: named?.phone };
  // The guest in X-Act-For takes precedence over guest_data.
  if (holder?.key && holder.byToken) return holder.email === email ? { ...holder, ...details } : holder;
  if (holder?.email === email && holder.onlyRecord === undefined) return { ...holder, ...details };
  const key = keyOfCaller(caller);
  return { kind: 'guest', email, guestId: deps.newId('guest'), ...details, byToken: false, ...(key && { key }) };
};

/** The payer who starts a payment link, from the body's name and e-mail address. Each start creates a new guest_id. */
const starterOf = ({ opened, deps }: Exchange, body: unknown): Caller | undefined => {
  const { data } = opened?.kind === 'payment_link' ? starterSchema.safeParse(body) : {};
  if (!opened || !data) return undefined;
  const { email, name } = data;
  const link = { id: opened.id };
  return { kind: 'guest', email, guestId: deps.newId('guest'), name, phone: undefined, byToken: false, link };
};

const starterSchema = z.looseObject({ email: z.string().transform(normalizedEmail), name: z.string() });

/**
 * Adds the guest's network. The guest's records store the network, so the guest may continue the guest_id from the same
 * network.
 */
export const withGuestNetwork = async ({ spec, deps }: Exchange, request: ApiRequest): Promise<ApiRequest> => {
  const { caller } = request;
  const isStart = spec.auth === 'link-token' && caller.kind === 'guest' && !caller.byToken;
  if (caller.kind !== 'guest' || !(isStart || spec.auth === 'session-or-guest')) return request;
  const network = await deps.ids.networkHash(payerNetworkOf(request));
  return { ...request, caller: { ...caller, network } };
};

/** The payer's network if a service key sends X-Payer-Address, else the network of the request. */
const payerNetworkOf = ({ http }: ApiRequest): string => http.payerNetwork ?? http.sourceNetwork;

/** The network for limits by address. */
export const sourceNetworkOf = ({ event, headers, deps }: Exchange): string =>
  networkOf(addressOf({ event, headers, deps }));

const addressOf = ({ event, headers, deps }: Pick<Exchange, 'event' | 'headers' | 'deps'>): string =>
  clientAddress({ sourceIp: event.requestContext.http.sourceIp, headers }, deps.edge);

export const organizationOfSession = (caller: Caller): string | undefined =>
  caller.kind === 'session' ? caller.organizationId : undefined;

/** True if the request proves the caller's identity. A provider's signature is a proof; guest_data is not. */
export const hasCredential = (spec: Endpoint, caller: Caller): boolean =>
  spec.auth === 'provider-signature' ||
  isMemberCaller(caller) ||
  keyOfCaller(caller) !== undefined ||
  (caller.kind === 'guest' && caller.byToken);
