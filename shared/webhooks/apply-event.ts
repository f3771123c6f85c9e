/** @module Applies stored provider events to their records, and logs each result. An early event is retried. */

import * as z from 'zod';
import { runAs } from '../core/actor.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { withoutPerson } from '../core/person-fields.ts';
import { PROVIDER_SLOTS, type ProviderSlot } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import { blankStoredEvent, namesErased } from '../event-log/erased-events.ts';
import { type LogEntry, type ShownEvent, writeLog } from '../event-log/log-entry.ts';
import { type StoredEvent, storedEventOf } from '../event-log/stored-event.ts';
import { saveMethod } from '../payments/save-method.ts';
import type { Handled, Receive } from '../platform/consumers.ts';
import { type Historic, providerEventKey } from '../platform/keys.ts';
import { type InboundEventType, isMoneyBackEvent, type ProviderEvent } from '../providers/event-port.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { applyCustomerEvent } from './customer-event.ts';
import { type EventResult, type InboundEvent, ignored, type OwnerIds } from './inbound-event.ts';
import { applyMethodEvent, applySetupEvent } from './method-event.ts';
import { applyMoneyBackEvent } from './money-back-event.ts';
import { applyPaymentEvent, type PaymentEvent, type PaymentEventResult } from './payment-event.ts';
import { applySubscriptionEvent } from './subscription-event.ts';

export interface ApplyEventDeps extends BillingDeps, IdDeps {
  readonly deleteHistory: boolean;
}

const messageSchema = z.object({ detail: z.object({ provider_id: z.enum(PROVIDER_SLOTS), event_id: z.string() }) });

/** Seconds until the retry of an event whose record does not exist yet, by the number of receives. */
const EARLY_RETRY_SECONDS = [60, 300, 1_800];
/**
 * The retry of an event whose intent names no payment. Intents of this service always name their payment. An intent
 * made by the provider for an invoice is known once the invoice's own event has recorded the invoice, in less than a
 * minute. Any other intent was made at the provider by hand.
 */
const UNNAMED_RETRY_SECONDS = [60];
/**
 * Seconds until the retry of an early event about a refund or dispute, by the number of receives. The retries take
 * thirty hours in total, because no later event repeats a refund or dispute. After a provider outage, a provider-billed
 * payment may be recorded up to a day late. SQS hides a message for less than 12 hours after a receive.
 */
const EARLY_MONEY_BACK_SECONDS = [...EARLY_RETRY_SECONDS, ...[6, 8, 8, 8].map((hours) => hours * 3_600)];

/** Applies one stored provider event to its record, and logs the result. */
export const applyProviderEvent = async (
  deps: ApplyEventDeps,
  message: unknown,
  receive: Receive,
): Promise<Handled> => {
  const { provider_id: slot, event_id: eventId } = messageSchema.parse(message).detail;
  const item = await deps.table.get(providerEventKey(slot, eventId));
  if (!item) return 'done';
  const stored = storedEventOf(item);
  const body: unknown = JSON.parse(stored.raw.toString('utf8'));
  const event = (await deps.providers.find(slot))?.readEvent(body);
  if (!event) {
    if (stored.isBlanked) return 'done';
    throw new Error('the adapter cannot parse a stored event');
  }
  const work = { requestId: eventId, actor: { type: 'provider', id: slot } } as const;
  const found = await runAs(work, () => applyToRecord(deps, slot, event));
  const isErased = stored.isToBlank === true || (await concernsErased(deps, found, stored));
  const seconds = found.kind === 'early' ? waitsOf(event, found, isErased)[receive.count - 1] : undefined;
  if (seconds !== undefined) return { retryAfterSeconds: seconds };
  const result = isUnnamed(found) ? ignored({}, 'not ours') : found;
  if (isErased) await blankStoredEvent(deps.table, stored);
  const logged = isErased ? withoutPerson(body) : body;
  await writeLog(deps.table, entryOf(stored, { body: logged, event, result, at: iso(deps.now()) }));
  deps.log.info('provider event applied', {
    event_id: event.id,
    event_type: event.rawType,
    provider: slot,
    outcome: result.kind,
    ...('reason' in result && { reason: result.reason }),
    ...('payment' in result && { payment_id: result.payment.id }),
  });
  return 'done';
};

/** The waits before the retries of an early event. Refunds and disputes are recorded even for an erased person. */
const waitsOf = ({ type }: ProviderEvent, result: Result, isErased: boolean): readonly number[] => {
  if (isMoneyBackEvent(type)) return EARLY_MONEY_BACK_SECONDS;
  if (isErased) return [];
  return isUnnamed(result) ? UNNAMED_RETRY_SECONDS : EARLY_RETRY_SECONDS;
};

const isUnnamed = (result: Result): boolean => 'isUnnamed' in result && result.isUnnamed === true;

/**
 * True if the event's person was erased. The record shows the erasure. Without a record, the ids in the event show it.
 */
const concernsErased = async (
  { table }: ApplyEventDeps,
  result: Result,
  { raw }: Pick<StoredEvent, 'raw'>,
): Promise<boolean> => {
  if ('payment' in result) return result.payment.erasedAt !== undefined;
  const { owner } = 'owner' in result ? result : {};
  if (owner?.erasedAt !== undefined) return true;
  const isOwned = owner?.userId !== undefined || owner?.organizationId !== undefined;
  return isOwned ? false : namesErased(table, raw.toString('utf8'));
};

type Result = PaymentEventResult | EventResult | { readonly kind: 'not acted on'; readonly reason: string };

const applyToRecord = async (deps: ApplyEventDeps, slot: ProviderSlot, event: ProviderEvent): Promise<Result> => {
  const { type } = event;
  if (type === undefined) return { kind: 'not acted on', reason: 'unknown event type' };
  return handle(deps, { slot, type, event });
};

type Handlers = {
  readonly [Type in InboundEventType]: (deps: ApplyEventDeps, inbound: InboundEvent<Type>) => Promise<Result>;
};

const handle = <Type extends InboundEventType>(deps: ApplyEventDeps, inbound: InboundEvent<Type>): Promise<Result> =>
  HANDLERS[inbound.type](deps, inbound);

/** A success saves the payment method if the payer requested it. If saving fails, due work saves the method later. */
const applyToPayment = async (deps: ApplyEventDeps, inbound: PaymentEvent): Promise<Result> => {
  const result = await applyPaymentEvent(deps, inbound);
  if (result.kind === 'applied') await saveMethod(deps, result.payment);
  return result;
};

const HANDLERS: Handlers = {
  'charge.refunded': applyMoneyBackEvent,
  'refund.updated': applyMoneyBackEvent,
  'dispute.updated': applyMoneyBackEvent,
  'payment_intent.succeeded': applyToPayment,
  'payment_intent.failed': applyToPayment,
  'payment_intent.canceled': applyToPayment,
  'payment_intent.processing': applyToPayment,
  'payment_intent.amount_capturable_updated': applyToPayment,
  'payment_intent.requires_action': applyToPayment,
  'payment_method.attached': applyMethodEvent,
  'payment_method.detached': applyMethodEvent,
  'payment_method.updated': applyMethodEvent,
  'setup_intent.succeeded': applySetupEvent,
  'setup_intent.failed': applySetupEvent,
  'customer.created': applyCustomerEvent,
  'customer.updated': applyCustomerEvent,
  'customer.deleted': applyCustomerEvent,
  'subscription.created': applySubscriptionEvent,
  'subscription.updated': applySubscriptionEvent,
  'subscription.deleted': applySubscriptionEvent,
  'subscription.trial_will_end': applySubscriptionEvent,
  'invoice.payment_succeeded': applySubscriptionEvent,
  'invoice.payment_failed': applySubscriptionEvent,
};

interface Applied {
  readonly body: unknown;
  readonly event: ProviderEvent;
  readonly result: Result;
  readonly at: string;
}

const entryOf = (stored: StoredEvent, { body, event, result, at }: Applied): LogEntry => ({
  provider: stored.providerId,
  eventType: stored.rawType,
  eventId: stored.eventId,
  status: result.kind === 'quarantined' || result.kind === 'early' ? 'failed' : 'success',
  direction: 'inbound',
  attempt: 1,
  payload: body,
  shown: shownEventOf(event),
  response: responseOf(result),
  createdAt: at,
  ...ownerOf(result),
  about: subjectOf(result),
});

/**
 * The event as payers see it. The status is the provider's status of a refund, dispute or subscription. For a payment,
 * it is the status in the event's type.
 */
const shownEventOf = ({ type, createdAt, object }: ProviderEvent): ShownEvent => {
  const { id, amountCents, currency, refund, dispute, invoice, subscription } = object;
  const moneyBack = refund ?? dispute;
  const ofType = type?.startsWith(PAYMENT_TYPE) ? type.slice(PAYMENT_TYPE.length) : undefined;
  return {
    id,
    amount: amountCents ?? moneyBack?.amountCents ?? invoice?.amountCents,
    currency: (currency ?? moneyBack?.currency ?? invoice?.currency)?.toLowerCase(),
    status: moneyBack?.status ?? subscription?.status ?? ofType,
    created: createdAt,
  };
};

const PAYMENT_TYPE = 'payment_intent.';

const subjectOf = (result: Result): Historic | undefined => {
  if ('payment' in result) return { kind: 'PAY', id: result.payment.id };
  return 'about' in result ? result.about : undefined;
};

const ownerOf = (result: Result): OwnerIds => {
  const owner = 'payment' in result ? result.payment : 'owner' in result ? result.owner : {};
  return { organizationId: owner.organizationId, userId: owner.userId };
};

const responseOf = (result: Result): Readonly<Record<string, unknown>> => {
  switch (result.kind) {
    case 'applied':
    case 'ignored':
    case 'quarantined':
      return {
        outcome: result.kind,
        ...('payment' in result && { payment_id: result.payment.id }),
        ...('status' in result && { status: result.status }),
        ...('reason' in result && { reason: result.reason }),
      };
    case 'early':
      return { outcome: 'unmatched', reason: 'no such record here' };
    case 'not acted on':
      return { outcome: 'ignored', reason: result.reason };
  }
};
