import { describe, expect, test } from 'vitest';
import {
  PLAIN_SETTINGS,
  readDeploymentSettings,
  SECRET_SETTINGS,
  STACK_SETTINGS,
} from '../../infra/deploy/stage/settings.ts';
import type { Environment } from '../../shared/core/setting.ts';
import { parseSettings, SettingsError } from '../../shared/core/settings.ts';

describe('the settings of a deployment', () => {
  test('report each mistake on its own line', () => {
    const read = () =>
      readDeploymentSettings({
        STAGE: 'local',
        ALARM_EMAIL: 'not-an-email',
        CUSTOM_DOMAIN: 'https://pay.example.com',
        PROVIDER_B: 'monopoly',
        PROVIDER_TIMEOUT_MS: '1',
        LOG_RETENTION_DAYS: '91',
        FUNCTION_URLS: 'no',
        TRACING: 'some',
        DEPLOY: 'slowly',
        BULKHEADS: 'yes',
        BULKHEAD_WEBHOOKS: '0',
        BULKHEAD_PAYMENTS: 'many',
        BULKHEAD_WORKERS: '1',
        TABLE_NAME_IN_USE: 'no table',
        TABLE_STREAM_ARN_IN_USE: 'arn:aws:dynamodb:eu-west-1:123456789012:table/payments',
        BACKUP_COPY_TO: 'payments-copies',
      });
    expect(read).toThrow(SettingsError);
    try {
      read();
    } catch (error) {
      expect((error as Error).message.split('\n').map((line) => line.split(':')[0])).toEqual([
        'STAGE',
        'ALARM_EMAIL',
        'CUSTOM_DOMAIN',
        'LOG_RETENTION_DAYS',
        'FUNCTION_URLS',
        'TRACING',
        'DEPLOY',
        'BULKHEADS',
        'BULKHEAD_WEBHOOKS',
        'BULKHEAD_PAYMENTS',
        'BULKHEAD_WORKERS',
        'TABLE_NAME_IN_USE',
        'TABLE_STREAM_ARN_IN_USE',
        'BACKUP_COPY_TO',
        'PROVIDER_TIMEOUT_MS',
        'PROVIDER_B',
      ]);
    }
  });

  test('require a restored table and its stream together', () => {
    const arn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/payments-restored';
    const TABLE_STREAM_ARN_IN_USE = `${arn}/stream/2026-11-26T18:00:00.000`;
    const TABLE_NAME_IN_USE = 'payments-restored';
    const read = (env: Environment) => readDeploymentSettings(env).tableInUse;
    expect(read({ TABLE_NAME_IN_USE, TABLE_STREAM_ARN_IN_USE })).toEqual({
      name: TABLE_NAME_IN_USE,
      arn,
      streamArn: TABLE_STREAM_ARN_IN_USE,
    });
    expect(read({})).toBeUndefined();
    for (const env of [
      { TABLE_NAME_IN_USE },
      { TABLE_STREAM_ARN_IN_USE },
      { TABLE_NAME_IN_USE: 'payments', TABLE_STREAM_ARN_IN_USE },
    ]) {
      expect(() => read(env)).toThrow('set both or neither');
    }
  });

  test('refuse to lift the rate limits in production', () => {
    expect(() => readDeploymentSettings({ STAGE: 'prod', RATE_LIMITS: 'off' })).toThrow('RATE_LIMITS');
  });

  test('report everything that production refuses, including webhook secrets', () => {
    const read = () =>
      readDeploymentSettings({
        STAGE: 'prod',
        IDENTITY_URL: 'http://id.example',
        IDENTITY_JWKS_URI: 'http://id.example/jwks',
        PUBLIC_BASE_URL: 'http://pay.example.com',
        PROVIDER_B_BASE_URL: 'http://paypal.example',
        EXTERNAL_WEBHOOK_ALLOW_PRIVATE: 'true',
        RATE_LIMITS: 'off',
        GUEST_TOKEN_SECRET: 'x',
        WEBHOOK_2_URL: 'https://hooks.example',
        WEBHOOK_2_SECRET: 'whsec_c2hvcnQ=',
        PROVIDER_TIMEOUT_MS: '25000',
      });
    try {
      read();
      expect.unreachable();
    } catch (error) {
      expect((error as Error).message.split('\n').map((line) => line.split(':')[0])).toEqual([
        'PROVIDER_TIMEOUT_MS',
        'PUBLIC_BASE_URL',
        'IDENTITY_URL',
        'IDENTITY_JWKS_URI',
        'PROVIDER_B_BASE_URL',
        'GUEST_TOKEN_SECRET',
        'IDENTITY_ISSUER',
        'IDENTITY_AUDIENCE',
        'RATE_LIMITS',
        'EXTERNAL_WEBHOOK_ALLOW_PRIVATE',
        'WEBHOOK_2_SECRET',
      ]);
    }
  });

  test('describe a development stage by default', () => {
    expect(readDeploymentSettings({})).toMatchObject({
      stage: 'dev',
      alarmEmail: '',
      customDomain: '',
      logDays: 90,
      functionUrls: true,
      tracing: true,
      provisioned: [],
      canary: false,
      bulkheads: undefined,
      environment: { STAGE: 'dev' },
    });
  });

  test('pass the operator’s settings to the functions, without secrets and unknown variables', () => {
    const { environment, secretsLeftOut } = readDeploymentSettings({
      PROVIDER_A: 'stripe',
      PROVIDER_A_API_KEY: 'sk_test_1',
      IDENTITY_URL: 'https://id.example',
      AWS_SECRET_ACCESS_KEY: 'not ours',
      HOME: '/root',
    });
    expect(environment).toEqual({ STAGE: 'dev', PROVIDER_A: 'stripe', IDENTITY_URL: 'https://id.example' });
    expect(secretsLeftOut).toEqual(['PROVIDER_A_API_KEY']);
  });

  test('classify each setting of the service as plain, secret or set by the stacks', () => {
    const asked = new Set<string>();
    parseSettings(
      new Proxy<Record<string, string | undefined>>(
        {},
        {
          get: (_, name) => {
            asked.add(String(name));
            return undefined;
          },
        },
      ),
    );
    expect([...asked].sort()).toEqual([...PLAIN_SETTINGS, ...SECRET_SETTINGS, ...STACK_SETTINGS].sort());
  });
});
