import { createHmac } from 'node:crypto';
import * as z from 'zod';
import type { LedgerCharge, LedgerDispute, LedgerPayment, LedgerRefund } from '../../ledger/documents.ts';
import type { Change, Unit } from '../../ledger/unit.ts';
import type { EnvelopeParts, Signing, VendorEvent, VendorWebhooks } from '../../protocol/vendor.ts';
import { squareDisputeView, squareRefundView } from '../views/money-back-views.ts';
import {
  cardView,
  MERCHANT_ID,
  orderState,
  type SquareObject,
  squareCustomerView,
  squareOrderWire,
  squarePaymentView,
} from '../views/payment-views.ts';
import { isoTime } from '../wire/request.ts';

/** Square's events: `{merchant_id, type, event_id, created_at, data: {type, id, object: {payment: …}}}`. */
export const squareWebhooks: VendorWebhooks = {
  retriesForDays: 1,
  headersOf: (signing) => ({
    'content-type': 'application/json',
    'user-agent': 'Square Connect v2',
    'square-environment': 'Sandbox',
    ...signatureOf(signing),
  }),
  envelope: ({ id, type, object, created }: EnvelopeParts) => {
    const name = objectName(type);
    return {
      merchant_id: MERCHANT_ID,
      ...(name === 'dispute' && { location_id: locationIn(object) }),
      type,
      event_id: id,
      created_at: isoTime(created * 1_000),
      data: { type: name, id: idIn(object), object: { [name]: object } },
    };
  },
  eventsOf: (change, unit) => eventsOf(change, unit),
};

/** A cleared field is null in the event. */
const updatedCustomer = ({ before, customer }: Extract<Change, { kind: 'customer.updated' }>): SquareObject => {
  const now = squareCustomerView(customer);
  const cleared = CONTACT.filter(
    (field) => squareCustomerView(before)[field] !== undefined && now[field] === undefined,
  );
  return { ...now, ...Object.fromEntries(cleared.map((field) => [field, null])) };
};

const CONTACT = ['given_name', 'family_name', 'email_address', 'phone_number'] as const;

/** Square's signature covers no timestamp, so an old event stays valid. */
const signatureOf = ({ raw, slot, kind }: Signing): Record<string, string> => {
  if (kind === 'missing') return {};
  const key = kind === 'invalid' ? `${slot.webhookSecret}_of_another` : slot.webhookSecret;
  const signature = createHmac('sha256', key).update(`${slot.webhookUrl}${raw}`).digest('base64');
  return { 'x-square-hmacsha256-signature': signature };
};

/** `payment.updated` calls its object `payment`, but `order.updated` calls it `order_updated`. */
const objectName = (type: string): string => {
  const [subject = type] = type.split('.');
  return subject === 'order' ? type.replace('.', '_') : subject;
};

const identified = z.looseObject({ id: z.string().optional(), order_id: z.string().optional() });

const idIn = (object: unknown): string | undefined => {
  const { id, order_id } = identified.catch({}).parse(object);
  return id ?? order_id;
};

/** Only dispute events have the location next to `data`. */
const locationIn = (object: unknown): string | undefined => located.catch({}).parse(object).location_id;

const located = z.looseObject({ location_id: z.string().optional() });

const eventsOf = (change: Change, unit: Unit): readonly VendorEvent[] => {
  switch (change.kind) {
    case 'payment.created':
      return [orderEvent('order.created', change.payment)];
    case 'payment.succeeded':
    case 'payment.canceled':
      return [orderEvent('order.updated', change.payment)];
    case 'charge.pending':
    case 'charge.succeeded':
    case 'charge.failed':
      return paymentEvents(change.charge, unit);
    case 'charge.captured':
    case 'charge.lowered':
    case 'charge.fee_assessed':
    case 'charge.refunded':
      return [paymentEvent('payment.updated', change.charge, unit)];
    case 'refund.created':
      return [refundEvent('refund.created', change.refund, unit)];
    case 'refund.updated':
    case 'refund.failed':
      return [refundEvent('refund.updated', change.refund, unit)];
    case 'dispute.created':
      return [disputeEvent('dispute.created', change.dispute, unit)];
    case 'dispute.updated':
    case 'dispute.closed':
      return [disputeEvent('dispute.state.updated', change.dispute, unit)];
    case 'customer.updated':
      return [{ type: change.kind, object: updatedCustomer(change), subject: change.customer.id }];
    case 'customer.created':
    case 'customer.deleted':
      return [{ type: change.kind, object: squareCustomerView(change.customer), subject: change.customer.id }];
    case 'method.attached':
      return [cardEvent('card.created', cardView(change.method), change.method.id)];
    case 'method.updated':
      return [cardEvent('card.updated', cardView(change.method), change.method.id)];
    case 'method.renewed':
      return [cardEvent('card.automatically_updated', cardView(change.method), change.method.id)];
    case 'method.detached':
      return [cardEvent('card.disabled', { ...cardView(change.before), enabled: false }, change.method.id)];
    default:
      // Square has no such events, or a payment event reports the change.
      return [];
  }
};

const cardEvent = (type: string, object: SquareObject, subject: string): VendorEvent => ({ type, object, subject });

/**
 * The events of a payment. A payment that is completed immediately has two events, first as APPROVED and then as
 * COMPLETED. Events of one order are sent in order.
 */
const paymentEvents = (charge: LedgerCharge, unit: Unit): readonly VendorEvent[] => {
  const updated = paymentEvent('payment.updated', charge, unit);
  if (charge.createdAt !== unit.at) return [updated];
  const created = paymentEvent('payment.created', charge, unit);
  if (charge.status !== 'succeeded') return [created];
  return [{ ...created, object: squarePaymentView(charge, unit, 'APPROVED') }, updated];
};

type PaymentEventName = 'payment.created' | 'payment.updated';

const paymentEvent = (type: PaymentEventName, charge: LedgerCharge, unit: Unit): VendorEvent => ({
  type,
  object: squarePaymentView(charge, unit),
  subject: charge.paymentId,
});

/** Square sends the events of refunds and disputes independently of the payment's other events. */
const refundEvent = (type: string, refund: LedgerRefund, unit: Unit): VendorEvent => ({
  type,
  object: squareRefundView(refund, unit),
  subject: refund.id,
});

const disputeEvent = (type: string, dispute: LedgerDispute, unit: Unit): VendorEvent => ({
  type,
  object: squareDisputeView(dispute, unit),
  subject: dispute.id,
});

const orderEvent = (type: 'order.created' | 'order.updated', order: LedgerPayment): VendorEvent => {
  const { location_id, version } = squareOrderWire.parse(order.wire);
  const object = {
    order_id: order.id,
    location_id,
    state: orderState(order),
    version,
    created_at: isoTime(order.createdAt),
  };
  return { type, object, subject: order.id };
};
