import { type Instant, iso } from '../../core/time.ts';
import type { UsableMethod } from '../../payment-methods/use.ts';
import type { KnownPayment, ProviderPayment } from '../../providers/port/payments.ts';
import { reconcileTime } from './due.ts';
import { methodFields } from './paying-customer.ts';
import {
  type Draft,
  type HistoryCause,
  isVisiblePayment,
  type Payment,
  type PaymentStatus,
  type VisiblePayment,
  WITHOUT_DRAFT,
  withDraft,
} from './payment.ts';
import { isSettled } from './states.ts';

/** Pure next versions of a payment. Each returns a whole record; the store commits it under the version it came from. */
export const isUnderWay = (status: PaymentStatus): boolean => status === 'processing' || status === 'pending';

/** The next version, in the same state or another; completed_at is set once, on the first entry to succeeded. */
export const advance = (
  payment: Payment,
  status: PaymentStatus,
  now: Instant,
  cause: HistoryCause,
  changed: Partial<Payment> = {},
): VisiblePayment => {
  // A settled payment takes no update any more.
  const draft = isSettled(status) ? WITHOUT_DRAFT : {};
  const unclear = isUnderWay(status) || (payment.draft !== undefined && !isSettled(status));
  const freshlyUnclear = unclear && payment.reconcileAt === undefined;
  return {
    ...payment,
    ...draft,
    nextAction: status === 'pending' ? payment.nextAction : undefined,
    reconcileAt: unclear ? (freshlyUnclear ? iso(reconcileTime(now, 0)) : payment.reconcileAt) : undefined,
    reconcileStep: unclear ? (payment.reconcileStep ?? 0) : undefined,
    failureCode: status === 'failed' ? payment.failureCode : undefined,
    withheld: status === 'succeeded' ? undefined : payment.withheld,
    ...changed,
    ...methodOf(payment, status, changed),
    status,
    cause,
    version: payment.version + 1,
    updatedAt: iso(now),
    completedAt: payment.completedAt ?? (status === 'succeeded' ? iso(now) : undefined),
    busyUntil: undefined,
  };
};

/**
 * Where the provider names another method than the record's, the payer has tried it in the browser. If it has paid, it is
 * the payment's; else the record keeps its own, since a retry charges only a method that has passed the rule of use. The
 * id of a one-time token that was claimed here replaces the token.
 */
const methodOf = (payment: Payment, status: PaymentStatus, changed: Partial<Payment>): Partial<Payment> => {
  const { methodRef, paymentMethodId } = changed;
  if (methodRef === undefined || methodRef === payment.methodRef) return {};
  if (status === 'succeeded') return { paymentMethodId };
  const holdsToken = payment.methodRef !== undefined && payment.paymentMethodId === undefined;
  return payment.status === 'processing' && holdsToken ? {} : { methodRef: payment.methodRef };
};

/** The draft in force, once the provider has taken it. */
export const applyDraft = (
  payment: VisiblePayment,
  draft: Draft,
  now: Instant,
  nextAction = payment.nextAction,
): VisiblePayment => {
  const next = withDraft(payment, draft);
  const unconfirmed = payment.status === 'created' || payment.status === 'requires_payment_method';
  const hasMethod = next.methodRef !== undefined || next.paymentMethodId !== undefined;
  return {
    ...next,
    status: unconfirmed ? (hasMethod ? 'created' : 'requires_payment_method') : payment.status,
    cause: 'update',
    version: payment.version + 1,
    updatedAt: iso(now),
    reconcileAt: unconfirmed ? undefined : payment.reconcileAt,
    nextAction: unconfirmed && hasMethod ? undefined : nextAction,
  };
};

/** What its provider is told to find a payment by. */
export const providerReference = (payment: Payment): KnownPayment => ({
  intentId: payment.providerIntentId ?? '',
  attemptRef: payment.attemptRef,
  method: payment.methodRef,
  status: isVisiblePayment(payment) ? payment.status : 'created',
});

/** What a provider's report says beside the status. */
export const reportedFields = (report: ProviderPayment): Partial<Payment> => ({
  providerPaymentId: report.paymentId,
  attemptRef: report.attemptRef,
  ...(report.methodId && { methodRef: report.methodId }),
  ...(report.status === 'failed' && { failureCode: report.failureCode ?? 'processing_error' }),
  ...(report.status === 'pending' && { nextAction: report.nextAction }),
});

/** A creation that the provider has answered: from here on it exists for its readers. */
export const publishIntent = (payment: Payment, report: ProviderPayment, now: Instant): VisiblePayment => ({
  ...payment,
  providerIntentId: report.intentId,
  providerPaymentId: report.paymentId,
  clientSecret: report.clientSecret,
  nextAction: report.nextAction,
  methodRef: payment.paymentMethodId ? payment.methodRef : (report.methodId ?? payment.methodRef),
  cause: 'create',
  status: payment.methodRef || payment.paymentMethodId ? 'created' : 'requires_payment_method',
  version: 1,
  updatedAt: iso(now),
  reconcileAt: undefined,
  busyUntil: undefined,
});

/** What an attempt is made with: a method that has passed the rule of use. */
export type ChosenMethod = Pick<Payment, 'offSession' | 'returnUrl'> & { readonly method: UsableMethod };

/** The claim of one attempt to charge: committed before the provider is called. */
export const claimAttempt = (
  payment: VisiblePayment,
  { method, offSession, returnUrl }: ChosenMethod,
  now: Instant,
): VisiblePayment => ({
  ...payment,
  ...{ ...methodFields(method, payment), offSession, returnUrl },
  status: 'processing',
  cause: 'claim',
  version: payment.version + 1,
  updatedAt: iso(now),
  attempt: payment.attempt + 1,
  claimedAt: iso(now),
  priorAttemptRef: payment.attemptRef,
  failureCode: undefined,
  nextAction: undefined,
  reconcileAt: iso(reconcileTime(now, 0)),
  reconcileStep: 0,
});

/**
 * The claim taken back, where the provider certainly did nothing: the payment is as it was before, and the next claim
 * has another key.
 */
export const releaseClaim = (claim: VisiblePayment, before: VisiblePayment, now: Instant): VisiblePayment => {
  const { methodRef, paymentMethodId, providerCustomerId, lenderCustomerId, offSession, returnUrl } = before;
  const { status, attempt, claimedAt, priorAttemptRef, attemptRef, failureCode, nextAction } = before;
  return {
    ...claim,
    ...{ methodRef, paymentMethodId, providerCustomerId, lenderCustomerId, offSession, returnUrl },
    ...{ status, attempt, claimedAt, priorAttemptRef, attemptRef, failureCode, nextAction },
    reconcileAt: before.reconcileAt,
    reconcileStep: before.reconcileStep,
    cause: 'release',
    version: claim.version + 1,
    updatedAt: iso(now),
    released: (claim.released ?? 0) + 1,
  };
};
