/** @module When lookups, retries, expiry, reads for facts, removal of the secret and checks for stuck payments are due. */

import { DAY_MS, type Instant, instant, iso, MINUTE_MS } from '../core/time.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { CONFIRMATION_PERIOD_MS, type Payment, secretEnds, wantsMethodSaved } from './payment.ts';

/**
 * The statuses in which a lookup may be due. That of a held payment is about its capture, its release or an event, and
 * that of a failed payment is about an event.
 */
const LOOKED_UP: readonly Payment['status'][] = ['creating', 'processing', 'pending', 'requires_capture', 'failed'];

/** undefined if no work is due. */
export const nextPaymentDue = (payment: Payment): string | undefined => {
  const times: string[] = [];
  const isLookedUp = LOOKED_UP.includes(payment.status) || payment.draft !== undefined;
  if (isLookedUp && payment.reconcileAt) times.push(payment.reconcileAt);
  if (payment.status === 'requires_capture' && payment.holdCheckAt) times.push(payment.holdCheckAt);
  const createdAt = instant(payment.createdAt);
  if (payment.status === 'created' || payment.status === 'requires_payment_method') {
    times.push(iso(createdAt + CONFIRMATION_PERIOD_MS));
  }
  if (wantsMethodSaved(payment)) times.push(payment.reconcileAt ?? iso(instant(payment.updatedAt) + FIRST_LOOK_MS));
  if (payment.factsAt) times.push(payment.factsAt);
  if (payment.clientSecret) times.push(iso(secretEnds(payment)));
  return times.sort()[0];
};

/** The wait before the first lookup of a creation, claim or update that its function may not have finished. */
export const FIRST_LOOK_MS = MINUTE_MS;

/** When a payment with an unknown outcome is looked up, counted from its claim; later daily until it is settled. */
export const RECONCILE_AFTER_MS: readonly number[] = [1, 5, 30, 120, 720, 1440].map((minutes) => minutes * MINUTE_MS);

const RECONCILE_DAILY_MS = 1440 * MINUTE_MS;

/** How long an attempt that never reached the provider is sent again under its key. After that the attempt fails. */
export const RESEND_WITHIN_MS = 30 * MINUTE_MS;

export const reconcileTime = (since: Instant, step: number): Instant => {
  const listed = RECONCILE_AFTER_MS[step];
  if (listed !== undefined) return since + listed;
  return since + RECONCILE_DAILY_MS * (step - RECONCILE_AFTER_MS.length + 2);
};

/** The next lookup of a call with an unknown outcome, after lookup `step`. Lookup times in the past are skipped. */
export const nextLook = (
  since: Instant,
  step: number,
  now: Instant,
): { readonly at: Instant; readonly step: number } => {
  let next = step + 1;
  while (reconcileTime(since, next) <= now) next += 1;
  return { at: reconcileTime(since, next), step: next };
};

/** A payment is stuck if its outcome stays unknown or `processing` lasts too long. Every later lookup logs it again. */
export type LookupResult = 'outcome_unknown' | 'still_under_way';

const STUCK_AFTER_MS: Readonly<Record<LookupResult, number>> = {
  outcome_unknown: 30 * MINUTE_MS,
  still_under_way: 7 * DAY_MS,
};

/** True if the payment is stuck. A payment that waits for its payer is never stuck, because it expires. */
export const isStuck = (payment: Payment, looked: LookupResult, now: Instant): boolean =>
  (payment.status === 'creating' || payment.status === 'processing' || payment.holdCall !== undefined) &&
  now - instant(payment.holdCall?.claimedAt ?? payment.claimedAt ?? payment.createdAt) >= STUCK_AFTER_MS[looked];

export const warnIfStuck = (deps: Pick<MoneyDeps, 'log' | 'now'>, payment: Payment, looked: LookupResult): void => {
  if (!isStuck(payment, looked, deps.now())) return;
  deps.log.warn('payment stuck', { payment_id: payment.id, provider: payment.providerId, reason: looked });
};
