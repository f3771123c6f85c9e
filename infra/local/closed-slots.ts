import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { openProviders } from '../../shared/providers/registry.ts';
import {
  type Environment,
  PROVIDER_SLOTS,
  type ProviderSlot,
  parseSettings,
  type SlotSettings,
} from '../../shared/settings.ts';

/** One line a slot that is closed, or deaf to its provider's webhooks, for want of settings. */
export const closedSlots = async (env: Environment): Promise<readonly string[]> => {
  const { slots, PROVIDER_TIMEOUT_MS } = parseSettings(env);
  const providers = openProviders({
    slots,
    withSecrets: async (slot) => slots[slot],
    timeoutMs: PROVIDER_TIMEOUT_MS,
    fetch,
    log: SILENT,
  });
  const lines = await Promise.all(
    PROVIDER_SLOTS.map(async (slot) => whyClosed(slot, slots[slot].ADAPTER, await providers.find(slot))),
  );
  return lines.filter((line) => line !== undefined);
};

/** undefined: it is open. */
export const whyClosed = (
  slot: ProviderSlot,
  adapter: SlotSettings['ADAPTER'],
  provider: PaymentProvider | undefined,
): string | undefined => {
  if (!provider) {
    return `${slot} is closed: ${adapter === '' ? 'it is bound to no provider' : `keys of ${adapter} are missing`}`;
  }
  return provider.can.payments && !provider.acceptsWebhooks
    ? `${slot} takes no webhooks: what verifies those of ${adapter} is missing`
    : undefined;
};

const nothing = (): void => undefined;
const SILENT = { info: nothing, warn: nothing, error: nothing };
