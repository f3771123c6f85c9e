import type { LedgerCharge, LedgerRefund } from '../../ledger/documents.ts';
import type { Change, DisputeChange, Unit } from '../../ledger/unit.ts';
import type { EnvelopeParts, VendorEvent, VendorWebhooks } from '../../protocol/vendor.ts';
import { authorizationOf, authorizationView, isCapture } from '../views/authorization-views.ts';
import { API } from '../views/fields.ts';
import { paypalDisputeView, paypalRefundView } from '../views/money-back-views.ts';
import { captureView, paymentTokenView, paypalOrderView } from '../views/payment-views.ts';
import { paypalSignatureHeaders } from '../wire/signing.ts';
import { isCard } from '../wire/tokens.ts';

/**
 * The resource of each event type. The first matching prefix counts. The event of a refunded or reversed capture
 * contains the refund.
 */
const RESOURCES: readonly (readonly [prefix: string, type: string, version: string])[] = [
  ['PAYMENT.CAPTURE.REFUNDED', 'refund', '2.0'],
  ['PAYMENT.CAPTURE.REVERSED', 'refund', '2.0'],
  ['PAYMENT.REFUND.', 'refund', '2.0'],
  ['PAYMENT.CAPTURE.', 'capture', '2.0'],
  ['PAYMENT.AUTHORIZATION.', 'authorization', '2.0'],
  ['CHECKOUT.', 'checkout-order', '2.0'],
  ['VAULT.', 'payment_token', '3.0'],
  ['CUSTOMER.DISPUTE.', 'dispute', '1.0'],
];

export const paypalWebhooks: VendorWebhooks = {
  retriesForDays: 3,
  headersOf: (signing) => ({
    'content-type': 'application/json',
    'user-agent': 'PayPal/AUHR-1.0-1',
    ...paypalSignatureHeaders(signing),
  }),
  envelope: ({ id, type, object, created }: EnvelopeParts) => {
    const [, resourceType, version] = RESOURCES.find(([prefix]) => type.startsWith(prefix)) ?? ['', 'resource', '1.0'];
    return {
      id,
      event_version: '1.0',
      create_time: new Date(created * 1_000).toISOString(),
      resource_type: resourceType,
      resource_version: version,
      event_type: type,
      summary: `${type} (simulated)`,
      resource: object,
      links: [{ href: `${API}/v1/notifications/webhooks-events/${id}`, rel: 'self', method: 'GET' }],
    };
  },
  eventsOf: (change, unit) => {
    const event = eventOf(change, unit);
    return event ? [event] : [];
  },
};

/** @returns the event of a change; undefined if PayPal has no event for it. */
const eventOf = (change: Change, unit: Unit): VendorEvent | undefined => {
  switch (change.kind) {
    case 'payment.authorized':
      // Only an order that waits for confirmation has this event. For a hold, the charge has an event instead.
      return change.payment.status === 'requires_capture'
        ? undefined
        : orderEvent('CHECKOUT.ORDER.APPROVED', change.payment, unit);
    case 'payment.succeeded':
      return orderEvent('CHECKOUT.ORDER.COMPLETED', change.payment, unit);
    case 'payment.canceled':
      return endedEvent(change.payment, unit);
    case 'charge.pending':
      return isCapture(unit, change.charge)
        ? captureEvent('PAYMENT.CAPTURE.PENDING', change.charge, unit)
        : authorizationEvent('PAYMENT.AUTHORIZATION.CREATED', change.charge, unit);
    case 'charge.succeeded':
      return isCapture(unit, change.charge)
        ? captureEvent('PAYMENT.CAPTURE.COMPLETED', change.charge, unit)
        : authorizationEvent('PAYMENT.AUTHORIZATION.CREATED', change.charge, unit);
    case 'charge.captured':
      return captureEvent('PAYMENT.CAPTURE.COMPLETED', change.charge, unit);
    case 'charge.failed':
      return failureEvent(change.charge, unit);
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return refundEvent(change.refund, unit);
    case 'dispute.created':
    case 'dispute.updated':
    case 'dispute.closed':
      return {
        type: DISPUTE_TYPES[change.kind],
        object: paypalDisputeView(unit, change.dispute),
        subject: change.dispute.paymentId,
        manner: mannerOfCharge(unit, change.dispute.chargeId),
      };
    case 'method.attached':
      return {
        type: 'VAULT.PAYMENT-TOKEN.CREATED',
        object: paymentTokenView(unit, change.method),
        subject: change.method.id,
      };
    case 'method.detached':
      return {
        type: 'VAULT.PAYMENT-TOKEN.DELETED',
        object: paymentTokenView(unit, change.before),
        subject: change.method.id,
      };
    default:
      return undefined;
  }
};

type Order = Extract<Change, { payment: unknown }>['payment'];

const orderEvent = (type: string, order: Order, unit: Unit): VendorEvent => ({
  type,
  object: paypalOrderView(unit, order),
  subject: order.id,
  manner: mannerOf(order),
});

const captureEvent = (type: string, charge: LedgerCharge, unit: Unit): VendorEvent => ({
  type,
  object: captureView(unit, charge),
  subject: charge.paymentId,
  manner: mannerOf(charge),
});

const authorizationEvent = (type: string, charge: LedgerCharge, unit: Unit): VendorEvent => ({
  type,
  object: authorizationView(unit, charge),
  subject: charge.paymentId,
  manner: mannerOf(charge),
});

const endedEvent = (order: Order, unit: Unit): VendorEvent | undefined => {
  const held = unit.documents.charges.get(unit.slot, order.latestChargeId ?? '');
  return held && authorizationEvent('PAYMENT.AUTHORIZATION.VOIDED', held, unit);
};

const DISPUTE_TYPES: Readonly<Record<DisputeChange, string>> = {
  'dispute.created': 'CUSTOMER.DISPUTE.CREATED',
  'dispute.updated': 'CUSTOMER.DISPUTE.UPDATED',
  'dispute.closed': 'CUSTOMER.DISPUTE.RESOLVED',
};

/** The refund's status decides the event. PayPal has no event for a canceled refund. */
const refundEvent = (refund: LedgerRefund, unit: Unit): VendorEvent | undefined => {
  const reversed = refund.status === 'succeeded' && refund.wire['reversed'] === true;
  const type = reversed ? 'PAYMENT.CAPTURE.REVERSED' : REFUND_TYPES[refund.status];
  if (type === undefined) return undefined;
  return {
    type,
    object: paypalRefundView(unit, refund),
    subject: refund.paymentId,
    manner: mannerOfCharge(unit, refund.chargeId),
  };
};

const REFUND_TYPES: Readonly<Record<LedgerRefund['status'], string | undefined>> = {
  pending: 'PAYMENT.REFUND.PENDING',
  succeeded: 'PAYMENT.CAPTURE.REFUNDED',
  failed: 'PAYMENT.REFUND.FAILED',
  canceled: undefined,
};

/**
 * An immediately refused wallet payment leaves no capture. A pending capture becomes DENIED. A card's capture and an
 * authorization's capture become DECLINED. PayPal has no event for a denied authorization.
 */
const failureEvent = (charge: LedgerCharge, unit: Unit): VendorEvent | undefined => {
  if (!isCapture(unit, charge)) return undefined;
  const wasPending = charge.createdAt !== unit.at;
  if (wasPending) return captureEvent('PAYMENT.CAPTURE.DENIED', charge, unit);
  const method = unit.documents.methods.get(unit.slot, charge.methodId);
  return isCard(method) || authorizationOf(unit, charge) !== undefined
    ? captureEvent('PAYMENT.CAPTURE.DECLINED', charge, unit)
    : undefined;
};

const mannerOfCharge = (unit: Unit, chargeId: string): string | undefined => {
  const charge = unit.documents.charges.get(unit.slot, chargeId);
  return charge && mannerOf(charge);
};

/** The delivery that a test chooses for the events of a payment, by a mark such as `sim:dup` in the description. */
const mannerOf = ({ description }: { readonly description: string | null }): string | undefined =>
  /\bsim:([a-z]+)\b/.exec(description ?? '')?.[1];
