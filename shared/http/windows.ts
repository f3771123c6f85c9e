/**
 * @module Shared rate limit windows, by user, guest token or network address. Only guests' lists count by e-mail,
 * because anyone may send another person's e-mail address and fill the window of that address.
 */

import * as z from 'zod';
import { type Caller, keyOfCaller, subjectOf } from '../access/caller.ts';
import { emailSchema } from './fields.ts';
import type { RateLimit } from './rate-limit.ts';
import type { ApiRequest } from './request.ts';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;

/** The payer or the key; undefined if the caller is known by its network address only. */
export const provenCaller = (caller: Caller): string | undefined => {
  if (caller.kind === 'guest') return caller.byToken ? subjectOf(caller) : undefined;
  return caller.kind === 'anonymous' ? undefined : subjectOf(caller);
};

/** The key of a request that does not act for a user. If the key acts for a user, the user counts instead. */
const keyOfOthers = (caller: Caller): string | undefined =>
  caller.kind === 'session' ? undefined : keyOfCaller(caller)?.id;

/** The network address of the caller; undefined for a key, and for a session without a link to a hosted page. */
export const networkWithoutSession = ({ caller, http }: ApiRequest): string | undefined =>
  (caller.kind === 'session' && !caller.link) || keyOfCaller(caller) ? undefined : http.sourceNetwork;

/** The creates of guests per network address. Also counts creates that the chain refuses as invalid. */
export const guestCreatesByAddress: RateLimit = {
  name: 'guest-create-ip',
  max: 10,
  windowSeconds: MINUTE_SECONDS,
  by: ({ caller, http }) => (caller.kind === 'guest' && !caller.key ? http.sourceNetwork : undefined),
};

export const guestCreateLimits: readonly RateLimit[] = [guestCreatesByAddress];

/**
 * Declines on every route that can cause them, because most attempts with stolen cards are declined. For a service key,
 * declines count by the payer's network if X-Payer-Address names it, else by the key. `declined-guest` includes a guest
 * continuing an earlier guest_id (continue-guest.ts).
 */
export const declineLimits: readonly RateLimit[] = [
  {
    name: 'declined-user',
    max: 20,
    windowSeconds: HOUR_SECONDS,
    counts: 'declines',
    by: ({ caller }) => (caller.kind === 'session' ? subjectOf(caller) : undefined),
  },
  { name: 'declined-ip', max: 10, windowSeconds: HOUR_SECONDS, counts: 'declines', by: networkWithoutSession },
  {
    name: 'declined-guest',
    max: 10,
    windowSeconds: HOUR_SECONDS,
    counts: 'declines',
    by: ({ caller, http: { payerNetwork } }) => {
      const isKnown = caller.kind === 'guest' && (caller.byToken || caller.proven !== undefined);
      return isKnown && payerNetwork === undefined ? caller.guestId : undefined;
    },
  },
  {
    name: 'declined-key-payer',
    max: 10,
    windowSeconds: HOUR_SECONDS,
    counts: 'declines',
    by: ({ caller, http: { payerNetwork } }) => {
      const key = keyOfOthers(caller);
      return key === undefined || payerNetwork === undefined ? undefined : `${key} ${payerNetwork}`;
    },
  },
  {
    name: 'declined-key',
    max: 'KEY_DECLINES_PER_HOUR',
    windowSeconds: HOUR_SECONDS,
    counts: 'declines',
    by: ({ caller, http: { payerNetwork } }) => (payerNetwork === undefined ? keyOfOthers(caller) : undefined),
    logs: 'key declines limited',
  },
];

/** Counts every create of a proven caller. `guestCreateLimits` counts guests without a token. */
const CREATES: RateLimit = {
  name: 'create',
  max: 300,
  windowSeconds: MINUTE_SECONDS,
  by: ({ caller }) => provenCaller(caller),
};

const hasId = z.looseObject({ id: z.string() });

/** Counts every write of a caller to one record, on any route and with any id of the record. */
const WRITES: RateLimit = {
  name: 'write',
  max: 60,
  windowSeconds: MINUTE_SECONDS,
  by: ({ caller, record, params }) => {
    const named = hasId.safeParse(record ?? params);
    return named.success ? `${subjectOf(caller)} ${named.data.id}` : undefined;
  },
};

/** Counts a key's requests for the merchant or for a guest. */
export const keyRequests: RateLimit = {
  name: 'key',
  max: 600,
  windowSeconds: MINUTE_SECONDS,
  by: ({ caller }) => (caller.kind === 'key' || caller.kind === 'guest' ? keyOfCaller(caller)?.id : undefined),
};

/** Requests with an invalid key, by address. The chain counts them. */
export const invalidKeys: RateLimit = {
  name: 'invalid-key',
  max: 60,
  windowSeconds: MINUTE_SECONDS,
  by: ({ http }) => http.sourceNetwork,
};

export const writeLimits = ({ method, path, auth, idempotent }: Declared): readonly RateLimit[] => {
  if (method === 'GET' || auth === 'provider-signature' || auth === 'public') return [];
  if (path.includes('{')) return [WRITES];
  return idempotent === 'create' ? [CREATES] : [];
};

interface Declared {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly idempotent?: string | undefined;
}

/** Path parameters of a list by e-mail. */
export const emailParams = z.object({
  email: emailSchema.describe('The address that the guest gave in `guest_data` (case-insensitive).'),
});

export const guestListLimits = (name: string): readonly RateLimit[] => [
  { name: `${name}-ip`, max: 10, windowSeconds: MINUTE_SECONDS, by: ({ http }) => http.sourceNetwork },
  { name: `${name}-email`, max: 5, windowSeconds: MINUTE_SECONDS, by: ({ params }) => emailParams.parse(params).email },
];
