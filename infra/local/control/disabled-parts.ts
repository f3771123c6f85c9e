import { type Environment, readSetting } from '../../../shared/core/setting.ts';
import {
  isWeakGuestSecret,
  PROVIDER_SLOTS,
  type ProviderSlot,
  parseSettings,
  type Settings,
  type SlotSettings,
  WEAK_GUEST_SECRET,
} from '../../../shared/core/settings.ts';
import type { EventReceiver } from '../../../shared/providers/event-port.ts';
import type { PaymentProvider } from '../../../shared/providers/provider.ts';
import { openProviders, openReceivers } from '../../../shared/providers/registry.ts';
import { checkedTargets } from '../../../shared/webhooks/checked-targets.ts';
import { areOff, globalFields, switchesOff } from '../../../shared/webhooks/webhook-targets.ts';

export const PARTS = [...PROVIDER_SLOTS, 'outbound webhooks', 'guest tokens', 'bearer tokens'] as const;

/** A part of the service, or a slot's webhooks, closed because settings are missing. */
export interface ClosedPart {
  readonly part: (typeof PARTS)[number];
  /** One sentence. */
  readonly reason: string;
}

/** @param env the environment of the functions, with secrets */
export const disabledParts = async (env: Environment): Promise<readonly ClosedPart[]> => {
  const settings = parseSettings(env);
  const { slots, PROVIDER_TIMEOUT_MS: timeoutMs } = settings;
  const withSecrets = async (slot: ProviderSlot): Promise<SlotSettings> => slots[slot];
  const registry = { slots, withSecrets, timeoutMs, fetch, log: SILENT };
  const [providers, receivers] = [openProviders(registry), openReceivers(registry)];
  const ofSlots = PROVIDER_SLOTS.map(async (slot) => ({
    part: slot,
    reason: whyClosed(slot, slots[slot].ADAPTER, {
      provider: await providers.find(slot),
      receiver: await receivers.find(slot),
    }),
  }));
  const parts = [
    ...(await Promise.all(ofSlots)),
    { part: 'outbound webhooks', reason: readOutbound(env, settings.EXTERNAL_WEBHOOK_ALLOW_PRIVATE).closed },
    { part: 'guest tokens', reason: whyNoGuestTokens(settings.GUEST_TOKEN_SECRET) },
    { part: 'bearer tokens', reason: whyNoBearerTokens(settings) },
  ] as const;
  return parts.flatMap(({ part, reason }) => (reason === undefined ? [] : [{ part, reason }]));
};

interface OpenedSlot {
  readonly provider: PaymentProvider | undefined;
  readonly receiver: EventReceiver | undefined;
}

/** @returns undefined if the slot is open. */
export const whyClosed = (
  slot: ProviderSlot,
  adapter: SlotSettings['ADAPTER'],
  { provider, receiver }: OpenedSlot,
): string | undefined => {
  if (!provider) {
    return `${slot} is closed: ${adapter === '' ? 'it is bound to no provider' : `keys of ${adapter} are missing`}`;
  }
  return provider.can.payments && !receiver
    ? `${slot} accepts no webhooks: the setting that verifies webhooks of ${adapter} is missing`
    : undefined;
};

export interface OutboundState {
  /** Names of the enabled targets. */
  readonly targets: readonly string[];
  /** The reason if there are no targets. */
  readonly closed: string | undefined;
  /** Variables that must be `true` before all configured URLs receive events. */
  readonly switchesOff: readonly string[];
}

/** @throws SettingsError if a setting is wrong. */
export const readOutbound = (env: Environment, allowPrivate: boolean, stage?: Settings['STAGE']): OutboundState => {
  const targets = checkedTargets(env, allowPrivate, stage).map(({ name }) => name);
  const off = switchesOff(env);
  if (targets.length > 0) return { targets, closed: undefined, switchesOff: off };
  const isOn = readSetting(globalFields.EXTERNAL_WEBHOOKS_ENABLED, env['EXTERNAL_WEBHOOKS_ENABLED']);
  const reason = off.length > 0 ? areOff(off) : isOn ? 'no target is named' : areOff(['EXTERNAL_WEBHOOKS_ENABLED']);
  return { targets, closed: `outbound webhooks are closed: ${reason}`, switchesOff: off };
};

export const whyNoGuestTokens = (secrets: readonly string[], stage?: Settings['STAGE']): string | undefined => {
  if (secrets.length === 0) return 'guest tokens are closed: GUEST_TOKEN_SECRET is empty';
  const areWeak = stage === 'prod' && secrets.every(isWeakGuestSecret);
  return areWeak ? `guest tokens are closed: GUEST_TOKEN_SECRET ${WEAK_GUEST_SECRET}` : undefined;
};

export const whyNoBearerTokens = (settings: Pick<Settings, 'IDENTITY_JWKS_URI'>): string | undefined =>
  settings.IDENTITY_JWKS_URI === '' ? 'bearer tokens are closed: IDENTITY_JWKS_URI names no keys' : undefined;

const nothing = (): void => undefined;
const SILENT = { info: nothing, warn: nothing, error: nothing };
