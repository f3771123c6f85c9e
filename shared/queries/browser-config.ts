/** @module The providers and public ids for taking payments on a web page. Contains no secret. */

import * as z from 'zod';
import type { Capabilities } from '../core/capabilities.ts';
import { CAPABILITIES_OF, REQUIRED_KEYS, secretFields } from '../core/capabilities.ts';
import { ADAPTERS, PROVIDER_SLOTS, type ProviderSlot, type Settings, type SlotSettings } from '../core/settings.ts';
import type { Reply } from '../http/request.ts';

const optionalText = z.string().optional();

export const providerConfigSchema = z
  .object({
    provider_id: z.enum(PROVIDER_SLOTS).describe('The slot, as other requests name it.'),
    provider: z.enum(ADAPTERS).describe('The payment provider of the slot.'),
    test: z.boolean().describe('True if the public keys, or the base URL, are those of a test account.'),
    publishable_key: optionalText.describe("Stripe's key for its library in the browser; absent if it is not set."),
    client_id: optionalText.describe(
      "PayPal's id of the app, for its library in the browser; absent if it is not set.",
    ),
    application_id: optionalText.describe(
      "Square's id of the application, for its library in the browser; absent if it is not set.",
    ),
    location_id: optionalText.describe("Square's id of the location that takes the payments; absent if it is not set."),
    confirms_in: z
      .enum(['browser', 'redirect', 'server'])
      .describe(
        "How a payer pays without a saved method. `browser`: the provider's library confirms with the `client_secret`. `redirect`: the payer approves at `next_action.url`. `server`: the library makes a token, and `POST /payments/confirm/{id}` charges it.",
      ),
    saves_methods: z.boolean().describe('True if payment methods can be saved at this provider.'),
    captures_later: z
      .boolean()
      .describe('True if `capture_method: manual` can hold an amount at this provider until it is captured.'),
  })
  .meta({ id: 'ProviderConfig', description: 'A provider that takes payments, and its public ids.' });

export const browserConfigSchema = z
  .object({
    default_provider: z
      .enum(PROVIDER_SLOTS)
      .nullable()
      .describe('The slot for requests without `provider_id`; null if that slot takes no payments.'),
    providers: z.array(providerConfigSchema).describe('The slots that take payments.'),
  })
  .meta({
    id: 'BrowserConfig',
    description: 'The settings that a browser page needs to take payments; none of them is secret.',
  });
export type ProviderConfig = z.output<typeof providerConfigSchema>;

type PublicSettings = Pick<
  SlotSettings,
  'ADAPTER' | 'BASE_URL' | 'PUBLISHABLE_KEY' | 'CLIENT_ID' | 'APPLICATION_ID' | 'LOCATION_ID'
>;

export interface ConfigDeps {
  readonly slots: Readonly<Record<ProviderSlot, SlotSettings>>;
  readonly stage: Settings['STAGE'];
}

/** The default slot of payments. */
const DEFAULT_SLOT = 'provider_a';
const CACHE_SECONDS = 300;

/** The slots available for payments, with their public ids. */
export const openSlots = ({ slots, stage }: ConfigDeps): readonly ProviderConfig[] =>
  PROVIDER_SLOTS.flatMap((slot) => (isClosed(slots[slot], stage) ? [] : configOf(slot, slots[slot])));

export const browserConfig = async (deps: ConfigDeps): Promise<Reply> => {
  const providers = openSlots(deps);
  const hasDefault = providers.some(({ provider_id }) => provider_id === DEFAULT_SLOT);
  return {
    data: { default_provider: hasDefault ? DEFAULT_SLOT : null, providers },
    headers: { 'cache-control': `public, max-age=${CACHE_SECONDS}` },
  };
};

/**
 * True if a required setting is missing. Secrets are only checked locally; when deployed, they are in Secrets Manager,
 * which this function does not read.
 */
const isClosed = (settings: SlotSettings, stage: Settings['STAGE']): boolean => {
  const { ADAPTER: adapter } = settings;
  if (adapter === '') return true;
  const isKnown = (field: string): boolean => stage === 'local' || !SECRET_FIELDS.includes(field);
  return REQUIRED_KEYS[adapter].some((field) => isKnown(field) && settings[field] === '');
};

const SECRET_FIELDS = secretFields();

/** The slot's configuration; empty if the slot takes no payments. */
const configOf = (slot: ProviderSlot, settings: PublicSettings): ProviderConfig[] => {
  const { ADAPTER: provider } = settings;
  if (provider === '' || !CAPABILITIES_OF[provider].payments) return [];
  const can = CAPABILITIES_OF[provider];
  return [
    {
      provider_id: slot,
      provider,
      test: isTest(settings),
      ...keysOf(settings),
      confirms_in: confirmsIn(can),
      saves_methods: can.methods,
      captures_later: can.capturesLater,
    },
  ];
};

/** Omits unset keys. */
const keysOf = ({ ADAPTER, PUBLISHABLE_KEY, CLIENT_ID, APPLICATION_ID, LOCATION_ID }: PublicSettings) => {
  switch (ADAPTER) {
    case 'stripe':
      return { ...(PUBLISHABLE_KEY && { publishable_key: PUBLISHABLE_KEY }) };
    case 'paypal':
      return { ...(CLIENT_ID && { client_id: CLIENT_ID }) };
    case 'square':
      return {
        ...(APPLICATION_ID && { application_id: APPLICATION_ID }),
        ...(LOCATION_ID && { location_id: LOCATION_ID }),
      };
    case 'braintree':
    case '':
      return {};
  }
};

const LIVE_HOSTS = { stripe: 'api.stripe.com', paypal: 'api-m.paypal.com', square: 'connect.squareup.com' } as const;

/**
 * Stripe's and Square's public keys show whether they are test keys. Other slots are test slots if their host is not
 * the live host.
 */
const isTest = ({ ADAPTER, BASE_URL, PUBLISHABLE_KEY, APPLICATION_ID }: PublicSettings): boolean => {
  if (ADAPTER === 'stripe' && PUBLISHABLE_KEY) return PUBLISHABLE_KEY.startsWith('pk_test_');
  if (ADAPTER === 'square' && APPLICATION_ID) return APPLICATION_ID.startsWith('sandbox-');
  if (ADAPTER === '' || ADAPTER === 'braintree' || BASE_URL === '') return false;
  return new URL(BASE_URL).host !== LIVE_HOSTS[ADAPTER];
};

const confirmsIn = (can: Pick<Capabilities, 'clientConfirmation' | 'capturesOnApproval'>) => {
  if (can.clientConfirmation) return 'browser';
  return can.capturesOnApproval ? 'redirect' : 'server';
};
