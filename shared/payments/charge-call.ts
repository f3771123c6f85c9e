/**
 * @module An attempt to charge, as a kind of call. Every resend has the same idempotency key. An attempt that certainly
 * did not happen is taken back without an event, and a new attempt may be claimed.
 */

import type { CallKind, CallResult } from '../calls/call-kind.ts';
import { makeCall } from '../calls/run-call.ts';
import { DomainError } from '../core/errors.ts';
import { type DeclineCode, ifKnown, type NotDone, type Outcome } from '../core/outcome.ts';
import { iso } from '../core/time.ts';
import { INTENT_SPENT, type ProviderPayment, type ReportedStatus } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { creationKey, type IntentParts, intentRequest, refusalError } from './create-intent.ts';
import { mayNameOtherCustomer, payingCustomerOf, savesMethod } from './paying-customer.ts';
import {
  isOfSubscription,
  isVisiblePayment,
  type Payment,
  type PaymentStatus,
  type VisiblePayment,
} from './payment.ts';
import { findMismatch, statusHere } from './payment-amounts.ts';
import { mayPaymentChange } from './payment-states.ts';
import { advanceStored, type PaymentStore } from './payment-store.ts';
import { advancePayment, providerReference, releaseAttempt, reportedFields } from './payment-versions.ts';
import { reportedFacts } from './recorded-facts.ts';

export interface ChargeParts extends IntentParts {
  /** The payment before the claim, which is restored if the provider certainly did nothing. Absent in due work. */
  readonly before?: VisiblePayment | undefined;
  /** Proof that the payer has authenticated. Only the first send has it, because it is not stored. */
  readonly verificationToken?: string | undefined;
  /** Set if the caller waits for the result. A refusal without a charge then takes the attempt back. */
  readonly isAttended?: true | undefined;
}

export interface ClaimedAttempt extends Omit<ChargeParts, keyof IntentParts> {
  readonly claim: VisiblePayment;
  readonly before: VisiblePayment;
}

export interface AttemptReport {
  readonly payment: VisiblePayment;
  readonly declined?: DeclineCode | undefined;
  /** The provider refused without trying to charge. */
  readonly refusal?: DomainError | undefined;
  /** The provider certainly did nothing, and the claim was taken back. */
  readonly notDone?: NotDone | undefined;
  /** True if it is unknown whether the provider has charged. */
  readonly isUnclear: boolean;
}

export const makeAttempt = async (
  parts: IntentParts,
  { claim, ...attempt }: ClaimedAttempt,
): Promise<AttemptReport> => {
  const result = await makeCall(CHARGE_CALL, { ...parts, ...attempt }, claim);
  const { record: payment, refusal, notDone, isUnclear = false } = result;
  return {
    payment,
    notDone,
    ...(refusal?.kind === 'declined' ? { declined: refusal.code } : { refusal: refusal && refusalError(refusal) }),
    isUnclear: isUnclear && isOpen(payment),
  };
};

const isOpen = ({ status }: VisiblePayment): boolean => status === 'processing';

/**
 * If a read reports one of these statuses, the payment was confirmed, for example in the payer's browser. The outcome
 * of this confirmation then counts for the attempt.
 */
const UNDER_WAY_OR_SETTLED: readonly ReportedStatus[] = [
  'pending',
  'processing',
  'requires_capture',
  'succeeded',
  'canceled',
];

/** `find` returns undefined if the provider does not know the payment. */
export const CHARGE_CALL: CallKind<
  ChargeParts,
  VisiblePayment,
  VisiblePayment,
  ProviderPayment,
  ProviderPayment | undefined
> = {
  send: (parts, claim) => chargeAttempt(parts, claim),

  find: async ({ provider }, claim) => ifKnown(await provider.findPayment(providerReference(claim))),

  apply: async (parts, claim, { by, report }) => {
    const isNews = by === 'response' || (report && UNDER_WAY_OR_SETTLED.includes(report.status));
    if (!report || !isNews) return { state: 'absent', record: claim };
    const { record, refusal } = await recordReport(parts, claim, report);
    const isSame = isOpen(record) && record.attempt === claim.attempt;
    return isSame ? { state: 'open', record } : { state: 'settled', record, refusal };
  },

  endsUnread: ({ kind }) => kind === 'declined',
  end: async (parts, claim, { cause, refusal, found }) => {
    const { deps, store, before, isAttended } = parts;
    if (refusal?.kind === 'declined') {
      const { code: failureCode, attemptRef, facts } = refusal;
      const failure = { failureCode, ...(attemptRef && { attemptRef }), ...reportedFacts('failed', facts) };
      return { record: await settle(parts, claim, ['failed', failure]), refusal };
    }
    if (cause === 'ended') {
      const ended = advancePayment(claim, { to: 'failed', now: deps.now(), cause: 'reconciliation' }, FAILED);
      await store.commit(claim, ended);
      return { record: ended };
    }
    // The provider does not know the payment yet. A later look decides.
    if (!found) return { record: claim, refusal };
    if (isAttended && before) return { record: (await takeBackClaim(parts, claim, before)).record, refusal };
    return { record: await settle(parts, claim, ['failed', FAILED]), refusal };
  },

  takeBack: async (parts, claim, notDone) => {
    if (!parts.before) return { record: claim, isUnclear: true };
    const { isOurs, record } = await takeBackClaim(parts, claim, parts.before);
    return isOurs ? { record, notDone } : { record, isUnclear: true };
  },
};

const FAILED = { failureCode: 'processing_error' } as const;

/**
 * Restores the payment before the claim. If another confirmation has changed the payment since, the outcome of that
 * confirmation stays.
 */
const takeBackClaim = async (
  { deps, store }: IntentParts,
  claim: VisiblePayment,
  before: VisiblePayment,
): Promise<{ readonly isOurs: boolean; readonly record: VisiblePayment }> => {
  const committed = await store.commit(claim, releaseAttempt(claim, before, deps.now()));
  const stands = committed.ok ? committed.record : committed.found;
  if (!stands || !isVisiblePayment(stands)) throw new Error('a claimed payment was removed');
  return { isOurs: committed.ok, record: stands };
};

const recordReport = async (
  parts: IntentParts,
  payment: VisiblePayment,
  report: ProviderPayment,
): Promise<CallResult<VisiblePayment>> => {
  const mismatch = findMismatch(payment, report);
  if (mismatch) {
    const { id, providerId } = payment;
    parts.deps.log.error('payment anomaly', { payment_id: id, provider: providerId, reason: mismatch });
    throw new DomainError('PROVIDER_ERROR', { details: { payment_id: id } });
  }
  if (report.status === 'failed') {
    const code = report.failureCode ?? 'do_not_honor';
    const failed = await settle(parts, payment, ['failed', { ...reportedFields(report), failureCode: code }]);
    return { record: failed, refusal: { kind: 'declined', code, attemptRef: undefined } };
  }
  const status = statusHere(payment, report.status);
  if (!mayPaymentChange('processing', status, 'answer')) return { record: payment };
  if (status === 'processing') await learnFrom(parts.store, payment, report);
  return { record: await settle(parts, payment, [status, reportedFields(report), report]) };
};

/** Stores the ids in the report, because some providers later report a failed attempt only by the attempt's own id. */
const learnFrom = async (store: PaymentStore, payment: VisiblePayment, report: ProviderPayment): Promise<void> => {
  await Promise.all([store.learnIds(payment, reportedFields(report)), store.learnAttempt(payment, report.attemptRef)]);
};

/** A `processing` response commits no version, because the claim has already set this status. */
const settle = async (
  { deps, store }: IntentParts,
  payment: VisiblePayment,
  [status, facts, reported]: readonly [PaymentStatus, Partial<Payment>, ProviderPayment?],
): Promise<VisiblePayment> =>
  status === 'processing'
    ? payment
    : advanceStored(store, payment, { now: deps.now(), status, cause: 'answer', facts, reported });

/** The idempotency key, the same for every resend of the attempt. */
const attemptKey = ({ id, attempt, released }: Pick<VisiblePayment, 'id' | 'attempt' | 'released'>): string =>
  `${id}:confirm:${attempt}${released === undefined ? '' : `.${released}`}`;

interface ChargeResult {
  readonly claim: VisiblePayment;
  readonly outcome: Outcome<ProviderPayment>;
}

/** Sends a claimed attempt to the provider. Replaces an intent that can never be charged again. */
const chargeAttempt = async (parts: ChargeParts, claim: VisiblePayment): Promise<ChargeResult> => {
  const { provider, verificationToken } = parts;
  const outcome = await sendAttempt(provider, claim, verificationToken);
  // The intent of a provider's invoice is never replaced, because an invoice has only one intent. If this intent is
  // spent, the invoice is no longer open.
  const isReplaceable = claim.providerInvoiceId === undefined;
  if (outcome.kind !== 'refused' || outcome.reason !== INTENT_SPENT || !isReplaceable) return { claim, outcome };
  const idempotencyKey = `${creationKey(claim)}:${claim.attempt}`;
  const created = await provider.createIntent({ ...intentRequest(claim), idempotencyKey });
  if (created.kind !== 'done') return { claim, outcome: created };
  const renewed = await replaceIntent(parts, claim, created.value);
  // Another commit has ended the attempt since, so do not charge.
  if (renewed === undefined) return { claim, outcome: { kind: 'unknown', reason: 'error' } };
  return { claim: renewed, outcome: await sendAttempt(provider, renewed, verificationToken) };
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

/**
 * Stores the new intent before the charge, so a later lookup finds the charge.
 * @returns undefined if the attempt is over
 */
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
