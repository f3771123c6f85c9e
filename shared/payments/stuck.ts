import { DAY, type Instant, instant, MINUTE } from '../core/time.ts';
import type { MoneyDeps } from './deps.ts';
import type { Payment } from './payment.ts';

/**
 * A payment is stuck when a charge has been asked for and nobody can say for long what came of it; or when its provider
 * says `processing` for longer than a bank takes. Either is told at every further look, until it is settled.
 */
export type Looked = 'nobody can say' | 'still under way';

const STUCK_AFTER_MS: Readonly<Record<Looked, number>> = {
  'nobody can say': 30 * MINUTE,
  'still under way': 7 * DAY,
};

/** One that waits for its payer is not stuck: it expires. */
export const isStuck = (payment: Payment, looked: Looked, now: Instant): boolean =>
  (payment.status === 'creating' || payment.status === 'processing') &&
  now - instant(payment.claimedAt ?? payment.createdAt) >= STUCK_AFTER_MS[looked];

export const tellIfStuck = (deps: Pick<MoneyDeps, 'log' | 'now'>, payment: Payment, looked: Looked): void => {
  if (!isStuck(payment, looked, deps.now())) return;
  deps.log.warn('payment stuck', { payment_id: payment.id, provider: payment.providerId, reason: looked });
};
