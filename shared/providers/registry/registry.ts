import { DomainError } from '../../core/errors.ts';
import type { AdapterName, ProviderSlot, SlotSettings } from '../../core/settings.ts';
import type { Fetch } from '../../network/fetch.ts';
import type { Log } from '../../observability/logger.ts';
import type { PaymentProvider } from '../port/provider.ts';
import type { AdapterOptions } from '../wire/adapter.ts';

/** The provider of each slot, opened on first use by the slot's settings. A slot without keys is closed. */
export interface RegistryOptions {
  readonly slots: Readonly<Record<ProviderSlot, SlotSettings>>;
  /** Settings of a slot with its secrets, read again when they may have changed; undefined if the function may not read them. */
  readonly withSecrets: (slot: ProviderSlot) => Promise<SlotSettings | undefined>;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  /** Runs before each call. */
  readonly onCall?: (slot: ProviderSlot) => void;
  readonly log: Log;
}

type Open = (options: AdapterOptions) => PaymentProvider | undefined;

/** An adapter is loaded only if a slot is bound to it. */
const ADAPTER_MODULES: Readonly<Partial<Record<AdapterName, () => Promise<Open>>>> = {
  stripe: async () => (await import('../stripe/stripe.ts')).openStripe,
  paypal: async () => (await import('../paypal/paypal.ts')).openPayPal,
  square: async () => (await import('../square/square.ts')).openSquare,
  braintree: async () => (await import('../braintree/braintree.ts')).openBraintree,
};

export type Providers = ReturnType<typeof openProviders>;

export const openProviders = (options: RegistryOptions) => {
  const opened = new Map<
    ProviderSlot,
    { readonly from: SlotSettings; readonly provider: PaymentProvider | undefined }
  >();

  const fetchOf =
    (slot: ProviderSlot): Fetch =>
    (input, init) => {
      options.onCall?.(slot);
      return options.fetch(input, init);
    };

  const find = async (slot: ProviderSlot): Promise<PaymentProvider | undefined> => {
    const adapter = options.slots[slot].ADAPTER;
    if (adapter === '') return undefined;
    const settings = await options.withSecrets(slot);
    if (!settings) return undefined;
    const known = opened.get(slot);
    if (known?.from === settings) return known.provider;
    const open = await ADAPTER_MODULES[adapter]?.();
    const { timeoutMs, log } = options;
    const provider = open?.({ slot, settings, timeoutMs, fetch: fetchOf(slot), log });
    opened.set(slot, { from: settings, provider });
    return provider;
  };

  /** @throws DomainError UNSUPPORTED_PROVIDER if the slot is closed or lacks the capability. */
  const require = async (slot: ProviderSlot, capability: keyof typeof CAPABILITY_NAMES): Promise<PaymentProvider> => {
    const provider = await find(slot);
    if (provider?.can[capability]) return provider;
    throw new DomainError('UNSUPPORTED_PROVIDER', {
      message: `${slot} does not take ${CAPABILITY_NAMES[capability]} here`,
      details: { provider_id: slot },
    });
  };

  /** Loads the adapters of these slots and reads their secrets. One that fails stops no other, and fails when it is used. */
  const openSlots = async (slots: readonly ProviderSlot[]): Promise<void> => {
    await Promise.allSettled(slots.map(find));
  };

  return { find, require, openSlots };
};

const CAPABILITY_NAMES = { payments: 'payments', customers: 'customers', methods: 'payment methods' } as const;
