/** @module When a plan may change. Pure, so that the request and the write that claims the change decide alike. */

import { requireFree } from '../../calls/exclusions.ts';
import { DomainError } from '../../core/errors.ts';
import { HOUR_MS, type Instant, instant } from '../../core/time.ts';
import { invalidStateError } from '../at-provider/provider-biller.ts';
import { isPeriodPaid } from '../record/paid-tier.ts';
import type { Subscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';

/** @throws DomainError PAYMENT_IN_PROGRESS while something else is under way, or INVALID_STATE */
export const requirePlanChangeable = (subscription: Subscription): void => {
  const { status } = subscription;
  // An open charge explains less than the status does.
  requireFree('plan change', openCallsOf({ ...subscription, charge: undefined }));
  if (status !== 'active' && status !== 'trialing') throw invalidStateError(subscription);
  requireFree('plan change', openCallsOf(subscription));
};

/** The payer needs time to authenticate before the next period is charged. */
const LEAST_LEFT_MS = HOUR_MS;

export const requirePeriodLeft = ({ currentPeriodEnd }: Subscription, now: Instant): void => {
  if (instant(currentPeriodEnd) - now >= LEAST_LEFT_MS) return;
  throw new DomainError('INVALID_STATE', { message: 'The period ends within the hour; use period_end' });
};

/**
 * The rest of a period is credited only if the period is paid. A period that the provider has written off gives no
 * credit.
 * @throws DomainError PAYMENT_IN_PROGRESS while a billing provider collects the present period
 */
export const requirePeriodPaid = (subscription: Subscription): void => {
  const { status, paidPeriod, currentPeriodStart } = subscription;
  if (status === 'trialing' || isPeriodPaid(subscription) || paidPeriod?.start === currentPeriodStart) return;
  throw new DomainError('PAYMENT_IN_PROGRESS', {
    message: 'The present period is not paid yet; try again later, or use period_end',
  });
};

/** @throws DomainError INVALID_STATE if another biller was paid for the present period, so its price is not known here */
export const requireFirstPeriod = ({ importedAt, period, status }: Subscription): void => {
  if (importedAt === undefined || period >= 0 || status === 'trialing') return;
  throw new DomainError('INVALID_STATE', { message: 'The present period was paid elsewhere; use period_end' });
};

/** @throws DomainError INVALID_STATE if no next period will open */
export const requireRenewal = ({ cancelAtPeriodEnd }: Subscription): void => {
  if (!cancelAtPeriodEnd) return;
  throw new DomainError('INVALID_STATE', { message: 'The subscription ends with its period; reactivate it first' });
};
