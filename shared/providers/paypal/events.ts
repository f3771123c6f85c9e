/** @module Reads PayPal's events and the interface's payload. PayPal bills no subscriptions of this service. */

import * as z from 'zod';
import { secondsOf, wordTable } from '../adapter.ts';
import { NO_OBJECT, readContractEvent } from '../contract-event.ts';
import type { InboundEventType, ProviderEvent } from '../event-port.ts';
import { knownFacts } from '../reported-facts.ts';
import { centsOf } from './amounts.ts';
import { chargedAsOf, disputedCaptures, readPayPalDispute, readPayPalRefund } from './refunds.ts';
import { captureFacts, paypalFailure, readHold } from './report.ts';
import {
  authorizationSchema,
  type Capture,
  captureSchema,
  paymentTokenSchema,
  paypalDisputeSchema,
  paypalOrderSchema,
  paypalRefundSchema,
} from './schemas.ts';
import { tokenFacts } from './tokens.ts';

const eventSchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  event_type: z.string().check(z.minLength(1), z.maxLength(128)),
  create_time: z.iso.datetime({ offset: true }),
  resource: z.optional(z.unknown()),
});
type Said = Pick<ProviderEvent, 'type' | 'object'>;

export const readPayPalEvent = (body: unknown): ProviderEvent | undefined => {
  const parsed = eventSchema.safeParse(body);
  if (!parsed.success) return readContractEvent(body);
  const { id, event_type: rawType, create_time: at, resource } = parsed.data;
  const said = READERS.map((read) => read(rawType, resource)).find((one) => one !== undefined);
  if (!said && MONEY_BACK.includes(rawType)) return undefined;
  return {
    id,
    rawType,
    createdAt: secondsOf(at),
    ...(said ?? { type: undefined, object: { ...NO_OBJECT, id: idOf(resource) } }),
  };
};

const idOf = (resource: unknown): string => z.looseObject({ id: z.string() }).safeParse(resource).data?.id ?? '';

const CAPTURE_EVENTS = wordTable<InboundEventType>({
  'PAYMENT.CAPTURE.COMPLETED': 'payment_intent.succeeded',
  'PAYMENT.CAPTURE.PENDING': 'payment_intent.processing',
  'PAYMENT.CAPTURE.DENIED': 'payment_intent.failed',
  'PAYMENT.CAPTURE.DECLINED': 'payment_intent.failed',
});

const captureSaid = (rawType: string, resource: unknown): Said | undefined => {
  const type = CAPTURE_EVENTS.get(rawType);
  const capture = captureSchema.safeParse(resource).data;
  if (!type || !capture) return undefined;
  return {
    type,
    object: {
      ...NO_OBJECT,
      id: capture.id,
      intentId: capture.supplementary_data?.related_ids?.order_id,
      amountCents: capture.amount && centsOf(capture.amount),
      currency: capture.amount?.currency_code,
      // The attempt of a hold is its authorization.
      attemptRef: capture.supplementary_data?.related_ids?.authorization_id ?? capture.id,
      failureCode: type === 'payment_intent.failed' ? paypalFailure(capture) : undefined,
      ourPaymentId: capture.custom_id,
      facts: eventFacts(type, capture),
    },
  };
};

/** The facts in a capture event. Such an event does not name the payment source. */
const eventFacts = (type: InboundEventType, capture: Capture) => {
  if (type === 'payment_intent.succeeded') return knownFacts(captureFacts(capture, 'succeeded'));
  return type === 'payment_intent.failed' ? knownFacts(captureFacts(capture, 'failed')) : undefined;
};

const AUTHORIZATION_EVENTS: readonly string[] = ['PAYMENT.AUTHORIZATION.CREATED', 'PAYMENT.AUTHORIZATION.VOIDED'];

/**
 * A repeated event contains the current state of the authorization, so the status decides, not the event's name.
 * Captures of an authorization have their own events.
 */
const BY_AUTHORIZATION = wordTable<InboundEventType>({
  CREATED: 'payment_intent.amount_capturable_updated',
  PENDING: 'payment_intent.processing',
  DENIED: 'payment_intent.failed',
  VOIDED: 'payment_intent.canceled',
  EXPIRED: 'payment_intent.canceled',
});

const authorizationSaid = (rawType: string, resource: unknown): Said | undefined => {
  if (!AUTHORIZATION_EVENTS.includes(rawType)) return undefined;
  const authorization = authorizationSchema.safeParse(resource).data;
  const type = BY_AUTHORIZATION.get(authorization?.status ?? '');
  if (!type || !authorization) return undefined;
  const { id, amount, custom_id: ourPaymentId, supplementary_data: beside } = authorization;
  const isFailed = type === 'payment_intent.failed';
  return {
    type,
    object: {
      ...NO_OBJECT,
      id,
      intentId: beside?.related_ids?.order_id,
      amountCents: amount && centsOf(amount),
      currency: amount?.currency_code,
      attemptRef: id,
      failureCode: isFailed ? paypalFailure(authorization) : undefined,
      ourPaymentId,
      facts: isFailed ? knownFacts(captureFacts(authorization, 'failed')) : undefined,
      hold: readHold(authorization),
    },
  };
};

/** Completed orders are left out, because the event of the capture reports the result. */
const ORDER_EVENTS = wordTable<InboundEventType>({
  'CHECKOUT.ORDER.APPROVED': 'payment_intent.processing',
  'CHECKOUT.ORDER.VOIDED': 'payment_intent.canceled',
});

const orderSaid = (rawType: string, resource: unknown): Said | undefined => {
  const type = ORDER_EVENTS.get(rawType);
  const order = paypalOrderSchema.safeParse(resource).data;
  if (!type || !order) return undefined;
  const [unit] = order.purchase_units;
  return {
    type,
    object: {
      ...NO_OBJECT,
      id: order.id,
      amountCents: unit && centsOf(unit.amount),
      currency: unit?.amount.currency_code,
      ourPaymentId: unit?.custom_id,
      ...(rawType === 'CHECKOUT.ORDER.APPROVED' && { awaitsCapture: true }),
    },
  };
};

const TOKEN_EVENTS = wordTable<InboundEventType>({
  'VAULT.PAYMENT-TOKEN.CREATED': 'payment_method.attached',
  'VAULT.PAYMENT-TOKEN.DELETED': 'payment_method.detached',
});

const tokenSaid = (rawType: string, resource: unknown): Said | undefined => {
  const type = TOKEN_EVENTS.get(rawType);
  const token = paymentTokenSchema.safeParse(resource).data;
  if (!type || !token) return undefined;
  const methodOf = { customerId: token.customer?.id, ourCustomerId: token.customer?.merchant_customer_id };
  return { type, object: { ...NO_OBJECT, id: token.id, method: tokenFacts(token), methodOf } };
};

/**
 * The resource of these events is the refund, with a link to the capture. If PayPal itself reversed the capture, the
 * resource may be only the capture. The service then reads the refunds from PayPal.
 */
const REFUND_EVENTS: readonly string[] = [
  'PAYMENT.CAPTURE.REFUNDED',
  'PAYMENT.CAPTURE.REVERSED',
  'PAYMENT.REFUND.PENDING',
  'PAYMENT.REFUND.FAILED',
];

const refundSaid = (rawType: string, resource: unknown): Said | undefined => {
  const chargedAs = chargedAsOf(resource);
  const [capture] = chargedAs;
  if (!REFUND_EVENTS.includes(rawType) || capture === undefined) return undefined;
  const parsed = paypalRefundSchema.safeParse(resource).data;
  const refund = parsed && parsed.id !== capture ? readPayPalRefund(parsed) : undefined;
  return refund
    ? { type: 'refund.updated', object: { ...NO_OBJECT, id: refund.refundId, chargedAs, refund } }
    : { type: 'charge.refunded', object: { ...NO_OBJECT, id: capture, chargedAs } };
};

const DISPUTE_EVENTS: readonly string[] = [
  'CUSTOMER.DISPUTE.CREATED',
  'CUSTOMER.DISPUTE.UPDATED',
  'CUSTOMER.DISPUTE.RESOLVED',
];

const disputeSaid = (rawType: string, resource: unknown): Said | undefined => {
  const parsed = paypalDisputeSchema.safeParse(resource).data;
  if (!DISPUTE_EVENTS.includes(rawType) || !parsed) return undefined;
  const [dispute, chargedAs] = [readPayPalDispute(parsed), disputedCaptures(parsed)];
  if (!dispute || chargedAs.length === 0) return undefined;
  return { type: 'dispute.updated', object: { ...NO_OBJECT, id: dispute.disputeId, chargedAs, dispute } };
};

/** Events about refunds and disputes. An unreadable event of these types is refused. */
const MONEY_BACK: readonly string[] = [...REFUND_EVENTS, ...DISPUTE_EVENTS];

const READERS = [captureSaid, authorizationSaid, orderSaid, tokenSaid, refundSaid, disputeSaid] as const;
