import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, type Instant, iso, utcDay } from '../../shared/core/time.ts';
import { erasePayment } from '../../shared/payments/erase-payment.ts';
import {
  isVisiblePayment,
  PAYMENT_STATUSES,
  type Payment,
  type VisiblePayment,
} from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { advancePayment } from '../../shared/payments/payment-versions.ts';
import { type Owner, paymentKey } from '../../shared/platform/keys.ts';
import { summaryOfAll } from '../../shared/queries/admin-summary.ts';
import { ownerSummary, summaryQuery } from '../../shared/queries/payment-summary.ts';
import { apiRequest } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentProjection } from '../builders/projection.ts';

/** Two users, an organization and a guest. The guest has no summary. */
const OWNERS: readonly Partial<Payment>[] = [
  { userId: 'user_1' },
  { userId: 'user_2' },
  { userId: 'user_1', organizationId: 'org_1' },
  { userId: undefined, guestId: 'gst_1', guestEmail: 'guest@example.com' },
];
const CURRENCIES = ['USD', 'EUR', 'JPY'] as const;
const PROVIDERS = ['provider_a', 'provider_b', 'provider_c'] as const;
/** The methods that a provider may report. A later report adds to an earlier report. */
const METHODS: readonly Payment['details'][] = [
  undefined,
  { type: 'card', cardBrand: 'visa', lastFour: '4242' },
  { type: 'card', cardBrand: 'visa', walletType: 'apple_pay' },
  { type: 'card' },
  { type: 'bank_account', bankName: 'Test Bank' },
  { type: 'wallet', walletType: 'paypal' },
];
/** The method that the summary names. */
const methodOf = ({ details }: Payment): string => {
  if (details?.type === 'card') return details.cardBrand ?? 'card';
  return (details?.type === 'wallet' ? details.walletType : details?.type) ?? '';
};
type Refund = NonNullable<Payment['refund']>;

interface PaymentChange {
  readonly before: Payment | undefined;
  readonly after: Payment;
}

/** Payments and refunds with realistic commits. Every commit is one message of the stream. */
const world = () => {
  let now: Instant = NOON;
  const payments = new Map<string, Payment>();
  const refunds = new Map<string, Map<string, Refund>>();
  const { table } = memoryTable({ now: () => now });
  let lastChange: PaymentChange | undefined;

  const publishChange = async ({ before, after }: PaymentChange): Promise<void> => {
    const steps = paymentProjection(before, after);
    if (steps.length > 0) await table.transact(steps);
  };
  const commit = async (after: Payment): Promise<void> => {
    const before = payments.get(after.id);
    payments.set(after.id, after);
    await table.put(paymentItem(after, now));
    lastChange = { before, after };
    await publishChange(lastChange);
  };
  const refundsOf = (id: string): Map<string, Refund> => {
    const known = refunds.get(id) ?? new Map<string, Refund>();
    refunds.set(id, known);
    return known;
  };
  return {
    payments,
    refunds,
    table,
    now: () => now,
    pass: (ms: number) => {
      now += ms;
    },
    commit,
    replay: async () => {
      if (lastChange && payments.has(lastChange.after.id)) await publishChange(lastChange);
    },
    refund: async (paid: VisiblePayment, next: Refund): Promise<void> => {
      refundsOf(paid.id).set(next.id, next);
      const succeeded = [...refundsOf(paid.id).values()].filter(({ status }) => status === 'succeeded');
      const facts = {
        refundedCents: succeeded.reduce((sum, { amountCents }) => sum + amountCents, 0),
        refundedCount: succeeded.length,
      };
      await commit(advancePayment(paid, { to: paid.status, now, cause: 'refund' }, { refund: next, ...facts }));
    },
    erase: async (id: string): Promise<void> => {
      await erasePayment(table, id);
      if (await table.get(paymentKey(id))) return;
      payments.delete(id);
      refunds.delete(id);
    },
  };
};
type World = ReturnType<typeof world>;

const step = fc.record({
  act: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('create', 'move', 'replay') },
    { weight: 3, arbitrary: fc.constantFrom('update', 'sync', 'facts') },
    { weight: 5, arbitrary: fc.constant('refund') },
    { weight: 1, arbitrary: fc.constant('erase') },
  ),
  of: fc.nat(),
  status: fc.oneof(fc.constantFrom(...PAYMENT_STATUSES), fc.constant('succeeded' as const)),
  cents: fc.integer({ min: 1, max: 10_000 }),
  currency: fc.constantFrom(...CURRENCIES),
  provider: fc.constantFrom(...PROVIDERS),
  method: fc.constantFrom(...METHODS),
  owner: fc.constantFrom(...OWNERS),
  withheld: fc.boolean(),
  hours: fc.nat(200),
});
type Step = ReturnType<typeof step.generate>['value'];

const create = async (all: World, { cents, currency, provider, owner, withheld }: Step): Promise<void> => {
  const at = iso(all.now());
  const id = `pay_${String(all.payments.size).padStart(3, '0')}${all.now().toString(36)}`;
  const creating: Payment = {
    ...payment({ id, createdAt: at, updatedAt: at, subtotalCents: cents, totalCents: cents, currency }),
    ...owner,
    providerId: provider,
    version: 0,
    status: 'creating',
    ...(withheld && cents % 3 === 0 && { withheld: true as const }),
  };
  await all.commit(creating);
  await all.commit(advancePayment(creating, { to: 'created', now: all.now(), cause: 'create' }));
};

/** A refund is created, succeeds immediately or later, fails, or fails after its success; its amount may change. */
const changeRefund = async (all: World, paid: VisiblePayment, { cents, hours }: Step): Promise<void> => {
  const known = [...(all.refunds.get(paid.id)?.values() ?? [])];
  const was = known[hours % (known.length + 1)];
  const at = iso(all.now());
  if (!was) {
    const added = { id: `ref_${known.length}`, amountCents: cents };
    await all.refund(
      paid,
      cents % 2 ? { ...added, status: 'pending' } : { ...added, status: 'succeeded', completedAt: at },
    );
    return;
  }
  const next = cents % 2 ? 'failed' : 'succeeded';
  const amountCents = cents % 3 ? was.amountCents : cents;
  if (was.status === 'failed') return;
  await all.refund(paid, {
    ...was,
    amountCents,
    was: was.status,
    status: next,
    ...(next === 'succeeded' && { completedAt: was.completedAt ?? at }),
  });
};

const run = async (all: World, given: Step): Promise<void> => {
  all.pass(given.hours * HOUR_MS);
  if (given.act === 'create') return create(all, given);
  if (given.act === 'replay') return all.replay();
  const found = [...all.payments.values()][given.of % Math.max(1, all.payments.size)];
  if (!found || !isVisiblePayment(found)) return;
  const now = all.now();
  if (given.act === 'erase') return all.erase(found.id);
  // A refund's event may arrive before the event of the payment's success.
  if (given.act === 'refund') return found.withheld ? undefined : changeRefund(all, found, given);
  if (given.act === 'sync') return all.commit({ ...found, reconcileAt: iso(now) });
  if (given.act === 'facts') {
    const move = { to: found.status, now, cause: 'facts' } as const;
    return all.commit(advancePayment(found, move, { details: given.method }));
  }
  if (found.status === 'succeeded' || found.status === 'canceled') return;
  if (given.act === 'move') return all.commit(advancePayment(found, { to: given.status, now, cause: 'event' }));
  if (all.refunds.get(found.id)?.size) return;
  const { cents, currency } = given;
  const amended = { subtotalCents: cents, totalCents: cents, currency };
  return all.commit(advancePayment(found, { to: found.status, now, cause: 'update' }, amended));
};

interface Counted {
  readonly day: string;
  readonly currency: string;
  readonly label: string;
  readonly amounts: readonly [count: number, cents: number, refunds: number, refunded: number];
}

const LABELS: Readonly<Record<string, (one: Payment) => string>> = {
  currency: () => '',
  status: ({ status }) => status,
  provider: ({ providerId }) => providerId,
  method: methodOf,
};

const countedOf = (all: World, one: Payment, groupBy: string): readonly Counted[] => {
  const isPaid = one.status === 'succeeded';
  if (groupBy === 'method' && !isPaid) return [];
  const { currency } = one;
  const label = LABELS[groupBy]?.(one) ?? '';
  const day = utcDay(groupBy === 'status' ? one.createdAt : (one.completedAt ?? ''));
  const isWithPayment = groupBy === 'status' || groupBy === 'method';
  const done = [...(all.refunds.get(one.id)?.values() ?? [])].filter(({ status }) => status === 'succeeded');
  const refunds = done.map(({ amountCents, completedAt }): Counted => {
    return { day: isWithPayment ? day : utcDay(completedAt ?? ''), currency, label, amounts: [0, 0, 1, amountCents] };
  });
  if (groupBy !== 'status' && !isPaid) return refunds;
  return [{ day, currency, label, amounts: [1, one.totalCents, 0, 0] }, ...refunds];
};

interface Grouping {
  readonly isListed: (one: Payment) => boolean;
  readonly groupBy: string;
  readonly periodOf: (day: string) => string;
}

/** The expected summary, computed from the payments and refunds themselves. */
const summedUp = (all: World, { isListed, groupBy, periodOf }: Grouping) => {
  const entries = [...all.payments.values()]
    .filter((one) => one.status !== 'creating' && !one.withheld && isListed(one))
    .flatMap((one) => countedOf(all, one, groupBy));
  const rows = new Map<string, number[]>();
  for (const { day, currency, label, amounts } of entries) {
    const key = [periodOf(day), currency, label].join(' ');
    rows.set(
      key,
      (rows.get(key) ?? [0, 0, 0, 0]).map((sum, index) => sum + (amounts[index] ?? 0)),
    );
  }
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
};

const PERIODS: Readonly<Record<string, (day: string) => string>> = {
  day: (day) => day,
  week: (day) => {
    let at = Date.parse(day);
    while (new Date(at).getUTCDay() !== 1) at -= DAY_MS;
    return utcDay(iso(at));
  },
  month: (day) => `${day.slice(0, 7)}-01`,
};

const summary = async (all: World, owner: Owner | undefined, fields: Record<string, string>) => {
  const query = summaryQuery.parse({ from: utcDay(iso(NOON)), to: utcDay(iso(NOON + 365 * DAY_MS)), ...fields });
  const request = { ...apiRequest({ owner }), query: { ...query, organization_id: undefined } };
  const { data } = await (owner ? ownerSummary(all, request) : summaryOfAll(all, request));
  const rows = Array.isArray(data) ? data : [];
  return rows.map(({ period, currency, status, provider_id, method, ...numbers }) => [
    [period, currency, status ?? provider_id ?? method ?? ''].join(' '),
    [numbers.count, numbers.amount_cents, numbers.refunded_count, numbers.refunded_cents],
  ]);
};

describe('the summaries of payments', () => {
  test('equal the sum over the payments after every random history, also with repeated messages of the stream', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const all = world();
        for (const one of steps) await run(all, one);
        for (const [interval, periodOf] of Object.entries(PERIODS)) {
          for (const group_by of Object.keys(LABELS)) {
            const asked = { interval, group_by };
            const of = (isListed: (one: Payment) => boolean) =>
              summedUp(all, { isListed, groupBy: group_by, periodOf });
            expect(await summary(all, undefined, asked)).toEqual(of(() => true));
            expect(await summary(all, { kind: 'user', userId: 'user_1' }, asked)).toEqual(
              of(({ userId, organizationId }) => userId === 'user_1' && organizationId === undefined),
            );
            expect(await summary(all, { kind: 'organization', organizationId: 'org_1' }, asked)).toEqual(
              of(({ organizationId }) => organizationId === 'org_1'),
            );
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the sums of a payment', () => {
  const sums = (before: Payment | undefined, after: Payment) =>
    paymentProjection(before, after).flatMap((one) =>
      'update' in one && one.update.pk === 'SUM#USER#user_1#PAY' ? [{ sk: one.update.sk, ...one.changes.add }] : [],
    );

  test('follow a changed amount and currency', () => {
    const amended = payment({ version: 2, totalCents: 900, subtotalCents: 900, currency: 'EUR' });
    expect(sums(payment(), amended)).toEqual([
      { sk: '2026-03-10#USD', 'status#created#count': -1, 'status#created#cents': -2_500 },
      { sk: '2026-03-10#EUR', 'status#created#count': 1, 'status#created#cents': 900 },
    ]);
  });

  test('count a success on the day of its completion', () => {
    const paid = payment({ status: 'succeeded', version: 2, completedAt: iso(NOON + DAY_MS) });
    expect(sums(payment({ status: 'processing' }), paid)).toEqual([
      {
        sk: '2026-03-10#USD',
        'status#processing#count': -1,
        'status#processing#cents': -2_500,
        'status#succeeded#count': 1,
        'status#succeeded#cents': 2_500,
      },
      {
        sk: '2026-03-11#USD',
        'provider#provider_a#count': 1,
        'provider#provider_a#cents': 2_500,
        'method##count': 1,
        'method##cents': 2_500,
      },
    ]);
  });

  test('subtract a refund that failed after its success, on the day of the success', () => {
    const paid = payment({ status: 'succeeded', completedAt: iso(NOON), refundedCents: 700, refundedCount: 1 });
    const refund: Refund = {
      id: 'ref_1',
      amountCents: 700,
      status: 'failed',
      was: 'succeeded',
      completedAt: iso(NOON + DAY_MS),
    };
    const next = { ...paid, version: 2, updatedAt: iso(NOON + 9 * DAY_MS), refundedCents: 0, refundedCount: 0 };
    expect(sums(paid, { ...next, cause: 'refund', refund })).toEqual([
      {
        sk: '2026-03-10#USD',
        'status#succeeded#refunds': -1,
        'status#succeeded#refunded': -700,
        'method##refunds': -1,
        'method##refunded': -700,
      },
      { sk: '2026-03-11#USD', 'provider#provider_a#refunds': -1, 'provider#provider_a#refunded': -700 },
    ]);
  });

  test('move a payment and its refunds to the method that is reported later', () => {
    const paid = payment({ status: 'succeeded', completedAt: iso(NOON), refundedCents: 700, refundedCount: 1 });
    const known = {
      ...paid,
      version: 2,
      cause: 'facts' as const,
      details: { type: 'card' as const, cardBrand: 'visa' },
    };
    expect(sums(paid, known)).toEqual([
      {
        sk: '2026-03-10#USD',
        'method##count': -1,
        'method##cents': -2_500,
        'method##refunds': -1,
        'method##refunded': -700,
        'method#visa#count': 1,
        'method#visa#cents': 2_500,
        'method#visa#refunds': 1,
        'method#visa#refunded': 700,
      },
    ]);
  });

  test('count a refund once, even if a later version still names the refund', () => {
    const refund: Refund = { id: 'ref_1', amountCents: 700, status: 'succeeded', completedAt: iso(NOON) };
    const refunded = payment({ status: 'succeeded', completedAt: iso(NOON), cause: 'refund', refund });
    expect(sums(refunded, { ...refunded, version: 2, cause: 'sync' })).toEqual([]);
  });
});
