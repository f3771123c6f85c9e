import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import type { Bulkheads } from '../stage/settings.ts';

/**
 * Reserved concurrency. A reservation guarantees instances to one function and also caps it, so a flood of one kind of
 * work cannot use up the account's limit.
 */
type Reservation = number | undefined;

/** A schedule starts one run at a time. The second instance is for overlapping runs. */
const SCHEDULE = 2;
/**
 * A stream has up to four readers per shard (`batchesAtOnce`), and an on-demand table starts with about four shards.
 */
const STREAM = 20;

export const reservedForEndpoint = (
  { auth, paymentPath }: Pick<Endpoint, 'auth' | 'paymentPath'>,
  bulkheads: Bulkheads | undefined,
): Reservation => {
  if (auth === 'provider-signature') return bulkheads?.webhooks;
  return paymentPath ? bulkheads?.payments : undefined;
};

export const reservedForTrigger = (trigger: Trigger, bulkheads: Bulkheads | undefined): Reservation => {
  if (!bulkheads) return undefined;
  if (trigger.kind === 'queue') return Math.min(trigger.maxConcurrency, bulkheads.workers);
  return trigger.kind === 'stream' ? STREAM : SCHEDULE;
};

interface Functions {
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
}

/** AWS requires an account to keep this many instances unreserved. */
export const UNRESERVED = 100;

/** The sum of all reservations of a stage. */
export const reservedInAll = ({ endpoints, triggers }: Functions, bulkheads: Bulkheads | undefined): number =>
  [
    ...endpoints.map((endpoint) => reservedForEndpoint(endpoint, bulkheads)),
    ...triggers.map((trigger) => reservedForTrigger(trigger, bulkheads)),
  ].reduce<number>((sum, reserved) => sum + (reserved ?? 0), 0);
