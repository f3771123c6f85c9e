import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { ProviderSlot, Settings, SlotSettings } from '../../../shared/core/settings.ts';

const secretSchema = z.record(z.string(), z.string());

/** Reads the settings of a slot with the values of its secret, once per run. */
export const openSlotSecrets = (
  { slots }: Pick<Settings, 'slots'>,
  open: () => Pick<SecretsManagerClient, 'send'>,
): ((slot: ProviderSlot) => Promise<SlotSettings>) => {
  const known = new Map<ProviderSlot, Promise<SlotSettings>>();
  const read = async (slot: ProviderSlot): Promise<SlotSettings> => {
    const given = slots[slot];
    if (given.SECRET_ARN === '') return given;
    const { SecretString } = await open().send(new GetSecretValueCommand({ SecretId: given.SECRET_ARN }));
    return { ...given, ...secretSchema.parse(JSON.parse(SecretString || '{}')) };
  };
  return (slot) => {
    const reading = known.get(slot) ?? read(slot);
    known.set(slot, reading);
    return reading;
  };
};
