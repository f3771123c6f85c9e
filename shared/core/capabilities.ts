import type { AdapterName } from './settings.ts';

/** What a payment provider can do, as data. */
export interface Capabilities {
  readonly payments: boolean;
  readonly customers: boolean;
  /** False: one-time payments only. */
  readonly methods: boolean;
  /** Takes raw card data (development only). */
  readonly rawCards: boolean;
  /** Takes billing details of a saved method. */
  readonly billingDetails: boolean;
  /** The payer's browser can confirm with the client secret. False: only the server can charge. */
  readonly clientConfirmation: boolean;
  /** A payer's approval at the provider replaces a method; the service then captures the payment. */
  readonly capturesOnApproval: boolean;
  /** Takes the proof of a payer's authentication that the provider's page in the browser has made. */
  readonly verificationTokens: boolean;
  readonly subscriptions: 'native' | 'service';
}

/** Stripe's slot has a setting for who bills subscriptions. */
type Known = Omit<Capabilities, 'subscriptions'> & Partial<Pick<Capabilities, 'subscriptions'>>;

const NOTHING = {
  payments: false,
  customers: false,
  methods: false,
  rawCards: false,
  billingDetails: false,
  clientConfirmation: false,
  capturesOnApproval: false,
  verificationTokens: false,
} as const;

const PAYMENTS = { ...NOTHING, payments: true, customers: true, methods: true } as const;

/** What each adapter can do, known without opening a slot: no adapter and no key is loaded. */
export const CAPABILITIES_OF = {
  stripe: { ...PAYMENTS, rawCards: true, billingDetails: true, clientConfirmation: true },
  paypal: { ...PAYMENTS, capturesOnApproval: true, subscriptions: 'service' },
  /** Square cannot change cards, and only a browser page may convert a card number to a token. */
  square: { ...PAYMENTS, verificationTokens: true, subscriptions: 'service' },
  /** Braintree, for customers only. */
  braintree: { ...NOTHING, customers: true, subscriptions: 'service' },
} as const satisfies Readonly<Record<AdapterName, Known>>;
