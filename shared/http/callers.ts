import * as z from 'zod';
import type { Credentials } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import type { Exchange } from './exchange.ts';

/** The credentials that the endpoint's `auth` accepts. A route that guests cannot call needs no guest token secret. */
export const credentialsOf = ({ spec, headers, query }: Exchange): Credentials | undefined => {
  if (spec.auth === 'provider-signature') return undefined;
  const guestToken = guestsMayCall(spec) ? (headers['x-guest-token'] ?? query['token']) : undefined;
  const takesSessions = spec.auth !== 'public';
  return {
    sessionId: takesSessions ? headers['x-session-id'] : undefined,
    authorization: takesSessions ? headers['authorization'] : undefined,
    querySession: takesSessions ? query['session_id'] : undefined,
    guestToken,
  };
};

/** @throws DomainError ADMIN_REQUIRED */
export const requireAdmin = ({ spec, caller }: Exchange): void => {
  if (spec.auth === 'platform-admin' && caller.kind === 'session' && !caller.isAdmin) {
    throw new DomainError('ADMIN_REQUIRED');
  }
};

const guestsMayCall = ({ auth, uses }: Exchange['spec']): boolean =>
  auth === 'session-or-guest' ||
  auth === 'session-or-token' ||
  (auth === 'public' && uses.includes('secrets:guest-tokens'));

const presentsToken = ({ headers, query }: Exchange): boolean =>
  headers['x-guest-token'] !== undefined || query['token'] !== undefined;

const namesGuest = (json: unknown): boolean => {
  const parsed = z.looseObject({ guest_data: z.unknown() }).safeParse(json);
  return parsed.success && parsed.data.guest_data !== undefined && parsed.data.guest_data !== null;
};

/** @throws DomainError AUTHENTICATION_REQUIRED, or GUEST_NOT_ALLOWED if the route takes no guest_data. */
export const requireCredential = (exchange: Exchange, json: unknown): void => {
  const { spec, caller } = exchange;
  if (caller.kind !== 'anonymous' || spec.auth === 'public' || spec.auth === 'provider-signature') return;
  if (!namesGuest(json) && !presentsToken(exchange)) throw new DomainError('AUTHENTICATION_REQUIRED');
  if (spec.auth !== 'session-or-guest') throw new DomainError('GUEST_NOT_ALLOWED');
};

const guestDataSchema = z.looseObject({
  guest_data: z.object({
    email: z.string().toLowerCase(),
    name: z.string().optional(),
    phone: z.string().nullish(),
  }),
});

/**
 * The guest that a checked body names. A token with the same e-mail keeps its guest_id. Any other guest_data gets a new
 * guest_id, so that knowing another person's e-mail gives no access to that person's records.
 */
export const guestOf = ({ spec, caller, deps }: Exchange, body: unknown): Caller => {
  if (spec.auth !== 'session-or-guest' || caller.kind === 'session') return caller;
  const named = guestDataSchema.safeParse(body);
  if (!named.success) return caller;
  const { email, name, phone } = named.data.guest_data;
  const details = { name, phone: phone ?? undefined };
  if (caller.kind === 'guest' && caller.email === email) return { ...caller, ...details };
  return { kind: 'guest', email, guestId: deps.newId('guest'), ...details, byToken: false };
};
