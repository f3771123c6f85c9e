import { iso, MINUTE } from '../core/time.ts';
import { useNone } from '../payment-methods/use.ts';
import { makeAttempt } from './attempt.ts';
import { claimed } from './changes.ts';
import type { MoneyDeps } from './deps.ts';
import type { Payment, VisiblePayment } from './payment.ts';
import type { PaymentStore } from './store.ts';

export type Captured =
  | { readonly kind: 'captured'; readonly payment: VisiblePayment }
  /** Another commit came first: the approval is decided on anew. */
  | { readonly kind: 'conflict'; readonly found: Payment | undefined };

/**
 * Captures what a payer has approved at the provider: one attempt is claimed, as a confirmation would claim it, so that
 * of several who hear of the approval one alone asks for the money.
 */
export const captureApproved = async (
  deps: Pick<MoneyDeps, 'now' | 'log' | 'providers'>,
  store: PaymentStore,
  payment: VisiblePayment,
): Promise<Captured> => {
  const provider = await deps.providers.forPayments(payment.providerId);
  // What the payer approved is charged, not a method that the record may hold.
  const claim = claimed(payment, { method: useNone(payment.providerCustomerId) }, deps.now());
  const committed = await store.commit(payment, claim);
  if (!committed.ok) return { kind: 'conflict', found: committed.found };
  const before = awaitingCapture(payment, iso(deps.now() + CAPTURE_AGAIN_MS));
  const answer = await makeAttempt(deps, store, provider, { claim, before });
  return { kind: 'captured', payment: answer.payment };
};

/** An approval lasts a few hours: a capture that did not happen is tried again every two minutes. */
const CAPTURE_AGAIN_MS = 2 * MINUTE;

/** Where the capture does not happen, the payer has done their part all the same: the payment is pending until then. */
const awaitingCapture = (payment: VisiblePayment, reconcileAt: string): VisiblePayment => ({
  ...payment,
  status: 'pending',
  failureCode: undefined,
  reconcileAt,
  reconcileStep: 0,
});
