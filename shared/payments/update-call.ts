/**
 * @module The update of an intent, as a kind of call. One function works on a draft at a time, until the draft is
 * applied, dropped, or released because the provider did not respond.
 */

import {
  type CallKind,
  type CallResult,
  type LookedUp,
  OVER,
  type RefusedCall,
  type Unanswered,
} from '../calls/call-kind.ts';
import { lookUpCall, resendCall } from '../calls/look-up.ts';
import { makeCall } from '../calls/run-call.ts';
import { DomainError, notFound } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { ifKnown, type Outcome } from '../core/outcome.ts';
import { instant } from '../core/time.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ProviderPayment } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { declinedError, unansweredError, unavailableError } from '../providers/unwrap.ts';
import { storeReading } from './apply-reading.ts';
import { type IntentParts, refusalError } from './create-intent.ts';
import { type Draft, type Payment, type VisiblePayment, withDraft } from './payment.ts';
import { isSettled } from './payment-states.ts';
import type { PaymentStore } from './payment-store.ts';
import { applyDraft, providerReference } from './payment-versions.ts';

interface DraftResult {
  readonly payment: VisiblePayment;
  /** Why the provider refused the update; undefined if the update was applied. */
  readonly refusal?: DomainError | undefined;
}

type HeldDraft = VisiblePayment & { readonly draft: Draft };
const isHeld = (payment: VisiblePayment): payment is HeldDraft => payment.draft !== undefined;

/**
 * Sends a newly claimed draft to the provider and applies it.
 * @throws DomainError PROVIDER_TIMEOUT or a similar code (the draft stays, and a repeat of the request or due work
 * finishes it), PROVIDER_UNAVAILABLE (the provider did nothing, the draft is dropped), or the provider's refusal
 */
export const makeUpdate = async (parts: IntentParts, held: HeldDraft): Promise<VisiblePayment> => {
  const { record, refusal, notDone, open, isUnclear, unanswered } = await makeCall(UPDATE_CALL, parts, held);
  const details = { payment_id: held.id };
  if (notDone) throw unavailableError(notDone, details);
  if (open) await parts.store.releaseDraft(open);
  if (unanswered?.by === 'response') throw unansweredError(unanswered.outcome, details);
  if (isUnclear) throw inProgress(unanswered);
  if (refusal) throw updateRefusal(held, refusal);
  return record;
};

/**
 * Sends the update again under its own key. If the provider no longer accepts the update, the provider's amount
 * decides.
 * @throws DomainError PAYMENT_IN_PROGRESS while another function works on the draft, or if the provider cannot be
 * reached
 */
export const finishUpdate = (parts: IntentParts, payment: VisiblePayment): Promise<DraftResult> =>
  settleUpdate(parts, payment, resendCall);

/** Prepares a cancellation. Reads the provider's amount, and drops an update that the provider has not applied. */
export const abandonDraft = async (parts: IntentParts, payment: VisiblePayment): Promise<VisiblePayment> =>
  (await settleUpdate(parts, payment, lookUpCall)).payment;

const settleUpdate = async (
  parts: IntentParts,
  payment: VisiblePayment,
  look: typeof lookUpCall,
): Promise<DraftResult> => {
  const held = await holdDraft(parts.store, payment);
  if (!isHeld(held)) return { payment: held };
  const { record, refusal, isUnclear, unanswered } = await look(UPDATE_CALL, parts, held);
  if (isUnclear) throw inProgress(unanswered);
  return { payment: record, refusal: refusal && updateRefusal(held, refusal) };
};

/**
 * A read shows only the amount, so `finishUpdate` sends an update again without a read. `find` returns undefined if the
 * provider does not know the payment.
 */
const UPDATE_CALL: CallKind<IntentParts, VisiblePayment, HeldDraft, ProviderPayment, ProviderPayment | undefined> &
  LookedUp<IntentParts, VisiblePayment, HeldDraft> = {
  send: async ({ provider }, held) => ({ claim: held, outcome: await sendDraft(provider, held) }),
  find: async ({ provider }, held) => ifKnown(await provider.findPayment(providerReference(held))),

  // The payment at the provider may have changed, with or without the draft's amount.
  apply: async (parts, held, { by, report }) => {
    if (!report) return { state: 'absent', record: held };
    if (by === 'response') return { state: 'settled', record: await bringIntoForce(parts, held, report) };
    const { deps, store } = parts;
    // Stores only the amount of an approved order. The approval event or due work captures the order.
    const known: ProviderPayment = report.awaitsCapture ? { ...report, status: held.status } : report;
    const { payment, outcome } = await storeReading(deps, store, { payment: held, report: known, cause: 'answer' });
    if (outcome === 'overtaken') return { state: 'open', record: held };
    if (outcome === 'mismatch') {
      await store.releaseDraft(held);
      throw new DomainError('PROVIDER_ERROR', { details: { payment_id: held.id } });
    }
    if (isHeld(payment)) return { state: 'absent', record: payment };
    const isApplied = hasAmountOf(payment, held.draft) && !hasAmountOf(held, held.draft);
    return { state: 'settled', record: payment, refusal: isApplied ? undefined : OVER };
  },

  endsUnread: (refusal, isResend) => !isResend && !isNotOpen(refusal),
  end: async (parts, held, { refusal }) => ({ ...(await drop(parts, held)), refusal }),
  takeBack: async (parts, held, notDone) => ({ ...(await drop(parts, held)), notDone }),

  claimedAt: ({ updatedAt }) => instant(updatedAt),
  step: () => 0,
  maySend: async () => false,
  // Releases the draft, so the next caller may send it immediately. Due work retries every five minutes until the
  // payment expires.
  setLook: ({ store }, held) => store.releaseDraft(held),
  stuck: () => undefined,
  statusOf: ({ status }) => status,
};

const drop = async ({ store }: IntentParts, held: HeldDraft): Promise<CallResult<VisiblePayment>> => ({
  record: (await store.dropDraft(held)) ?? held,
});

/** Sends the held draft. Every send has the same key. */
const sendDraft = (provider: PaymentProvider, payment: HeldDraft): Promise<Outcome<ProviderPayment>> => {
  const { draft } = payment;
  const next = withDraft(payment, draft);
  const version = payment.draftVersion ?? payment.version;
  return provider.updateIntent({
    idempotencyKey: `${payment.id}:update:${version}:${fingerprint(canonicalJson(draft)).slice(0, 12)}`,
    intentId: payment.providerIntentId ?? '',
    amountCents: next.totalCents,
    currency: next.currency,
    description: next.description,
    method: next.methodRef === payment.methodRef ? undefined : (next.methodRef ?? null),
    customerId: next.providerCustomerId,
    isSavedMethod: next.paymentMethodId !== undefined,
    saveMethod: next.setupFutureUsage === 'off_session',
    returnUrl: next.returnUrl,
    ...((next.captureMethod ?? payment.captureMethod) && { captureMethod: next.captureMethod ?? 'automatic' }),
  });
};

/** Applies the held draft to the current version, which may be newer than the claim. */
const bringIntoForce = async (
  { deps, store }: IntentParts,
  held: HeldDraft,
  { methodId, nextAction }: ProviderPayment,
): Promise<VisiblePayment> => {
  const { draft } = held;
  const taken = sendsToken(held) ? { ...draft, methodRef: methodId ?? draft.methodRef } : draft;
  const { record } = await store.change(held, (current) => {
    if (!current.draft && hasAmountOf(current, draft)) return undefined;
    if (!current.draft || current.draftBusyUntil !== held.draftBusyUntil) throw new DomainError('VERSION_CONFLICT');
    return applyDraft(current, taken, { now: deps.now(), nextAction });
  });
  return record;
};

/**
 * True if the update sends a token. The provider's response then has the method's new id. Otherwise, the response may
 * have a method that failed in the payer's browser.
 */
const sendsToken = ({ draft, methodRef }: HeldDraft): boolean =>
  draft.methodRef !== undefined && draft.paymentMethodId === undefined && draft.methodRef !== methodRef;

const hasAmountOf = ({ totalCents, currency }: Payment, draft: Draft): boolean =>
  totalCents === draft.totalCents && currency === draft.currency;

/** @throws DomainError PAYMENT_IN_PROGRESS while another function works on the draft. */
const holdDraft = async (store: PaymentStore, payment: VisiblePayment): Promise<VisiblePayment> => {
  if (!payment.draft) return payment;
  const held = await store.holdDraft(payment);
  if (held) return held;
  const stands = await store.loadVisible(payment.id);
  if (!stands) throw notFound('payment');
  if (stands.draft) throw inProgress();
  return stands;
};

/** Providers' codes for a refused change of a confirmed, paid or canceled intent or order. */
const NOT_OPEN: readonly string[] = ['payment_intent_unexpected_state', 'order_not_open'];

const isNotOpen = (refusal: RefusedCall): boolean => refusal.kind === 'refused' && NOT_OPEN.includes(refusal.reason);

const updateRefusal = ({ id }: Payment, refusal: RefusedCall): DomainError => {
  if (refusal.kind === 'declined') return declinedError(refusal);
  if (!isNotOpen(refusal)) return refusalError(refusal);
  const message = 'The payment has changed at the provider and can no longer be updated';
  return new DomainError('INVALID_STATE', { message, details: { payment_id: id } });
};

const RETRY_AFTER_SECONDS = 2;

const inProgress = (unanswered?: Unanswered): DomainError => {
  const outcome = unanswered?.outcome;
  const wanted = outcome?.kind === 'not_done' ? outcome.retryAfterSeconds : undefined;
  return new DomainError('PAYMENT_IN_PROGRESS', { retryAfterSeconds: wanted ?? RETRY_AFTER_SECONDS });
};

/** Settles an update with an unknown outcome before an attempt to charge. */
export const withoutDraft = async (parts: IntentParts, payment: VisiblePayment): Promise<VisiblePayment> =>
  payment.draft && !isSettled(payment.status) ? (await finishUpdate(parts, payment)).payment : payment;
