import { useNone } from '../payment-methods/use.ts';
import { recordAnswer } from './answer.ts';
import { claimed } from './changes.ts';
import { charge } from './charge.ts';
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
  const charged = await charge(deps, store, provider, claim);
  const answer = await recordAnswer(deps, store, provider, charged.payment, charged.outcome);
  return { kind: 'captured', payment: answer.payment };
};
