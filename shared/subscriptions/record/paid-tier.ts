/**
 * @module Whether the tier of a subscription is paid for. Pure. The status of the membership derives from this, so that
 * no tier is active before the first payment that covers it.
 */

import { type Instant, instant, iso, SECOND_MS } from '../../core/time.ts';
import type { SubscriptionPlan } from './plan-change.ts';
import type { Subscription } from './subscription.ts';

type PaidFacts = Pick<Subscription, 'totalCents' | 'tierUnpaidSince'>;
type UnpaidTier = Pick<Subscription, 'tierUnpaidSince'>;

/** True once a payment has covered the tier of the present plan. A plan that costs nothing needs no payment. */
export const isTierPaid = ({ totalCents, tierUnpaidSince }: PaidFacts): boolean =>
  totalCents === 0 || tierUnpaidSince === undefined;

/** A plan takes effect. Another tier becomes unpaid, and a paid tier stays paid. */
export const unpaidByPlan = (
  { tierId, tierUnpaidSince }: Subscription,
  plan: Pick<SubscriptionPlan, 'tierId'>,
  at: Instant,
): UnpaidTier => ({ tierUnpaidSince: tierId === plan.tierId && tierUnpaidSince === undefined ? undefined : iso(at) });

/** A period or a change of the plan is paid for. A period that costs nothing pays for no tier. */
export const unpaidOncePaid = ({ totalCents, tierUnpaidSince }: PaidFacts): UnpaidTier => ({
  tierUnpaidSince: totalCents === 0 ? tierUnpaidSince : undefined,
});

interface ReportedPayment {
  readonly isPaid?: boolean | undefined;
  /** Epoch seconds: the end of a period that an invoice has paid for. */
  readonly paidUntil?: number | undefined;
}

/**
 * The billing provider reports an invoice. A paid invoice covers the tier if its period ends after the tier began
 * and after the trial. An earlier invoice is of another plan, or of a free period.
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

/** True if the present period is paid. A billing provider collects a renewal about an hour after it begins. */
export const isPeriodPaid = ({
  totalCents,
  paidUntil,
  currentPeriodEnd,
}: Pick<Subscription, 'totalCents' | 'paidUntil' | 'currentPeriodEnd'>): boolean =>
  // A provider's times are whole seconds.
  totalCents === 0 || (paidUntil !== undefined && instant(paidUntil) + SECOND_MS > instant(currentPeriodEnd));
