import type { AdapterName } from '../../core/settings.ts';
import type { Capabilities } from '../port/provider.ts';

/** Stripe's slot has a setting for who bills subscriptions. */
type Known = Omit<Capabilities, 'subscriptions'> & Partial<Pick<Capabilities, 'subscriptions'>>;

/** What each adapter can do, known without opening a slot: no adapter and no key is loaded. */
export const CAPABILITIES_OF = {
  stripe: {
    payments: true,
    customers: true,
    methods: true,
    rawCards: true,
    billingDetails: true,
    clientConfirmation: true,
    capturesOnApproval: false,
    verificationTokens: false,
  },
  paypal: {
    payments: true,
    customers: true,
    methods: true,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: true,
    verificationTokens: false,
    subscriptions: 'service',
  },
  /** Square cannot change cards, and only a browser page may convert a card number to a token. */
  square: {
    payments: true,
    customers: true,
    methods: true,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: false,
    verificationTokens: true,
    subscriptions: 'service',
  },
  /** Braintree, for customers only. */
  braintree: {
    payments: false,
    customers: true,
    methods: false,
    rawCards: false,
    billingDetails: false,
    clientConfirmation: false,
    capturesOnApproval: false,
    verificationTokens: false,
    subscriptions: 'service',
  },
} as const satisfies Readonly<Record<AdapterName, Known>>;
