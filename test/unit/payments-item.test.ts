import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { PAYMENT_STATUSES, type Payment, paymentOf } from '../../shared/payments/payment.ts';
import { nextPaymentDue } from '../../shared/payments/payment-due.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { paymentStore } from '../../shared/payments/payment-store.ts';
import { advancePayment } from '../../shared/payments/payment-versions.ts';
import { dueShards, paymentKey } from '../../shared/platform/keys.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { draft, NOON, payment } from '../builders/payment.ts';

const guest = { userId: undefined, guestId: 'gst_1', guestEmail: 'Ada@Example.com' };
const secret = { clientSecret: 'pi_1_secret_x' };

describe('the item of a payment', () => {
  test('has a key derived from its id', () => {
    const { id } = payment();
    expect(paymentItem(payment(), NOON)).toMatchObject({ pk: `PAY#${id}`, sk: 'PAY' });
  });

  test.each([
    ['its user', {}, 'USER#user_1#PAY'],
    ['its organization, also when a member made it', { organizationId: 'org_1' }, 'ORG#org_1#PAY'],
  ])('is listed under %s', (_, fields, owner) => {
    const record = payment(fields);
    expect(paymentItem(record, NOON)).toMatchObject({ owner, sort: `${record.createdAt}#${record.id}` });
  });

  test('is listed under the guest’s e-mail in any case, and its key does not reveal the e-mail', () => {
    const { owner } = paymentItem(payment(guest), NOON);
    expect(owner).toMatch(/^GUEST#[0-9a-f]{32}#PAY$/);
    expect(paymentItem(payment({ ...guest, guestEmail: 'ada@example.com' }), NOON)['owner']).toBe(owner);
    expect(paymentItem(payment({ ...guest, guestEmail: 'eve@example.com' }), NOON)['owner']).not.toBe(owner);
  });

  test('is also listed under its project, if it has one', () => {
    expect(paymentItem(payment({ projectId: 'proj_1' }), NOON)['project']).toBe('PROJECT#proj_1#PAY');
    expect('project' in paymentItem(payment(), NOON)).toBe(false);
  });

  test('is listed nowhere while it is being created', () => {
    const item = paymentItem({ ...payment({ projectId: 'proj_1' }), status: 'creating', version: 0 }, NOON);
    expect(['owner', 'project', 'sort', 'f'].filter((name) => name in item)).toEqual([]);
  });

  test('is in no list while it is withheld, and is kept for 24 h without a due time if it is unpaid', () => {
    const withheld = { withheld: true, projectId: 'proj_1', clientSecret: 'pi_1_secret' } as const;
    const claimed = paymentItem(payment({ ...withheld, status: 'processing', reconcileAt: iso(NOON) }), NOON);
    expect(['owner', 'project', 'sort', 'f', 'ttl'].filter((name) => name in claimed)).toEqual([]);
    expect(claimed['due_at']).toBe(iso(NOON));
    const failed = paymentItem(payment({ ...withheld, status: 'failed' }), NOON);
    expect(['owner', 'project', 'sort', 'f', 'due', 'due_at'].filter((name) => name in failed)).toEqual([]);
    expect(failed['ttl']).toBe(NOON / 1_000 + 86_400);
  });

  test('contains the fields by which lists filter and sort', () => {
    const record = payment({
      status: 'failed',
      organizationId: 'org_1',
      projectId: 'proj_1',
      productId: 'prod_1',
      customerId: 'cust_1',
      userEmail: 'Ada@Example.com',
      description: `Mixed CASE ${'x'.repeat(300)}`,
    });
    expect(paymentItem(record, NOON)['f']).toEqual({
      s: 'failed',
      a: 2_500,
      u: record.updatedAt,
      o: 'org_1',
      j: 'proj_1',
      d: 'prod_1',
      g: undefined,
      c: 'cust_1',
      e: 'ada@example.com',
      t: `mixed case ${'x'.repeat(189)}`,
    });
    expect(paymentItem(payment(guest), NOON)['f']).toMatchObject({ g: 'gst_1', e: 'ada@example.com' });
  });

  test('reads back as the same payment', () => {
    const record = payment({ ...secret, projectId: 'proj_1', draft: draft(), metadata: { note: ['a', 1, null] } });
    expect(paymentOf(paymentItem(record, NOON))).toEqual(record);
  });

  test('holds the facts of the payment under short names', () => {
    const details = {
      type: 'card',
      cardBrand: 'visa',
      lastFour: '4242',
      bankName: 'Bank',
      walletType: 'link',
    } as const;
    const threeDSecure = { result: 'exempted' } as const;
    const settlement = { feeCents: 1, netCents: 2, currency: 'EUR', exchangeRate: '1.1', availableOn: iso(NOON) };
    const record = payment({ status: 'succeeded', details: { ...details, threeDSecure }, settlement });
    const item = paymentItem(record, NOON);
    expect(item['details']).toEqual({ t: 'card', b: 'visa', l: '4242', n: 'Bank', w: 'link', s: threeDSecure });
    expect(item['settlement']).toEqual({ f: 1, n: 2, c: 'EUR', x: '1.1', a: iso(NOON) });
    expect(paymentOf(item)).toEqual(record);
  });

  test.each([
    [DAY_MS - 1, true],
    [DAY_MS, false],
    [DAY_MS + 1, false],
  ])('contains the client secret %i ms after creation: %s', (after, held) => {
    const item = paymentItem(payment(secret), NOON + after);
    expect(item['clientSecret']).toBe(held ? secret.clientSecret : undefined);
  });
});

describe('the due time of a payment', () => {
  const soon = iso(NOON + MINUTE_MS);
  const tomorrow = iso(NOON + DAY_MS);

  test.each([
    ['is the expiry after a day for a created payment', payment(), tomorrow],
    [
      'is the expiry after a day for a payment without a method',
      payment({ status: 'requires_payment_method' }),
      tomorrow,
    ],
    [
      'is the next retry for a payment that is still being created',
      { ...payment(), status: 'creating' as const, reconcileAt: soon },
      soon,
    ],
    [
      'is the next lookup for a processing payment',
      payment({ status: 'processing', reconcileAt: soon, ...secret }),
      soon,
    ],
    ['is the next lookup for a pending payment', payment({ status: 'pending', reconcileAt: soon }), soon],
    ['is the next retry for a payment with an update under way', payment({ draft: draft(), reconcileAt: soon }), soon],
    ['is the removal of the client secret for a failed payment', payment({ status: 'failed', ...secret }), tomorrow],
    [
      'is the removal of the client secret for a succeeded payment',
      payment({ status: 'succeeded', ...secret }),
      tomorrow,
    ],
    ['is absent for a failed payment without a secret', payment({ status: 'failed' }), undefined],
    [
      'is the lookup that an event requested for a failed payment',
      payment({ status: 'failed', reconcileAt: soon }),
      soon,
    ],
    ['is absent for a succeeded payment without a secret', payment({ status: 'succeeded' }), undefined],
    ['is absent for a canceled payment', payment({ status: 'canceled', reconcileAt: soon }), undefined],
  ])('%s', (_, record, at) => {
    expect(nextPaymentDue(record)).toBe(at);
  });

  test('is indexed in a shard that the sweep reads', () => {
    const { due, due_at } = paymentItem(payment(), NOON);
    expect(due_at).toBe(tomorrow);
    expect(dueShards).toContain(due);
  });

  test('has no index entry if the payment has no due work', () => {
    const item = paymentItem(payment({ status: 'succeeded' }), NOON);
    expect('due' in item || 'due_at' in item).toBe(false);
  });

  test('is spread over all shards', () => {
    const shards = Array.from({ length: 200 }, (_, index) => paymentItem(payment({ id: `pay_${index}` }), NOON)['due']);
    expect(new Set(shards)).toEqual(new Set(dueShards));
  });

  test('is never missing during an update, for any concurrent event', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PAYMENT_STATUSES),
        fc.constantFrom('event', 'sync') as fc.Arbitrary<'event' | 'sync'>,
        (status, cause) => {
          const claimed = payment({ draft: draft(), reconcileAt: soon });
          const next = advancePayment(claimed, { to: status, now: NOON + 1, cause });
          if (next.draft) expect(nextPaymentDue(next)).toBeDefined();
        },
      ),
    );
  });
});

describe('the payment store', () => {
  const clock = { now: () => NOON };
  const stored = async (record: Payment = payment()) => {
    const memory = memoryTable(clock);
    const store = paymentStore(memory.table, clock.now);
    expect(await store.insertOrFind(record)).toBeUndefined();
    return { store, memory };
  };

  test('keeps the first of two payments with the same id, and returns that payment', async () => {
    const { store } = await stored();
    expect(await store.insertOrFind(payment({ totalCents: 1, subtotalCents: 1 }))).toEqual(payment());
  });

  test('commits only on the version that was read, and returns the stored record after a concurrent commit', async () => {
    const { store } = await stored();
    const paid = advancePayment(payment(), { to: 'succeeded', now: NOON + 1, cause: 'event' });
    const failed = advancePayment(payment(), { to: 'failed', now: NOON + 2, cause: 'event' });
    expect(await store.commit(payment(), paid)).toEqual({ ok: true, record: paid });
    const lost = await store.commit(payment(), failed);
    expect(lost.ok ? undefined : lost.found?.status).toBe('succeeded');
    expect((await store.load(payment().id))?.status).toBe('succeeded');
  });

  test('writes nothing for a status change that is missing in the transition table', async () => {
    const { store, memory } = await stored();
    const before = await memory.table.get(paymentKey(payment().id));
    const unpaid = advancePayment(payment(), { to: 'succeeded', now: NOON + 1, cause: 'cancel' });
    await expect(store.commit(payment(), unpaid)).rejects.toThrow('from created to succeeded by cancel');
    await expect(store.change(payment(), () => unpaid)).rejects.toThrow('from created to succeeded by cancel');
    expect(await memory.table.get(paymentKey(payment().id))).toEqual(before);
  });

  test('decides again on the payment of a concurrent commit, and reports which commit won', async () => {
    const { store } = await stored();
    await store.commit(payment(), advancePayment(payment(), { to: 'pending', now: NOON + 1, cause: 'event' }));
    const seen: string[] = [];
    const changed = await store.change(payment(), (current) => {
      seen.push(current.status);
      return advancePayment(current, { to: 'succeeded', now: NOON + 2, cause: 'event' });
    });
    expect(seen).toEqual(['created', 'pending']);
    expect(changed).toMatchObject({ isOurs: true, was: { status: 'pending' }, record: { status: 'succeeded' } });
    expect(await store.change(changed.record, () => undefined)).toMatchObject({ isOurs: false });
  });

  test('reports a removed payment as not found', async () => {
    const { store, memory } = await stored();
    await memory.table.remove(paymentKey(payment().id));
    const next = advancePayment(payment(), { to: 'failed', now: NOON + 1, cause: 'event' });
    await expect(store.change(payment(), () => next)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  });

  test('allows one update at a time, and no commit of a version that was read before the update', async () => {
    const { store } = await stored();
    expect(await store.claimDraft(payment(), draft())).toMatchObject({ draft: draft() });
    expect(await store.claimDraft(payment(), draft({ totalCents: 1 }))).toBeUndefined();
    const committed = await store.commit(
      payment(),
      advancePayment(payment(), { to: 'processing', now: NOON + 1, cause: 'claim' }),
    );
    expect(committed.ok).toBe(false);
  });

  test('drops a refused update, even after an event has advanced the payment', async () => {
    const { store } = await stored();
    const asked = await store.claimDraft(payment(), draft());
    if (!asked) throw new Error('the draft was not claimed');
    expect(
      (await store.commit(asked, advancePayment(asked, { to: 'pending', now: NOON + 1, cause: 'event' }))).ok,
    ).toBe(true);
    expect(await store.dropDraft(asked)).toMatchObject({ status: 'pending' });
    expect((await store.load(payment().id))?.draft).toBeUndefined();
  });

  test('gives an update to one function at a time, until the update is released or the function’s timeout has passed', async () => {
    const { store } = await stored();
    const asked = await store.claimDraft(payment(), draft());
    if (!asked) throw new Error('the draft was not claimed');
    expect(await store.holdDraft(asked)).toBeUndefined();
    const released = await store.releaseDraft(asked);
    if (!released) throw new Error('the draft was not released');
    const held = await store.holdDraft(released);
    expect(held).toMatchObject({ draft: draft(), draftVersion: asked.version });
    expect(await store.holdDraft(released)).toBeUndefined();
  });

  test('removes only a payment whose creation never finished', async () => {
    const creating = { ...payment(), status: 'creating' as const, version: 0 };
    const { store } = await stored(creating);
    expect(await store.loadVisible(creating.id)).toBeUndefined();
    expect((await store.removeCreating(creating.id)).ok).toBe(true);
    const other = await stored();
    expect((await other.store.removeCreating(payment().id)).ok).toBe(false);
  });

  test('gives an abandoned creation to only one of many callers', async () => {
    const left = { ...payment({ busyUntil: iso(NOON) }), status: 'creating' as const, version: 0 };
    const { store } = await stored(left);
    const until = iso(NOON + MINUTE_MS);
    const taken = await Promise.all([store.takeOver(left, until), store.takeOver(left, until)]);
    expect(taken.toSorted()).toEqual([false, true]);
  });

  test('removes the client secret, and keeps the other due work', async () => {
    const processing = payment({ status: 'processing', reconcileAt: iso(NOON + MINUTE_MS), ...secret });
    const { store, memory } = await stored(processing);
    await store.setTimes(processing, { clientSecret: undefined });
    const [item] = memory.items();
    expect(item).toMatchObject({ due_at: iso(NOON + MINUTE_MS) });
    expect(item && 'clientSecret' in item).toBe(false);
    const done = await stored(payment({ status: 'succeeded', ...secret }));
    await done.store.setTimes(payment({ status: 'succeeded', ...secret }), { clientSecret: undefined });
    expect(done.memory.items().some((left) => 'due' in left || 'due_at' in left || 'clientSecret' in left)).toBe(false);
  });
});
