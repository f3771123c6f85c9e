import {
  type Environment,
  PROVIDER_SLOTS,
  parseSettings,
  serviceSettings,
  slotFields,
} from '../../../shared/core/settings.ts';
import { type ClosedPart, disabledParts, readOutbound } from './disabled-parts.ts';

/** What a host says of how it was started, so that tools need not guess it from an environment of their own. */
export interface StartReport {
  /** What functions see, but for secrets: of those, the ones that are empty. */
  readonly settings: Readonly<Record<string, string>>;
  readonly closed: readonly ClosedPart[];
  /** Names of the targets of outbound webhooks. Their URLs may let somebody in. */
  readonly targets: readonly string[];
}

export const startReport = async (env: Environment): Promise<StartReport> => ({
  settings: reportedSettings(env),
  closed: await disabledParts(env),
  targets: readOutbound(env, parseSettings(env).EXTERNAL_WEBHOOK_ALLOW_PRIVATE).targets,
});

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
  ...Object.keys(serviceSettings.shape),
  'EXTERNAL_WEBHOOKS_ENABLED',
  ...PROVIDER_SLOTS.flatMap((slot) =>
    Object.keys(slotFields).map((field) => (field === 'ADAPTER' ? slot : `${slot}_${field}`).toUpperCase()),
  ),
];
