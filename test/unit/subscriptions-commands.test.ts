import { expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { carryOutAtProvider, scheduleCancelCommand } from '../../shared/subscriptions/at-provider/provider-commands.ts';
import {
  runDueSubscription,
  type SubscriptionDueDeps,
} from '../../shared/subscriptions/commands/run-subscription-due.ts';
import { subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { subscriptionStore } from '../../shared/subscriptions/record/subscription-store.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const record = subscription({ billingOwner: 'provider', status: 'active', providerSubscriptionId: 'sub_1' });

const UNKNOWN: Outcome<never> = { kind: 'unknown', reason: 'timeout' };
const REFUSED: Outcome<never> = { kind: 'refused', reason: 'invalid' };
const NOT_DONE: Outcome<never> = { kind: 'not_done', reason: 'unreachable' };
const DECLINED: Outcome<never> = { kind: 'declined', code: 'expired_card', attemptRef: undefined };

/** Due work looks up a command if the caller got no outcome. */
test.each([
  ['without a response', { sent: UNKNOWN, read: UNKNOWN }, 'PROVIDER_TIMEOUT', 'cancel'],
  ['refused by a provider that then cannot be read', { sent: REFUSED, read: UNKNOWN }, 'PROVIDER_TIMEOUT', 'cancel'],
  [
    'refused by a provider that does not know the subscription',
    { sent: REFUSED, read: REFUSED },
    'PROVIDER_ERROR',
    undefined,
  ],
  [
    'refused by a provider that is then unreachable',
    { sent: REFUSED, read: NOT_DONE },
    'PROVIDER_UNAVAILABLE',
    undefined,
  ],
  ['declined', { sent: DECLINED, read: UNKNOWN }, 'PROVIDER_ERROR', undefined],
  ['that was not executed', { sent: NOT_DONE, read: UNKNOWN }, 'PROVIDER_UNAVAILABLE', undefined],
] as const)('a command %s leaves a lookup only if its outcome is unknown', async (_, { sent, read }, code, left) => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put(recordItem(subscriptionShape, record));
  const subscriptions = { scheduleCancel: async () => sent, find: async () => read };
  const providers = { find: async () => ({ subscriptions }) };
  const deps = { table, now: () => NOON, providers } as unknown as SubscriptionDueDeps;
  await expect(carryOutAtProvider(deps, record, scheduleCancelCommand)).rejects.toMatchObject({ code });
  expect((await subscriptionStore(table).load(record.id))?.openCommand?.kind).toBe(left);
});

test('an open command is reported as failed if the provider does not know the subscription', async () => {
  const { table } = memoryTable({ now: () => NOON });
  const open = { ...record, openCommand: { kind: 'cancel' as const, lookAt: iso(NOON) } };
  await table.put(recordItem(subscriptionShape, open));
  const providers = { find: async () => ({ subscriptions: { find: async () => REFUSED } }) };
  const { log, lines } = logLines();
  const deps = { table, now: () => NOON, log, providers } as unknown as SubscriptionDueDeps;
  await runDueSubscription(deps, record.id);
  const { openCommand, ...after } = (await subscriptionStore(table).load(record.id)) ?? expect.fail();
  expect([openCommand, after.status, after.reason]).toEqual([undefined, 'active', 'cancel_failed']);
  expect((await table.get({ pk: `SUB#${record.id}`, sk: 'SUB' }))?.['due_at']).toBe(iso(NOON + DAY_MS));
  expect(lines.map(({ message }) => message)).toEqual(['subscription anomaly']);
});
