/**
 * @module The due times of a payment's work: lookups, checks of its hold, expiry, the save of its method, reads for
 * facts, and removal of the client secret.
 */

import { FIRST_LOOK_MS, isStuckSince, type LookResult } from '../calls/call-times.ts';
import { type Instant, instant, iso } from '../core/time.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { placeEnds } from './discount-of-payment.ts';
import { confirmationEnds, type Payment, secretEnds, wantsMethodSaved } from './payment.ts';

/**
 * The statuses in which a lookup may be due. For a held payment, a capture, a release or an event causes the lookup.
 * For a failed payment, an event causes the lookup.
 */
const LOOKED_UP: readonly Payment['status'][] = ['creating', 'processing', 'pending', 'requires_capture', 'failed'];

/** @returns undefined if no work is due */
export const nextPaymentDue = (payment: Payment): string | undefined => {
  const times: string[] = [];
  const isLookedUp = LOOKED_UP.includes(payment.status) || payment.draft !== undefined;
  if (isLookedUp && payment.reconcileAt) times.push(payment.reconcileAt);
  if (payment.status === 'requires_capture' && payment.holdCheckAt) times.push(payment.holdCheckAt);
  if (payment.status === 'created' || payment.status === 'requires_payment_method') {
    times.push(iso(confirmationEnds(payment, payment.createdAt)));
  }
  if (wantsMethodSaved(payment)) times.push(payment.reconcileAt ?? iso(instant(payment.updatedAt) + FIRST_LOOK_MS));
  const ends = placeEnds(payment);
  if (ends !== undefined) times.push(ends);
  if (payment.factsAt) times.push(payment.factsAt);
  if (payment.clientSecret) times.push(iso(secretEnds(payment)));
  return times.sort()[0];
};

/**
 * True if the payment has been open for too long. Every lookup then logs a warning. A pending payment is never stuck,
 * because it expires.
 */
export const isStuck = (payment: Payment, looked: LookResult, now: Instant): boolean =>
  mayBeStuck(payment) &&
  isStuckSince(instant(payment.holdCall?.claimedAt ?? payment.claimedAt ?? payment.createdAt), looked, now);

/** True if the payment has an open call: its creation, an attempt, a capture or a release. */
export const mayBeStuck = ({ status, holdCall }: Payment): boolean =>
  status === 'creating' || status === 'processing' || holdCall !== undefined;

export const warnIfStuck = (deps: Pick<MoneyDeps, 'log' | 'now'>, payment: Payment, looked: LookResult): void => {
  if (!isStuck(payment, looked, deps.now())) return;
  deps.log.warn('payment stuck', { payment_id: payment.id, provider: payment.providerId, reason: looked });
};
