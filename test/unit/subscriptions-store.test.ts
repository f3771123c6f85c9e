import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedTable, openEmbeddedTable } from '../../infra/local/table/embedded-table.ts';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import {
  addressUseKey,
  billingShard,
  type Key,
  membershipKey,
  periodKey,
  recordKey,
  usedByKey,
} from '../../shared/platform/keys.ts';
import { type Item, openTable, type Table } from '../../shared/platform/table.ts';
import { openNextPeriod, startFirstPeriod } from '../../shared/subscriptions/billing/periods.ts';
import { dropCharge, openCharge, recordPaid } from '../../shared/subscriptions/billing/subscription-charge.ts';
import { membershipOf } from '../../shared/subscriptions/record/membership-of.ts';
import { type Subscription, subscriptionOf } from '../../shared/subscriptions/record/subscription.ts';
import { eraseSubscription, subscriptionStore } from '../../shared/subscriptions/record/subscription-store.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';
import { DUNNING, subscription } from '../builders/subscription.ts';

let engine: EmbeddedTable;
let table: Table;
let store: ReturnType<typeof subscriptionStore>;
beforeEach(() => {
  engine = openEmbeddedTable({ file: ':memory:', isRecorded: () => false });
  table = openTable(
    engine.connect(() => NOON),
    () => NOON,
  );
  store = subscriptionStore(table);
});
afterEach(() => engine.close());

const everything = async (): Promise<readonly Item[]> => {
  const { items } = await engine.connect(() => NOON).scan({ after: undefined, limit: 1_000 });
  return items.toSorted((one, other) => (`${one['pk']}\n${one['sk']}` < `${other['pk']}\n${other['sk']}` ? -1 : 1));
};
const isStored = async (key: Key): Promise<boolean> => (await table.get(key)) !== undefined;

const insert = async (given: Subscription): Promise<Subscription> => {
  expect(await store.insertOrFind(given)).toBeUndefined();
  return given;
};
const commit = async (was: Subscription, next: Subscription): Promise<Subscription> => {
  const committed = await store.commit(was, next);
  if (!committed.ok) throw new Error('another commit came first');
  return committed.record;
};

/** A new subscription whose first period is being charged. */
const opening = (fields: Partial<Subscription> = {}): Subscription =>
  startFirstPeriod(subscription(fields), 'create', NOON);
const { id } = subscription();
const FIRST = periodKey(id, iso(NOON));

/** A subscription whose first period has been charged and paid. */
const running = async (fields: Partial<Subscription> = {}): Promise<Subscription> => {
  const opened = await insert(opening(fields));
  return commit(opened, recordPaid(opened, NOON));
};
const renewing = (was: Subscription): Subscription =>
  openNextPeriod(was, { now: Date.parse(was.currentPeriodEnd), policy: DUNNING });

describe('the subscription store', () => {
  test.each([
    ['canceled', 'creating'],
    ['active', 'declined'],
    ['declined', 'active'],
  ] as const)(
    'refuses a change from %s to %s, which the transition table lacks, and writes nothing',
    async (from, to) => {
      const was = await insert(subscription({ status: from }));
      const before = await everything();
      await expect(store.commit(was, { ...was, status: to })).rejects.toThrow(`from ${from} to ${to}`);
      await expect(store.change(was, (current) => ({ ...current, status: to }))).rejects.toThrow(
        `from ${from} to ${to}`,
      );
      expect(await everything()).toEqual(before);
    },
  );

  test('stores an allowed change, and counts the commit', async () => {
    const was = await insert(subscription({ status: 'active', lock: 4 }));
    const changed = await store.change(was, (current) => ({ ...current, status: 'paused' }));
    expect(changed).toMatchObject({ status: 'paused', lock: 5 });
    expect(await store.load(id)).toMatchObject({ status: 'paused', lock: 5 });
  });

  test.each([
    { billingOwner: 'provider', from: 'creating', to: 'past_due', isNoted: true },
    { billingOwner: 'service', from: 'creating', to: 'past_due', isNoted: false },
    { billingOwner: 'provider', from: 'past_due', to: 'active', isNoted: false },
    { billingOwner: 'provider', from: 'active', to: 'canceled', isNoted: false },
  ] as const)(
    'schedules another read after $from → $to if the $billingOwner bills the subscription: $isNoted',
    async ({ billingOwner, from, to, isNoted }) => {
      const was = await insert(subscription({ billingOwner, status: from }));
      const changed = await store.change(was, (current) => ({ ...current, status: to }));
      expect(changed.unconfirmedSince).toBe(isNoted ? changed.updatedAt : undefined);
    },
  );

  test('decides again on the stored record after a concurrent commit', async () => {
    const was = await insert(subscription({ status: 'active' }));
    await commit(was, { ...was, tags: 'first' });
    expect(await store.commit(was, { ...was, concept: 'second' })).toMatchObject({
      ok: false,
      found: { tags: 'first' },
    });
    expect(await store.change(was, (current) => ({ ...current, concept: 'second' }))).toMatchObject({
      tags: 'first',
      concept: 'second',
      lock: 2,
    });
  });

  test('writes a single item without a transaction, because a transaction would cost twice as much', async () => {
    const transactions: unknown[] = [];
    const counted = subscriptionStore({
      ...table,
      transact: (steps) => {
        transactions.push(steps);
        return table.transact(steps);
      },
    });
    const was = subscription({ status: 'active', tierId: undefined });
    expect(await counted.insertOrFind(subscription())).toBeUndefined();
    await counted.change(subscription(), (current) => ({ ...current, concept: 'other' }));
    expect(transactions).toEqual([]);
    await counted.commit(subscription({ lock: 1 }), { ...was, lock: 1 });
    expect(transactions).toHaveLength(1);
  });

  test('refuses the id of a subscription that was deleted', async () => {
    await table.put({ ...recordKey('SUB', id), tombstone: true, createdAt: iso(NOON) });
    await expect(store.insertOrFind(subscription())).rejects.toThrow('removed while its id was claimed');
  });

  test('finds no record after a removal', async () => {
    const was = await insert(opening());
    await store.removeCreating(was);
    expect(await store.commit(was, recordPaid(was, NOON))).toEqual({ ok: false, found: undefined });
    expect(await store.load(id)).toBeUndefined();
  });

  test.each([
    ['with a charge', opening()],
    ['without a charge', subscription()],
  ])('returns the stored record if the id of a new subscription exists: %s', async (_, given) => {
    await insert(given);
    const before = await everything();
    expect(await store.insertOrFind({ ...given, concept: 'other' })).toEqual({
      kind: 'record',
      record: expect.not.objectContaining({ concept: 'other' }),
    });
    expect(await everything()).toEqual(before);
  });
});

describe('the claim of a period', () => {
  test('is stored with its charge', async () => {
    const { charge } = await insert(opening());
    expect(await table.get(FIRST)).toEqual({
      ...FIRST,
      start: iso(NOON),
      end: charge?.end,
      paymentId: charge?.paymentId,
      cause: 'create',
    });
  });

  test('stays after the paid charge, so that the period is never charged again', async () => {
    const was = await running();
    const before = await everything();
    expect(await isStored(FIRST)).toBe(true);
    const period = { anchor: was.anchor, period: 0, start: NOON, end: Date.parse(was.currentPeriodEnd) };
    const again = openCharge(was, period, { cause: 'renew', now: NOON + DAY_MS });
    await expect(store.commit(was, again)).rejects.toThrow(/^PERIOD#.* was written already$/);
    expect(await everything()).toEqual(before);
  });

  test('changes nothing if a further condition fails', async () => {
    const was = await running();
    const next = { ...was, methodRef: 'pm_other' };
    const onlyIf = [{ check: recordKey('PM', 'pmt_absent'), if: [{ exists: true }] }] as const;
    expect(await store.commit(was, next, onlyIf)).toEqual({ ok: false, found: was, unmet: true });
    expect(await store.load(id)).toEqual(was);
    const other = await commit(was, { ...was, methodRef: 'pm_first' });
    expect(await store.commit(was, next, onlyIf)).toEqual({ ok: false, found: other });
  });

  test('stops a new subscription if its period was already billed, and writes nothing', async () => {
    await table.put({ ...FIRST, cause: 'create' });
    const before = await everything();
    await expect(store.insertOrFind(opening())).rejects.toThrow(/^PERIOD#.* was written already$/);
    expect(await everything()).toEqual(before);
  });

  test('is made for each renewal', async () => {
    const was = await running();
    const next = await commit(was, renewing(was));
    expect(await table.get(periodKey(id, was.currentPeriodEnd))).toMatchObject({ cause: 'renew' });
    await commit(next, recordPaid(next, Date.parse(was.currentPeriodEnd)));
    expect(await isStored(periodKey(id, was.currentPeriodEnd))).toBe(true);
  });

  test('stays through the retries of its charge', async () => {
    const was = await insert(opening());
    const { charge } = was;
    await commit(was, { ...was, charge: charge && { ...charge, attempts: 1 } });
    expect(await isStored(FIRST)).toBe(true);
  });

  test.each(['currentPeriodStart', 'paidUntil'] as const)(
    'is removed with an unpaid dropped charge, so that a later charge can claim the period: other %s',
    async (field) => {
      const was = await insert(opening({ status: 'paused', currentPeriodStart: iso(NOON) }));
      const end = was.charge?.end;
      const dropped = { ...dropCharge(was), paidUntil: end, [field]: iso(NOON - DAY_MS) };
      const next = await commit(was, dropped);
      expect(await isStored(FIRST)).toBe(false);
      await commit(next, { ...next, charge: was.charge });
      expect(await isStored(FIRST)).toBe(true);
    },
  );

  test.each([opening(), subscription()])('is removed with the record of a failed creation', async (creating) => {
    await store.removeCreating(await insert(creating));
    expect(await everything()).toEqual([]);
  });

  test('is not removed by a function that read an earlier record', async () => {
    const was = await insert(opening());
    await commit(was, { ...was, tags: 'first' });
    await store.removeCreating(was);
    expect(await isStored(FIRST)).toBe(true);
    expect(await store.load(id)).toMatchObject({ tags: 'first' });
  });

  test('is not made if the provider bills', async () => {
    const was = await insert(opening({ billingOwner: 'provider' }));
    expect(await isStored(FIRST)).toBe(false);
    await table.put({ ...FIRST, cause: 'create' });
    await commit(was, dropCharge(was));
    expect(await isStored(FIRST)).toBe(true);
  });
});

describe('the membership of a subscription', () => {
  const membership = async (of: Subscription): Promise<Item | undefined> =>
    table.get(membershipKey(membershipOf({ ...of, status: 'active' })?.id ?? ''));

  test('is written with the version that grants it, and again only if the membership changes', async () => {
    const was = await running();
    expect(await membership(was)).toMatchObject({ status: 'active', version: was.version });
    const same = await commit(was, { ...was, version: was.version + 1, concept: 'other' });
    expect(await membership(was)).toMatchObject({ version: was.version });
    const paused = await commit(same, { ...same, version: was.version + 2, status: 'paused' });
    expect(await membership(was)).toMatchObject({ status: 'expired', version: paused.version });
  });

  test('does not exist before the first charge is paid', async () => {
    const was = await insert(opening());
    expect(await membership(was)).toBeUndefined();
  });
});

describe('the usage entries of a subscription', () => {
  const uses = ({ customerId, paymentMethodId = '' }: Subscription, address = 'addr_1'): readonly Key[] => [
    usedByKey('CUS', customerId, id),
    usedByKey('PM', paymentMethodId, id),
    addressUseKey(address, 'SUB', id),
  ];
  const stored = (keys: readonly Key[]): Promise<readonly boolean[]> => Promise.all(keys.map(isStored));

  test('are stored by customer, method and address while the subscription is live', async () => {
    const was = await running({ billingAddressId: 'addr_1' });
    expect(await stored(uses(was))).toEqual([true, true, true]);
    expect(await table.get(usedByKey('CUS', was.customerId, id))).toMatchObject({ subscriptionId: id });
    await commit(was, { ...was, status: 'canceled' });
    expect(await stored(uses(was))).toEqual([false, false, true]);
  });

  test('are absent before readers see the subscription', async () => {
    const was = await insert(opening({ billingAddressId: 'addr_1' }));
    expect(await stored(uses(was))).toEqual([false, false, false]);
  });

  test('follow a change of method and address', async () => {
    const was = await running({ billingAddressId: 'addr_1' });
    const next = await commit(was, { ...was, paymentMethodId: 'pmt_2', billingAddressId: 'addr_2' });
    expect(await stored(uses(was))).toEqual([true, false, false]);
    expect(await stored(uses(next, 'addr_2'))).toEqual([true, true, true]);
  });

  test('do not include a method if the subscription has none', async () => {
    await running({ paymentMethodId: undefined });
    const names = (await everything()).map(({ pk }) => String(pk).split('#')[0]);
    expect([...new Set(names)]).toEqual(['CUS', 'MBR', 'SUB']);
  });

  test('include the new method of a transfer', async () => {
    const was = await running();
    const transfer = {
      paymentMethodId: 'pmt_2',
      methodRef: 'pm_2',
      providerCustomerId: 'cus_2',
      claimedAt: iso(NOON),
      lookAt: iso(NOON),
    };
    const next = await commit(was, { ...was, transfer });
    expect(await stored([usedByKey('PM', 'pmt_2', id), usedByKey('PM', was.paymentMethodId ?? '', id)])).toEqual([
      true,
      true,
    ]);
    await commit(next, { ...next, transfer: undefined });
    expect(await isStored(usedByKey('PM', 'pmt_2', id))).toBe(false);
  });
});

describe('the due time of a subscription', () => {
  test('is stored in its provider’s shard, and can be deferred and removed', async () => {
    const was = await insert(subscription({ status: 'active', currentPeriodEnd: iso(NOON + DAY_MS) }));
    const shard = billingShard('provider_a', id);
    expect(await table.get(recordKey('SUB', id))).toMatchObject({ due: shard, due_at: iso(NOON + DAY_MS) });
    await store.putOff(was, iso(NOON + 2 * DAY_MS));
    expect(await table.get(recordKey('SUB', id))).toMatchObject({ due: shard, due_at: iso(NOON + 2 * DAY_MS) });
    await store.setTimes({ ...was, status: 'canceled' }, {});
    const item = await table.get(recordKey('SUB', id));
    expect([item?.['due'], item?.['due_at']]).toEqual([undefined, undefined]);
    expect(item && subscriptionOf(item)).toMatchObject({ id });
  });

  test('does not exist for an ended subscription', async () => {
    await insert(subscription({ status: 'canceled' }));
    expect(Object.keys((await table.get(recordKey('SUB', id))) ?? {})).not.toContain('due');
  });

  test('is not deferred on a record that has changed since', async () => {
    const was = await insert(subscription({ status: 'active', currentPeriodEnd: iso(NOON + DAY_MS) }));
    await commit(was, { ...was, tags: 'first' });
    expect(await store.putOff(was, iso(NOON + 2 * DAY_MS))).toBe(false);
    expect(await table.get(recordKey('SUB', id))).toMatchObject({ due_at: iso(NOON + DAY_MS) });
  });
});

describe('the erasure of a subscription', () => {
  test('removes an ended subscription with its membership and address usage, and keeps its period claims', async () => {
    const was = await running({ billingAddressId: 'addr_1' });
    await commit(was, { ...was, status: 'canceled' });
    await eraseSubscription(table, id);
    expect((await everything()).map(({ pk, sk }) => ({ pk, sk }))).toEqual([FIRST]);
  });

  test('removes an ended subscription that never granted a membership', async () => {
    await insert(subscription({ status: 'declined' }));
    await eraseSubscription(table, id);
    expect(await everything()).toEqual([]);
  });

  test('does not change a live or a missing subscription', async () => {
    await running();
    const before = await everything();
    await eraseSubscription(table, id);
    await eraseSubscription(table, 'subs_other');
    expect(await everything()).toEqual(before);
  });

  test('waits while the subscription can exist at the provider', async () => {
    const was = await insert(opening({ billingOwner: 'provider' }));
    expect((await refusalIn(eraseSubscription(table, id))).code).toBe('PAYMENT_IN_PROGRESS');
    expect(await store.load(id)).toMatchObject({ id: was.id });
  });
});
