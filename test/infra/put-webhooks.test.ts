import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, test } from 'vitest';
import { putWebhooks } from '../../infra/deploy/put-webhooks.ts';
import { readDeploymentSettings } from '../../infra/deploy/stage/settings.ts';
import { parseTargets } from '../../shared/webhooks/webhook-targets.ts';

const put = async (env: Readonly<Record<string, string>>, there = '{}') => {
  const client = mockClient(SecretsManagerClient);
  client.on(GetSecretValueCommand, { SecretId: `payments/${env['STAGE']}/webhooks` }).resolves({ SecretString: there });
  const said = await putWebhooks(new SecretsManagerClient({ region: 'eu-central-1' }), readDeploymentSettings(env));
  return { said, inputs: client.commandCalls(PutSecretValueCommand).map(({ args }) => args[0].input) };
};

describe('the webhooks secret', () => {
  test('stores the operator’s targets, and a function reads the same targets from it', async () => {
    const env = {
      STAGE: 'staging',
      EXTERNAL_WEBHOOKS_ENABLED: 'true',
      WEBHOOK_1_ENABLED: 'true',
      WEBHOOK_1_URL: 'https://hooks.example/in',
      WEBHOOK_1_SECRET: 'whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=',
      WEBHOOK_12_URL: 'https://beyond.example',
      EXTERNAL_WEBHOOK_URLS: 'https://older.example/in',
      EXTERNAL_WEBHOOK_TIMEOUT: '5000',
      PROVIDER_A_API_KEY: 'sk_test_1',
    };
    const { said, inputs } = await put(env);
    expect(said).toBe('6 webhook variables are in payments/staging/webhooks');
    expect(inputs.map(({ SecretId }) => SecretId)).toEqual(['payments/staging/webhooks']);
    const stored = JSON.parse(inputs[0]?.SecretString ?? '');
    const { STAGE: _, EXTERNAL_WEBHOOK_TIMEOUT: __, PROVIDER_A_API_KEY: ___, ...targets } = env;
    expect(stored).toEqual(targets);
    expect(parseTargets(stored, false)).toEqual(parseTargets(env, false));
    expect(parseTargets(stored, false)).toHaveLength(2);
  });

  test('stays unchanged if the environment names no target setting', async () => {
    expect(await put({ STAGE: 'dev', EXTERNAL_WEBHOOK_MAX_RETRIES: '5' })).toEqual({
      said: 'no webhook variable is set, so payments/dev/webhooks does not change',
      inputs: [],
    });
  });

  describe('a webhooks secret with existing targets', () => {
    const THERE = {
      EXTERNAL_WEBHOOKS_ENABLED: 'true',
      WEBHOOK_1_ENABLED: 'true',
      WEBHOOK_1_URL: 'https://hooks.example/in',
      WEBHOOK_1_SECRET: 'whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=',
      WEBHOOK_2_ENABLED: 'true',
      WEBHOOK_2_URL: 'https://second.example',
    };
    const putOver = (env: Readonly<Record<string, string>>) => put({ STAGE: 'prod', ...env }, JSON.stringify(THERE));
    const storedOver = async (env: Readonly<Record<string, string>>) => {
      const { inputs } = await putOver(env);
      return JSON.parse(inputs[0]?.SecretString ?? '');
    };

    test.each([
      { EXTERNAL_WEBHOOKS_ENABLED: 'false' },
      { WEBHOOK_2_ENABLED: 'false' },
      { EXTERNAL_WEBHOOK_EVENTS: 'payment.*', WEBHOOK_SCAN_MAX: '5' },
    ])('keeps its targets if the environment names no target, and changes only %o', async (env) => {
      expect(await storedOver(env)).toEqual({ ...THERE, ...env });
    });

    test('can disable all targets, and enables the same targets again', async () => {
      expect(parseTargets(await storedOver({ EXTERNAL_WEBHOOKS_ENABLED: 'false' }), false)).toEqual([]);
      const again = await storedOver({ EXTERNAL_WEBHOOKS_ENABLED: 'true' });
      expect(parseTargets(again, false)).toEqual(parseTargets(THERE, false));
    });

    test('lists the given variables without their values', async () => {
      expect(await putOver({ EXTERNAL_WEBHOOKS_ENABLED: 'false' })).toMatchObject({
        said:
          'no target is named, so payments/prod/webhooks keeps its targets; set in it: EXTERNAL_WEBHOOKS_ENABLED; ' +
          'nothing is sent to some of its URLs, because EXTERNAL_WEBHOOKS_ENABLED is not true',
      });
    });

    test('lists the variables that disable a URL, even if the secret stays unchanged', async () => {
      const { WEBHOOK_2_ENABLED: _, ...there } = THERE;
      const { said, inputs } = await put({ STAGE: 'prod' }, JSON.stringify(there));
      expect({ said, inputs }).toEqual({
        said:
          'no webhook variable is set, so payments/prod/webhooks does not change; ' +
          'nothing is sent to some of its URLs, because WEBHOOK_2_ENABLED is not true',
        inputs: [],
      });
      const enabled = await put({ STAGE: 'prod', WEBHOOK_2_ENABLED: 'true' }, JSON.stringify(there));
      expect(enabled.said).not.toContain('nothing is sent');
      expect(JSON.parse(enabled.inputs[0]?.SecretString ?? '')).toEqual(THERE);
    });

    test.each([{ WEBHOOK_3_URL: 'https://third.example' }, { EXTERNAL_WEBHOOK_URLS: 'https://older.example' }])(
      'is replaced completely by %o, which names a target',
      async (env) => {
        expect(await storedOver(env)).toEqual(env);
      },
    );

    test.each([
      ['{"WEBHOOK_1_URL":', 'payments/prod/webhooks must be a JSON object of strings'],
      ['{"WEBHOOK_1_URL":"http://10.0.0.1"}', 'WEBHOOK_1_URL: must begin with https://'],
      [
        '{"WEBHOOK_1_URL":"https://a.example","WEBHOOK_1_SECRET":"whsec_c2hvcnQ="}',
        'WEBHOOK_1_SECRET: must have at least 24 bytes in prod',
      ],
    ])('stays unchanged if its content is unusable: %s', async (there, message) => {
      const putting = put({ STAGE: 'prod', EXTERNAL_WEBHOOKS_ENABLED: 'false' }, there);
      await expect(putting).rejects.toThrow(message);
    });
  });

  test('is limited to 64 KB', async () => {
    const env = { WEBHOOK_1_URL: `https://hooks.example/${'x'.repeat(65_536)}` };
    await expect(put(env)).rejects.toThrow('must fit in one secret');
  });

  test('is not written if a target is invalid', async () => {
    await expect(put({ EXTERNAL_WEBHOOKS_ENABLED: 'true', WEBHOOK_1_URL: 'http://10.0.0.1' })).rejects.toThrow(
      'WEBHOOK_1_URL: must begin with https://',
    );
  });
});
