/** @module The credit of a plan change with a discount code, after a partial refund of the period's payment. */

import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { putCode } from './discounts.ts';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { creditAt, giveBack, newestPayment } from './paid-periods.ts';
import { changeTo, PLAN_PLACES, type PlanHolder, plan, preview, priceAtStripe, subscribed } from './plan-changes.ts';
import { paymentsOf, readSubscription } from './subscribers.ts';

const DOWNGRADE_NOW = { PLAN_CHANGE_DOWNGRADE: 'now' };

interface List {
  readonly subtotal: number;
  readonly tax: number;
}

interface Terms {
  readonly percent_bp?: number;
  readonly amount?: number;
}

/** Exact integer division, with halves rounded up. */
const half = (top: bigint, bottom: bigint): number => Number((2n * top + bottom) / (2n * bottom));

const totalOf = ({ subtotal, tax }: List): number => subtotal + tax;

/** The total with the discount code, which reduces the subtotal and with it the tax. */
const reduced = ({ subtotal, tax }: List, { percent_bp, amount = 0 }: Terms): number => {
  const base = BigInt(subtotal);
  const cut = percent_bp === undefined ? Math.min(amount, subtotal) : half(base * BigInt(percent_bp), 10_000n);
  const rest = subtotal - cut;
  return rest + half(BigInt(tax) * BigInt(rest), base);
};

const FROM: List = { subtotal: 2_500, tax: 475 };

interface Code extends Terms {
  readonly name: string;
  readonly duration: 'once' | 'repeating' | 'forever';
}

const CODES: readonly Code[] = [
  { name: 'once, 40 %', duration: 'once', percent_bp: 4_000 },
  { name: 'repeating, a third', duration: 'repeating', percent_bp: 3_333 },
  { name: 'forever, an amount', duration: 'forever', amount: 700 },
  { name: 'forever, a quarter', duration: 'forever', percent_bp: 2_500 },
];

interface Change {
  readonly name: string;
  readonly to: List;
  readonly quantity?: number;
  readonly interval?: 'yearly';
}

const CHANGES: readonly Change[] = [
  { name: 'upgrade', to: { subtotal: 6_000, tax: 1_139 } },
  { name: 'downgrade', to: { subtotal: 901, tax: 171 } },
  { name: 'higher quantity', to: FROM, quantity: 3 },
  { name: 'longer interval', to: { subtotal: 25_000, tax: 4_750 }, interval: 'yearly' },
];

const REFUNDS = [700, 1, 1_613, 'all'] as const;

const CASES = CODES.flatMap((code, row) =>
  CHANGES.map((change, column) => ({ code, change, refund: REFUNDS[(row + column) % REFUNDS.length] ?? 'all' })),
);

const listOf = ({ to, quantity = 1 }: Change): List => ({
  subtotal: to.subtotal * quantity,
  tax: to.tax * quantity,
});

interface Expected {
  readonly price: number;
  readonly next: number;
  /** Null if the code has no end; undefined if the code has ended. */
  readonly left: number | null | undefined;
}

/** The price after the change, the next period's price, and the remaining periods of the code. */
const expectedOf = ({ duration, ...terms }: Code, change: Change): Expected => {
  const list = listOf(change);
  const [cut, full] = [reduced(list, terms), totalOf(list)];
  const opened = change.interval ? 2 : 1;
  if (duration === 'forever') return { price: cut, next: cut, left: null };
  if (duration === 'repeating') return { price: cut, next: cut, left: 3 - opened };
  return opened === 1 ? { price: cut, next: full, left: 0 } : { price: full, next: full, left: undefined };
};

const fieldsOf = ({ percent_bp, amount, duration }: Code) => ({
  ...(percent_bp === undefined ? { percent_bp: null, amounts: { USD: amount } } : { percent_bp }),
  ...(duration === 'repeating' && { duration_periods: 3 }),
  duration,
});

describe.each(PLAN_PLACES)('the credit with a discount code at %s', (_, place) => {
  const service = withHost({ frozen: true, env: { ...PATIENT, ...place.settings, ...DOWNGRADE_NOW } });
  const stage = { service, place };
  let codes = 0;

  const productOf = ({ subtotal, tax }: List, fields: Readonly<Record<string, unknown>> = {}) =>
    plan(service, subtotal + tax, { subtotal_cents: subtotal, tax_cents: tax, ...fields });

  /** A subscriber with a discount code, after a partial refund of the reduced opening payment. */
  const held = async (code: Code, refund: (typeof REFUNDS)[number]) => {
    codes += 1;
    const name = `CREDIT-${codes}`;
    await putCode(service, name, fieldsOf(code));
    const from = await productOf(FROM);
    const of = await subscribed(service, place, { product_id: from, discount_code: name });
    await service.settle();
    const opening = await newestPayment(stage, of);
    const paid = reduced(FROM, code);
    expect(opening.total_cents).toBe(paid);
    const missing = refund === 'all' ? paid : refund;
    await giveBack(stage, opening.id, missing);
    await service.advance(3 * DAY_SECONDS + 4_321);
    return { of, name, from, opening, paid, missing };
  };

  const periodOf = async ({ who, id }: PlanHolder) => {
    const { current_period_start: start, current_period_end: end } = await readSubscription(service, who, id);
    return { start: Date.parse(start), end: Date.parse(end) };
  };

  const wantedOf = async ({ to, quantity, interval }: Change, from: string) => ({
    product_id: to === FROM ? from : await productOf(to, interval && { billing_interval: interval }),
    when: 'now',
    ...(quantity && { quantity }),
  });

  test.each(CASES)(
    'is exact for the change "$change.name" ($code.name) after a refund of $refund',
    { timeout: 600_000 },
    async ({ code, change, refund }) => {
      const { of, name, from, opening, paid, missing } = await held(code, refund);
      const { price, next, left } = expectedOf(code, change);
      const asked = await wantedOf(change, from);
      const { status, body: seen } = await preview(service, of, asked);
      expect({ status, seen }).toMatchObject({ status: 200 });
      const period = await periodOf(of);
      const at = Date.parse(seen.proration_at);
      const credit = creditAt({ price: paid, payments: [{ missing, since: period.start }] }, period, at);
      const [rest, whole] = [BigInt(period.end - at), BigInt(period.end - period.start)];
      const part = change.interval ? price : half(BigInt(price) * rest, whole);
      const due = Math.max(0, part - credit);
      expect(seen).toMatchObject({ unused_cents: credit, due_now_cents: due, next_total_cents: next });
      expect(seen.discount?.code).toBe(left === undefined ? undefined : name);
      expect(seen.discount?.periods_left).toBe(left);
      const lines = seen.lines as { amount_cents: number }[];
      expect(lines.reduce((sum, line) => sum + line.amount_cents, 0)).toBe(due);

      const sent = { ...asked, proration_at: seen.proration_at, expected_cents: due };
      const changed = await changeTo(service, of, sent);
      expect(changed).toMatchObject({ status: 200, body: { total_cents: price, pending_change: null } });
      expect(changed.body.discount?.periods_left).toBe(left);
      await service.settle();
      const newest = await newestPayment(stage, of);
      if (due === 0) expect(newest.id).toBe(opening.id);
      else expect(newest).toMatchObject({ total_cents: due, billing_reason: 'subscription_change' });
      await expectSecondCredit(of, { price, at, due, paymentId: newest.id, interval: change.interval });
      if (!change.interval) await expectRenewal(of, period.end, next);
    },
  );

  interface Changed {
    readonly price: number;
    /** Time of the change, epoch ms. */
    readonly at: number;
    /** The amount paid for the change. */
    readonly due: number;
    readonly paymentId: string;
    readonly interval: Change['interval'];
  }

  /** Expects that a later preview credits the paid plan change, minus later refunds. */
  const expectSecondCredit = async (
    of: PlanHolder,
    { price, at, due, paymentId, interval }: Changed,
  ): Promise<void> => {
    const missing = Math.min(due, 333);
    if (missing > 0) await giveBack(stage, paymentId, missing);
    await service.advance(DAY_SECONDS + 777);
    const product_id = await plan(service, 90_000, interval && { billing_interval: interval });
    const { status, body: seen } = await preview(service, of, { product_id, when: 'now' });
    expect({ status, seen }).toMatchObject({ status: 200 });
    const period = await periodOf(of);
    const payments = missing > 0 ? [{ missing, since: interval ? period.start : at }] : [];
    const credit = creditAt({ price, payments }, period, Date.parse(seen.proration_at));
    expect(seen.unused_cents).toBe(credit);
    const there = await priceAtStripe(service, of);
    if (there !== undefined) expect(there).toBe(price);
  };

  const expectRenewal = async (of: PlanHolder, end: number, next: number): Promise<void> => {
    await service.moveTo(new Date(end + 5 * MINUTE_SECONDS * 1_000).toISOString());
    await service.settle();
    const renewed = present((await paymentsOf(service, of.who, of.id)).at(-1));
    expect(renewed).toMatchObject({ status: 'succeeded', total_cents: next, billing_reason: 'subscription_cycle' });
  };
});
