/**
 * @module Makes a claimed attempt to charge and records its outcome. Every resend has the same idempotency key. An
 * attempt that certainly did not happen is released, so no event is sent and another may be claimed.
 */

import { organizationCheck } from '../access/standing.ts';
import type { Outcome } from '../core/outcome.ts';
import { type Instant, iso, MINUTE_MS } from '../core/time.ts';
import { useNone } from '../payment-methods/usable-method.ts';
import { INTENT_SPENT, type ProviderPayment } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { creationKey, type IntentParts, intentRequest } from './create-intent.ts';
import { mayNameOtherCustomer, payingCustomerOf, savesMethod } from './paying-customer.ts';
import { isOfSubscription, isVisiblePayment, type VisiblePayment } from './payment.ts';
import type { PaymentCommit, PaymentStore } from './payment-store.ts';
import { claimAttempt, releaseAttempt } from './payment-versions.ts';
import { type AttemptResult, recordAnswer } from './record-outcome.ts';

export interface ClaimedAttempt {
  readonly claim: VisiblePayment;
  /** The payment before the claim; restored if the provider certainly did nothing. */
  readonly before: VisiblePayment;
  /** Proof that the payer has authenticated. It is sent with this attempt, and not stored for resends. */
  readonly verificationToken?: string | undefined;
  /** Set if the caller waits for the result. A refusal without a charge then also releases the attempt. */
  readonly isAttended?: true;
}

export interface AttemptReport extends AttemptResult {
  /** True if it is unknown whether the provider has charged. */
  readonly isUnclear: boolean;
}

export const makeAttempt = async (
  parts: IntentParts,
  { claim, before, isAttended, verificationToken }: ClaimedAttempt,
): Promise<AttemptReport> => {
  const { payment, outcome } = await chargeAttempt(parts, claim, verificationToken);
  const takeBack = () => takeBackClaim(parts, payment, before);
  if (outcome.kind === 'not_done') {
    const { isOurs, payment: stands } = await takeBack();
    return isOurs
      ? { payment: stands, notDone: outcome, isUnclear: false }
      : { payment: stands, isUnclear: isOpen(stands) };
  }
  const onRefusal = isAttended ? takeBack : undefined;
  const answer = await recordAnswer({ ...parts, onRefusal }, payment, outcome);
  return { ...answer, isUnclear: outcome.kind !== 'done' && isOpen(answer.payment) };
};

const isOpen = ({ status }: VisiblePayment): boolean => status === 'processing';

/** Restores the payment before the claim. If another confirmation has changed it since, that outcome counts. */
const takeBackClaim = async (
  { deps, store }: IntentParts,
  claim: VisiblePayment,
  before: VisiblePayment,
): Promise<{ readonly isOurs: boolean; readonly payment: VisiblePayment }> => {
  const committed = await store.commit(claim, releaseAttempt(claim, before, deps.now()));
  const stands = committed.ok ? committed.record : committed.found;
  if (!stands || !isVisiblePayment(stands)) throw new Error('a claimed payment was removed');
  return { isOurs: committed.ok, payment: stands };
};

/** The same for every resend of the attempt. */
const attemptKey = ({ id, attempt, released }: Pick<VisiblePayment, 'id' | 'attempt' | 'released'>): string =>
  `${id}:confirm:${attempt}${released === undefined ? '' : `.${released}`}`;

export interface ChargeResult {
  readonly payment: VisiblePayment;
  readonly outcome: Outcome<ProviderPayment>;
}

/** Sends a claimed attempt to the provider. An intent that can never be charged again is replaced first. */
export const chargeAttempt = async (
  parts: IntentParts,
  payment: VisiblePayment,
  verificationToken?: string,
): Promise<ChargeResult> => {
  const { provider } = parts;
  const outcome = await sendAttempt(provider, payment, verificationToken);
  // An invoice has one intent. If that intent is spent, the invoice is no longer open.
  const isReplaceable = payment.providerInvoiceId === undefined;
  if (outcome.kind !== 'refused' || outcome.reason !== INTENT_SPENT || !isReplaceable) return { payment, outcome };
  const idempotencyKey = `${creationKey(payment)}:${payment.attempt}`;
  const created = await provider.createIntent({ ...intentRequest(payment), idempotencyKey });
  if (created.kind !== 'done') return { payment, outcome: created };
  const renewed = await replaceIntent(parts, payment, created.value);
  // Another commit has ended the attempt since, so nothing is charged.
  if (renewed === undefined) return { payment, outcome: { kind: 'unknown', reason: 'error' } };
  return { payment: renewed, outcome: await sendAttempt(provider, renewed, verificationToken) };
};

const sendAttempt = (
  provider: PaymentProvider,
  payment: VisiblePayment,
  verificationToken?: string,
): Promise<Outcome<ProviderPayment>> =>
  provider.confirmIntent({
    idempotencyKey: attemptKey(payment),
    intentId: payment.providerIntentId ?? '',
    paymentId: payment.id,
    amountCents: payment.totalCents,
    currency: payment.currency,
    method: payment.methodRef,
    methodKind: payment.methodKind,
    customerId: payingCustomerOf(payment),
    mayNameOtherCustomer: mayNameOtherCustomer(payment),
    saveMethod: savesMethod(payment),
    returnUrl: payment.returnUrl,
    ...(verificationToken && { verificationToken }),
    ...(payment.offSession && { offSession: true }),
    ...(isOfSubscription(payment) && { isRecurring: true }),
    ...(payment.captureMethod && { captureMethod: payment.captureMethod }),
  });

/** Stores the new intent first, so that a later lookup finds the charge. @returns undefined if the attempt is over */
const replaceIntent = async (
  { deps, store }: IntentParts,
  payment: VisiblePayment,
  { intentId, paymentId, clientSecret }: ProviderPayment,
): Promise<VisiblePayment | undefined> => {
  const isSameClaim = ({ status, attempt }: VisiblePayment): boolean =>
    status === 'processing' && attempt === payment.attempt;
  const { record } = await store.change(payment, (current) => {
    if (!isSameClaim(current) || current.providerIntentId === intentId) return undefined;
    return {
      ...current,
      providerIntentId: intentId,
      providerPaymentId: paymentId,
      clientSecret: current.clientSecret && clientSecret,
      version: current.version + 1,
      updatedAt: iso(deps.now()),
    };
  });
  return isSameClaim(record) ? record : undefined;
};

/** Claims a capture after the payer's approval, so that only one function captures. Not for a deleted organization. */
export const claimApproval = (payment: VisiblePayment, now: Instant): PaymentCommit => {
  // The capture charges the method that the payer approved, not the record's method, because a wallet's payer may
  // choose another.
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

/** The payment after the approval. It is pending until the capture happens. */
const awaitingCapture = (payment: VisiblePayment, reconcileAt: string): VisiblePayment => ({
  ...payment,
  status: 'pending',
  failureCode: undefined,
  reconcileAt,
  reconcileStep: 0,
});
