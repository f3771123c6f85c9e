import { describe, expect, test } from 'vitest';
import { type Actor, actorOf, currentWork, runAs } from '../../shared/core/actor.ts';
import { withoutPayerSecrets } from '../../shared/http/reply.ts';
import { paymentOf, type VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { paymentStore } from '../../shared/payments/payment-store.ts';
import { advancePayment } from '../../shared/payments/payment-versions.ts';
import { paymentKey } from '../../shared/platform/keys.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON, payment } from '../builders/payment.ts';

const guest = { userId: undefined, guestId: 'gst_1', guestEmail: 'ada@example.com' };

describe('the actor of a version', () => {
  const actors: readonly [Actor, string, Partial<VisiblePayment>][] = [
    [{ type: 'user', id: 'user_1' }, 'u', {}],
    [{ type: 'user', id: 'user_2' }, 'uuser_2', {}],
    [{ type: 'guest', id: 'gst_1' }, 'g', guest],
    [{ type: 'admin', id: 'user_9' }, 'auser_9', {}],
    [{ type: 'provider', id: 'provider_a' }, 'p', {}],
    [{ type: 'provider', id: 'provider_b' }, `p${'provider_b'}`, {}],
    [{ type: 'system', id: 'run-due' }, `s${'run-due'}`, {}],
  ];

  test.each(actors)('%j is stored as %s and reads back unchanged', (actor, stored, fields) => {
    const item = paymentItem(payment({ ...fields, actor, requestId: 'req_1' }), NOON);
    expect(item).toMatchObject({ by: stored, rq: 'req_1' });
    expect(paymentOf(item)).toMatchObject({ actor, requestId: 'req_1' });
  });

  test.each([
    ['0a64ed5a-9284-4f50-aea1-2eecf799c7d5', 23],
    ['JKJaXmPLvHcESHA=', 16],
    ['evt_1MtwBwLkdIwHu7ix', 20],
  ])('is stored with the request id %s in %d characters', (requestId, length) => {
    const item = paymentItem(payment({ requestId }), NOON);
    expect(String(item['rq'])).toHaveLength(length);
    expect(paymentOf(item).requestId).toBe(requestId);
  });

  test('is absent if the item has no actor, or an unknown actor', () => {
    expect(paymentOf(paymentItem(payment(), NOON)).actor).toBeUndefined();
    expect(actorOf('x1', payment())).toBeUndefined();
  });
});

describe('the payment store', () => {
  const clock = { now: () => NOON };
  const admin = { requestId: 'req_2', actor: { type: 'admin', id: 'user_9' } } as const;

  test('records the actor of the commit, not of the last version', async () => {
    const { table } = memoryTable(clock);
    const store = paymentStore(table, clock.now);
    const made = { requestId: 'req_1', actor: { type: 'user', id: 'user_1' } } as const;
    await runAs(made, () => store.insertOrFind(payment()));
    const first = await store.load(payment().id);
    expect(first).toMatchObject(made);
    const next = advancePayment(first ?? payment(), { to: 'canceled', now: NOON + 1, cause: 'cancel' });
    await runAs(admin, () => store.commit(first ?? payment(), next));
    expect(await store.load(payment().id)).toMatchObject(admin);
  });

  test('records no actor outside of any work, even if the last version had an actor', async () => {
    const { table } = memoryTable(clock);
    const store = paymentStore(table, clock.now);
    expect(currentWork()).toBeUndefined();
    await store.insertOrFind(payment({ actor: admin.actor, requestId: 'req_1' }));
    expect(await table.get(paymentKey(payment().id))).not.toHaveProperty('by');
  });

  test('separates the actors of concurrent work', async () => {
    const seen = await Promise.all(
      ['req_1', 'req_2'].map((requestId) =>
        runAs({ ...admin, requestId }, async () => {
          await Promise.resolve();
          return currentWork()?.requestId;
        }),
      ),
    );
    expect(seen).toEqual(['req_1', 'req_2']);
  });
});

test('a response to a platform admin contains no payer secret at any depth', () => {
  const action = { type: 'redirect_to_url', url: 'https://bank.example/?client_secret=x' };
  const data = [
    { id: 'pay_1', client_secret: 'x', next_action: action, list: [{ guest_token: 'x', amount: 1 }] },
    { open_payment: { client_secret: 'x' }, product: null, tags: ['a'] },
  ];
  expect(withoutPayerSecrets(data)).toEqual([
    { id: 'pay_1', next_action: { type: 'redirect_to_url' }, list: [{ amount: 1 }] },
    { product: null, tags: ['a'] },
  ]);
});
