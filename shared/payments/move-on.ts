import { DomainError } from '../core/errors.ts';
import type { Instant } from '../core/time.ts';
import { inStatus } from './changes.ts';
import { type ChangeCause, isVisible, type Payment, type PaymentStatus, type VisiblePayment } from './payment.ts';
import type { PaymentStore } from './store.ts';
import { isFurther } from './transitions.ts';

export interface Move {
  readonly store: PaymentStore;
  readonly now: Instant;
  readonly payment: VisiblePayment;
  readonly status: PaymentStatus;
  readonly cause: ChangeCause;
  readonly facts: Partial<Payment>;
}

/**
 * Commits a state that the caller has decided on. Where another commit came first (the event of the same attempt, say),
 * the further state stands: the move is made from there only if it leads further on.
 */
export const moveOn = async ({ store, now, payment, status, cause, facts }: Move): Promise<VisiblePayment> => {
  let current = payment;
  for (;;) {
    const next = inStatus(current, status, now, cause, facts);
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    if (!committed.found || !isVisible(committed.found)) throw new DomainError('VERSION_CONFLICT');
    current = committed.found;
    if (current.attempt !== payment.attempt || !isFurther(current.status, status)) return current;
  }
};
