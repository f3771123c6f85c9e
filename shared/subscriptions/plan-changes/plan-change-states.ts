/** @module Rules for when a plan may change. Pure, because the request and the claiming write apply the same rules. */

import { requireFree } from '../../calls/exclusions.ts';
import { DomainError } from '../../core/errors.ts';
import { HOUR_MS, type Instant, instant } from '../../core/time.ts';
import { invalidStateError } from '../at-provider/provider-biller.ts';
import { isPeriodPaid } from '../record/paid-tier.ts';
import type { Subscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';

/** @throws DomainError PAYMENT_IN_PROGRESS during another charge, change or transfer, or INVALID_STATE */
export const requirePlanChangeable = (subscription: Subscription): void => {
  const { status } = subscription;
  // Check the status before an open charge, because the status gives the clearer error.
  requireFree('plan change', openCallsOf({ ...subscription, charge: undefined }));
  if (status !== 'active' && status !== 'trialing') throw invalidStateError(subscription);
  requireFree('plan change', openCallsOf(subscription));
};

/** Time for the payer to authenticate before the next period is charged. */
const LEAST_LEFT_MS = HOUR_MS;

export const requirePeriodLeft = ({ currentPeriodEnd }: Subscription, now: Instant): void => {
  if (instant(currentPeriodEnd) - now >= LEAST_LEFT_MS) return;
  throw new DomainError('INVALID_STATE', { message: 'The period ends within the hour; use period_end' });
};

/**
 * Requires that the current period is paid or written off. The unused part of a paid period is credited. A period that
 * the provider has written off gives no credit.
 * @throws DomainError PAYMENT_IN_PROGRESS while a billing provider collects the current period
 */
export const requirePeriodPaid = (subscription: Subscription): void => {
  const { status, paidPeriod, currentPeriodStart } = subscription;
  if (status === 'trialing' || isPeriodPaid(subscription) || paidPeriod?.start === currentPeriodStart) return;
  throw new DomainError('PAYMENT_IN_PROGRESS', {
    message: 'The current period is not paid yet; try again later, or use period_end',
  });
};

/** @throws DomainError INVALID_STATE if another biller collected the current period, so its price is unknown here */
export const requireFirstPeriod = ({ importedAt, period, status }: Subscription): void => {
  if (importedAt === undefined || period >= 0 || status === 'trialing') return;
  throw new DomainError('INVALID_STATE', { message: 'The current period was paid elsewhere; use period_end' });
};

/** @throws DomainError INVALID_STATE if the subscription ends with its period */
export const requireRenewal = ({ cancelAtPeriodEnd }: Subscription): void => {
  if (!cancelAtPeriodEnd) return;
  throw new DomainError('INVALID_STATE', { message: 'The subscription ends with its period; reactivate it first' });
};
