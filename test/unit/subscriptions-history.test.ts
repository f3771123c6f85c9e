import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { runAs } from '../../shared/core/actor.ts';
import { iso } from '../../shared/core/time.ts';
import { recordKey } from '../../shared/platform/keys.ts';
import type { Item } from '../../shared/platform/table.ts';
import { markCanceled } from '../../shared/subscriptions/billing/lifecycle.ts';
import { type Subscription, subscriptionOf } from '../../shared/subscriptions/record/subscription.ts';
import { subscriptionEntry } from '../../shared/subscriptions/record/subscription-history.ts';
import { subscriptionStore } from '../../shared/subscriptions/record/subscription-store.ts';
import { edit } from '../../shared/subscriptions/record/subscription-versions.ts';
import { projectChanges } from '../../shared/workers/project-changes.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { streamRecord } from '../builders/stream-record.ts';
import { subscription } from '../builders/subscription.ts';

const clock = { now: () => NOON };
const USER = { requestId: '0a64ed5a-9284-4f50-aea1-2eecf799c7d5', actor: { type: 'user', id: 'user_1' } } as const;
const ADMIN = { requestId: 'req_2', actor: { type: 'admin', id: 'user_9' } } as const;
const WORKER = { requestId: 'msg_3', actor: { type: 'system', id: 'run-due' } } as const;

/** A table that records its changes as stream records. */
const recorded = () => {
  const { table } = memoryTable(clock);
  const key = recordKey('SUB', subscription().id);
  const records: DynamoDBRecord[] = [];
  let before: Item | undefined;
  const record = async (work: Parameters<typeof runAs>[0], act: () => Promise<unknown>): Promise<void> => {
    await runAs(work, act);
    const after = await table.get(key);
    records.push(streamRecord(records.length, before, after));
    before = after;
  };
  return { table, key, records, record };
};

describe('the actor of a version', () => {
  test('is stored in few bytes, and stays through commits that readers do not see', async () => {
    const { table, key } = recorded();
    const store = subscriptionStore(table);
    const made = subscription({ status: 'active', version: 1 });
    await runAs(USER, () => store.insertOrFind(made));
    expect(await table.get(key)).toMatchObject({ by: 'u', rq: expect.stringMatching(/^~.{22}$/) });
    const read = await store.load(made.id);
    expect(read).toMatchObject(USER);
    const unseen = await runAs(WORKER, () => store.change(read ?? made, (one) => ({ ...one, syncAt: iso(NOON) })));
    expect(await store.load(made.id)).toMatchObject({ ...USER, lock: 1 });
    await runAs(ADMIN, () => store.change(unseen, (one) => markCanceled(one, NOON)));
    expect(await table.get(key)).toMatchObject({ by: 'auser_9', rq: 'req_2' });
    expect(await table.get(key)).not.toHaveProperty('actor');
  });

  test('is the actor of the current work only, and is absent outside of any work', async () => {
    const { table } = recorded();
    const store = subscriptionStore(table);
    const made = subscription({ status: 'active', version: 1, ...ADMIN });
    await store.insertOrFind(made);
    const read = await store.load(made.id);
    expect([read?.actor, read?.requestId]).toEqual([undefined, undefined]);
  });
});

describe('the stored history of a subscription', () => {
  const versionsOf = async (table: ReturnType<typeof recorded>['table'], pk: string) =>
    (await table.queryItems({ partition: pk, from: 'HIST#', to: 'HIST#~' })).items;

  test('contains each version once after any number of stream replays, and ends with the subscription', async () => {
    const { table, key, records, record } = recorded();
    const store = subscriptionStore(table);
    const load = async (): Promise<Subscription> => (await store.load(subscription().id)) ?? subscription();
    await record(USER, () => store.insertOrFind(subscription({ status: 'active', version: 1 })));
    await record(WORKER, async () => store.change(await load(), (one) => ({ ...one, syncAt: iso(NOON) })));
    await record(USER, async () =>
      store.change(await load(), (one) =>
        edit(one, { reason: 'cancel_scheduled', now: NOON }, { cancelAtPeriodEnd: true }),
      ),
    );
    await record(ADMIN, async () => store.change(await load(), (one) => markCanceled(one, NOON)));
    const { log } = logLines();
    const replays = [records, records, records.slice(2), records.slice(0, 1), records.slice(3)];
    for (const replay of replays) expect(await projectChanges({ table, log }, replay)).toBeUndefined();
    expect(await versionsOf(table, key.pk)).toMatchObject([
      { sk: 'HIST#000001', status: 'active', cancelAtPeriodEnd: false, ...USER },
      { sk: 'HIST#000002', status: 'active', was: 'active', cause: 'cancel_scheduled', cancelAtPeriodEnd: true },
      { sk: 'HIST#000003', status: 'canceled', was: 'active', cause: 'canceled', ...ADMIN },
    ]);
    await record(ADMIN, () => table.remove(key));
    expect(records.at(-1)?.eventName).toBe('REMOVE');
    await projectChanges({ table, log }, records);
    expect(await versionsOf(table, key.pk)).toEqual([]);
  });

  test('begins with the first version that readers see', () => {
    const creating = subscription();
    const made = subscription({ status: 'active', version: 1, reason: 'created' });
    expect(subscriptionEntry(undefined, creating)).toBeUndefined();
    expect(subscriptionEntry(creating, made)).toMatchObject({ status: 'active', was: undefined });
    expect(subscriptionEntry(made, { ...made, lock: 7 })).toBeUndefined();
  });

  test.each<[string, Partial<Subscription>, string | undefined]>([
    ['a paid period', { reason: 'renewed', paidUntil: iso(NOON) }, 'pay_1'],
    ['a failed charge', { reason: 'payment_failed', status: 'past_due' }, 'pay_1'],
    ['another method', { reason: 'method_changed' }, undefined],
    ['a period that costs nothing', { reason: 'renewed', paidUntil: iso(NOON), totalCents: 0 }, undefined],
    ['a missing method', { reason: 'payment_method_unavailable', status: 'past_due' }, undefined],
  ])('names the payment of a charge: %s', (_, fields, paymentId) => {
    const was = subscription({ status: 'active', version: 1, latestPaymentId: 'pay_1' });
    expect(subscriptionEntry(was, { ...was, version: 2, ...fields })?.['paymentId']).toBe(paymentId);
  });

  test('reads versions that were stored without an actor', () => {
    const { id, ...fields } = subscription({ status: 'active', version: 1 });
    expect(subscriptionOf({ id, ...fields })).toMatchObject({ id, status: 'active' });
  });
});
