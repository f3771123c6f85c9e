import { iso, MINUTE, type Now } from '../core/time.ts';
import type { Queues } from '../messaging/queues.ts';
import type { Log } from '../observability/logger.ts';
import { dueShards, type Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/**
 * A record with due work has `due_at` in the sparse index `due`. The sweep advances `due_at`, conditionally, and
 * queues the record; `run-due` takes a lease and does the work. After a crash the work is due again; the lease prevents
 * two runs at once; a late run is harmless.
 */
const SWEEP_LEASE_MS = 5 * MINUTE;
const PER_PAGE = 100;
const MAX_PAGES_A_SHARD = 20;

export interface SweepDeps {
  readonly table: Table;
  readonly queues: Queues;
  readonly log: Log;
  readonly now: Now;
}

/** Queues every record whose work is due. */
export const sweepDue = async (deps: SweepDeps): Promise<void> => {
  const counts = await Promise.all(dueShards.map((shard) => sweepShard(deps, shard)));
  const count = counts.reduce((sum, swept) => sum + swept, 0);
  if (count > 0) deps.log.info('due work queued', { count });
};

const sweepShard = async (deps: SweepDeps, shard: string): Promise<number> => {
  let swept = 0;
  const now = deps.now();
  for (let pages = 0; pages < MAX_PAGES_A_SHARD; pages += 1) {
    const page = await deps.table.queryIndex({ index: 'due', partition: shard, to: iso(now), limit: PER_PAGE });
    const leased = await Promise.all(page.items.map((item) => lease(deps, item, now + SWEEP_LEASE_MS)));
    const bodies = leased.filter((body) => body !== undefined);
    await deps.queues.send('run-due', bodies);
    swept += bodies.length;
    if (page.items.length < PER_PAGE) break;
  }
  return swept;
};

const lease = async (
  deps: SweepDeps,
  item: Readonly<Record<string, unknown>>,
  until: number,
): Promise<string | undefined> => {
  const key: Key = { pk: String(item['pk']), sk: String(item['sk']) };
  const dueAt = iso(until);
  const moved = await deps.table.update(key, { set: { due_at: dueAt } }, [
    { exists: true },
    { equals: ['due_at', String(item['due_at'])] },
  ]);
  return moved.ok ? JSON.stringify({ ...key, due_at: dueAt }) : undefined;
};
