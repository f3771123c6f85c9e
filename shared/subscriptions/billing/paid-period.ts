/**
 * @module The payments of the current period, and the credit they give when the plan changes. Pure. Each payment counts
 * over the time it paid for. Refunded, lost or unreceived money reduces the credit.
 */

import { type Fraction, fractionOf, minus, NO_FRACTION, roundedHalfUp, times } from '../../core/fraction.ts';
import type { Prices } from '../../core/money.ts';
import { type Instant, instant } from '../../core/time.ts';
import { type AccountFields, moneyAccount } from '../../payments/money-account.ts';
import type { CreditSource, PaidPeriod } from '../record/paid-period-record.ts';
import { isPeriodPaid } from '../record/paid-tier.ts';

export type Parts = Pick<Prices, 'totalCents' | 'taxCents' | 'discountCents'>;

/** The payment fields that determine how much of its money is missing. */
export type SourcePayment = AccountFields & Parts & { readonly version: number };

interface Span {
  readonly start: Instant;
  readonly end: Instant;
}

/** A period without payments. */
export const unpaidPeriod = (start: string): PaidPeriod => ({
  ...{ start, totalCents: 0, taxCents: 0, discountCents: 0, payments: [] },
});

/** A period paid by one payment. */
export const periodPaidBy = (
  { start, end }: { readonly start: string; readonly end: string },
  { totalCents, taxCents, discountCents }: Parts,
  payment: { readonly id: string; readonly cents: number },
): PaidPeriod => ({
  ...{ start, totalCents, taxCents, discountCents },
  payments: [{ ...payment, overMs: instant(end) - instant(start) }],
});

interface PeriodFields extends Parts {
  readonly paidPeriod?: PaidPeriod | undefined;
  readonly currentPeriodStart: string;
  readonly currentPeriodEnd: string;
  readonly paidUntil?: string | undefined;
  readonly latestPaymentId?: string | undefined;
}

/** The payments of the current period. An older record without this field has only its latest payment. */
export const paidPeriodOf = (subscription: PeriodFields): PaidPeriod => {
  const { paidPeriod, currentPeriodStart: start, currentPeriodEnd: end, latestPaymentId, totalCents } = subscription;
  if (paidPeriod) return paidPeriod.start === start ? paidPeriod : unpaidPeriod(start);
  if (latestPaymentId === undefined || !isPeriodPaid(subscription)) return unpaidPeriod(start);
  return periodPaidBy({ start, end }, subscription, { id: latestPaymentId, cents: totalCents });
};

/** A payment with its amount less refunds and losses. */
interface ReadSource extends CreditSource {
  readonly leftCents: number;
  readonly payment: SourcePayment | undefined;
}

const readSource = (source: CreditSource, payment: SourcePayment | undefined): ReadSource => {
  const leftCents = payment ? moneyAccount(payment).refundable : 0;
  return { ...source, payment, leftCents: Math.min(source.cents, leftCents) };
};

export type PaymentsById = ReadonlyMap<string, SourcePayment>;

/** The credit at one moment of the period, as exact fractions. */
export type ExactParts = { readonly [Part in keyof Parts]: Fraction };

export const eachPart = <T>(read: (part: keyof Parts) => T): { readonly [Part in keyof Parts]: T } => ({
  totalCents: read('totalCents'),
  taxCents: read('taxCents'),
  discountCents: read('discountCents'),
});

/** The unused share of the period's price, less the share of missing money. Never below 0. */
export const creditOf = (
  paid: PaidPeriod,
  { period, at }: { readonly period: Span; readonly at: Instant },
  payments: PaymentsById,
): ExactParts => {
  const whole = period.end - period.start;
  // The period may start later than this clock says, if another instance started it.
  const left = Math.min(period.end - at, whole);
  const sources = paid.payments.map((source) => readSource(source, payments.get(source.id)));
  return eachPart((part) => {
    const unused = fractionOf(paid[part], left, whole);
    const credit = sources.reduce((rest, source) => minus(rest, missingOf(source, part, left)), unused);
    return credit.top > 0n ? credit : NO_FRACTION;
  });
};

/**
 * The share of a payment's missing money for the rest of the period. It reduces tax and discount in proportion to the
 * total.
 */
const missingOf = ({ cents, leftCents, overMs, payment }: ReadSource, part: keyof Parts, left: number): Fraction => {
  const missing = fractionOf(cents - leftCents, left, overMs);
  if (part === 'totalCents') return missing;
  if (!payment || payment.totalCents === 0) return NO_FRACTION;
  return times(missing, fractionOf(payment[part], 1, payment.totalCents));
};

export interface PaidChange {
  readonly paid: PaidPeriod;
  readonly payments: PaymentsById;
  readonly credit: ExactParts;
  /** The current period before the change. */
  readonly period: Span;
  readonly at: Instant;
  /** The period that begins with the change; undefined if the current period continues. */
  readonly begins?: (Span & { readonly startsAt: string }) | undefined;
  /** The new plan's price for a whole period, as charged. */
  readonly to: Parts;
  /** The new plan's price for the rest of the current period, or for a new period. */
  readonly part: Parts;
  readonly dueCents: number;
  /** True if the merchant has waived the difference. */
  readonly isWaived: boolean;
}

/** Limits the payments of one period, because the claim of a change must check each of them. */
const MOST_PAYMENTS = 80;

/** True if the period has reached that limit, so another change now is refused. */
export const hasMostPayments = (subscription: PeriodFields): boolean =>
  paidPeriodOf(subscription).payments.length >= MOST_PAYMENTS;

/**
 * The payments of the period after a change. The change's amount due has made up for missing money, and forfeited
 * credit no longer counts. A waived amount was not paid, so later changes do not credit it.
 * @param paymentId of the change; undefined if nothing is due
 */
export const paidAfterChange = (change: PaidChange, paymentId: string | undefined): PaidPeriod => {
  const { paid, begins, period, at, to, dueCents } = change;
  const price = change.isWaived ? waivedPrice(change) : to;
  const { totalCents, taxCents, discountCents } = price;
  const span = begins ?? period;
  const kept = paid.payments.map((source) => keptSource(source, change, price)).filter((one) => counts(one, span));
  const own =
    paymentId === undefined ? [] : [{ id: paymentId, cents: Math.min(dueCents, totalCents), overMs: span.end - at }];
  const start = begins?.startsAt ?? paid.start;
  return { ...{ start, totalCents, taxCents, discountCents }, payments: [...kept, ...own] };
};

/** A waived amount adds nothing to the paid price. A new period is then worth the credit of the old period. */
const waivedPrice = ({ paid, begins, to, credit }: PaidChange): Parts => {
  const before = begins ? eachPart((part) => roundedHalfUp(credit[part])) : paid;
  return to.totalCents < before.totalCents ? to : before;
};

/** The payment's entry after the change. In a new period, the payment counts with its share of the credit. */
const keptSource = (source: CreditSource, change: PaidChange, price: Parts): CreditSource => {
  const { paid, payments, begins, period, at, isWaived, credit, part } = change;
  const { id, overMs } = source;
  if (isWaived && !begins) return { id, overMs, cents: shareUp(source.cents, price.totalCents, paid.totalCents) };
  const { leftCents } = readSource(source, payments.get(id));
  const cents = shareUp(leftCents, (isWaived ? price : part).totalCents, roundedHalfUp(credit.totalCents));
  if (!begins) return { id, overMs, cents };
  const scaled = (BigInt(overMs) * BigInt(begins.end - begins.start)) / BigInt(period.end - at);
  return { id, cents, overMs: Number(scaled) };
};

/** Returns amount × part / whole, rounded up, but at most the amount. */
const shareUp = (amount: number, part: number, whole: number): number =>
  part >= whole ? amount : Number((BigInt(amount) * BigInt(part) + BigInt(whole) - 1n) / BigInt(whole));

/** True unless the payment counts for less than half a minor unit in this period. */
const counts = ({ cents, overMs }: CreditSource, { start, end }: Span): boolean =>
  Number.isSafeInteger(overMs) && 2 * cents * ((end - start) / overMs) >= 1;
