/**
 * @module Payment histories of a period. Each history runs its steps, and returns the paid price and the amounts
 * missing from it.
 */

import { expect } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import type { TestHost } from './host.ts';
import { changeTo, type PlanHolder, type PlanPlace, plan, subscribed } from './plan-changes.ts';
import { refund, signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';
import { paymentsOf, readSubscription } from './subscribers.ts';

/** A payment of the period. */
export interface PaymentOfPeriod {
  /** The amount refunded, being refunded, disputed or lost. */
  readonly missing: number;
  /** Epoch ms. The payment covers the time from here to the end of the period. */
  readonly since: number;
}

export interface PaidBy {
  /** The price paid for the whole period, before missing amounts are deducted. */
  readonly price: number;
  readonly payments: readonly PaymentOfPeriod[];
  /** The amount paid from the payer's balance or outside the provider. No payment record contains this amount. */
  readonly elsewhere?: number;
}

export interface PeriodStage {
  readonly service: TestHost;
  readonly place: PlanPlace;
}

export type Held = PlanHolder & { readonly first: ParsedJson };

export interface Way {
  readonly name: string;
  /** Fields of the product. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly pay: (stage: PeriodStage, of: Held) => Promise<PaidBy>;
}

/** The price of a month. */
export const MONTH = 3_000;
const DEARER = 6_000;

/** Starts a month at 30.00, unless the history sets other fields. */
export const opened = async ({ service, place }: PeriodStage, fields: Way['fields'] = {}): Promise<Held> => {
  const product_id = await plan(service, MONTH, fields);
  const held = await subscribed(service, place, { product_id });
  await service.settle();
  return held;
};

/** The exact credit for the rest of a period after `at`. Half a minor unit is rounded up. */
export const creditAt = ({ price, payments }: PaidBy, period: { start: number; end: number }, at: number): number => {
  const left = BigInt(period.end - at);
  const spans = payments.map(({ since }) => BigInt(period.end - since));
  const whole = BigInt(period.end - period.start);
  const bottom = spans.reduce((product, span) => product * span, whole);
  const missing = payments.reduce((sum, one, index) => {
    const share = (BigInt(one.missing) * left * bottom) / (spans[index] ?? 1n);
    return sum + share;
  }, 0n);
  const top = (BigInt(price) * left * bottom) / whole - missing;
  return top <= 0n ? 0 : Number((2n * top + bottom) / (2n * bottom));
};

export const startOf = async ({ service }: PeriodStage, { who, id }: PlanHolder): Promise<number> =>
  Date.parse((await readSubscription(service, who, id)).current_period_start);

export const newestPayment = async ({ service }: PeriodStage, { who, id }: PlanHolder) =>
  present((await paymentsOf(service, who, id)).at(-1));

/** The merchant refunds the payment. */
export const giveBack = async ({ service }: PeriodStage, paymentId: string, amount_cents?: number): Promise<void> => {
  const admin = await signInAdmin(service);
  const { status, body } = await refund(service, paymentId, { body: { amount_cents }, ...admin.options });
  expect({ status, body }).toMatchObject({ status: 201 });
  await service.settle();
};

/** The payer's bank opens a dispute, and then decides it. */
export const dispute = async (
  { service }: PeriodStage,
  paymentId: string,
  { amount, ends }: { readonly amount?: number; readonly ends?: 'lost' | 'won' } = {},
): Promise<void> => {
  const { id } = await service.control('POST', `/simulator/payments/${paymentId}/disputes`, { amount });
  await service.settle();
  if (ends === undefined) return;
  await service.advance(HOUR_SECONDS);
  await service.control('POST', `/simulator/disputes/${id}`, { status: ends });
  await service.settle();
};

/** The payer upgrades on the sixth day and pays the difference. @returns the payment */
export const upgraded = async (
  stage: PeriodStage,
  of: Held,
): Promise<{ readonly id: string; readonly since: number }> => {
  const { service } = stage;
  await service.advance(5 * DAY_SECONDS);
  const product_id = await plan(service, DEARER);
  const since = service.now();
  const { status, body } = await changeTo(service, of, { product_id });
  expect({ status, body }).toMatchObject({ status: 200, body: { total_cents: DEARER, pending_change: null } });
  await service.settle();
  return { id: body.latest_payment_id, since };
};

/** The amount of the newest payment. After an upgrade, this is the difference between the plans. */
const differenceOf = async (stage: PeriodStage, of: Held): Promise<number> =>
  (await newestPayment(stage, of)).total_cents;

const opening = (missing: number) => async (stage: PeriodStage, of: Held) => ({
  price: MONTH,
  payments: [{ missing, since: await startOf(stage, of) }],
});

/** A history with only the opening payment. The amount `missing` of this payment is refunded, disputed or lost. */
const way = (
  name: string,
  missing: number,
  happens: (stage: PeriodStage, paymentId: string) => Promise<unknown>,
): Way => ({
  name,
  pay: async (stage, of) => {
    await happens(stage, (await newestPayment(stage, of)).id);
    return opening(missing)(stage, of);
  },
});

const refundThere = async ({ service }: PeriodStage, paymentId: string, fields: object) => {
  const made = await service.control('POST', `/simulator/payments/${paymentId}/refunds`, { ...fields });
  await service.settle();
  return made;
};

const OPENINGS: readonly Way[] = [
  way('paid in full', 0, async () => {}),
  way('refunded in part', 1_000, (stage, id) => giveBack(stage, id, 1_000)),
  way('refunded in full', 3_000, (stage, id) => giveBack(stage, id)),
  way('refunded by a single minor unit', 1, (stage, id) => giveBack(stage, id, 1)),
  way('refunded in two parts', 1_700, async (stage, id) => {
    await giveBack(stage, id, 700);
    await giveBack(stage, id, 1_000);
  }),
  way('being refunded', 2_000, (stage, id) => refundThere(stage, id, { amount: 2_000, status: 'pending' })),
  way('refunded in the provider’s dashboard', 500, (stage, id) => refundThere(stage, id, { amount: 500 })),
  way('refunded, and the refund failed', 0, async (stage, id) => {
    const { id: refundId } = await refundThere(stage, id, { amount: 2_000, status: 'pending' });
    await stage.service.control('POST', `/simulator/refunds/${refundId}`, { status: 'failed' });
    await stage.service.settle();
  }),
  way('disputed', 3_000, (stage, id) => dispute(stage, id)),
  way('disputed in part', 1_200, (stage, id) => dispute(stage, id, { amount: 1_200 })),
  way('lost in a dispute', 3_000, (stage, id) => dispute(stage, id, { ends: 'lost' })),
  way('lost in part in a dispute', 1_200, (stage, id) => dispute(stage, id, { amount: 1_200, ends: 'lost' })),
  way('disputed, and the dispute was won', 0, (stage, id) => dispute(stage, id, { ends: 'won' })),
  way('refunded in part and lost in part', 1_900, async (stage, id) => {
    await giveBack(stage, id, 700);
    await dispute(stage, id, { amount: 1_200, ends: 'lost' });
  }),
];

/**
 * Histories with a plan change. A refund before the change reduces its credit, so only later refunds count as missing.
 */
const CHANGES: readonly Way[] = [
  {
    name: 'changed and paid',
    pay: async (stage, of) => {
      const { since } = await upgraded(stage, of);
      return { price: DEARER, payments: [{ missing: 0, since }] };
    },
  },
  {
    name: 'changed, and the opening payment was refunded afterwards',
    pay: async (stage, of) => {
      const { id } = await newestPayment(stage, of);
      await upgraded(stage, of);
      await giveBack(stage, id);
      return { price: DEARER, payments: [{ missing: MONTH, since: await startOf(stage, of) }] };
    },
  },
  {
    name: 'changed, and the difference was refunded',
    pay: async (stage, of) => {
      const { id, since } = await upgraded(stage, of);
      const missing = await differenceOf(stage, of);
      await giveBack(stage, id);
      return { price: DEARER, payments: [{ missing, since }] };
    },
  },
  {
    name: 'changed, the difference was refunded in part, and the opening payment was lost in part',
    pay: async (stage, of) => {
      const before = await newestPayment(stage, of);
      const { id, since } = await upgraded(stage, of);
      await giveBack(stage, id, 1_000);
      await dispute(stage, present(before).id, { amount: 600, ends: 'lost' });
      const [first, second] = [await startOf(stage, of), since];
      return {
        price: DEARER,
        payments: [
          { missing: 600, since: first },
          { missing: 1_000, since: second },
        ],
      };
    },
  },
  {
    name: 'changed, and both payments were refunded',
    pay: async (stage, of) => {
      const before = await newestPayment(stage, of);
      const { id } = await upgraded(stage, of);
      for (const paymentId of [present(before).id, id]) await giveBack(stage, paymentId);
      return { price: 0, payments: [] };
    },
  },
  {
    name: 'refunded in full, then changed at the full price',
    pay: async (stage, of) => {
      await giveBack(stage, (await newestPayment(stage, of)).id);
      await upgraded(stage, of);
      return { price: DEARER, payments: [] };
    },
  },
  {
    name: 'refunded in part, changed, and refunded in part again',
    pay: async (stage, of) => {
      const { id } = await newestPayment(stage, of);
      await giveBack(stage, id, 1_000);
      await upgraded(stage, of);
      await giveBack(stage, id, 500);
      return { price: DEARER, payments: [{ missing: 500, since: await startOf(stage, of) }] };
    },
  },
  {
    name: 'changed twice, and the first difference was refunded',
    pay: async (stage, of) => {
      const { id, since } = await upgraded(stage, of);
      const missing = await differenceOf(stage, of);
      await stage.service.advance(DAY_SECONDS);
      const product_id = await plan(stage.service, 9_000);
      expect(await changeTo(stage.service, of, { product_id })).toMatchObject({ status: 200 });
      await giveBack(stage, id);
      return { price: 9_000, payments: [{ missing, since }] };
    },
  },
];

const FREE: readonly Way[] = [
  { name: 'free', fields: { total_cents: 0 }, pay: async () => ({ price: 0, payments: [] }) },
  { name: 'a free trial', fields: { trial_days: 60 }, pay: async () => ({ price: 0, payments: [] }) },
  {
    name: 'paid after a trial, and refunded in part',
    fields: { trial_days: 3 },
    pay: async (stage, of) => {
      await stage.service.advance(4 * DAY_SECONDS);
      await stage.service.settle();
      await giveBack(stage, (await newestPayment(stage, of)).id, 1_000);
      return opening(1_000)(stage, of);
    },
  },
];

export const WAYS_EVERYWHERE: readonly Way[] = [...OPENINGS, ...CHANGES, ...FREE];
