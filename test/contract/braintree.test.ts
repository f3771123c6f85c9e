import { openBraintree } from '../../shared/providers/braintree/braintree.ts';
import { testProvider } from './provider-suite.ts';

/** Tests customers only, because the adapter supports no methods or payments. */
testProvider({
  name: 'Braintree',
  can: {
    payments: false,
    customers: true,
    methods: false,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: false,
    verificationTokens: false,
    capturesLater: false,
    subscriptions: 'service',
  },
  slot: 'provider_d',
  adapter: 'braintree',
  open: openBraintree,
  settings: { MERCHANT_ID: 'local', PUBLIC_KEY: 'local_public', PRIVATE_KEY: 'local_private' },
  credentials: { apiKey: 'local_private', webhookSecret: '' },
  forgets: { intents: false, cancellations: false, declines: false, customers: false },
  methods: {
    succeeds: '',
    attaches: '',
    approvedBy: undefined,
    declines: {},
    settlesLater: { succeeded: '', failed: '' },
    asksCustomer: undefined,
    lost: { before: '', after: '' },
    unknown: '',
    declinesToAttach: '',
    declinesLater: {},
  },
  paths: { confirm: '', customers: '/customers', attach: '' },
  unattended: '',
  nextAction: 'use_provider_sdk',
  paymentEvents: { succeeded: [], failed: [] },
});
