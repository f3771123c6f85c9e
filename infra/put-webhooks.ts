import { resolve } from 'node:path';
import { argv, stdout } from 'node:process';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type DeploymentSettings, readDeploymentSettings, webhookSecretName } from './settings.ts';

/**
 * The last step of `npm run deploy`: puts where outbound webhooks go, as the operator's environment says it, into their
 * secret. It stands in no template. Functions read it anew after a minute.
 * @returns what was done, in words. An environment that names no target changes nothing: somebody else may have.
 */
export const putWebhooks = async (
  client: SecretsManagerClient,
  { stage, webhookVariables }: Pick<DeploymentSettings, 'stage' | 'webhookVariables'>,
): Promise<string> => {
  const secret = webhookSecretName(stage);
  const count = Object.keys(webhookVariables).length;
  if (count === 0) return `no webhook variable is set: ${secret} stays as it is`;
  await client.send(new PutSecretValueCommand({ SecretId: secret, SecretString: JSON.stringify(webhookVariables) }));
  return `${count} webhook variables are in ${secret}`;
};

if (import.meta.filename === resolve(argv[1] ?? '')) {
  stdout.write(`${await putWebhooks(new SecretsManagerClient({}), readDeploymentSettings())}\n`);
}
