/** @module The fields of mirror-fields.ts read by the adapters, and the adapters' reported statuses. */
import type Stripe from 'stripe';
import type { ReportedStatus } from '../../shared/providers/payment-port.ts';
import { readPayPalDispute, readPayPalRefund } from '../../shared/providers/paypal/refunds.ts';
import { readPayPalOrder } from '../../shared/providers/paypal/report.ts';
import {
  authorizationSchema,
  captureNameSchema,
  captureSchema,
  paymentTokenSchema,
  paypalDisputeSchema,
  paypalOrderSchema,
  paypalRefundSchema,
} from '../../shared/providers/paypal/schemas.ts';
import { readSquareDispute, readSquareRefund } from '../../shared/providers/square/refunds.ts';
import { attemptStatus, readSquareOrder } from '../../shared/providers/square/report.ts';
import {
  cardSchema,
  squareCustomerSchema,
  squareDisputeSchema,
  squareOrderSchema,
  squarePaymentSchema,
  squareRefundedSchema,
  squareRefundSchema,
} from '../../shared/providers/square/schemas.ts';
import { stripeCustomers } from '../../shared/providers/stripe/customers.ts';
import { readStripeEvent } from '../../shared/providers/stripe/events.ts';
import type { StripeCall } from '../../shared/providers/stripe/outcome.ts';
import { readStripeDispute, readStripeRefund } from '../../shared/providers/stripe/refunds.ts';
import { readStripeMethod, readStripePayment } from '../../shared/providers/stripe/report.ts';
import { readStripeInvoice, readStripeSubscription } from '../../shared/providers/stripe/subscription-report.ts';
import { stripeSubscriptions } from '../../shared/providers/stripe/subscriptions.ts';
import { pathsOfSchema, watched } from './read-paths.ts';

/** The paths of an object's fields read by its adapter. */
export const fieldsReadBy = async (key: string): Promise<readonly string[]> => {
  const readings = STRIPE_READINGS[key];
  const found = readings ? await pathsRead(readings) : (SCHEMAS[key] ?? []).flatMap((schema) => pathsOfSchema(schema));
  const merged = found.map((path) => PARTS[key]?.find((part) => path.startsWith(part)) ?? path);
  return [...new Set(merged)].filter((path) => !(NOISE[key] ?? []).includes(path));
};

/**
 * The statuses that the adapter can report for this value of the field, whatever the object's other fields and our
 * record contain.
 * @param field the object and its field, such as `Stripe: Refund.status`
 */
export const reportedStatuses = async (field: string, value: string): Promise<ReadonlySet<string>> =>
  new Set(await STATUSES[field]?.(value));

/** Nested objects that count as one field. They have a separate table, or all their fields have the same use. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'Stripe: PaymentIntent': ['latest_charge', 'last_payment_error.payment_method'],
  'Stripe: Charge': ['payment_method_details', 'balance_transaction'],
  'Stripe: Refund': ['balance_transaction'],
  'Stripe: Subscription': ['latest_invoice'],
  'PayPal: Order': [
    'purchase_units[].payments.authorizations[]',
    'purchase_units[].payments.captures[]',
    'payment_source.apple_pay',
    'payment_source.google_pay',
    'payment_source.venmo',
  ],
  'PayPal: Capture': ['seller_receivable_breakdown'],
  'PayPal: Refund': ['seller_payable_breakdown'],
  'Square: Payment': ['card_details.card', 'processing_fee'],
  'Square: PaymentRefund': ['processing_fee'],
};

/** Fields read by the adapter in every event, although they belong to other objects or the interface's payload. */
const EVENT_FIELDS = ['type', 'card', 'email', 'name', 'phone', 'latest_charge', 'last_payment_error'];

const NOISE: Readonly<Record<string, readonly string[]>> = {
  'Stripe: Refund': EVENT_FIELDS,
  'Stripe: Dispute': [...EVENT_FIELDS, 'metadata'],
  'Stripe: Invoice': ['amount'],
};

const SCHEMAS: Readonly<Record<string, readonly Parameters<typeof pathsOfSchema>[0][]>> = {
  'PayPal: Order': [paypalOrderSchema],
  'PayPal: Authorization': [authorizationSchema],
  'PayPal: Capture': [captureSchema, captureNameSchema],
  'PayPal: Refund': [paypalRefundSchema, captureNameSchema],
  'PayPal: Dispute': [paypalDisputeSchema],
  'PayPal: Payment token': [paymentTokenSchema],
  'Square: Order': [squareOrderSchema],
  'Square: Payment': [squarePaymentSchema, squareRefundedSchema],
  'Square: PaymentRefund': [squareRefundSchema],
  'Square: Dispute': [squareDisputeSchema],
  'Square: Customer': [squareCustomerSchema],
  'Square: Card': [cardSchema],
};

interface Reading {
  readonly objects: readonly object[];
  readonly read: (object: never) => unknown;
}

const pathsRead = async (readings: readonly Reading[]): Promise<readonly string[]> => {
  const paths: string[] = [];
  for (const { objects, read } of readings) {
    for (const object of objects) {
      const seen = watched(object);
      await read(seen.object as never);
      paths.push(...seen.paths());
    }
  }
  // In an object without a nested object, only the nested object's own path is read. Another object's longer paths
  // replace this path.
  return paths.filter((path) => !paths.some((other) => other.startsWith(`${path}.`) || other.startsWith(`${path}[`)));
};

const CARD = {
  ...{ brand: 'visa', last4: '4242', exp_month: 1, exp_year: 2030, funding: 'credit', country: 'US', fingerprint: 'f' },
  ...{ wallet: { type: 'apple_pay' }, three_d_secure: { result: 'authenticated', version: '2.2.0' } },
};
const TRANSACTION = { fee: 33, net: 67, currency: 'usd', exchange_rate: null, available_on: 3 };
const CHARGE = {
  id: 'ch_1',
  status: 'succeeded',
  created: 1,
  outcome: { network_decline_code: '51' },
  payment_method_details: { type: 'card', card: CARD },
  balance_transaction: TRANSACTION,
};

const ERROR = {
  ...{ code: 'card_declined', decline_code: 'generic_decline', network_decline_code: '51', charge: 'ch_1' },
  payment_method: { id: 'pm_1', type: 'card', card: CARD },
};
const INTENT = {
  id: 'pi_1',
  amount: 100,
  currency: 'usd',
  latest_charge: 'ch_1',
  client_secret: 's',
  payment_method: null,
  next_action: { redirect_to_url: { url: 'https://bank.example' } },
  metadata: { payment_id: 'pay_1' },
  ...{ capture_method: 'manual', amount_capturable: 100, amount_received: 0, canceled_at: 4 },
};

const intentsOf = (status: string): readonly Stripe.PaymentIntent[] =>
  [null, ERROR].map((error) => ({ ...INTENT, status, last_payment_error: error }) as unknown as Stripe.PaymentIntent);

const INTENT_STATUSES = [
  ...['requires_payment_method', 'requires_action', 'processing', 'requires_capture', 'succeeded', 'canceled'],
];
const everyIntent = INTENT_STATUSES.flatMap(intentsOf);

/** Reads the charge twice: for a succeeded intent, and for an intent that was declined without a network code. */
const readCharge = (charge: object): unknown =>
  [null, { ...ERROR, network_decline_code: null }].map((error) =>
    readStripePayment({
      ...INTENT,
      status: error ? 'requires_payment_method' : 'succeeded',
      latest_charge: charge,
      last_payment_error: error,
    } as unknown as Stripe.PaymentIntent),
  );

const REFUND = {
  id: 're_1',
  amount: 100,
  currency: 'usd',
  created: 1,
  status: 'failed',
  reason: 'duplicate',
  failure_reason: 'unknown',
  payment_intent: 'pi_1',
  metadata: { refund_id: 'ref_1' },
  balance_transaction: TRANSACTION,
};
const DISPUTE = {
  id: 'du_1',
  amount: 100,
  currency: 'usd',
  created: 1,
  status: 'won',
  reason: 'general',
  payment_intent: 'pi_1',
  evidence_details: { due_by: 2 },
};

const OF_SUBSCRIPTION = { subscription: 'sub_1', metadata: { subscription_id: 'subs_1' } };
const INVOICE = {
  id: 'in_1',
  amount_due: 100,
  subtotal: 100,
  subtotal_excluding_tax: null,
  total_taxes: [{ amount: 1 }],
  currency: 'usd',
  billing_reason: 'subscription_cycle',
  next_payment_attempt: null,
  parent: { subscription_details: OF_SUBSCRIPTION },
  subscription_details: OF_SUBSCRIPTION,
  metadata: { subscription_id: 'subs_1' },
  lines: { data: [{ period: { start: 1, end: 2 } }] },
};

const invoicesOf = (status: string): readonly Stripe.Invoice[] =>
  [0, 1].flatMap((attempt_count) =>
    everyIntent.map((intent) => {
      const payments = { data: [{ status: 'open', payment: { payment_intent: intent } }] };
      return { ...INVOICE, status, attempt_count, payments } as unknown as Stripe.Invoice;
    }),
  );

const ITEM = {
  current_period_start: 1,
  current_period_end: 2,
  quantity: 2,
  price: { unit_amount: 50, currency: 'usd' },
};
const SUBSCRIPTION = {
  id: 'sub_1',
  items: { data: [ITEM] },
  trial_end: 2,
  cancel_at: null,
  cancel_at_period_end: false,
  default_payment_method: 'pm_1',
  metadata: { subscription_id: 'subs_1', paid_until: '2' },
};

const subscriptionsOf = (status: string): readonly Stripe.Subscription[] =>
  [null, {}].flatMap((pause_collection) =>
    invoicesOf('paid')
      .slice(0, 1)
      .map((latest_invoice) => {
        return { ...SUBSCRIPTION, status, pause_collection, latest_invoice } as unknown as Stripe.Subscription;
      }),
  );

/** Returns Stripe's response as the outcome. */
const call: StripeCall = async (send, read) => ({ kind: 'done', value: read(await send()) });

const answering = (customer: unknown) =>
  stripeCustomers(
    { customers: { create: async () => customer, retrieve: async () => customer } } as unknown as Stripe,
    call,
  );

const ofEvent = (type: string) => (object: never) =>
  readStripeEvent({ id: 'evt_1', object: 'event', type, created: 1, data: { object } });

const METHOD = {
  id: 'pm_1',
  type: 'us_bank_account',
  customer: 'cus_1',
  card: CARD,
};
const CUSTOMER = { id: 'cus_1', email: 'a@example.com', name: 'A', phone: '1' };
const NEW_CUSTOMER = { ourCustomerId: 'c', idempotencyKey: 'k', email: undefined, name: undefined, phone: undefined };

const STRIPE_READINGS: Readonly<Record<string, readonly Reading[]>> = {
  'Stripe: PaymentIntent': [{ objects: everyIntent, read: readStripePayment }],
  'Stripe: Charge': [{ objects: [CHARGE], read: readCharge }],
  'Stripe: Refund': [
    { objects: [REFUND], read: readStripeRefund },
    { objects: [REFUND], read: ofEvent('refund.updated') },
  ],
  'Stripe: Dispute': [
    { objects: [DISPUTE], read: readStripeDispute },
    { objects: [DISPUTE], read: ofEvent('charge.dispute.updated') },
  ],
  'Stripe: Subscription': [{ objects: subscriptionsOf('active'), read: readStripeSubscription }],
  'Stripe: Invoice': [{ objects: ['open', 'paid', 'void'].flatMap(invoicesOf), read: readStripeInvoice }],
  'Stripe: Customer': [
    { objects: [CUSTOMER], read: (customer) => answering(customer).findCustomer('cus_1') },
    { objects: [CUSTOMER], read: (customer) => answering(customer).createCustomer(NEW_CUSTOMER) },
  ],
  'Stripe: PaymentMethod': [{ objects: [METHOD], read: readStripeMethod }],
};

const MONEY = { currency_code: 'USD', value: '1.00' };
const AT = '2026-11-01T00:00:00Z';
const SQUARE_MONEY = { amount: 100, currency: 'USD' };

const RECORDED: readonly ReportedStatus[] = [
  'requires_payment_method',
  'created',
  'pending',
  'processing',
  'failed',
  'canceled',
];
const METHODS = [undefined, 'm'] as const;
const KNOWN = RECORDED.flatMap((status) => METHODS.map((method) => ({ status, method })));

const paypalOrder = (status: string, captures: readonly string[], authorizations: readonly string[] = []) => ({
  id: 'O1',
  status,
  purchase_units: [
    {
      amount: MONEY,
      payments: {
        authorizations: authorizations.map((one) => ({ id: 'A1', status: one })),
        captures: captures.map((one) => ({ id: 'C1', status: one })),
      },
    },
  ],
});

/** The possible captures of an authorization. Only a captured authorization may have a completed capture. */
const capturesFor = (authorization: string): readonly (readonly string[])[] =>
  authorization.endsWith('CAPTURED') ? [[], ['PENDING'], ['COMPLETED']] : [[], ['DECLINED']];
const paypalDispute = (status: string, outcome_code?: string) =>
  readPayPalDispute({
    dispute_id: 'D',
    create_time: AT,
    status,
    dispute_amount: MONEY,
    dispute_outcome: { outcome_code },
  });

/** A subscription with a paid newest invoice and an open older invoice. */
const owing = (status: string) => {
  const [subscription] = subscriptionsOf(status);
  const lastResponse = { headers: {} };
  const stripe = {
    subscriptions: { retrieve: async () => ({ ...subscription, lastResponse }) },
    invoices: {
      list: () => ({ autoPagingToArray: async () => [{ id: 'in_0' }] }),
      retrieve: async () => ({ ...invoicesOf('open').at(-1), id: 'in_0' }),
    },
  };
  return stripeSubscriptions(stripe as unknown as Stripe, call, '').find('sub_1');
};

const statusIn = (outcome: Awaited<ReturnType<typeof owing>>): readonly string[] =>
  outcome.kind === 'done' ? [outcome.value.status] : [];

const STATUSES: Readonly<Record<string, (value: string) => readonly string[] | Promise<readonly string[]>>> = {
  'Stripe: PaymentIntent.status': (status) =>
    intentsOf(status).flatMap((one) => METHODS.map((method) => readStripePayment(one, { method }).status)),
  'Stripe: Refund.status': (status) => [readStripeRefund({ ...REFUND, status }).status],
  'Stripe: Dispute.status': (status) => [readStripeDispute({ ...DISPUTE, status }).status],
  'Stripe: Subscription.status': async (status) => [
    ...subscriptionsOf(status).map((one) => readStripeSubscription(one).status),
    ...statusIn(await owing(status)),
  ],
  'Stripe: Invoice.status': (status) => invoicesOf(status).map((one) => readStripeInvoice(one).status),
  'PayPal: Order.status': (status) => KNOWN.map((known) => readPayPalOrder(paypalOrder(status, []), known).status),
  'PayPal: Authorization.status': (status) =>
    KNOWN.flatMap((known) =>
      capturesFor(status).map(
        (captures) => readPayPalOrder(paypalOrder('COMPLETED', captures, [status]), known).status,
      ),
    ),
  'PayPal: Capture.status': (status) =>
    KNOWN.flatMap((known) =>
      [[], ['CREATED']].map(
        (authorizations) => readPayPalOrder(paypalOrder('COMPLETED', [status], authorizations), known).status,
      ),
    ),
  'PayPal: Refund.status': (status) => [
    readPayPalRefund({ id: 'R', status, amount: MONEY, create_time: AT })?.status ?? 'unreadable',
  ],
  'PayPal: Dispute.status': (status) =>
    ['RESOLVED_SELLER_FAVOUR', 'ACCEPTED', 'NONE'].map((code) => paypalDispute(status, code)?.status ?? 'unreadable'),
  'PayPal: Dispute.dispute_outcome.outcome_code': (code) => [paypalDispute('RESOLVED', code)?.status ?? 'unreadable'],
  'Square: Order.state': (state) =>
    KNOWN.map((known) => readSquareOrder({ id: 'O', state, total_money: SQUARE_MONEY }, known).status),
  'Square: Payment.status': (status) => [undefined, 'O'].map((heldFor) => attemptStatus(status, heldFor)),
  'Square: PaymentRefund.status': (status) => [
    readSquareRefund({ id: 'R', status, amount_money: SQUARE_MONEY, created_at: AT }).status,
  ],
  'Square: Dispute.state': (state) => [
    readSquareDispute({ id: 'D', state, amount_money: SQUARE_MONEY, created_at: AT })?.status ?? 'unreadable',
  ],
};
