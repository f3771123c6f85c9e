import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { namesTarget, parseTargets } from '../shared/webhooks/outbound/targets.ts';
import { type DeploymentSettings, webhookSecretName } from './stage/settings.ts';

type Given = Pick<DeploymentSettings, 'stage' | 'webhookVariables' | 'environment'>;

/**
 * The last step of `npm run deploy`: puts where outbound webhooks go, as the operator's environment says it, into their
 * secret. It stands in no template. Functions read it anew after a minute.
 * @returns what was done, in words. Targets that are there stay until others are named: somebody else may have put them,
 * and nobody else knows what signs them.
 * @throws SettingsError where what the secret would hold is wrong.
 */
export const putWebhooks = async (client: SecretsManagerClient, given: Given): Promise<string> => {
  const secret = webhookSecretName(given.stage);
  const names = Object.keys(given.webhookVariables);
  if (names.length === 0) return `no webhook variable is set: ${secret} stays as it is`;
  const whole = names.some(namesTarget);
  const variables = whole ? given.webhookVariables : { ...(await held(client, secret)), ...given.webhookVariables };
  parseTargets(variables, given.environment['EXTERNAL_WEBHOOK_ALLOW_PRIVATE'] === 'true', given.stage);
  await client.send(new PutSecretValueCommand({ SecretId: secret, SecretString: JSON.stringify(variables) }));
  return whole
    ? `${names.length} webhook variables are in ${secret}`
    : `no target is named: ${secret} keeps its own; set in it: ${names.join(', ')}`;
};

const variablesSchema = z.record(z.string(), z.string());

/** The mistake in a secret must not be shown: it would show the secret. */
const held = async (client: SecretsManagerClient, secret: string): Promise<Readonly<Record<string, string>>> => {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
  try {
    return variablesSchema.parse(JSON.parse(SecretString || '{}'));
  } catch {
    throw new Error(`${secret} holds no JSON object of texts: name the targets anew`);
  }
};
