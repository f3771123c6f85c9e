import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { checkedTargets } from '../../shared/webhooks/checked-targets.ts';
import { areOff, namesTarget, switchesOff } from '../../shared/webhooks/webhook-targets.ts';
import { type DeploymentSettings, webhookSecretName } from './stage/settings.ts';

type Given = Pick<DeploymentSettings, 'stage' | 'webhookVariables' | 'environment'>;

/**
 * Stores the operator's webhook variables in their secret, outside all templates. Runs after the stacks are deployed.
 * Functions reload the secret after a minute. Without new targets, the stored targets stay, because another operator
 * may have set them and only the secret holds their signing secrets.
 * @returns the outcome, as a sentence.
 * @throws SettingsError if a variable is wrong.
 */
export const putWebhooks = async (client: SecretsManagerClient, given: Given): Promise<string> => {
  const secret = webhookSecretName(given.stage);
  const names = Object.keys(given.webhookVariables);
  if (names.length === 0) {
    return `no webhook variable is set, so ${secret} does not change${idleNote(await held(client, secret))}`;
  }
  const whole = names.some(namesTarget);
  const variables = whole ? given.webhookVariables : { ...(await held(client, secret)), ...given.webhookVariables };
  checkedTargets(variables, given.environment['EXTERNAL_WEBHOOK_ALLOW_PRIVATE'] === 'true', given.stage);
  await client.send(new PutSecretValueCommand({ SecretId: secret, SecretString: JSON.stringify(variables) }));
  const done = whole
    ? `${names.length} webhook variables are in ${secret}`
    : `no target is named, so ${secret} keeps its targets; set in it: ${names.join(', ')}`;
  return `${done}${idleNote(variables)}`;
};

/** Names the switches that stop events to configured targets. */
const idleNote = (variables: Readonly<Record<string, string>>): string => {
  const off = switchesOff(variables);
  return off.length === 0 ? '' : `; nothing is sent to some of its URLs, because ${areOff(off)}`;
};

const variablesSchema = z.record(z.string(), z.string());

/** Reads the stored variables. Replaces a parse error, because its message would show the secret. */
const held = async (client: SecretsManagerClient, secret: string): Promise<Readonly<Record<string, string>>> => {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
  try {
    return variablesSchema.parse(JSON.parse(SecretString || '{}'));
  } catch {
    throw new Error(`${secret} must be a JSON object of strings; set the targets again`);
  }
};
