/**
 * @module Connects each provider slot of the local host to the simulator. With PROVIDER_x_MODE=sandbox, it connects to
 * the operator's test account at the provider.
 */

import { REQUIRED_KEYS } from '../../../shared/core/capabilities.ts';
import { choiceSetting, readSetting, readSettings } from '../../../shared/core/setting.ts';
import { ADAPTERS, type AdapterName, PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type SlotMode = 'simulated' | 'sandbox';

/** Slot settings that only the local host reads. */
export const hostSlotFields = {
  MODE: choiceSetting(['simulated', 'sandbox'], 'simulated').describe(
    'simulated: the local host plays the provider; sandbox: the provider, with your own test keys',
  ),
};

const DEFAULT_ADAPTERS: Readonly<Record<ProviderSlot, AdapterName>> = {
  provider_a: 'stripe',
  provider_b: 'paypal',
  provider_c: 'square',
  provider_d: 'braintree',
};

const SANDBOX_URLS: Readonly<Record<AdapterName, string>> = {
  stripe: 'https://api.stripe.com',
  paypal: 'https://api-m.sandbox.paypal.com',
  square: 'https://connect.squareupsandbox.com',
  braintree: 'https://api.sandbox.braintreegateway.com',
};

/** Live hosts of providers. Stripe uses one host for live and test, so its keys decide. */
const LIVE_HOSTS: readonly string[] = [
  'api-m.paypal.com',
  'api.paypal.com',
  'connect.squareup.com',
  'api.braintreegateway.com',
];

const settingOf = (slot: ProviderSlot, field: string): string => `${slot.toUpperCase()}_${field}`;

const givenOf = (env: Environment, slot: ProviderSlot, field: string): string =>
  env[settingOf(slot, field)]?.trim() ?? '';

/**
 * The slot's adapter; undefined if the operator turned the slot off. An unknown name also gives undefined; the check of
 * the settings reports it.
 */
const adapterOf = (env: Environment, slot: ProviderSlot): AdapterName | undefined => {
  const named = env[slot.toUpperCase()];
  return named === undefined ? DEFAULT_ADAPTERS[slot] : ADAPTERS.find((adapter) => adapter === named.trim());
};

/** An invalid mode counts as simulated here; `slotMistakes` reports it. */
export const modeOf = (env: Environment, slot: ProviderSlot): SlotMode =>
  readSetting(hostSlotFields.MODE, env[settingOf(slot, 'MODE')]) === 'sandbox' ? 'sandbox' : 'simulated';

/** Defaults for slot settings omitted by the operator. */
export const slotDefaults = (
  operator: Environment,
  site: { readonly baseUrl: string; readonly basePath: string },
): Record<string, string> =>
  Object.fromEntries(
    PROVIDER_SLOTS.flatMap((slot): (readonly [string, string])[] => {
      const adapter = adapterOf(operator, slot);
      if (adapter === undefined) return [[slot.toUpperCase(), DEFAULT_ADAPTERS[slot]]];
      const given =
        modeOf(operator, slot) === 'sandbox'
          ? { BASE_URL: SANDBOX_URLS[adapter] }
          : // No rate limit, because the clock may move over months of renewals within seconds.
            {
              BASE_URL: `${site.baseUrl}/_local/providers/${adapter}`,
              BACKGROUND_RATE: '0',
              ...localKeys(slot)[adapter],
            };
      const url = `${site.baseUrl}${site.basePath}/webhooks/${slot}`;
      const settings = adapter === 'square' ? { ...given, NOTIFICATION_URL: url } : given;
      return [
        [slot.toUpperCase(), adapter],
        ...Object.entries(settings).map(([field, value]) => [settingOf(slot, field), value] as const),
      ];
    }),
  );

/** Local keys, fixed and printed at start for tests and people. They give no access outside this machine. */
const localKeys = (slot: ProviderSlot): Readonly<Record<AdapterName, Readonly<Record<string, string>>>> => ({
  stripe: {
    API_KEY: `sk_test_local_${slot}`,
    PUBLISHABLE_KEY: `pk_test_local_${slot}`,
    WEBHOOK_SECRET: `whsec_local_${slot}`,
  },
  paypal: {
    CLIENT_ID: `local_${slot}_client`,
    CLIENT_SECRET: `local_${slot}_secret`,
    WEBHOOK_ID: `LOCAL${slot.replace('_', '').toUpperCase()}WEBHOOK`,
  },
  square: {
    ACCESS_TOKEN: `local_${slot}_token`,
    LOCATION_ID: 'LOCAL',
    APPLICATION_ID: 'sandbox-sq0idb-local',
    SIGNATURE_KEY: `local_${slot}_key`,
  },
  braintree: { MERCHANT_ID: 'local', PUBLIC_KEY: `local_${slot}_public`, PRIVATE_KEY: `local_${slot}_private` },
});

/** Reasons to refuse the start, such as an unknown mode, live keys, or a sandbox without keys. */
export const slotMistakes = (operator: Environment): readonly string[] =>
  PROVIDER_SLOTS.flatMap((slot) => {
    const name = settingOf(slot, 'MODE');
    const { mistakes } = readSettings({ [name]: hostSlotFields.MODE }, { [name]: operator[name] });
    const adapter = adapterOf(operator, slot);
    if (adapter === undefined || mistakes.length > 0) return mistakes;
    const live = liveSettings(operator, slot, adapter).map(
      (field) => `${settingOf(slot, field)}: is live, and the local host calls test accounts only`,
    );
    if (live.length > 0 || modeOf(operator, slot) === 'simulated') return live;
    return REQUIRED_KEYS[adapter]
      .filter((field) => givenOf(operator, slot, field) === '')
      .map((field) => `${settingOf(slot, field)}: is empty, and ${name}=sandbox needs your test account at ${adapter}`);
  });

/**
 * The settings that name a live account. Square's sandbox tokens look like its live tokens, so the application id and
 * the base URL decide.
 */
const liveSettings = (operator: Environment, slot: ProviderSlot, adapter: AdapterName): readonly string[] => {
  const baseUrl = givenOf(operator, slot, 'BASE_URL');
  const isLiveHost = URL.canParse(baseUrl) && LIVE_HOSTS.includes(new URL(baseUrl).host);
  const isSandbox = modeOf(operator, slot) === 'sandbox';
  const stripeKeys = ['API_KEY', 'PUBLISHABLE_KEY'].filter((field) =>
    /^[a-z]+_live_/.test(givenOf(operator, slot, field)),
  );
  const isLiveApplication = adapter === 'square' && givenOf(operator, slot, 'APPLICATION_ID').startsWith('sq0');
  return [
    ...(isLiveHost ? ['BASE_URL'] : []),
    ...(isSandbox && adapter === 'stripe' ? stripeKeys : []),
    ...(isSandbox && isLiveApplication ? ['APPLICATION_ID'] : []),
  ];
};

interface SlotState {
  readonly slot: ProviderSlot;
  readonly adapter: AdapterName;
  /** `simulated`, `sandbox`, or the host of the operator's base URL. */
  readonly at: string;
}

/** The enabled slots. @param env the environment of the functions */
export const slotStates = (env: Environment, baseUrl: string): readonly SlotState[] =>
  PROVIDER_SLOTS.flatMap((slot) => {
    const adapter = env[slot.toUpperCase()] ? adapterOf(env, slot) : undefined;
    if (adapter === undefined) return [];
    const url = givenOf(env, slot, 'BASE_URL');
    const isOurs = url.startsWith(`${baseUrl}/_local/providers/`);
    const host = URL.canParse(url) ? new URL(url).host : adapter;
    return [{ slot, adapter, at: modeOf(env, slot) === 'sandbox' ? 'sandbox' : isOurs ? 'simulated' : host }];
  });

/** One line per slot that sends the operator's keys to the simulator. @param env the environment of the functions */
export const unusedKeys = (env: Environment, baseUrl: string): readonly string[] =>
  slotStates(env, baseUrl).flatMap(({ slot, adapter, at }) => {
    const own = REQUIRED_KEYS[adapter].filter((field) => {
      const value = givenOf(env, slot, field);
      return value !== '' && value !== localKeys(slot)[adapter][field];
    });
    if (at !== 'simulated' || own.length === 0) return [];
    const named = own.map((field) => settingOf(slot, field)).join(', ');
    return [`${slot} is simulated although ${named} is set: ${settingOf(slot, 'MODE')}=sandbox calls ${adapter}`];
  });

/** True if every slot has the simulator and its default adapter, which the demo data require. */
export const takesDemoData = (env: Environment, baseUrl: string): boolean =>
  PROVIDER_SLOTS.every((slot) =>
    slotStates(env, baseUrl).some(
      (state) => state.slot === slot && state.adapter === DEFAULT_ADAPTERS[slot] && state.at === 'simulated',
    ),
  );
