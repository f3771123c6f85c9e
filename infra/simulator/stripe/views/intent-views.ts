import type { LedgerFailure, LedgerPayment, LedgerSetup } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { declineFields } from '../wire/errors.ts';
import type { StripeObject } from '../wire/request.ts';
import { lower, seconds, stripeMethodView } from './payment-views.ts';

export const clientSecretOf = (unit: Unit, id: string): string => `${id}_secret_${unit.secretOf(id)}`;

export const stripePaymentView = (payment: LedgerPayment, unit: Unit): StripeObject => ({
  id: payment.id,
  object: 'payment_intent',
  amount: payment.amount,
  amount_capturable: payment.status === 'requires_capture' ? payment.amount : 0,
  amount_details: { tip: {} },
  amount_received: payment.amountReceived,
  allowed_payment_method_types: null,
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: payment.wire['automatic_payment_methods'] ?? null,
  canceled_at: payment.canceledAt === null ? null : seconds(payment.canceledAt),
  // Stripe calls the end of a hold `expired` since 2025-03-31.
  cancellation_reason:
    payment.cancellationReason === 'automatic' && payment.captures === 'later' ? 'expired' : payment.cancellationReason,
  capture_method: payment.captures === 'later' ? 'manual' : (payment.wire['capture_method'] ?? 'automatic'),
  client_secret: clientSecretOf(unit, payment.id),
  confirmation_method: payment.wire['confirmation_method'] ?? 'automatic',
  created: seconds(payment.createdAt),
  currency: lower(payment.currency),
  customer: payment.customerId,
  customer_account: null,
  description: payment.description,
  excluded_payment_method_types: null,
  last_payment_error: failureView(payment.failure, unit),
  latest_charge: payment.latestChargeId,
  livemode: false,
  metadata: payment.metadata,
  next_action: nextActionOf(payment, unit),
  on_behalf_of: null,
  payment_method: payment.methodId,
  payment_method_configuration_details: null,
  payment_method_options: payment.wire['payment_method_options'] ?? { card: CARD_OPTIONS },
  payment_method_types: ['card'],
  processing: payment.status === 'processing' ? { type: 'card', card: {} } : null,
  receipt_email: payment.wire['receipt_email'] ?? null,
  review: null,
  setup_future_usage: payment.saveMethod,
  shipping: payment.wire['shipping'] ?? null,
  source: null,
  statement_descriptor: payment.wire['statement_descriptor'] ?? null,
  statement_descriptor_suffix: payment.wire['statement_descriptor_suffix'] ?? null,
  status: payment.status,
  transfer_data: null,
  transfer_group: payment.wire['transfer_group'] ?? null,
});

const CARD_OPTIONS = {
  installments: null,
  mandate_options: null,
  network: null,
  request_three_d_secure: 'automatic',
};

/** The fields that a browser may see with the publishable key and the client secret. */
const BROWSER_FIELDS = [
  'id',
  'object',
  'amount',
  'amount_details',
  'automatic_payment_methods',
  'canceled_at',
  'cancellation_reason',
  'capture_method',
  'client_secret',
  'confirmation_method',
  'created',
  'currency',
  'description',
  'last_payment_error',
  'last_setup_error',
  'livemode',
  'next_action',
  'payment_method',
  'payment_method_configuration_details',
  'payment_method_types',
  'processing',
  'receipt_email',
  'setup_future_usage',
  'shipping',
  'source',
  'status',
  'usage',
] as const;

export const browserView = (view: StripeObject): StripeObject =>
  Object.fromEntries(BROWSER_FIELDS.filter((field) => field in view).map((field) => [field, view[field]]));

export const setupView = (setup: LedgerSetup, unit: Unit): StripeObject => ({
  id: setup.id,
  object: 'setup_intent',
  allowed_payment_method_types: null,
  application: null,
  automatic_payment_methods: setup.wire['automatic_payment_methods'] ?? null,
  cancellation_reason: setup.cancellationReason,
  client_secret: clientSecretOf(unit, setup.id),
  created: seconds(setup.createdAt),
  customer: setup.customerId,
  customer_account: null,
  description: setup.description,
  excluded_payment_method_types: null,
  flow_directions: null,
  last_setup_error: setupFailureView(setup.failure, unit),
  latest_attempt: null,
  livemode: false,
  mandate: null,
  metadata: setup.metadata,
  next_action: nextActionOf(setup, unit),
  on_behalf_of: null,
  payment_method: setup.methodId,
  payment_method_configuration_details: null,
  payment_method_options: { card: { mandate_options: null, network: null, request_three_d_secure: 'automatic' } },
  payment_method_types: ['card'],
  single_use_mandate: null,
  status: setup.status,
  usage: setup.usage,
});

const failureView = (failure: LedgerFailure | null, unit: Unit): StripeObject | null => {
  if (failure === null) return null;
  const method = unit.documents.methods.get(unit.slot, failure.methodId ?? '');
  return {
    ...(failure.chargeId === null ? {} : { charge: failure.chargeId }),
    ...declineFields(failure.reason),
    ...(method ? { payment_method: stripeMethodView(method) } : {}),
  };
};

/** A setup intent's failure. A failed authentication has another code in a setup intent than in a payment intent. */
const setupFailureView = (failure: LedgerFailure | null, unit: Unit): StripeObject | null => {
  const view = failureView(failure, unit);
  if (view === null || failure?.reason !== 'authentication_failed') return view;
  return {
    ...view,
    code: 'setup_intent_authentication_failure',
    message:
      'The latest attempt to set up the payment method has failed because authentication failed. You can provide ' +
      'payment_method_data or a new PaymentMethod to attempt to fulfill this SetupIntent again.',
  };
};

/**
 * The next action is 3-D Secure, by redirect if the intent has a return URL and else through Stripe.js. Both forms link
 * to the simulator's own page.
 */
const nextActionOf = (intent: LedgerPayment | LedgerSetup, unit: Unit): StripeObject | null => {
  if (intent.status !== 'requires_action') return null;
  const url = unit.customerPage(intent.id);
  return intent.returnUrl === null
    ? { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'three_d_secure_redirect', stripe_js: url } }
    : { type: 'redirect_to_url', redirect_to_url: { return_url: intent.returnUrl, url } };
};
