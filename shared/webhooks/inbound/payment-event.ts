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
import { advancePayment, providerReference, reportedFields } from '../../payments/record/versions.ts';
import type { InboundEventType, ProviderEvent } from '../../providers/port/events.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { findAlias } from '../../table/alias.ts';
import type { InboundEvent } from './inbound-event.ts';

/** The result of a provider's event about a payment. */
export type PaymentEventResult =
  | { readonly kind: 'applied'; readonly payment: VisiblePayment; readonly status: PaymentStatus }
  | { readonly kind: 'ignored'; readonly payment: VisiblePayment; readonly reason: string }
  /** The event contradicts the record: the record stays unchanged, and an operator must check it. */
  | { readonly kind: 'quarantined'; readonly payment: VisiblePayment; readonly reason: string }
  /** The payment does not exist yet. */
  | { readonly kind: 'early' };

type PaymentEventType = Extract<InboundEventType, `payment_intent.${string}`>;
export type PaymentEvent = InboundEvent<PaymentEventType>;

const STATUS_OF: Readonly<Record<PaymentEventType, PaymentStatus>> = {
  'payment_intent.succeeded': 'succeeded',
  'payment_intent.failed': 'failed',
  'payment_intent.canceled': 'canceled',
  'payment_intent.processing': 'processing',
  'payment_intent.requires_action': 'pending',
};

const APPLY_TRIES = 8;

type ApplyDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

/** Applies one event. Any order and any repetition of a payment's events lead to the same result. */
export const applyPaymentEvent = async (
  deps: ApplyDeps,
  { slot, type, event }: PaymentEvent,
): Promise<PaymentEventResult> => {
  const store = paymentStore(deps.table, deps.now);
  const aliased = await aliasedPayment(deps, slot, event);
  const paymentId = aliased ?? event.object.ourPaymentId;
  let payment = paymentId === undefined ? undefined : await store.load(paymentId);
  for (let tries = 0; tries < APPLY_TRIES; tries += 1) {
    if (!payment || !isVisiblePayment(payment)) return { kind: 'early' };
    const difference = aliased === undefined ? findDifference(payment, slot, event) : undefined;
    if (difference) return { kind: 'quarantined', payment, reason: difference };
    const applied = await applyOnce({ deps, store, payment, event }, STATUS_OF[type]);
    if (applied.kind !== 'conflict') return applied;
    payment = applied.found;
  }
  throw new Error('too many concurrent changes of the payment');
};

/** Finds the payment's id by the provider's id of the object, else of the object's intent or order. */
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

/**
 * Our id in the event's metadata proves nothing: anyone can set it at the provider. The provider's own ids must match.
 */
const findDifference = (payment: Payment, slot: ProviderSlot, { object }: ProviderEvent): string | undefined => {
  if (payment.providerId !== slot) return 'provider differs';
  const known = [payment.providerIntentId, payment.providerPaymentId];
  return [object.id, object.intentId].some((id) => id !== undefined && known.includes(id))
    ? undefined
    : 'provider object differs';
};

type AppliedOnce = PaymentEventResult | { readonly kind: 'conflict'; readonly found: Payment | undefined };

interface PaymentEventContext {
  readonly deps: ApplyDeps;
  readonly store: PaymentStore;
  readonly payment: VisiblePayment;
  readonly event: ProviderEvent;
}

const applyOnce = async (context: PaymentEventContext, status: PaymentStatus): Promise<AppliedOnce> => {
  const { deps, store, payment, event } = context;
  const current = matchAmount(payment, event.object);
  if (!current) {
    return { kind: 'quarantined', payment, reason: findMismatch(payment, event.object) ?? 'amount differs' };
  }
  if (event.object.awaitsCapture) return applyApproval(context);
  const { attemptRef, failureCode } = event.object;
  const decision = decideEvent(current, { status, createdAt: event.createdAt, attemptRef });
  switch (decision.kind) {
    case 'apply': {
      const facts: Partial<Payment> = {
        ...(attemptRef && { attemptRef }),
        ...(event.object.intentId !== undefined && { providerPaymentId: event.object.id }),
        ...(status === 'failed' && { failureCode: failureCode ?? 'do_not_honor' }),
      };
      const next = advancePayment(current, { to: decision.status, now: deps.now(), cause: 'event' }, facts);
      const committed = await store.commit(payment, next);
      return committed.ok ? { kind: 'applied', payment: next, status } : { kind: 'conflict', found: committed.found };
    }
    case 'ignore':
      if (decision.reconcile) await store.reschedule(payment, iso(deps.now()));
      return { kind: 'ignored', payment, reason: decision.reason };
    case 'read':
      return readOnce(context, decision.reason);
    default:
      return assertNever(decision);
  }
};

/** The payer has approved the payment at the provider: captures the approved amount, once. */
const applyApproval = async (context: PaymentEventContext): Promise<AppliedOnce> => {
  const { deps, store, payment, event } = context;
  if (payment.draft) return finishUpdateFirst(context);
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
 * While the outcome of an update is unknown, the approved amount is unknown too: the update is finished first, then the
 * approval is decided on again. If the update cannot be finished now, due work captures the approved amount later.
 */
const finishUpdateFirst = async ({ deps, store, payment }: PaymentEventContext): Promise<AppliedOnce> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  try {
    const settled = await finishUpdate({ deps, store, provider }, payment);
    return { kind: 'conflict', found: settled.payment };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'PAYMENT_IN_PROGRESS') return { kind: 'early' };
    throw error;
  }
};

/** The event contradicts a settled payment: reads the provider, and stores its status only if it is a later one. */
const readOnce = async ({ deps, store, payment }: PaymentEventContext, reason: string): Promise<AppliedOnce> => {
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
  const next = advancePayment(
    payment,
    { to: report.status, now: deps.now(), cause: 'event' },
    { ...reportedFields(report), anomaly: reason },
  );
  const committed = await store.commit(payment, next, { by: 'read' });
  return committed.ok
    ? { kind: 'applied', payment: next, status: next.status }
    : { kind: 'conflict', found: committed.found };
};
