import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { ProviderSlot, Settings, SlotSettings } from '../../../shared/core/settings.ts';

const secretSchema = z.record(z.string(), z.string());

interface SlotSecrets {
  readonly slots: Settings['slots'];
  /** The ARN of a slot's secret. Empty if its values are in the settings. */
  readonly arnOf: (slot: ProviderSlot) => Promise<string>;
  readonly open: () => Pick<SecretsManagerClient, 'send'>;
}

/** Reads a slot's settings, including the values of its secret, once per run. */
export const openSlotSecrets = ({
  slots,
  arnOf,
  open,
}: SlotSecrets): ((slot: ProviderSlot) => Promise<SlotSettings>) => {
  const known = new Map<ProviderSlot, Promise<SlotSettings>>();
  const read = async (slot: ProviderSlot): Promise<SlotSettings> => {
    const given = slots[slot];
    const SecretId = await arnOf(slot);
    if (SecretId === '') return given;
    const { SecretString } = await open().send(new GetSecretValueCommand({ SecretId }));
    return { ...given, ...secretSchema.parse(JSON.parse(SecretString || '{}')) };
  };
  return (slot) => {
    const reading = known.get(slot) ?? read(slot);
    known.set(slot, reading);
    return reading;
  };
};
