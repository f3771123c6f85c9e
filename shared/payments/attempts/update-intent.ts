import { DomainError, notFound } from '../../core/errors.ts';
import { fingerprint } from '../../core/ids.ts';
import type { NotDone, Outcome, Unknown } from '../../core/outcome.ts';
import { canonicalJson } from '../../idempotency/idempotency.ts';
import type { ProviderPayment } from '../../providers/port/payments.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { type Draft, isVisiblePayment, type Payment, type VisiblePayment, withDraft } from '../record/payment.ts';
import { isSettled } from '../record/states.ts';
import type { PaymentStore } from '../record/store.ts';
import { applyDraft, providerReference } from '../record/versions.ts';
import { refusalError } from './create-intent.ts';
import { storeReading } from './reconcile.ts';

/**
 * Settles an update whose end at the provider is unclear. One function works on a draft at a time: it holds the draft
 * until it is in force, dropped, or released because the provider gave no answer. What the provider took stands.
 */
export interface DraftResult {
  readonly payment: VisiblePayment;
  /** Why the provider did not take the update; undefined where the update is in force. */
  readonly refusal?: DomainError;
}

/** A payment whose draft this function alone may work on. */
export type HeldDraft = VisiblePayment & { readonly draft: Draft };
const isHeld = (payment: VisiblePayment): payment is HeldDraft => payment.draft !== undefined;

type SettleDeps = Pick<MoneyDeps, 'now' | 'log'>;

export interface DraftParts {
  readonly deps: SettleDeps;
  readonly store: PaymentStore;
  readonly provider: PaymentProvider;
}

/**
 * Finishes an unclear update: sent again under its own key, it is in force; where the provider no longer takes it, the
 * amount that the provider has decides.
 * @throws DomainError PAYMENT_IN_PROGRESS while another function works on it, or the provider cannot be reached
 */
export const finishUpdate = async (parts: DraftParts, payment: VisiblePayment): Promise<DraftResult> => {
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

/** Before a cancellation: the provider is asked which amount it has, and an update that it has not taken is dropped. */
export const abandonDraft = async (parts: DraftParts, payment: VisiblePayment): Promise<VisiblePayment> => {
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
  });
};

const COMMIT_TRIES = 5;

/** The held draft in force, on whatever version an event has led to meanwhile. */
export const bringIntoForce = async (
  { deps, store }: Pick<DraftParts, 'deps' | 'store'>,
  held: HeldDraft,
  { methodId, nextAction }: Pick<ProviderPayment, 'methodId' | 'nextAction'>,
): Promise<VisiblePayment> => {
  const { draft } = held;
  const taken = sendsToken(held) ? { ...draft, methodRef: methodId ?? draft.methodRef } : draft;
  let current: VisiblePayment = held;
  for (let tries = 0; tries < COMMIT_TRIES; tries += 1) {
    const next = applyDraft(current, taken, deps.now(), nextAction);
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    const { found } = committed;
    if (!found || !isVisiblePayment(found)) throw notFound('payment');
    if (!found.draft && hasAmountOf(found, draft)) return found;
    if (!found.draft || found.draftBusyUntil !== held.draftBusyUntil) break;
    current = found;
  }
  throw new DomainError('VERSION_CONFLICT');
};

/**
 * A token that the update sends may be another id at the provider. Of any other method, the provider's answer may name
 * one that failed in the payer's browser.
 */
const sendsToken = ({ draft, methodRef }: HeldDraft): boolean =>
  draft.methodRef !== undefined && draft.paymentMethodId === undefined && draft.methodRef !== methodRef;

const hasAmountOf = ({ totalCents, currency }: Payment, draft: Draft): boolean =>
  totalCents === draft.totalCents && currency === draft.currency;

/** A refused update: the provider's record may have moved on, with the draft's amount or without. */
export const decideByAmount = async (
  { deps, store, provider }: DraftParts,
  held: HeldDraft,
  refusal: DomainError,
): Promise<DraftResult> => {
  const found = await provider.findPayment(providerReference(held));
  if (found.kind === 'unknown' || found.kind === 'not_done') {
    await store.releaseDraft(held);
    throw inProgress(found);
  }
  if (found.kind !== 'done') return { payment: (await store.dropDraft(held)) ?? held, refusal };
  // An approved order is captured by whoever acts on the approval; only its amount is stored here.
  const report: ProviderPayment = found.value.awaitsCapture ? { ...found.value, status: held.status } : found.value;
  const { payment: current, outcome } = await storeReading(deps, store, held, report, 'answer');
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

/** What providers say of an intent or order that is confirmed, paid or canceled. */
const NOT_OPEN: readonly string[] = ['payment_intent_unexpected_state', 'order_not_open'];

type Refused = Extract<Outcome<never>, { kind: 'refused' | 'declined' }>;

export const isNotOpen = (outcome: Refused): boolean => outcome.kind === 'refused' && NOT_OPEN.includes(outcome.reason);

export const updateRefusal = (payment: Payment, outcome: Refused): DomainError => {
  if (outcome.kind === 'declined') {
    return new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
  }
  return isNotOpen(outcome)
    ? new DomainError('INVALID_STATE', {
        message: 'The provider has moved the payment on: it can no longer be updated',
        details: { payment_id: payment.id },
      })
    : refusalError(outcome);
};

const ASK_AGAIN_SECONDS = 2;

const inProgress = (outcome?: NotDone | Unknown): DomainError => {
  const wanted = outcome?.kind === 'not_done' ? outcome.retryAfterSeconds : undefined;
  return new DomainError('PAYMENT_IN_PROGRESS', { retryAfterSeconds: wanted ?? ASK_AGAIN_SECONDS });
};

/** The record before anything is charged: an unclear update is settled first, whatever comes of it. */
export const withoutDraft = async (parts: DraftParts, payment: VisiblePayment): Promise<VisiblePayment> =>
  payment.draft && !isSettled(payment.status) ? (await finishUpdate(parts, payment)).payment : payment;
