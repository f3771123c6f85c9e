import type { Outcome } from '../../core/outcome.ts';
import { iso, MINUTE } from '../../core/time.ts';
import { useNone } from '../../payment-methods/use.ts';
import { INTENT_SPENT, type ProviderPayment } from '../../providers/port/payments.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { mayNameOtherCustomer, payingCustomerOf, savesMethod } from '../record/paying-customer.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from '../record/payment.ts';
import type { PaymentStore } from '../record/store.ts';
import { claimAttempt, releaseClaim } from '../record/versions.ts';
import { type AttemptResult, recordAnswer } from './answer.ts';
import { creationKey, intentRequest } from './create-intent.ts';

export interface ClaimedAttempt {
  readonly claim: VisiblePayment;
  /** The payment to go back to, should the provider certainly have done nothing. */
  readonly before: VisiblePayment;
  /** The caller waits: an attempt that the provider refuses without trying to charge is taken back, too. */
  readonly isAttended?: true;
}

export interface AttemptReport extends AttemptResult {
  /** Nobody knows whether the provider has charged. */
  readonly isUnclear: boolean;
}

/**
 * Carries out an attempt that has just been claimed, and records what came of it. An attempt that certainly did not
 * happen is taken back: no event tells of it, and the next attempt is free.
 */
export const makeAttempt = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  provider: PaymentProvider,
  { claim, before, isAttended }: ClaimedAttempt,
): Promise<AttemptReport> => {
  const { payment, outcome } = await chargeAttempt(deps, store, provider, claim);
  const takeBack = () => takeBackClaim(deps, store, payment, before);
  if (outcome.kind === 'not_done') {
    const { isOurs, payment: stands } = await takeBack();
    return isOurs
      ? { payment: stands, notDone: outcome, isUnclear: false }
      : { payment: stands, isUnclear: isOpen(stands) };
  }
  const onRefusal = isAttended ? takeBack : undefined;
  const answer = await recordAnswer(deps, { store, provider, onRefusal }, payment, outcome);
  return { ...answer, isUnclear: outcome.kind !== 'done' && isOpen(answer.payment) };
};

const isOpen = ({ status }: VisiblePayment): boolean => status === 'processing';

/** Where an event has moved the payment on meanwhile, another confirmation came first: its outcome counts. */
const takeBackClaim = async (
  deps: Pick<MoneyDeps, 'now'>,
  store: PaymentStore,
  claim: VisiblePayment,
  before: VisiblePayment,
): Promise<{ readonly isOurs: boolean; readonly payment: VisiblePayment }> => {
  const committed = await store.commit(claim, releaseClaim(claim, before, deps.now()));
  const stands = committed.ok ? committed.payment : committed.found;
  if (!stands || !isVisiblePayment(stands)) throw new Error('a claimed payment vanished');
  return { isOurs: committed.ok, payment: stands };
};

/** The key of one attempt to charge: the same however often it is sent. */
const attemptKey = ({ id, attempt, released }: Pick<VisiblePayment, 'id' | 'attempt' | 'released'>): string =>
  `${id}:confirm:${attempt}${released === undefined ? '' : `.${released}`}`;

/** The claim as it stands by then, and what came of it. */
export interface ChargeResult {
  readonly payment: VisiblePayment;
  readonly outcome: Outcome<ProviderPayment>;
}

type ChargeDeps = Pick<MoneyDeps, 'now'>;

/** Asks the provider to carry out a claimed attempt. An intent that can never be charged again is replaced first. */
export const chargeAttempt = async (
  deps: ChargeDeps,
  store: PaymentStore,
  provider: PaymentProvider,
  payment: VisiblePayment,
): Promise<ChargeResult> => {
  const outcome = await ask(provider, payment);
  if (outcome.kind !== 'refused' || outcome.reason !== INTENT_SPENT) return { payment, outcome };
  const idempotencyKey = `${creationKey(payment)}:${payment.attempt}`;
  const created = await provider.createIntent({ ...intentRequest(payment), idempotencyKey });
  if (created.kind !== 'done') return { payment, outcome: created };
  const renewed = await replaceIntent(deps, store, payment, created.value);
  // Another has brought the attempt to an end meanwhile: nothing is charged.
  if (renewed === undefined) return { payment, outcome: { kind: 'unknown', reason: 'error' } };
  return { payment: renewed, outcome: await ask(provider, renewed) };
};

const ask = (provider: PaymentProvider, payment: VisiblePayment): Promise<Outcome<ProviderPayment>> =>
  provider.confirmIntent({
    idempotencyKey: attemptKey(payment),
    intentId: payment.providerIntentId ?? '',
    paymentId: payment.id,
    amountCents: payment.totalCents,
    currency: payment.currency,
    method: payment.methodRef,
    customerId: payingCustomerOf(payment),
    mayNameOtherCustomer: mayNameOtherCustomer(payment),
    saveMethod: savesMethod(payment),
    returnUrl: payment.returnUrl,
    ...(payment.offSession && { offSession: true }),
  });

const REPLACE_TRIES = 5;

/** The record knows the new intent before anything is charged on it: whoever looks the attempt up finds it. */
const replaceIntent = async (
  deps: ChargeDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  { intentId, paymentId, clientSecret }: ProviderPayment,
): Promise<VisiblePayment | undefined> => {
  let current = payment;
  for (let tries = 0; tries < REPLACE_TRIES; tries += 1) {
    const next: VisiblePayment = {
      ...current,
      providerIntentId: intentId,
      providerPaymentId: paymentId,
      clientSecret: current.clientSecret && clientSecret,
      version: current.version + 1,
      updatedAt: iso(deps.now()),
    };
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    const { found } = committed;
    if (!found || !isVisiblePayment(found) || found.status !== 'processing' || found.attempt !== payment.attempt)
      return;
    if (found.providerIntentId === intentId) return found;
    current = found;
  }
  return undefined;
};

export type CaptureResult =
  | { readonly kind: 'captured'; readonly payment: VisiblePayment }
  /** Another commit came first: the approval is decided on anew. */
  | { readonly kind: 'conflict'; readonly found: Payment | undefined };

/**
 * Captures what a payer has approved at the provider: one attempt is claimed, as a confirmation would claim it, so that
 * of several who hear of the approval one alone asks for the money.
 */
export const captureApproval = async (
  deps: Pick<MoneyDeps, 'now' | 'log' | 'providers'>,
  store: PaymentStore,
  payment: VisiblePayment,
): Promise<CaptureResult> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  // What the payer approved is charged, not a method that the record may hold.
  const claim = claimAttempt(payment, { method: useNone(payment.providerCustomerId) }, deps.now());
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
