import type { LedgerCharge } from '../../ledger/documents.ts';
import type { Change, Unit } from '../../ledger/unit.ts';
import type { EnvelopeParts, VendorEvent, VendorWebhooks } from '../../protocol/vendor.ts';
import { API, captureView, paymentTokenView, paypalOrderView } from '../views/views.ts';
import { paypalSignatureHeaders } from '../wire/signing.ts';
import { isCard } from '../wire/tokens.ts';

const RESOURCES: readonly (readonly [prefix: string, type: string, version: string])[] = [
  ['PAYMENT.CAPTURE.', 'capture', '2.0'],
  ['CHECKOUT.', 'checkout-order', '2.0'],
  ['VAULT.', 'payment_token', '3.0'],
];

export const paypalWebhooks: VendorWebhooks = {
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

/** Except for captures, PayPal sends no events for results that the caller gets in the answer. */
const eventOf = (change: Change, unit: Unit): VendorEvent | undefined => {
  switch (change.kind) {
    case 'payment.authorized':
      return orderEvent('CHECKOUT.ORDER.APPROVED', change.payment, unit);
    case 'payment.succeeded':
      return orderEvent('CHECKOUT.ORDER.COMPLETED', change.payment, unit);
    case 'charge.pending':
      return captureEvent('PAYMENT.CAPTURE.PENDING', change.charge, unit);
    case 'charge.succeeded':
      return captureEvent('PAYMENT.CAPTURE.COMPLETED', change.charge, unit);
    case 'charge.failed':
      return failureEvent(change.charge, unit);
    case 'charge.refunded':
      return captureEvent('PAYMENT.CAPTURE.REFUNDED', change.charge, unit);
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

/** A wallet refused at once leaves no capture; a pending capture becomes DENIED, a card's DECLINED. */
const failureEvent = (charge: LedgerCharge, unit: Unit): VendorEvent | undefined => {
  const wasPending = charge.createdAt !== unit.at;
  if (wasPending) return captureEvent('PAYMENT.CAPTURE.DENIED', charge, unit);
  const method = unit.documents.methods.get(unit.slot, charge.methodId);
  return isCard(method) ? captureEvent('PAYMENT.CAPTURE.DECLINED', charge, unit) : undefined;
};

/** The delivery that a test requests for the events of a payment, by `sim:dup` and similar marks in the description. */
const mannerOf = ({ description }: { readonly description: string | null }): string | undefined =>
  /\bsim:([a-z]+)\b/.exec(description ?? '')?.[1];
