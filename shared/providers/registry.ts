/** @module Opens the provider and the event receiver of each slot on first use, if their settings exist. */

import { DomainError } from '../core/errors.ts';
import type { Log } from '../core/logger.ts';
import type { AdapterName, ProviderSlot, SlotSettings } from '../core/settings.ts';
import type { Fetch } from '../platform/fetch.ts';
import type { AdapterOptions } from './adapter.ts';
import type { EventReceiver } from './event-port.ts';
import type { PaymentProvider } from './provider.ts';

export interface RegistryOptions {
  readonly slots: Readonly<Record<ProviderSlot, SlotSettings>>;
  /** A slot's settings and secrets, read again when they may have changed; undefined without permission to read. */
  readonly withSecrets: (slot: ProviderSlot) => Promise<SlotSettings | undefined>;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  /** Runs before each call. */
  readonly onCall?: (slot: ProviderSlot) => void;
  readonly log: Log;
}

type Open<T> = (options: AdapterOptions) => T | undefined;

/** The provider needs the API keys. The receiver needs the settings for verification. */
interface Adapter {
  readonly provider: Open<PaymentProvider>;
  readonly receiver?: Open<EventReceiver>;
}

/** An adapter is loaded only if its slot is configured. */
const ADAPTER_MODULES: Readonly<Record<AdapterName, () => Promise<Adapter>>> = {
  stripe: async () => {
    const { openStripe: provider, openStripeReceiver: receiver } = await import('./stripe/stripe.ts');
    return { provider, receiver };
  },
  paypal: async () => {
    const { openPayPal: provider, openPayPalReceiver: receiver } = await import('./paypal/paypal.ts');
    return { provider, receiver };
  },
  square: async () => {
    const { openSquare: provider, openSquareReceiver: receiver } = await import('./square/square.ts');
    return { provider, receiver };
  },
  braintree: async () => ({ provider: (await import('./braintree/braintree.ts')).openBraintree }),
};

/** Opens a slot on first use, and again after its settings have changed. */
const openedBySlot = <T>(options: RegistryOptions, openingOf: (adapter: Adapter) => Open<T> | undefined) => {
  const opened = new Map<ProviderSlot, { readonly from: SlotSettings; readonly value: T | undefined }>();

  const fetchOf =
    (slot: ProviderSlot): Fetch =>
    (input, init) => {
      options.onCall?.(slot);
      return options.fetch(input, init);
    };

  const find = async (slot: ProviderSlot): Promise<T | undefined> => {
    const adapter = options.slots[slot].ADAPTER;
    if (adapter === '') return undefined;
    const settings = await options.withSecrets(slot);
    if (!settings) return undefined;
    const known = opened.get(slot);
    if (known?.from === settings) return known.value;
    const open = openingOf(await ADAPTER_MODULES[adapter]());
    const { timeoutMs, log } = options;
    const value = open?.({ slot, settings, timeoutMs, fetch: fetchOf(slot), log });
    opened.set(slot, { from: settings, value });
    return value;
  };

  /** Loads adapters and secrets. A slot that fails to open does not stop other slots, and fails again on use. */
  const openSlots = async (slots: readonly ProviderSlot[]): Promise<void> => {
    await Promise.allSettled(slots.map(find));
  };

  return { find, openSlots };
};

/** The event receivers, by slot. A slot without the settings for verification has none. */
export const openReceivers = (options: RegistryOptions) => openedBySlot(options, ({ receiver }) => receiver);
export type Receivers = ReturnType<typeof openReceivers>;

export const openProviders = (options: RegistryOptions) => {
  const { find, openSlots } = openedBySlot(options, ({ provider }) => provider);

  /** @throws DomainError UNSUPPORTED_PROVIDER if the slot is closed or lacks the capability. */
  const require = async (slot: ProviderSlot, capability: keyof typeof CAPABILITY_NAMES): Promise<PaymentProvider> => {
    const provider = await find(slot);
    if (provider?.can[capability]) return provider;
    throw new DomainError('UNSUPPORTED_PROVIDER', {
      message: `${slot} does not support ${CAPABILITY_NAMES[capability]} here`,
      details: { provider_id: slot },
    });
  };

  return { find, require, openSlots };
};
export type Providers = ReturnType<typeof openProviders>;

const CAPABILITY_NAMES = { payments: 'payments', customers: 'customers', methods: 'payment methods' } as const;
