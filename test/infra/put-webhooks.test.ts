import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it } from 'vitest';
import { putWebhooks } from '../../infra/put-webhooks.ts';
import { readDeploymentSettings } from '../../infra/settings.ts';
import { parseTargets } from '../../shared/webhooks/targets.ts';

const put = async (env: Readonly<Record<string, string>>) => {
  const client = mockClient(SecretsManagerClient);
  const said = await putWebhooks(new SecretsManagerClient({ region: 'eu-central-1' }), readDeploymentSettings(env));
  return { said, inputs: client.commandCalls(PutSecretValueCommand).map(({ args }) => args[0].input) };
};

describe('the secret of the webhooks', () => {
  it('is given what the operator says of the targets, and what a function reads from it is the same', async () => {
    const env = {
      STAGE: 'staging',
      EXTERNAL_WEBHOOKS_ENABLED: 'true',
      WEBHOOK_1_URL: 'https://hooks.example/in',
      WEBHOOK_1_SECRET: 'whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=',
      WEBHOOK_12_URL: 'https://beyond.example',
      EXTERNAL_WEBHOOK_URLS: 'https://older.example/in',
      EXTERNAL_WEBHOOK_TIMEOUT: '5000',
      PROVIDER_A_API_KEY: 'sk_test_1',
    };
    const { said, inputs } = await put(env);
    expect(said).toBe('5 webhook variables are in payments/staging/webhooks');
    expect(inputs.map(({ SecretId }) => SecretId)).toEqual(['payments/staging/webhooks']);
    const stored = JSON.parse(inputs[0]?.SecretString ?? '');
    const { STAGE: _, EXTERNAL_WEBHOOK_TIMEOUT: __, PROVIDER_A_API_KEY: ___, ...targets } = env;
    expect(stored).toEqual(targets);
    expect(parseTargets(stored, false)).toEqual(parseTargets(env, false));
    expect(parseTargets(stored, false)).toHaveLength(2);
  });

  it('stays as it is where the environment names no target', async () => {
    expect(await put({ STAGE: 'dev', EXTERNAL_WEBHOOK_MAX_RETRIES: '5' })).toEqual({
      said: 'no webhook variable is set: payments/dev/webhooks stays as it is',
      inputs: [],
    });
  });

  it('holds 64 KB, and no more is taken', async () => {
    const env = { WEBHOOK_1_URL: `https://hooks.example/${'x'.repeat(65_536)}` };
    await expect(put(env)).rejects.toThrow('must fit one secret');
  });

  it('is never reached where a target is wrong', async () => {
    await expect(put({ EXTERNAL_WEBHOOKS_ENABLED: 'true', WEBHOOK_1_URL: 'http://10.0.0.1' })).rejects.toThrow(
      'WEBHOOK_1_URL: must begin with https://',
    );
  });
});
