/** @module Captures a payment after its payer's approval. This capture is an attempt to charge. */

import { organizationCheck } from '../access/standing.ts';
import { type Instant, iso, MINUTE_MS } from '../core/time.ts';
import { useNone } from '../payment-methods/usable-method.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { makeAttempt } from './charge-call.ts';
import type { VisiblePayment } from './payment.ts';
import type { PaymentCommit, PaymentStore } from './payment-store.ts';
import { claimAttempt } from './payment-versions.ts';

/** Claims the capture, so only one function sends it. The claim fails if the payment's organization was deleted. */
export const claimApproval = (payment: VisiblePayment, now: Instant): PaymentCommit => {
  // The capture charges the method that the payer approved. With a wallet, the payer may have chosen another method
  // than the record's, so only a card stays in the record.
  const claim = claimAttempt(payment, { method: useNone(payment.providerCustomerId) }, now);
  const { paymentMethodId, methodKind, lenderCustomerId, lenderCustomerRecordId } = payment;
  const card = { paymentMethodId, methodKind, lenderCustomerId, lenderCustomerRecordId };
  const next = methodKind === 'card' ? { ...claim, ...card } : claim;
  return { next, by: 'approval', onlyIf: organizationCheck(payment) };
};

interface CaptureParts {
  readonly deps: Pick<MoneyDeps, 'now' | 'log' | 'providers'>;
  readonly store: PaymentStore;
}

/** Captures the amount that the payer has approved. @param was the payment before the claim */
export const captureApproval = async (
  { deps, store }: CaptureParts,
  claim: VisiblePayment,
  was: VisiblePayment,
): Promise<VisiblePayment> => {
  const provider = await deps.providers.require(claim.providerId, 'payments');
  const before = awaitingCapture(was, iso(deps.now() + CAPTURE_RETRY_MS));
  const { payment } = await makeAttempt({ deps, store, provider }, { claim, before });
  return payment;
};

/** An approval expires after a few hours, so a capture that did not happen is retried after two minutes. */
const CAPTURE_RETRY_MS = 2 * MINUTE_MS;

/** The approved payment. It is pending until the capture happens. */
const awaitingCapture = (payment: VisiblePayment, reconcileAt: string): VisiblePayment => ({
  ...payment,
  status: 'pending',
  failureCode: undefined,
  reconcileAt,
  reconcileStep: 0,
});
