/**
 * @module What the present period was paid with, and what of it counts as credit when the plan changes. Pure. Each
 * payment counts over the time that it paid for. What did not arrive or has come back of it is missing.
 */

import { type Fraction, fractionOf, minus, NO_FRACTION, roundedHalfUp, times } from '../../core/fraction.ts';
import type { Prices } from '../../core/money.ts';
import { type Instant, instant } from '../../core/time.ts';
import { type AccountFields, moneyAccount } from '../../payments/money-account.ts';
import type { CreditSource, PaidPeriod } from '../record/paid-period-record.ts';
import { isPeriodPaid } from '../record/paid-tier.ts';

export type Parts = Pick<Prices, 'totalCents' | 'taxCents' | 'discountCents'>;

/** The fields of a payment that decide what is missing of it. */
export type SourcePayment = AccountFields & Parts & { readonly version: number };

interface Span {
  readonly start: Instant;
  readonly end: Instant;
}

/** A period that nothing was paid for. */
export const unpaidPeriod = (start: string): PaidPeriod => ({
  ...{ start, totalCents: 0, taxCents: 0, discountCents: 0, payments: [] },
});

/** A period that one payment has opened. */
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

/** What the present period was paid with. A record from before this was kept has its latest payment. */
export const paidPeriodOf = (subscription: PeriodFields): PaidPeriod => {
  const { paidPeriod, currentPeriodStart: start, currentPeriodEnd: end, latestPaymentId, totalCents } = subscription;
  if (paidPeriod) return paidPeriod.start === start ? paidPeriod : unpaidPeriod(start);
  if (latestPaymentId === undefined || !isPeriodPaid(subscription)) return unpaidPeriod(start);
  return periodPaidBy({ start, end }, subscription, { id: latestPaymentId, cents: totalCents });
};

/** A source with what is left of it. */
interface ReadSource extends CreditSource {
  readonly leftCents: number;
  readonly payment: SourcePayment | undefined;
}

const readSource = (source: CreditSource, payment: SourcePayment | undefined): ReadSource => {
  const leftCents = payment ? moneyAccount(payment).refundable : 0;
  return { ...source, payment, leftCents: Math.min(source.cents, leftCents) };
};

export type PaymentsById = ReadonlyMap<string, SourcePayment>;

/** The credit at a moment of the period, as exact fractions. */
export type ExactParts = { readonly [Part in keyof Parts]: Fraction };

export const eachPart = <T>(read: (part: keyof Parts) => T): { readonly [Part in keyof Parts]: T } => ({
  totalCents: read('totalCents'),
  taxCents: read('taxCents'),
  discountCents: read('discountCents'),
});

/** The unused share of the period's price, less the missing share. Never below 0. */
export const creditOf = (
  paid: PaidPeriod,
  { period, at }: { readonly period: Span; readonly at: Instant },
  payments: PaymentsById,
): ExactParts => {
  const whole = period.end - period.start;
  // The clock of another instance may have started the period later.
  const left = Math.min(period.end - at, whole);
  const sources = paid.payments.map((source) => readSource(source, payments.get(source.id)));
  return eachPart((part) => {
    const unused = fractionOf(paid[part], left, whole);
    const credit = sources.reduce((rest, source) => minus(rest, missingOf(source, part, left)), unused);
    return credit.top > 0n ? credit : NO_FRACTION;
  });
};

/** Tax and discount are missing in the proportion of the total. */
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
  /** The period of the change, before it. */
  readonly period: Span;
  readonly at: Instant;
  /** The period that begins with the change; undefined if the present one goes on. */
  readonly begins?: (Span & { readonly startsAt: string }) | undefined;
  /** The price of the new plan for a whole period, as it is charged. */
  readonly to: Parts;
  /** What the new plan costs for the rest of the current period, or for a new period. */
  readonly part: Parts;
  readonly dueCents: number;
  /** True if the merchant has waived the difference. */
  readonly isWaived: boolean;
}

/** A period may have the payments of its opening and of so many changes. The claim of a change checks all of them. */
const MOST_PAYMENTS = 80;

/** True if a further change now could not count every payment of the period. */
export const hasMostPayments = (subscription: PeriodFields): boolean =>
  paidPeriodOf(subscription).payments.length >= MOST_PAYMENTS;

/**
 * The period after a change. What was missing before has been charged with the change, and what the change forfeits
 * counts no more. A waived difference was not paid, so it counts for no later change.
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

/** A waived difference adds nothing to what was paid. A new period then counts with the credit of the old one. */
const waivedPrice = ({ paid, begins, to, credit }: PaidChange): Parts => {
  const before = begins ? eachPart((part) => roundedHalfUp(credit[part])) : paid;
  return to.totalCents < before.totalCents ? to : before;
};

/** The source in the period after the change. In a new period it counts as the share that the credit paid of it. */
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

/** amount × part / whole, rounded up; the amount if the part is not less than the whole. */
const shareUp = (amount: number, part: number, whole: number): number =>
  part >= whole ? amount : Number((BigInt(amount) * BigInt(part) + BigInt(whole) - 1n) / BigInt(whole));

/** False if less than half a minor unit of the source counts in this period. */
const counts = ({ cents, overMs }: CreditSource, { start, end }: Span): boolean =>
  Number.isSafeInteger(overMs) && 2 * cents * ((end - start) / overMs) >= 1;
