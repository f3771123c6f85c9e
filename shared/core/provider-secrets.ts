/**
 * @module The secrets of each adapter, by their purpose: to call the provider, or to verify the events that it sends. A
 * function gets the secrets of its own purpose only, so a receiver of events, which anyone can reach, holds no key.
 */
import type { AdapterName, SlotSettings } from './settings.ts';

export type SecretPurpose = 'calls' | 'events';

type SecretField = 'API_KEY' | 'WEBHOOK_SECRET' | 'CLIENT_SECRET' | 'ACCESS_TOKEN' | 'SIGNATURE_KEY' | 'PRIVATE_KEY';

const SECRETS_OF: Readonly<Record<AdapterName, Readonly<Record<SecretPurpose, readonly SecretField[]>>>> = {
  stripe: { calls: ['API_KEY'], events: ['WEBHOOK_SECRET'] },
  /** Only PayPal itself can verify an event, when it is called. Its webhook id is no secret. */
  paypal: { calls: ['CLIENT_SECRET'], events: ['CLIENT_SECRET'] },
  square: { calls: ['ACCESS_TOKEN'], events: ['SIGNATURE_KEY'] },
  braintree: { calls: ['PRIVATE_KEY'], events: [] },
};

const NO_SECRETS: Readonly<Record<SecretField, ''>> = {
  API_KEY: '',
  WEBHOOK_SECRET: '',
  CLIENT_SECRET: '',
  ACCESS_TOKEN: '',
  SIGNATURE_KEY: '',
  PRIVATE_KEY: '',
};

export const secretFields = (): readonly string[] => Object.keys(NO_SECRETS);

/** True if the events of the adapter are verified with the keys that call the provider. */
export const verifiesWithKeys = (adapter: AdapterName | ''): boolean =>
  adapter !== '' && SECRETS_OF[adapter].events.some((field) => SECRETS_OF[adapter].calls.includes(field));

/** The settings of a slot, with the secrets of one purpose only. */
export const secretsFor = (purpose: SecretPurpose, settings: SlotSettings): SlotSettings => {
  const { ADAPTER: adapter } = settings;
  const kept = adapter === '' ? [] : SECRETS_OF[adapter][purpose];
  return { ...settings, ...NO_SECRETS, ...Object.fromEntries(kept.map((field) => [field, settings[field]])) };
};
