/** @module Builds the next version of a payment. Pure. The store commits it only if the given version is current. */

import { lookTime } from '../calls/call-times.ts';
import { codeOnly } from '../core/person-fields.ts';
import { type Instant, iso } from '../core/time.ts';
import type { UsableMethod } from '../payment-methods/usable-method.ts';
import type { KnownPayment, ProviderPayment } from '../providers/payment-port.ts';
import { holdOfNext } from './holds/hold-versions.ts';
import { methodFields } from './paying-customer.ts';
import {
  type Draft,
  type HistoryCause,
  isVisiblePayment,
  type Payment,
  type PaymentStatus,
  type VisiblePayment,
  WITHOUT_DRAFT,
  wantsMethodSaved,
  withDraft,
} from './payment.ts';
import type { ReportedAmount } from './payment-amounts.ts';
import { attemptGroup, blank, factGroup, lookGroup, methodGroup, valuesIn, versionAfter } from './payment-fields.ts';
import { isSettled } from './payment-states.ts';
import { attemptRefsOf, factsOfNext, reportedFacts, withoutPersonDetails } from './recorded-facts.ts';

export const isUnderWay = (status: PaymentStatus): boolean => status === 'processing' || status === 'pending';

export interface Move {
  readonly to: PaymentStatus;
  readonly now: Instant;
  readonly cause: HistoryCause;
  /** The provider's report that caused the version. The report sets the hold and the captured amount. */
  readonly reported?: ReportedAmount | undefined;
}

/** The next version, perhaps with the same status. Sets completedAt once, on the first success. */
export const advancePayment = (
  payment: Payment,
  { to: status, now, cause, reported }: Move,
  changed: Partial<Payment> = {},
): VisiblePayment => {
  // A payment that is held or settled can no longer be updated.
  const isFixed = isSettled(status) || status === 'requires_capture';
  const draft = isFixed ? WITHOUT_DRAFT : {};
  const unclear = isUnderWay(status) || (payment.draft !== undefined && !isFixed);
  const { details, decline, settlement, receiptUrl, ...fields } = changed;
  const attempt = changed.attempt ?? payment.attempt;
  return {
    ...payment,
    ...draft,
    nextAction: status === 'pending' ? payment.nextAction : undefined,
    ...(unclear ? lookupOf(payment, now) : NO_LOOKUP),
    failureCode: status === 'failed' ? payment.failureCode : undefined,
    attemptKey: isUnderWay(status) ? payment.attemptKey : undefined,
    withheld: status === 'succeeded' ? undefined : payment.withheld,
    ...holdOfNext(payment, { to: status, now, reported }),
    ...fields,
    ...methodOf(payment, status, changed),
    ...factsOfNext(payment, { status, attempt }, { reported: { details, decline, settlement, receiptUrl }, now }),
    status,
    cause,
    version: payment.version + 1,
    updatedAt: iso(now),
    completedAt: payment.completedAt ?? (status === 'succeeded' ? iso(now) : undefined),
    busyUntil: undefined,
  };
};

/** Keeps a scheduled lookup, or schedules the first lookup. */
const lookupOf = ({ reconcileAt, reconcileStep }: Payment, now: Instant): Pick<Payment, keyof typeof NO_LOOKUP> => ({
  reconcileAt: reconcileAt ?? iso(lookTime(now, 0)),
  reconcileStep: reconcileStep ?? 0,
});

const NO_LOOKUP = blank(lookGroup);

/**
 * The method after a report. A method that has paid in the browser becomes the payment's method. Otherwise the record
 * keeps its method, because a retry may charge only a `UsableMethod`. A token's new provider id replaces the token.
 */
const methodOf = (payment: Payment, status: PaymentStatus, changed: Partial<Payment>): Partial<Payment> => {
  const { methodRef, paymentMethodId } = changed;
  if (methodRef === undefined || methodRef === payment.methodRef) return {};
  if (status === 'succeeded') return { paymentMethodId };
  const holdsToken = payment.methodRef !== undefined && payment.paymentMethodId === undefined;
  return payment.status === 'processing' && holdsToken ? {} : { methodRef: payment.methodRef };
};

/** The payment with its draft applied, after the provider has accepted the update. */
export const applyDraft = (
  payment: VisiblePayment,
  draft: Draft,
  { now, nextAction = payment.nextAction }: { readonly now: Instant; readonly nextAction?: Payment['nextAction'] },
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

/** The fields by which the provider finds the payment. */
export const providerReference = (payment: Payment): KnownPayment => ({
  intentId: payment.providerIntentId ?? '',
  attemptRef: payment.attemptRef,
  method: payment.methodRef,
  status: isVisiblePayment(payment) ? payment.status : 'created',
  ...(payment.captureMethod && { captureMethod: payment.captureMethod }),
});

/** The fields of a provider's report, except the status. */
export const reportedFields = (report: ProviderPayment): Partial<Payment> => ({
  providerPaymentId: report.paymentId,
  attemptRef: report.attemptRef,
  ...(report.methodId && { methodRef: report.methodId }),
  ...(report.status === 'failed' && { failureCode: report.failureCode ?? 'processing_error' }),
  ...(report.status === 'pending' && { nextAction: report.nextAction }),
  ...reportedFacts(report.status, report.facts),
});

/** The first version that readers see, after the provider has created the intent. */
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

/** The method and the options of an attempt. */
export type ChosenMethod = Pick<Payment, 'offSession' | 'returnUrl'> & { readonly method: UsableMethod };

/** Claims one attempt to charge. Commit the claim before the provider call. */
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
  attemptKey: undefined,
  priorAttemptRefs: attemptRefsOf(payment),
  failureCode: undefined,
  decline: undefined,
  factsAt: undefined,
  factLooks: undefined,
  nextAction: undefined,
  reconcileAt: iso(lookTime(now, 0)),
  reconcileStep: 0,
});

/** Releases a claim after the provider certainly did nothing. The next claim has another idempotency key. */
export const releaseAttempt = (claim: VisiblePayment, before: VisiblePayment, now: Instant): VisiblePayment => ({
  ...claim,
  ...valuesIn(before, methodGroup),
  ...valuesIn(before, attemptGroup),
  ...valuesIn(before, factGroup),
  ...valuesIn(before, lookGroup),
  returnUrl: before.returnUrl,
  ...versionAfter(claim, 'release', now),
  status: before.status,
  released: (claim.released ?? 0) + 1,
});

/** The personal fields of a payment. */
const PERSON = {
  userEmail: undefined,
  guestEmail: undefined,
  guestName: undefined,
  guestPhone: undefined,
  guestNetwork: undefined,
} as const;

/** The caller's free texts and URLs, which may contain personal data, and the fields for the payer's browser. */
const TEXTS = {
  description: undefined,
  concept: undefined,
  tags: undefined,
  metadata: undefined,
  returnUrl: undefined,
  nextAction: undefined,
  clientSecret: undefined,
} as const;

/** Blanks the method's fields that identify its holder. No later report adds them again. */
const withoutMethod = ({ details }: Payment): Pick<Payment, 'details' | 'receiptUrl' | 'factsAt' | 'factLooks'> => ({
  details: details && withoutPersonDetails(details),
  receiptUrl: undefined,
  factsAt: undefined,
  factLooks: undefined,
});

/**
 * The next version without personal data. Amounts, dates, ids, the status and an organization's texts stay. Also blanks
 * a member's own method that paid for the organization.
 * @returns the same payment if there is nothing to blank
 */
export const blankPayment = (payment: VisiblePayment, now: Instant): VisiblePayment => {
  const isPersonal = payment.organizationId === undefined;
  const isLent = payment.lenderCustomerId !== undefined && payment.methodErased === undefined;
  const hasPerson = isPersonal ? payment.erasedAt === undefined : payment.userEmail !== undefined || isLent;
  if (!hasPerson) return payment;
  const version = versionAfter(payment, 'erasure', now);
  if (!isPersonal) {
    const lent = isLent ? { ...withoutMethod(payment), methodErased: true as const } : {};
    return { ...payment, userEmail: undefined, ...lent, ...version };
  }
  return {
    ...payment,
    ...PERSON,
    ...withoutMethod(payment),
    ...TEXTS,
    referenceCode: codeOnly(payment.referenceCode),
    category: codeOnly(payment.category),
    ...(payment.discount && { discount: { ...payment.discount, payer: undefined } }),
    ...(wantsMethodSaved(payment) && { methodNotKept: true as const }),
    erasedAt: iso(now),
    ...version,
  };
};
