import { openProviders } from '../../shared/providers/registry.ts';
import { type Environment, PROVIDER_SLOTS, parseSettings } from '../../shared/settings.ts';

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
    PROVIDER_SLOTS.map(async (slot) => {
      const provider = await providers.find(slot);
      const { ADAPTER: adapter } = slots[slot];
      if (!provider)
        return `${slot} is closed: ${adapter === '' ? 'it is bound to no provider' : `keys of ${adapter} are missing`}`;
      if (provider.can.payments && !provider.acceptsWebhooks) {
        return `${slot} takes no webhooks: what verifies those of ${adapter} is missing`;
      }
      return undefined;
    }),
  );
  return lines.filter((line) => line !== undefined);
};

const nothing = (): void => undefined;
const SILENT = { info: nothing, warn: nothing, error: nothing };
