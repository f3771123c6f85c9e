import * as z from 'zod';
import { iso, MINUTE, type Now } from '../core/time.ts';
import type { Log } from '../observability/logger.ts';
import type { RemovalDeps } from '../organizations/children.ts';
import { runEndedMembership } from '../organizations/end-membership.ts';
import { keepOrganizationAppointment } from '../organizations/finish-deletion.ts';
import { type AppointmentDeps, keepPaymentAppointment } from '../payments/keep-appointment.ts';
import type { BillingDeps } from '../subscriptions/deps.ts';
import { keepSubscriptionAppointment } from '../subscriptions/keep-appointment.ts';
import { dueShards, type Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Handled } from './consumer.ts';
import type { Queues } from './queues.ts';

/**
 * Appointments: whatever has one carries `due_at` in the sparse index. The sweep moves it on, conditionally, and queues
 * the record; the run takes it under a lease. A crash loses nothing, late is fine, twice is impossible.
 */
const SWEEP_LEASE_MS = 5 * MINUTE;
const RUN_LEASE_MS = 15 * MINUTE;
const PER_PAGE = 100;
const MAX_PAGES_A_SHARD = 20;

const messageSchema = z.object({ pk: z.string(), sk: z.string(), due_at: z.string() });

export interface SweepDeps {
  readonly table: Table;
  readonly queues: Queues;
  readonly log: Log;
  readonly now: Now;
}

/** Queues every record whose appointment has come. */
export const sweepDue = async (deps: SweepDeps): Promise<void> => {
  const counts = await Promise.all(dueShards.map((shard) => sweepShard(deps, shard)));
  const count = counts.reduce((sum, swept) => sum + swept, 0);
  if (count > 0) deps.log.info('appointments swept', { count });
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

export type RunDeps = AppointmentDeps & RemovalDeps & BillingDeps & { readonly log: Log };

/** Who keeps the appointments of which kind of item, by sort key. */
const KEEPERS: Readonly<Record<string, (deps: RunDeps, id: string) => Promise<string>>> = {
  PAY: keepPaymentAppointment,
  ORG: keepOrganizationAppointment,
  SUB: keepSubscriptionAppointment,
  LEFT: runEndedMembership,
};

/** Keeps one appointment; a message whose lease is no longer the record's is an old one. */
export const runDue = async (deps: RunDeps, message: unknown): Promise<Handled> => {
  const { pk, sk, due_at: dueAt } = messageSchema.parse(message);
  const taken = await deps.table.update({ pk, sk }, { set: { due_at: iso(deps.now() + RUN_LEASE_MS) } }, [
    { exists: true },
    { equals: ['due_at', dueAt] },
  ]);
  if (!taken.ok) return 'done';
  const outcome = await KEEPERS[sk]?.(deps, pk.slice(pk.indexOf('#') + 1));
  deps.log.info('appointment kept', {
    ...(sk === 'PAY' && { payment_id: pk.slice(4) }),
    ...(sk === 'SUB' && { subscription_id: pk.slice(4) }),
    outcome: outcome ?? 'unknown kind',
  });
  return 'done';
};
