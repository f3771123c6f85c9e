/**
 * @module Queues due work. A record with due work has `due_at` in the sparse index `due`. The sweep advances `due_at`
 * conditionally and queues the record; `run-due` takes a lease, which prevents two runs at the same time, and does the
 * work. After a crash the work is due again, and a late run is harmless.
 */

import type { Log } from '../core/logger.ts';
import { PROVIDER_SLOTS, type ProviderSlot } from '../core/settings.ts';
import { iso, MINUTE_MS, type Now, SECOND_MS } from '../core/time.ts';
import { claimTable, type NamedTable } from '../platform/copied-table.ts';
import { billingShards, DELIVERY_SHARD, dueShards, type Key } from '../platform/keys.ts';
import type { GroupedMessage, Queues } from '../platform/queues.ts';
import type { Item, Table } from '../platform/table.ts';

/**
 * Shorter than the lease of `run-due`, so a leased record's due time always differs from the due time in its message.
 */
const SWEEP_LEASE_MS = 10 * MINUTE_MS;
const PER_PAGE = 100;
/** A sweep starts no page after this time, so its last page is queued before the function times out. */
const SWEEP_FOR_MS = 40 * SECOND_MS;
/** Maximum number of records per lane and sweep, because a sweep must lease and queue them within its time-out. */
const MOST_PER_LANE = 6_000;
/** A renewal calls the provider twice, to create the payment and to confirm it. */
const CALLS_PER_RENEWAL = 2;
const SWEEP_EVERY_MS = MINUTE_MS;
/** Above this number of waiting messages, a sweep queues no subscriptions or webhooks. Unknown outcomes come first. */
export const BILLING_STOPS_AT = 5_000;
/** Above this number of waiting messages, a sweep queues nothing, because `run-due` is apparently not working. */
const ALL_STOPS_AT = 20_000;

export interface SweepDeps extends NamedTable {
  readonly table: Table;
  readonly queues: Queues;
  readonly log: Log;
  readonly now: Now;
  /** Calls per second that due work may make to the slot's provider; 0 means no limit. */
  readonly callsPerSecond: (slot: ProviderSlot) => number;
}

/** A part of the due work that other parts cannot delay. */
interface Lane {
  readonly shards: readonly string[];
  readonly most: number;
  /** From this number of waiting messages on, the lane queues nothing. */
  readonly stopsAt: number;
}

/**
 * Queues the records whose work is due, the longest due first, and only about as many as can be processed before the
 * next sweep. The rest stays ordered in the index, and no message waits in the queue longer than its lease. If a
 * partition cannot be read or a record cannot be leased, the others continue.
 * @throws the first such error, after everything else is queued; Error if the table is a copy, because the service may
 * already have charged renewals from the original table
 */
export const sweepDue = async (deps: SweepDeps): Promise<void> => {
  const original = await claimTable(deps);
  if (original !== undefined) {
    throw new Error(`due work is held: ${deps.tableName} is a copy of ${original} (docs/restore.md)`);
  }
  const waiting = await deps.queues.depth('run-due');
  const open = lanesOf(deps).filter(({ stopsAt }) => waiting < stopsAt);
  const swept = await Promise.all(open.flatMap((lane) => sweepLane(deps, lane)));
  const count = swept.reduce((sum, { queued }) => sum + queued, 0);
  if (count > 0) deps.log.info('due work queued', { count });
  if (waiting >= BILLING_STOPS_AT) deps.log.warn('due work waits', { count: waiting });
  const [failure] = swept.flatMap(({ failures }) => failures);
  if (failure !== undefined) throw failure;
};

const lanesOf = ({ callsPerSecond }: SweepDeps): readonly Lane[] => [
  { shards: dueShards, most: MOST_PER_LANE, stopsAt: ALL_STOPS_AT },
  { shards: [DELIVERY_SHARD], most: MOST_PER_LANE, stopsAt: BILLING_STOPS_AT },
  ...PROVIDER_SLOTS.map((slot) => ({
    shards: billingShards(slot),
    most: mostRenewals(callsPerSecond(slot)),
    stopsAt: BILLING_STOPS_AT,
  })),
];

/** The renewals that the provider can handle until the next sweep, so that a slow provider does not fill the queue. */
export const mostRenewals = (callsPerSecond: number): number =>
  callsPerSecond === 0
    ? MOST_PER_LANE
    : Math.min(MOST_PER_LANE, Math.ceil((callsPerSecond * (SWEEP_EVERY_MS / SECOND_MS)) / CALLS_PER_RENEWAL));

interface Swept {
  readonly queued: number;
  readonly failures: readonly unknown[];
}

const sweepLane = (deps: SweepDeps, { shards, most }: Lane): readonly Promise<Swept>[] =>
  shards.map((shard) => sweepShard(deps, shard, Math.ceil(most / shards.length)));

const sweepShard = async (deps: SweepDeps, shard: string, most: number): Promise<Swept> => {
  const now = deps.now();
  const failures: unknown[] = [];
  let [read, queued] = [0, 0];
  let after: Item | undefined;
  try {
    do {
      const limit = Math.min(PER_PAGE, most - read);
      const page = await deps.table.queryIndex({ index: 'due', partition: shard, to: iso(now), limit, after });
      const leased = await Promise.allSettled(page.items.map((item) => lease(deps, item, now + SWEEP_LEASE_MS)));
      for (const one of leased) if (one.status === 'rejected') failures.push(one.reason);
      const messages = leased.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []));
      await deps.queues.send('run-due', messages);
      read += page.items.length;
      queued += messages.length;
      after = page.next;
    } while (after && read < most && deps.now() < now + SWEEP_FOR_MS);
  } catch (error) {
    failures.push(error);
  }
  return { queued, failures };
};

const lease = async (
  deps: SweepDeps,
  item: Readonly<Record<string, unknown>>,
  until: number,
): Promise<GroupedMessage | undefined> => {
  const key: Key = { pk: String(item['pk']), sk: String(item['sk']) };
  const dueAt = iso(until);
  const moved = await deps.table.update(key, { set: { due_at: dueAt } }, [
    { exists: true },
    { equals: ['due_at', String(item['due_at'])] },
  ]);
  if (!moved.ok) return undefined;
  const slot = PROVIDER_SLOTS.find((known) => known === moved.item['providerId']);
  // Groups the fair queue by kind and provider, so much work in one group does not delay the rest.
  return { body: JSON.stringify({ ...key, due_at: dueAt, slot }), group: `${key.sk}-${slot ?? 'none'}` };
};
