import type { Environment } from '../../../shared/core/setting.ts';
import { PROVIDER_SLOTS, parseSettings, serviceFields, slotFields } from '../../../shared/core/settings.ts';
import { type ClosedPart, disabledParts, readOutbound } from './disabled-parts.ts';

/** The host's report on its start, so that tools need not guess from their own environment. */
export interface StartReport {
  /** The environment of the functions. It omits every non-empty secret. */
  readonly settings: Readonly<Record<string, string>>;
  readonly closed: readonly ClosedPart[];
  /** Names of the outbound webhook targets. URLs are omitted, because they may contain credentials. */
  readonly targets: readonly string[];
  /** Variables that must be `true` before all configured URLs receive events. */
  readonly switches_off: readonly string[];
}

export const startReport = async (env: Environment): Promise<StartReport> => {
  const { targets, switchesOff } = readOutbound(env, parseSettings(env).EXTERNAL_WEBHOOK_ALLOW_PRIVATE);
  return {
    settings: reportedSettings(env),
    closed: await disabledParts(env),
    targets,
    switches_off: switchesOff,
  };
};

export const isSecretSetting = (name: string): boolean =>
  /_(SECRET|API_KEY|ACCESS_TOKEN|SIGNATURE_KEY|PRIVATE_KEY)$/.test(name);

export const reportedSettings = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = env[name];
      return value === undefined || (isSecretSetting(name) && value !== '') ? [] : [[name, value]];
    }),
  );

const NAMES: readonly string[] = [
  ...Object.keys(serviceFields),
  'EXTERNAL_WEBHOOKS_ENABLED',
  ...PROVIDER_SLOTS.flatMap((slot) =>
    Object.keys(slotFields).map((field) => (field === 'ADAPTER' ? slot : `${slot}_${field}`).toUpperCase()),
  ),
];
