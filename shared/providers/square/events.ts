/**
 * @module Reads Square's own events, `{merchant_id, type, event_id, created_at, data: {type, id, object: {payment}}}`,
 * and the interface's payload. There are no subscription or invoice events, because the service bills subscriptions.
 */

import * as z from 'zod';
import { secondsOf, wordTable } from '../adapter.ts';
import { type FingerprintOf, noFingerprint } from '../card-fingerprint.ts';
import { NO_OBJECT, readContractEvent } from '../contract-event.ts';
import type { InboundEventType, MoneyBackEventType, ProviderEvent } from '../event-port.ts';
import type { ReportedStatus } from '../payment-port.ts';
import { reportedMoney } from './currencies.ts';
import { customerFacts } from './customers.ts';
import { attemptFacts, cardFacts } from './facts.ts';
import { readSquareDispute, readSquareRefund } from './refunds.ts';
import { attemptStatus, orderHeldFor, squareFailure, squareHold } from './report.ts';
import {
  cardSchema,
  squareCustomerSchema,
  squareDisputeSchema,
  squarePaymentSchema,
  squareRefundSchema,
} from './schemas.ts';

const eventSchema = z.looseObject({
  event_id: z.string().check(z.minLength(1), z.maxLength(255)),
  type: z.string().check(z.minLength(1), z.maxLength(128)),
  created_at: z.iso.datetime({ offset: true }),
  data: z.optional(z.unknown()),
});
const dataSchema = z.looseObject({
  id: z.nullish(z.string().check(z.maxLength(255))),
  object: z.nullish(
    z.looseObject({
      payment: z.optional(squarePaymentSchema.partial({ status: true, amount_money: true, order_id: true })),
      card: z.optional(cardSchema),
      customer: z.optional(squareCustomerSchema),
      order_updated: z.optional(z.looseObject({ order_id: z.string(), state: z.nullish(z.string()) })),
      refund: z.optional(squareRefundSchema),
      dispute: z.optional(squareDisputeSchema),
      // Square's examples name this field `dispute`, but its schema names it `object`.
      object: z.optional(squareDisputeSchema),
    }),
  ),
});
interface SquareEvent {
  readonly type: string;
  readonly data: z.infer<typeof dataSchema>;
  readonly fingerprintOf: FingerprintOf;
}
type Said = Pick<ProviderEvent, 'type' | 'object'>;

export const readSquareEvent = (body: unknown, fingerprintOf = noFingerprint): ProviderEvent | undefined => {
  const parsed = eventSchema.safeParse(body);
  if (!parsed.success) return readContractEvent(body);
  const { event_id: id, type, created_at: at } = parsed.data;
  const data = dataSchema.safeParse(parsed.data.data).data;
  const said = data && saidBy({ type, data, fingerprintOf });
  // An unreadable event that the service acts on is refused.
  if (!data && isActedOn(type)) return undefined;
  if (!said && MONEY_BACK.has(type)) return undefined;
  return {
    id,
    rawType: type,
    createdAt: secondsOf(at),
    ...(said ?? { type: undefined, object: { ...NO_OBJECT, id: data?.id ?? '' } }),
  };
};

const saidBy = (event: SquareEvent): Said | undefined =>
  paymentSaid(event) ??
  orderSaid(event) ??
  cardSaid(event) ??
  customerSaid(event) ??
  refundSaid(event) ??
  disputeSaid(event);

const isActedOn = (type: string): boolean =>
  /^payment\.(created|updated)$|^order\.updated$/.test(type) ||
  MONEY_BACK.has(type) ||
  CARD_EVENTS.has(type) ||
  CUSTOMER_EVENTS.has(type);

const PAYMENT_EVENTS: Readonly<Partial<Record<ReportedStatus, InboundEventType>>> = {
  processing: 'payment_intent.processing',
  requires_capture: 'payment_intent.amount_capturable_updated',
  succeeded: 'payment_intent.succeeded',
  failed: 'payment_intent.failed',
  canceled: 'payment_intent.canceled',
};

/** payment.created and payment.updated both contain the current payment. */
const paymentSaid = ({ type, data, fingerprintOf }: SquareEvent): Said | undefined => {
  const payment = data.object?.payment;
  if (!payment || !type.startsWith('payment.')) return undefined;
  const { status: word, amount_money: money } = payment;
  const heldFor = orderHeldFor(payment.note);
  const status = word === undefined ? undefined : attemptStatus(word, heldFor);
  return {
    type: status && PAYMENT_EVENTS[status],
    object: {
      ...NO_OBJECT,
      id: payment.id,
      intentId: heldFor ?? payment.order_id,
      ...(money && reportedMoney(money)),
      attemptRef: payment.id,
      failureCode: status === 'failed' ? squareFailure(payment) : undefined,
      ourPaymentId: payment.reference_id ?? undefined,
      facts: status && attemptFacts(payment, status, fingerprintOf),
      ...(heldFor !== undefined &&
        word &&
        money && { hold: squareHold({ ...payment, status: word, amount_money: money }) }),
    },
  };
};

/** The service acts only on the cancellation of an order. */
const orderSaid = ({ type, data }: SquareEvent): Said | undefined => {
  const order = data.object?.order_updated;
  if (!order || type !== 'order.updated') return undefined;
  return {
    type: order.state === 'CANCELED' ? 'payment_intent.canceled' : undefined,
    object: { ...NO_OBJECT, id: order.order_id },
  };
};

const CARD_EVENTS = wordTable<InboundEventType>({
  'card.created': 'payment_method.attached',
  'card.updated': 'payment_method.updated',
  'card.automatically_updated': 'payment_method.updated',
  'card.disabled': 'payment_method.detached',
  'card.forgotten': 'payment_method.detached',
});

const cardSaid = ({ type, data, fingerprintOf }: SquareEvent): Said | undefined => {
  const card = data.object?.card;
  const id = card?.id ?? data.id;
  if (!card || !id || !type.startsWith('card.')) return undefined;
  return { type: CARD_EVENTS.get(type), object: { ...NO_OBJECT, id, method: cardFacts(card, fingerprintOf) } };
};

const CUSTOMER_EVENTS = wordTable<InboundEventType>({
  'customer.created': 'customer.created',
  'customer.updated': 'customer.updated',
  'customer.deleted': 'customer.deleted',
});

/** Square omits fields without a value. The event of a deleted customer may contain only the id. */
const customerSaid = ({ type, data }: SquareEvent): Said | undefined => {
  const customer = data.object?.customer;
  const id = customer?.id ?? data.id;
  const known = CUSTOMER_EVENTS.get(type);
  if (!id || !known) return undefined;
  return {
    type: known,
    object: { ...NO_OBJECT, id, customer: customer && { ...customerFacts(customer), omitsUnset: true } },
  };
};

const MONEY_BACK: ReadonlyMap<string, MoneyBackEventType> = new Map([
  ['refund.created', 'refund.updated'],
  ['refund.updated', 'refund.updated'],
  ['dispute.created', 'dispute.updated'],
  ['dispute.state.updated', 'dispute.updated'],
  // The earlier name of dispute.state.updated. A webhook subscription may include both names.
  ['dispute.state.changed', 'dispute.updated'],
]);

/** Both refund events contain the current refund. A refund without a payment is not ours. */
const refundSaid = ({ type, data }: SquareEvent): Said | undefined => {
  const refund = data.object?.refund;
  if (!refund || !type.startsWith('refund.')) return undefined;
  const { id, payment_id: paymentId } = refund;
  return {
    type: paymentId ? MONEY_BACK.get(type) : undefined,
    object: { ...NO_OBJECT, id, ...(paymentId && { chargedAs: [paymentId], refund: readSquareRefund(refund) }) },
  };
};

const disputeSaid = ({ type, data }: SquareEvent): Said | undefined => {
  const sent = data.object?.dispute ?? data.object?.object;
  const dispute = sent && type.startsWith('dispute.') ? readSquareDispute(sent) : undefined;
  if (!sent || !dispute) return undefined;
  const paymentId = sent.disputed_payment?.payment_id;
  return {
    type: paymentId ? MONEY_BACK.get(type) : undefined,
    object: { ...NO_OBJECT, id: dispute.disputeId, ...(paymentId && { chargedAs: [paymentId], dispute }) },
  };
};
