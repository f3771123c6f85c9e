/**
 * @module Decides whether a subscription's tier is paid. Pure. The membership status derives from this, so no tier is
 * active before a payment covers it.
 */

import { type Instant, instant, iso, SECOND_MS } from '../../core/time.ts';
import type { SubscriptionPlan } from './plan-change.ts';
import type { Subscription } from './subscription.ts';

type PaidFacts = Pick<Subscription, 'totalCents' | 'tierUnpaidSince'>;
type UnpaidTier = Pick<Subscription, 'tierUnpaidSince'>;

/** True once a payment has covered the tier of the current plan. A free plan needs no payment. */
export const isTierPaid = ({ totalCents, tierUnpaidSince }: PaidFacts): boolean =>
  totalCents === 0 || tierUnpaidSince === undefined;

/** The unpaid mark after a plan takes effect. A different tier becomes unpaid; the same paid tier stays paid. */
export const unpaidByPlan = (
  { tierId, tierUnpaidSince }: Subscription,
  plan: Pick<SubscriptionPlan, 'tierId'>,
  at: Instant,
): UnpaidTier => ({ tierUnpaidSince: tierId === plan.tierId && tierUnpaidSince === undefined ? undefined : iso(at) });

/** The unpaid mark after a period or plan change is paid. A free period pays for no tier. */
export const unpaidOncePaid = ({ totalCents, tierUnpaidSince }: PaidFacts): UnpaidTier => ({
  tierUnpaidSince: totalCents === 0 ? tierUnpaidSince : undefined,
});

interface ReportedPayment {
  readonly isPaid?: boolean | undefined;
  /** Epoch seconds; the end of the period paid by an invoice. */
  readonly paidUntil?: number | undefined;
}

/**
 * The unpaid mark after a billing provider's report. A paid invoice covers the tier if its period ends after the tier
 * began and after the trial. An earlier invoice belongs to another plan or a free period.
 * @param subscription with the end of the trial as reported
 */
export const unpaidAfterReport = (
  subscription: Pick<Subscription, 'totalCents' | 'tierUnpaidSince' | 'trialEnd'>,
  { isPaid, paidUntil }: ReportedPayment,
): UnpaidTier => {
  const { tierUnpaidSince = '', trialEnd = '' } = subscription;
  const paidEnd = paidUntil === undefined ? undefined : iso(paidUntil * SECOND_MS);
  const covers = paidEnd === undefined ? isPaid === true : paidEnd > tierUnpaidSince && paidEnd > trialEnd;
  return covers ? unpaidOncePaid(subscription) : { tierUnpaidSince: subscription.tierUnpaidSince };
};

/** True if the current period is paid. A billing provider collects a renewal about an hour after the period begins. */
export const isPeriodPaid = ({
  totalCents,
  paidUntil,
  currentPeriodEnd,
}: Pick<Subscription, 'totalCents' | 'paidUntil' | 'currentPeriodEnd'>): boolean =>
  // Allow one second, because a provider's times are whole seconds.
  totalCents === 0 || (paidUntil !== undefined && instant(paidUntil) + SECOND_MS > instant(currentPeriodEnd));
