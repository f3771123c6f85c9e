import { openBraintree } from '../../shared/providers/braintree/braintree.ts';
import { openPayPal } from '../../shared/providers/paypal/paypal.ts';
import { openSquare } from '../../shared/providers/square/square.ts';
import { openStripe } from '../../shared/providers/stripe/stripe.ts';
import { WEBHOOK_URL } from './provider-rig.ts';
import type { Subject } from './provider-suite.ts';

/** The adapters, each with its provider's test values. */
const NOTHING_FORGOTTEN = { intents: false, cancellations: false, declines: false, customers: false };

export const STRIPE: Subject = {
  name: 'Stripe',
  can: {
    payments: true,
    customers: true,
    methods: true,
    rawCards: true,
    billingDetails: true,
    clientConfirmation: true,
    capturesOnApproval: false,
    subscriptions: 'native',
  },
  slot: 'provider_a',
  adapter: 'stripe',
  open: openStripe,
  settings: { API_KEY: 'sk_test_local', WEBHOOK_SECRET: 'whsec_local' },
  credentials: { apiKey: 'sk_test_local', webhookSecret: 'whsec_local' },
  methods: {
    succeeds: 'pm_card_visa',
    attaches: 'pm_card_visa',
    approvedBy: undefined,
    declines: {
      pm_card_visa_chargeDeclined: 'do_not_honor',
      pm_card_visa_chargeDeclinedInsufficientFunds: 'insufficient_funds',
      pm_card_visa_chargeDeclinedLostCard: 'lost_card',
      pm_card_visa_chargeDeclinedStolenCard: 'stolen_card',
      pm_card_chargeDeclinedExpiredCard: 'expired_card',
      pm_card_chargeDeclinedIncorrectCvc: 'incorrect_cvc',
      pm_card_chargeDeclinedProcessingError: 'processing_error',
      pm_sim_do_not_honor: 'do_not_honor',
    },
    settlesLater: { succeeded: 'pm_sim_processing_ok', failed: 'pm_sim_processing_fail' },
    asksCustomer: 'pm_card_authenticationRequired',
    lost: { before: 'pm_sim_timeout_before', after: 'pm_sim_timeout_after' },
    unknown: 'pm_unknown',
    declinesToAttach: 'pm_card_visa_chargeDeclined',
  },
  paths: { confirm: '/confirm', customers: '/v1/customers', attach: '/attach' },
  nextAction: 'use_provider_sdk',
  forgets: NOTHING_FORGOTTEN,
  paymentEvents: { succeeded: ['payment_intent.succeeded'], failed: ['payment_intent.failed'] },
};

export const PAYPAL: Subject = {
  name: 'PayPal',
  can: {
    payments: true,
    customers: true,
    methods: true,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: true,
    subscriptions: 'service',
  },
  slot: 'provider_b',
  adapter: 'paypal',
  open: openPayPal,
  settings: { CLIENT_ID: 'local_client', CLIENT_SECRET: 'local_secret', WEBHOOK_ID: 'LOCALWEBHOOK' },
  credentials: { apiKey: 'local_client:local_secret', webhookSecret: 'LOCALWEBHOOK' },
  forgets: { intents: true, cancellations: true, declines: true, customers: true },
  methods: {
    succeeds: 'SIM-OK',
    attaches: 'SIM-CARD',
    approvedBy: 'SIM-CARD',
    declines: {
      'SIM-DECLINED': 'do_not_honor',
      'SIM-FAIL-LATER': 'do_not_honor',
      'SIM-DO-NOT-HONOR': 'do_not_honor',
      'SIM-NSF': 'insufficient_funds',
      'SIM-EXPIRED': 'expired_card',
      'SIM-CVC': 'incorrect_cvc',
      'SIM-PROCESSING-ERROR': 'processing_error',
      'SIM-AUTHENTICATION': 'authentication_required',
      'SIM-LOST': 'lost_card',
    },
    settlesLater: { succeeded: 'SIM-PENDING-OK', failed: 'SIM-PENDING-FAIL' },
    asksCustomer: 'SIM-PAYER-ACTION',
    lost: { before: 'SIM-TIMEOUT-BEFORE', after: 'SIM-TIMEOUT-AFTER' },
    unknown: 'SIM-UNKNOWN',
    declinesToAttach: 'SIM-DECLINED',
  },
  paths: { confirm: '/capture', customers: '', attach: '/payment-tokens' },
  nextAction: 'redirect_to_url',
  paymentEvents: { succeeded: ['payment_intent.succeeded'], failed: ['payment_intent.failed'] },
};

export const SQUARE: Subject = {
  name: 'Square',
  can: {
    payments: true,
    customers: true,
    methods: true,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: false,
    subscriptions: 'service',
  },
  slot: 'provider_c',
  adapter: 'square',
  open: openSquare,
  settings: {
    ACCESS_TOKEN: 'local_token',
    LOCATION_ID: 'LOCAL',
    SIGNATURE_KEY: 'local_key',
    NOTIFICATION_URL: ['https://elsewhere.example/hook', WEBHOOK_URL],
  },
  credentials: { apiKey: 'local_token', webhookSecret: 'local_key' },
  methods: {
    succeeds: 'cnon:card-nonce-ok',
    attaches: 'cnon:card-nonce-ok',
    approvedBy: undefined,
    declines: {
      'cnon:card-nonce-declined': 'do_not_honor',
      'cnon:card-nonce-insufficient-funds': 'insufficient_funds',
      'cnon:card-nonce-lost': 'lost_card',
      'cnon:card-nonce-stolen': 'stolen_card',
      'cnon:card-nonce-rejected-expiration': 'expired_card',
      'cnon:card-nonce-rejected-cvv': 'incorrect_cvc',
      'cnon:card-nonce-rejected-postalcode': 'do_not_honor',
      'ccof:customer-card-id-declined': 'do_not_honor',
      'ccof:customer-card-id-requires-verification': 'authentication_required',
    },
    settlesLater: { succeeded: 'bnon:bank-nonce-ok', failed: 'bnon:bank-nonce-insufficient-funds' },
    asksCustomer: undefined,
    lost: { before: 'cnon:sim-timeout-before', after: 'cnon:sim-timeout-after' },
    unknown: 'cnon:nothing-of-the-sort',
    declinesToAttach: 'cnon:card-nonce-declined',
  },
  paths: { confirm: '/v2/payments', customers: '/v2/customers', attach: '/cards' },
  nextAction: 'use_provider_sdk',
  forgets: NOTHING_FORGOTTEN,
  paymentEvents: {
    succeeded: ['payment_intent.processing', 'payment_intent.succeeded'],
    failed: ['payment_intent.failed'],
  },
};

const NOTHING = {
  succeeds: '',
  attaches: '',
  approvedBy: undefined,
  declines: {},
  unknown: '',
  declinesToAttach: '',
  asksCustomer: undefined,
};

export const BRAINTREE: Subject = {
  name: 'Braintree',
  can: {
    payments: false,
    customers: true,
    methods: false,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: false,
    subscriptions: 'service',
  },
  slot: 'provider_d',
  adapter: 'braintree',
  open: openBraintree,
  settings: { MERCHANT_ID: 'local', PUBLIC_KEY: 'local_public', PRIVATE_KEY: 'local_private' },
  credentials: { apiKey: 'local_private', webhookSecret: '' },
  methods: { ...NOTHING, settlesLater: { succeeded: '', failed: '' }, lost: { before: '', after: '' } },
  paths: { confirm: '', customers: '/customers', attach: '' },
  nextAction: 'use_provider_sdk',
  forgets: NOTHING_FORGOTTEN,
  paymentEvents: { succeeded: [], failed: [] },
};
