/**
 * @module Settles an update with an unknown outcome. One function works on a draft at a time, until the draft is
 * applied, dropped, or released because the provider did not respond.
 */

import { DomainError, notFound } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import type { NotDone, Outcome, Unknown } from '../core/outcome.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ProviderPayment } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { failedError } from '../providers/unwrap.ts';
import { storeReading } from './apply-reading.ts';
import { type IntentParts, refusalError } from './create-intent.ts';
import { type Draft, type Payment, type VisiblePayment, withDraft } from './payment.ts';
import { isSettled } from './payment-states.ts';
import type { PaymentStore } from './payment-store.ts';
import { applyDraft, providerReference } from './payment-versions.ts';

export interface DraftResult {
  readonly payment: VisiblePayment;
  /** The reason why the provider refused the update; undefined if the update is in force. */
  readonly refusal?: DomainError;
}

export type HeldDraft = VisiblePayment & { readonly draft: Draft };
const isHeld = (payment: VisiblePayment): payment is HeldDraft => payment.draft !== undefined;

/**
 * Sends the update again under its own key. If the provider no longer accepts it, the amount at the provider decides.
 * @throws DomainError PAYMENT_IN_PROGRESS while another function works on it, or if the provider cannot be reached
 */
export const finishUpdate = async (parts: IntentParts, payment: VisiblePayment): Promise<DraftResult> => {
  const { store, provider } = parts;
  const held = await holdDraft(store, payment);
  if (!isHeld(held)) return { payment: held };
  const outcome = await sendDraft(provider, held);
  switch (outcome.kind) {
    case 'done':
      return { payment: await bringIntoForce(parts, held, outcome.value) };
    case 'refused':
    case 'declined':
      return decideByAmount(parts, held, updateRefusal(held, outcome));
    case 'not_done':
    case 'unknown':
      await store.releaseDraft(held);
      throw inProgress(outcome);
  }
};

/** Prepares a cancellation. Reads the provider's amount, and drops an update that the provider has not applied. */
export const abandonDraft = async (parts: IntentParts, payment: VisiblePayment): Promise<VisiblePayment> => {
  const held = await holdDraft(parts.store, payment);
  if (!isHeld(held)) return held;
  return (await decideByAmount(parts, held, new DomainError('PAYMENT_NOT_UPDATABLE'))).payment;
};

/** Sends the held draft. The key stays the same however often the draft is sent. */
export const sendDraft = (provider: PaymentProvider, payment: HeldDraft): Promise<Outcome<ProviderPayment>> => {
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

/** Applies the held draft to the current version, which an event may have changed since. */
export const bringIntoForce = async (
  { deps, store }: Pick<IntentParts, 'deps' | 'store'>,
  held: HeldDraft,
  { methodId, nextAction }: Pick<ProviderPayment, 'methodId' | 'nextAction'>,
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
 * True if the update sends a token, because the provider's response then has the new id of the method. For any other
 * method, the response may name a method that failed in the payer's browser.
 */
const sendsToken = ({ draft, methodRef }: HeldDraft): boolean =>
  draft.methodRef !== undefined && draft.paymentMethodId === undefined && draft.methodRef !== methodRef;

const hasAmountOf = ({ totalCents, currency }: Payment, draft: Draft): boolean =>
  totalCents === draft.totalCents && currency === draft.currency;

/** Settles a refused update. The record at the provider may have changed, with or without the draft's amount. */
export const decideByAmount = async (
  { deps, store, provider }: IntentParts,
  held: HeldDraft,
  refusal: DomainError,
): Promise<DraftResult> => {
  const found = await provider.findPayment(providerReference(held));
  if (found.kind === 'unknown' || found.kind === 'not_done') {
    await store.releaseDraft(held);
    throw inProgress(found);
  }
  if (found.kind !== 'done') return { payment: (await store.dropDraft(held)) ?? held, refusal };
  // The event of the approval, or the due work, captures an approved order; only its amount is stored here.
  const report: ProviderPayment = found.value.awaitsCapture ? { ...found.value, status: held.status } : found.value;
  const { payment: current, outcome } = await storeReading(deps, store, {
    payment: held,
    report,
    cause: 'answer',
  });
  if (outcome === 'overtaken' || outcome === 'mismatch') {
    await store.releaseDraft(held);
    throw outcome === 'overtaken'
      ? inProgress()
      : new DomainError('PROVIDER_ERROR', { details: { payment_id: held.id } });
  }
  if (current.draft) return { payment: (await store.dropDraft(held)) ?? current, refusal };
  return hasAmountOf(current, held.draft) && !hasAmountOf(held, held.draft)
    ? { payment: current }
    : { payment: current, refusal };
};

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

/** The codes by which providers refuse a change of a confirmed, paid or canceled intent or order. */
const NOT_OPEN: readonly string[] = ['payment_intent_unexpected_state', 'order_not_open'];

type Refused = Extract<Outcome<never>, { kind: 'refused' | 'declined' }>;

export const isNotOpen = (outcome: Refused): boolean => outcome.kind === 'refused' && NOT_OPEN.includes(outcome.reason);

export const updateRefusal = ({ id }: Payment, outcome: Refused): DomainError =>
  failedError(outcome, (refusal) => {
    if (!isNotOpen(refusal)) return refusalError(refusal);
    const message = 'The payment has changed at the provider and can no longer be updated';
    return new DomainError('INVALID_STATE', { message, details: { payment_id: id } });
  });

const RETRY_AFTER_SECONDS = 2;

const inProgress = (outcome?: NotDone | Unknown): DomainError => {
  const wanted = outcome?.kind === 'not_done' ? outcome.retryAfterSeconds : undefined;
  return new DomainError('PAYMENT_IN_PROGRESS', { retryAfterSeconds: wanted ?? RETRY_AFTER_SECONDS });
};

/** The payment for an attempt. An update with an unknown outcome is settled first. */
export const withoutDraft = async (parts: IntentParts, payment: VisiblePayment): Promise<VisiblePayment> =>
  payment.draft && !isSettled(payment.status) ? (await finishUpdate(parts, payment)).payment : payment;
