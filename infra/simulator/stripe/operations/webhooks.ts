import { createHmac } from 'node:crypto';
import type { LedgerCharge, LedgerDispute, LedgerPayment } from '../../ledger/documents.ts';
import type { Change, Unit } from '../../ledger/unit.ts';
import type { EnvelopeParts, Signing, VendorEvent, VendorWebhooks } from '../../protocol/vendor.ts';
import { chargeView } from '../views/charge-views.ts';
import { setupView, stripePaymentView } from '../views/intent-views.ts';
import { invoiceView } from '../views/invoice-views.ts';
import { stripeDisputeView, stripeRefundView } from '../views/money-back-views.ts';
import { stripeCustomerView, stripeMethodView } from '../views/payment-views.ts';
import { stripeSubscriptionView } from '../views/subscription-views.ts';
import { untakenRefund } from '../views/untaken-refunds.ts';
import type { StripeObject } from '../wire/request.ts';
import { API_VERSION, announcesRefunds } from '../wire/versions.ts';

/** Older than the 300 s that a receiver tolerates. */
const STALE_MS = 600_000;

/** Event types per change. As at Stripe, a paid invoice and a changed refund have two events. */
const TYPES: Readonly<Record<Change['kind'], string | readonly string[]>> = {
  'payment.created': 'payment_intent.created',
  'payment.requires_action': 'payment_intent.requires_action',
  'payment.processing': 'payment_intent.processing',
  'payment.authorized': 'payment_intent.amount_capturable_updated',
  'payment.succeeded': 'payment_intent.succeeded',
  'payment.failed': 'payment_intent.payment_failed',
  'payment.canceled': 'payment_intent.canceled',
  'charge.pending': 'charge.pending',
  'charge.succeeded': 'charge.succeeded',
  'charge.failed': 'charge.failed',
  'charge.captured': 'charge.captured',
  // Only Square changes the amount of a charge.
  'charge.lowered': [],
  // Stripe reports its fee with the charge.
  'charge.fee_assessed': [],
  'charge.refunded': 'charge.refunded',
  'refund.created': 'refund.created',
  'refund.updated': ['refund.updated', 'charge.refund.updated'],
  'refund.failed': ['refund.failed', 'charge.refund.updated'],
  'dispute.created': 'charge.dispute.created',
  'dispute.updated': 'charge.dispute.updated',
  'dispute.closed': 'charge.dispute.closed',
  'customer.created': 'customer.created',
  'customer.updated': 'customer.updated',
  'customer.deleted': 'customer.deleted',
  'method.attached': 'payment_method.attached',
  'method.detached': 'payment_method.detached',
  'method.updated': 'payment_method.updated',
  'method.renewed': 'payment_method.automatically_updated',
  'setup.created': 'setup_intent.created',
  'setup.requires_action': 'setup_intent.requires_action',
  'setup.succeeded': 'setup_intent.succeeded',
  'setup.failed': 'setup_intent.setup_failed',
  'setup.canceled': 'setup_intent.canceled',
  'subscription.created': 'customer.subscription.created',
  'subscription.updated': 'customer.subscription.updated',
  'subscription.trial_will_end': 'customer.subscription.trial_will_end',
  'subscription.paused': 'customer.subscription.paused',
  'subscription.resumed': 'customer.subscription.resumed',
  'subscription.deleted': 'customer.subscription.deleted',
  'invoice.paid': ['invoice.paid', 'invoice.payment_succeeded'],
  'invoice.paid_elsewhere': 'invoice.paid',
  'invoice.payment_failed': 'invoice.payment_failed',
  'invoice.payment_action_required': 'invoice.payment_action_required',
  'invoice.finalized': 'invoice.finalized',
  'invoice.marked_uncollectible': 'invoice.marked_uncollectible',
  'invoice.voided': 'invoice.voided',
};

export const stripeWebhooks: VendorWebhooks = {
  retriesForDays: 3,
  headersOf: (signing) => ({
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
    ...signatureOf(signing),
  }),
  envelope: ({ id, type, object, previous, created, cause, apiVersion = API_VERSION }: EnvelopeParts) => ({
    id,
    object: 'event',
    api_version: apiVersion,
    created,
    data: previous === undefined ? { object } : { object, previous_attributes: previous },
    livemode: false,
    pending_webhooks: 1,
    request: { id: cause?.requestId ?? null, idempotency_key: cause?.idempotencyKey ?? null },
    type,
  }),
  eventsOf: (change, unit) => eventsOf(change, unit),
};

const signatureOf = ({ raw, slot, at, kind }: Signing): Record<string, string> => {
  if (kind === 'missing') return {};
  const t = Math.floor((kind === 'stale' ? at - STALE_MS : at) / 1_000);
  const secret = kind === 'invalid' ? `${slot.webhookSecret}_of_another` : slot.webhookSecret;
  const v1 = createHmac('sha256', secret).update(`${t}.${raw}`).digest('hex');
  return { 'stripe-signature': `t=${t},v1=${v1}` };
};

interface Shown {
  readonly view: StripeObject;
  readonly before?: StripeObject;
  readonly subject: string;
  readonly metadata: Readonly<Record<string, string>>;
}

const eventsOf = (change: Change, unit: Unit): readonly VendorEvent[] => {
  const { view, before, subject, metadata } = shown(change, unit);
  const about = { subject, manner: metadata['sim_webhooks'] };
  const events = typesOf(change).map((type) => ({
    type,
    object: view,
    previous: before && differences(before, view),
    ...about,
  }));
  return 'charge' in change ? [...events, ...untakenEvents(change.charge, unit, about)] : events;
};

/** In an old API version, the end of a hold refunds the uncaptured part. These are the events of that refund. */
const untakenEvents = (
  charge: LedgerCharge,
  unit: Unit,
  about: Pick<VendorEvent, 'subject' | 'manner'>,
): readonly VendorEvent[] => {
  const version = eventsVersionOf(unit);
  const refund = untakenRefund(charge, version);
  const hasJustEnded = charge.amountRefunded === 0 && (charge.captured || charge.status === 'canceled');
  if (!refund || !hasJustEnded) return [];
  return [
    ...(announcesRefunds(version) ? [{ type: 'refund.created', object: refund, ...about }] : []),
    { type: 'charge.refunded', object: chargeView(charge, unit, version), ...about },
    { type: 'charge.refund.updated', object: refund, ...about },
  ];
};

const eventsVersionOf = (unit: Unit): string => unit.endpoint().apiVersion ?? API_VERSION;

/**
 * The event types of a change. A dispute has a second event if it moves funds. Stripe takes a disputed amount when the
 * dispute starts, except for an inquiry, and returns it when the seller wins.
 */
const typesOf = (change: Change): readonly string[] => {
  // Skip refunds of uncaptured money.
  if ('charge' in change && change.kind === 'charge.refunded' && change.charge.amountRefunded === 0) return [];
  if (!('dispute' in change)) return [TYPES[change.kind]].flat();
  const moved = fundsEvent('before' in change ? change.before : undefined, change.dispute);
  return moved === undefined ? [TYPES[change.kind]].flat() : [TYPES[change.kind], moved].flat();
};

const fundsEvent = (before: LedgerDispute | undefined, dispute: LedgerDispute): string | undefined => {
  const wasHeld = before !== undefined && isHeldBack(before);
  if (!wasHeld && isHeldBack(dispute)) return 'charge.dispute.funds_withdrawn';
  return wasHeld && dispute.status === 'won' ? 'charge.dispute.funds_reinstated' : undefined;
};

const isHeldBack = ({ status, inquiry }: LedgerDispute): boolean => !inquiry && status !== 'won' && status !== 'closed';

/** The subject that orders the events of a payment or charge: its subscription, if any, else the payment. */
const lane = (document: LedgerPayment | LedgerCharge, paymentId: string): string =>
  typeof document.wire['subscription'] === 'string' ? document.wire['subscription'] : paymentId;

const shown = (change: Change, unit: Unit): Shown => {
  if ('payment' in change) {
    const { payment } = change;
    return { view: stripePaymentView(payment, unit), subject: lane(payment, payment.id), metadata: payment.metadata };
  }
  if ('charge' in change) {
    const { charge } = change;
    return {
      view: chargeView(charge, unit, eventsVersionOf(unit)),
      subject: lane(charge, charge.paymentId),
      metadata: charge.metadata,
    };
  }
  if ('refund' in change) {
    const { refund } = change;
    return { view: stripeRefundView(refund), subject: refund.paymentId, metadata: refund.metadata };
  }
  if ('dispute' in change) {
    const { dispute } = change;
    return { view: stripeDisputeView(dispute), subject: dispute.paymentId, metadata: dispute.metadata };
  }
  if ('setup' in change) {
    const { setup } = change;
    return { view: setupView(setup, unit), subject: setup.id, metadata: setup.metadata };
  }
  if ('method' in change) {
    const { method } = change;
    const before = 'before' in change ? { before: stripeMethodView(change.before) } : {};
    return { view: stripeMethodView(method), ...before, subject: method.id, metadata: method.metadata };
  }
  if ('subscription' in change) {
    const { subscription } = change;
    const before = 'before' in change ? { before: stripeSubscriptionView(change.before, unit) } : {};
    const view = stripeSubscriptionView(subscription, unit);
    return { view, ...before, subject: subscription.id, metadata: subscription.metadata };
  }
  if ('invoice' in change) {
    const { invoice } = change;
    const { metadata } = unit.documents.subscriptions.get(unit.slot, invoice.subscriptionId) ?? invoice;
    return { view: invoiceView(invoice, unit), subject: invoice.subscriptionId, metadata };
  }
  const { customer } = change;
  const before = 'before' in change ? { before: stripeCustomerView(change.before) } : {};
  // A deletion's event shows the customer before the deletion.
  return {
    view: stripeCustomerView({ ...customer, deleted: false }),
    ...before,
    subject: customer.id,
    metadata: customer.metadata,
  };
};

const differences = (before: StripeObject, after: StripeObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(before).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(after[field])),
  );
