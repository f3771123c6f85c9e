import { assertNever, DomainError } from '../../core/errors.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import { iso } from '../../core/time.ts';
import { captureApproval } from '../../payments/attempts/attempt.ts';
import { finishUpdate } from '../../payments/attempts/update-intent.ts';
import { findMismatch, matchAmount } from '../../payments/record/amounts.ts';
import { decideApproval, decideEvent } from '../../payments/record/decisions.ts';
import {
  isVisiblePayment,
  type Payment,
  type PaymentStatus,
  type VisiblePayment,
} from '../../payments/record/payment.ts';
import { isAhead } from '../../payments/record/states.ts';
import { type PaymentStore, paymentStore } from '../../payments/record/store.ts';
import { advance, providerReference, reportedFields } from '../../payments/record/versions.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { findAlias } from '../../table/alias.ts';

/** What became of a provider's event about a payment. */
export type Applied =
  | { readonly kind: 'applied'; readonly payment: VisiblePayment; readonly status: PaymentStatus }
  | { readonly kind: 'ignored'; readonly payment: VisiblePayment; readonly reason: string }
  /** It contradicts the record: nothing is changed, an operator is told. */
  | { readonly kind: 'quarantined'; readonly payment: VisiblePayment; readonly reason: string }
  /** Its record is not there yet. */
  | { readonly kind: 'early' };

export type PaymentEventType = Extract<NonNullable<ProviderEvent['type']>, `payment_intent.${string}`>;

const STATUS_OF: Readonly<Record<PaymentEventType, PaymentStatus>> = {
  'payment_intent.succeeded': 'succeeded',
  'payment_intent.failed': 'failed',
  'payment_intent.canceled': 'canceled',
  'payment_intent.processing': 'processing',
  'payment_intent.requires_action': 'pending',
};

export const isPaymentEvent = (type: ProviderEvent['type']): type is PaymentEventType =>
  type !== undefined && type in STATUS_OF;

const APPLY_TRIES = 8;

type ApplyDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

/** Applies one event; any order and any repetition of what a provider truly sent ends the same. */
export const applyPaymentEvent = async (
  deps: ApplyDeps,
  slot: ProviderSlot,
  event: ProviderEvent,
  type: PaymentEventType,
): Promise<Applied> => {
  const store = paymentStore(deps.table, deps.now);
  const aliased = await aliasedPayment(deps, slot, event);
  const paymentId = aliased ?? event.object.ourPaymentId;
  let payment = paymentId === undefined ? undefined : await store.load(paymentId);
  for (let tries = 0; tries < APPLY_TRIES; tries += 1) {
    if (!payment || !isVisiblePayment(payment)) return { kind: 'early' };
    const stranger = aliased === undefined ? strangerTo(payment, slot, event) : undefined;
    if (stranger) return { kind: 'quarantined', payment, reason: stranger };
    const applied = await applyOnce(deps, store, payment, event, STATUS_OF[type]);
    if (applied.kind !== 'conflict') return applied;
    payment = applied.found;
  }
  throw new Error('too many writers at once');
};

/** By the object's own id, else by that of the intent or order that it belongs to. */
const aliasedPayment = async (
  { table }: ApplyDeps,
  slot: ProviderSlot,
  { object }: ProviderEvent,
): Promise<string | undefined> => {
  for (const id of [object.id, object.intentId]) {
    const alias = id === undefined ? undefined : await findAlias(table, slot, id);
    if (alias?.kind === 'PAY') return alias.id;
  }
  return undefined;
};

/** Our id alone, which anybody may have left at the provider, proves nothing. */
const strangerTo = (payment: Payment, slot: ProviderSlot, { object }: ProviderEvent): string | undefined => {
  if (payment.providerId !== slot) return 'provider differs';
  const known = [payment.providerIntentId, payment.providerPaymentId];
  return [object.id, object.intentId].some((id) => id !== undefined && known.includes(id))
    ? undefined
    : 'provider object differs';
};

type AppliedOnce = Applied | { readonly kind: 'conflict'; readonly found: Payment | undefined };

const applyOnce = async (
  deps: ApplyDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  event: ProviderEvent,
  status: PaymentStatus,
): Promise<AppliedOnce> => {
  const current = matchAmount(payment, event.object);
  if (!current) {
    return { kind: 'quarantined', payment, reason: findMismatch(payment, event.object) ?? 'amount differs' };
  }
  if (event.object.awaitsCapture) return applyApproval(deps, store, payment, event);
  const { attemptRef, failureCode } = event.object;
  const decision = decideEvent(current, { status, createdAt: event.createdAt, attemptRef });
  switch (decision.kind) {
    case 'apply': {
      const facts: Partial<Payment> = {
        ...(attemptRef && { attemptRef }),
        ...(event.object.intentId !== undefined && { providerPaymentId: event.object.id }),
        ...(status === 'failed' && { failureCode: failureCode ?? 'do_not_honor' }),
      };
      const next = advance(current, decision.status, deps.now(), 'event', facts);
      const committed = await store.commit(payment, next);
      return committed.ok ? { kind: 'applied', payment: next, status } : { kind: 'conflict', found: committed.found };
    }
    case 'ignore':
      if (decision.reconcile) await store.reschedule(payment, iso(deps.now()));
      return { kind: 'ignored', payment, reason: decision.reason };
    case 'read':
      return readOnce(deps, store, payment, decision.reason);
    default:
      return assertNever(decision);
  }
};

/** The payer's approval at the provider: what was approved is captured, once. */
const applyApproval = async (
  deps: ApplyDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  event: ProviderEvent,
): Promise<AppliedOnce> => {
  if (payment.draft) return settledFirst(deps, store, payment);
  const decision = decideApproval(payment, event.createdAt);
  switch (decision.kind) {
    case 'busy':
      return { kind: 'early' };
    case 'ignore':
      if (decision.reconcile) await store.reschedule(payment, iso(deps.now()));
      return { kind: 'ignored', payment, reason: decision.reason };
    case 'claim': {
      const captured = await captureApproval(deps, store, payment);
      if (captured.kind === 'conflict') return captured;
      return { kind: 'applied', payment: captured.payment, status: captured.payment.status };
    }
    default:
      return assertNever(decision);
  }
};

/**
 * While an update is unclear, nobody knows which amount the payer approved: it is settled, and the approval is decided
 * on anew. Where it cannot be settled now, its appointment captures what was approved.
 */
const settledFirst = async (deps: ApplyDeps, store: PaymentStore, payment: VisiblePayment): Promise<AppliedOnce> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  try {
    const settled = await finishUpdate({ deps, store, provider }, payment);
    return { kind: 'conflict', found: settled.payment };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'PAYMENT_IN_PROGRESS') return { kind: 'early' };
    throw error;
  }
};

/** The record is settled and the event says otherwise: what the provider says now counts, and only further on. */
const readOnce = async (
  deps: ApplyDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  reason: string,
): Promise<AppliedOnce> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const found = await provider.findPayment(providerReference(payment));
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  const report = found.kind === 'done' ? found.value : undefined;
  const anomaly = () =>
    deps.log.error('payment anomaly', { payment_id: payment.id, provider: payment.providerId, reason });
  if (!report || findMismatch(payment, report)) {
    anomaly();
    return { kind: 'quarantined', payment, reason };
  }
  if (!isAhead(payment.status, report.status)) {
    if (report.status !== payment.status) anomaly();
    return { kind: 'ignored', payment, reason: `anomaly: ${reason}` };
  }
  anomaly();
  const next = advance(payment, report.status, deps.now(), 'event', { ...reportedFields(report), anomaly: reason });
  const committed = await store.commit(payment, next);
  return committed.ok
    ? { kind: 'applied', payment: next, status: next.status }
    : { kind: 'conflict', found: committed.found };
};
