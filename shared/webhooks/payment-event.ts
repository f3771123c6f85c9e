/** @module Applies a provider's event about a payment. Any order and any repetition leads to the same result. */

import { assertNever, DomainError } from '../core/errors.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import { captureApproval, claimApproval } from '../payments/capture-approval.ts';
import { type CaptureNews, captureNews } from '../payments/holds/several-captures.ts';
import type { Payment, PaymentStatus, VisiblePayment } from '../payments/payment.ts';
import { providerIdsOf } from '../payments/payment-aliases.ts';
import { findMismatch, matchAmount, statusHere } from '../payments/payment-amounts.ts';
import { decideApproval, decideEvent } from '../payments/payment-decisions.ts';
import { isAhead } from '../payments/payment-states.ts';
import { type PaymentCommit, type PaymentStore, paymentStore } from '../payments/payment-store.ts';
import { advancePayment, providerReference, reportedFields } from '../payments/payment-versions.ts';
import {
  attemptReported,
  differs,
  oneFactLook,
  reportedFacts,
  withFacts,
  withHoldChange,
} from '../payments/recorded-facts.ts';
import { finishUpdate } from '../payments/update-call.ts';
import { findAlias } from '../platform/alias.ts';
import type { InboundEventType, ProviderEvent } from '../providers/event-port.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import type { InboundEvent } from './inbound-event.ts';
import { readForEvent } from './read-for-event.ts';

/** The result of a provider's event about a payment. */
export type PaymentEventResult =
  | { readonly kind: 'applied'; readonly payment: VisiblePayment; readonly status: PaymentStatus }
  | { readonly kind: 'ignored'; readonly payment: VisiblePayment; readonly reason: string }
  /** The event contradicts the record. The record stays unchanged, and an operator must check it. */
  | { readonly kind: 'quarantined'; readonly payment: VisiblePayment; readonly reason: string }
  /** The payment does not exist yet. `isUnnamed` is true if the event names no payment of this service. */
  | { readonly kind: 'early'; readonly isUnnamed?: boolean };

type PaymentEventType = Extract<InboundEventType, `payment_intent.${string}`>;
export type PaymentEvent = InboundEvent<PaymentEventType>;

const STATUS_OF: Readonly<Record<PaymentEventType, PaymentStatus>> = {
  'payment_intent.succeeded': 'succeeded',
  'payment_intent.failed': 'failed',
  'payment_intent.canceled': 'canceled',
  'payment_intent.processing': 'processing',
  'payment_intent.requires_action': 'pending',
  'payment_intent.amount_capturable_updated': 'requires_capture',
};

type ApplyDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

export const applyPaymentEvent = async (
  deps: ApplyDeps,
  { slot, type, event }: PaymentEvent,
): Promise<PaymentEventResult> => {
  const store = paymentStore(deps.table, deps.now);
  const aliased = await aliasedPayment(deps, slot, event);
  const paymentId = aliased ?? event.object.ourPaymentId;
  const payment = paymentId === undefined ? undefined : await store.loadVisible(paymentId);
  if (!payment) return { kind: 'early', isUnnamed: paymentId === undefined && !event.isOfInterface };
  let effect: EventEffect = nothing({ kind: 'early' });
  const { record, was, isOurs } = await store.change(payment, async (current) => {
    const difference = aliased === undefined ? findDifference(current, slot, event) : undefined;
    effect = difference
      ? nothing({ kind: 'quarantined', payment: current, reason: difference })
      : await decideEffect({ deps, store, payment: current, event }, STATUS_OF[type]);
    return effect.write;
  });
  return isOurs ? effect.committed(record, was) : effect.result;
};

/** The effect of an event on the payment as it is now. */
interface EventEffect {
  /** The next version. Undefined if nothing is stored. */
  readonly write: PaymentCommit | undefined;
  /** The result if nothing is stored. */
  readonly result: PaymentEventResult;
  /** The result once the next version is committed. */
  readonly committed: (
    payment: VisiblePayment,
    was: VisiblePayment,
  ) => PaymentEventResult | Promise<PaymentEventResult>;
}

const nothing = (result: PaymentEventResult): EventEffect => ({ write: undefined, result, committed: () => result });

const storing = (write: PaymentCommit, committed: EventEffect['committed']): EventEffect => ({
  write,
  result: { kind: 'early' },
  committed,
});

/** Finds the payment's id by the provider's id of the object, or of the object's intent or order. */
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
 * Why the event cannot be about the payment; undefined if it can. Our id in the metadata proves nothing, because anyone
 * can set it at the provider. The provider's own ids must match.
 */
const findDifference = (payment: Payment, slot: ProviderSlot, { object }: ProviderEvent): string | undefined => {
  if (payment.providerId !== slot) return 'provider differs';
  const known = providerIdsOf(payment);
  return [object.id, object.intentId].some((id) => id !== undefined && known.includes(id))
    ? undefined
    : 'provider object differs';
};

interface PaymentEventContext {
  readonly deps: ApplyDeps;
  readonly store: PaymentStore;
  readonly payment: VisiblePayment;
  readonly event: ProviderEvent;
}

const decideEffect = async (context: PaymentEventContext, named: PaymentStatus): Promise<EventEffect> => {
  const { store, deps, payment, event } = context;
  const news = named === 'succeeded' ? captureNews(payment, event.object) : undefined;
  if (news) return decideOnCapture(context, news);
  const reported = { ...event.object, status: named };
  const current = matchAmount(payment, reported);
  if (!current) {
    const reason = findMismatch(payment, reported) ?? 'amount differs';
    return nothing({ kind: 'quarantined', payment, reason });
  }
  if (event.object.awaitsCapture) return decideCapture(context);
  const status = statusHere(current, named);
  const { attemptRef, hold } = event.object;
  const isOfHold = hold !== undefined && !isOfOtherHold(current, event.object);
  const decision = decideEvent(current, { status, createdAt: event.createdAt, attemptRef, isOfHold });
  switch (decision.kind) {
    case 'apply':
      return applyStatus({ ...context, payment: current }, decision.status);
    case 'same':
      return decideFacts(context, status);
    case 'ignore':
      if (decision.reconcile) await store.reschedule(payment, iso(deps.now()));
      return nothing({ kind: 'ignored', payment, reason: decision.reason });
    case 'read':
      return decideByReading(context, decision.reason);
    default:
      return assertNever(decision);
  }
};

/**
 * A capture event reports only the amount of this capture. If the record lacks the capture, the provider is read for
 * the total.
 */
const decideOnCapture = async ({ deps, payment }: PaymentEventContext, news: CaptureNews): Promise<EventEffect> => {
  if (news === 'known') return nothing({ kind: 'ignored', payment, reason: 'no change' });
  const isMismatch = { kind: 'quarantined', payment, reason: 'amount differs' } as const;
  if (news === 'other amount') return nothing(isMismatch);
  const reading = await readForEvent(deps, payment);
  if (reading.outcome === 'mismatch') return nothing(isMismatch);
  if (reading.outcome !== 'store') return nothing({ kind: 'ignored', payment, reason: 'no change' });
  return storing({ next: reading.next, by: 'read' }, (applied) => ({
    kind: 'applied',
    payment: applied,
    status: applied.status,
  }));
};

const applyStatus = async (context: PaymentEventContext, status: PaymentStatus): Promise<EventEffect> => {
  const { deps, payment } = context;
  const object = await withHoldRead(context, status);
  const { attemptRef, failureCode } = object;
  const facts: Partial<Payment> = {
    ...(attemptRef && { attemptRef }),
    ...(object.intentId !== undefined && { providerPaymentId: object.id }),
    ...(status === 'failed' && { failureCode: failureCode ?? 'do_not_honor' }),
    ...reportedFacts(status, object.facts),
  };
  const next = advancePayment(payment, { to: status, now: deps.now(), cause: 'event', reported: object }, facts);
  return storing({ next }, (applied) => ({ kind: 'applied', payment: applied, status }));
};

/**
 * Reads the payment once for facts that events lack. Stripe's events report neither the end of the hold nor its card.
 * PayPal's capture events do not report the hold.
 */
const withHoldRead = async (
  { deps, payment, event }: PaymentEventContext,
  status: PaymentStatus,
): Promise<ProviderEvent['object']> => {
  const { object } = event;
  const { hold } = object;
  const isOfHold = hold !== undefined || status === 'succeeded';
  if (!isOfHold || payment.captureMethod === undefined || (hold?.captureBefore ?? payment.captureBefore)) return object;
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const found = await provider.findPayment(providerReference(payment));
  if (found.kind !== 'done') return object;
  const { hold: read, facts } = found.value;
  const known = hold ?? read;
  return {
    ...object,
    facts: object.facts ?? facts,
    ...(known && { hold: { ...known, captureBefore: read?.captureBefore } }),
  };
};

/**
 * Adds the facts of an event that reports the recorded status. A pending lookup stays due, because nothing was read.
 * Events may arrive in any order, so another attempt or another settlement causes a read of the provider.
 */
const decideFacts = async (
  { deps, store, payment, event }: PaymentEventContext,
  status: PaymentStatus,
): Promise<EventEffect> => {
  if (attemptReported(payment, event.object) === 'other' || isOfOtherHold(payment, event.object)) {
    await store.reschedule(payment, iso(deps.now()));
    return nothing({ kind: 'ignored', payment, reason: 'another attempt' });
  }
  if (status === 'succeeded' && differs(payment.settlement, event.object.facts?.settlement)) {
    if (payment.factsAt === undefined) await store.setTimes(payment, oneFactLook(deps.now()));
    return nothing({ kind: 'ignored', payment, reason: 'another settlement' });
  }
  const known = withFacts(payment, event.object, deps.now());
  const next = withHoldChange({ payment, next: known }, event.object, deps.now());
  if (!next) return nothing({ kind: 'ignored', payment, reason: 'no change' });
  return storing({ next }, (applied) => ({ kind: 'applied', payment: applied, status }));
};

/** True if the event is about another authorization than the recorded one. A read then shows the current hold. */
const isOfOtherHold = (
  { status, attemptRef }: Payment,
  { attemptRef: reported, hold }: ProviderEvent['object'],
): boolean =>
  status === 'requires_capture' &&
  hold !== undefined &&
  attemptRef !== undefined &&
  attemptRef !== (reported ?? attemptRef);

/** Claims the capture of the approved amount, once, after the payer has approved the payment at the provider. */
const decideCapture = async (context: PaymentEventContext): Promise<EventEffect> => {
  const { deps, store, event } = context;
  const payment = await finishUpdateFirst(context);
  if (!payment) return nothing({ kind: 'early' });
  const decision = decideApproval(payment, event.createdAt);
  switch (decision.kind) {
    case 'busy':
      return nothing({ kind: 'early' });
    case 'ignore':
      if (decision.reconcile) await store.reschedule(payment, iso(deps.now()));
      return nothing({ kind: 'ignored', payment, reason: decision.reason });
    case 'claim':
      return {
        write: claimApproval(payment, deps.now()),
        result: { kind: 'ignored', payment, reason: 'the organization was deleted' },
        committed: async (claim, was) => {
          const captured = await captureApproval({ deps, store }, claim, was);
          return { kind: 'applied', payment: captured, status: captured.status };
        },
      };
    default:
      return assertNever(decision);
  }
};

/**
 * Finishes an update whose outcome is unknown, because the approved amount is unknown until then.
 * @returns undefined if the update cannot be finished now; due work captures the approved amount later
 */
const finishUpdateFirst = async ({
  deps,
  store,
  payment,
}: PaymentEventContext): Promise<VisiblePayment | undefined> => {
  if (!payment.draft) return payment;
  const provider = await deps.providers.require(payment.providerId, 'payments');
  try {
    return (await finishUpdate({ deps, store, provider }, payment)).payment;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'PAYMENT_IN_PROGRESS') return undefined;
    throw error;
  }
};

/** Reads the provider if the event contradicts a settled payment. Stores the report only if its status is later. */
const decideByReading = async ({ deps, payment }: PaymentEventContext, reason: string): Promise<EventEffect> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const found = await provider.findPayment(providerReference(payment));
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  const report =
    found.kind === 'done' ? { ...found.value, status: statusHere(payment, found.value.status) } : undefined;
  const anomaly = () =>
    deps.log.error('payment anomaly', { payment_id: payment.id, provider: payment.providerId, reason });
  if (!report || findMismatch(payment, report)) {
    anomaly();
    return nothing({ kind: 'quarantined', payment, reason });
  }
  if (!isAhead(payment.status, report.status)) {
    if (report.status !== payment.status) anomaly();
    return nothing({ kind: 'ignored', payment, reason: `anomaly: ${reason}` });
  }
  anomaly();
  const next = advancePayment(
    payment,
    { to: report.status, now: deps.now(), cause: 'event', reported: report },
    { ...reportedFields(report), anomaly: reason },
  );
  return storing({ next, by: 'read' }, (applied) => ({ kind: 'applied', payment: applied, status: applied.status }));
};
