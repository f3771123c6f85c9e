/** @module The capabilities of each adapter, and the secrets that each adapter needs. */

import type { AdapterName, SlotSettings } from './settings.ts';

/** The capabilities of a payment provider. */
export interface Capabilities {
  readonly payments: boolean;
  readonly customers: boolean;
  /** True if the provider saves payment methods. False if it only makes one-time payments. */
  readonly methods: boolean;
  /** True if the provider accepts raw card data (development only). */
  readonly rawCards: boolean;
  /** True if the provider accepts billing details for a saved method. */
  readonly billingDetails: boolean;
  /** True if the payer's browser can confirm with the client secret. False if only the server can charge. */
  readonly clientConfirmation: boolean;
  /** True if the payer approves a payment without a method at the provider. The service then captures the payment. */
  readonly capturesOnApproval: boolean;
  /** True if the provider accepts a proof of authentication from its page in the browser of the payer. */
  readonly verificationTokens: boolean;
  /** True if the provider can hold an amount until the merchant captures or releases it. */
  readonly capturesLater: boolean;
  readonly subscriptions: 'native' | 'service';
}

/** An adapter's fixed capabilities. Stripe's lack `subscriptions`, because a setting of its slot selects the biller. */
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
  capturesLater: false,
} as const;

const PAYMENTS = { ...NOTHING, payments: true, customers: true, methods: true } as const;

/** Capabilities per adapter, available without opening a slot, which would load the adapter and its keys. */
export const CAPABILITIES_OF = {
  stripe: { ...PAYMENTS, rawCards: true, billingDetails: true, clientConfirmation: true, capturesLater: true },
  paypal: { ...PAYMENTS, capturesOnApproval: true, capturesLater: true, subscriptions: 'service' },
  /** Square cannot change cards, and only a browser page may convert a card number to a token. */
  square: { ...PAYMENTS, verificationTokens: true, capturesLater: true, subscriptions: 'service' },
  /** Braintree is supported only for customers. */
  braintree: { ...NOTHING, customers: true, subscriptions: 'service' },
} as const satisfies Readonly<Record<AdapterName, Known>>;

/**
 * The purpose of a secret: calls to the provider, or the verification of events. Event receivers hold no key for
 * charges, except the receiver of PayPal.
 */
export type SecretPurpose = 'calls' | 'events';

type SecretField =
  | 'API_KEY'
  | 'WEBHOOK_SECRET'
  | 'CLIENT_SECRET'
  | 'ACCESS_TOKEN'
  | 'SIGNATURE_KEY'
  | 'PRIVATE_KEY'
  | 'FINGERPRINT_SECRET';

const SECRETS_OF: Readonly<Record<AdapterName, Readonly<Record<SecretPurpose, readonly SecretField[]>>>> = {
  stripe: { calls: ['API_KEY', 'FINGERPRINT_SECRET'], events: ['WEBHOOK_SECRET'] },
  /** PayPal verifies an event only through an API call. Its webhook id is not secret. */
  paypal: { calls: ['CLIENT_SECRET', 'FINGERPRINT_SECRET'], events: ['CLIENT_SECRET'] },
  square: { calls: ['ACCESS_TOKEN', 'FINGERPRINT_SECRET'], events: ['SIGNATURE_KEY'] },
  braintree: { calls: ['PRIVATE_KEY'], events: [] },
};

/** The required settings for an adapter's calls. */
export const REQUIRED_KEYS = {
  stripe: ['API_KEY'],
  paypal: ['CLIENT_ID', 'CLIENT_SECRET'],
  square: ['ACCESS_TOKEN', 'LOCATION_ID'],
  braintree: ['MERCHANT_ID', 'PUBLIC_KEY', 'PRIVATE_KEY'],
} as const satisfies Readonly<Record<AdapterName, readonly (keyof SlotSettings)[]>>;

const NO_SECRETS: Readonly<Record<SecretField, ''>> = {
  API_KEY: '',
  WEBHOOK_SECRET: '',
  CLIENT_SECRET: '',
  ACCESS_TOKEN: '',
  SIGNATURE_KEY: '',
  PRIVATE_KEY: '',
  FINGERPRINT_SECRET: '',
};

export const secretFields = (): readonly string[] => Object.keys(NO_SECRETS);

/** True if verifying the adapter's events needs the same keys as calling the provider. */
export const verifiesWithKeys = (adapter: AdapterName | ''): boolean =>
  adapter !== '' && SECRETS_OF[adapter].events.some((field) => SECRETS_OF[adapter].calls.includes(field));

/** The settings of a slot, with only the secrets for one purpose. */
export const secretsFor = (purpose: SecretPurpose, settings: SlotSettings): SlotSettings => {
  const { ADAPTER: adapter } = settings;
  const kept = adapter === '' ? [] : SECRETS_OF[adapter][purpose];
  return { ...settings, ...NO_SECRETS, ...Object.fromEntries(kept.map((field) => [field, settings[field]])) };
};
