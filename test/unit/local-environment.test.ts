import { describe, expect, test } from 'vitest';
import {
  checkSettings,
  functionEnvironment,
  readHostSettings,
  type Wiring,
} from '../../infra/local/machine/environment.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { parseTargets } from '../../shared/webhooks/webhook-targets.ts';

const wiring: Wiring = {
  baseUrl: 'http://127.0.0.1:3000',
  basePath: '/pay',
  dynamoEndpoint: 'http://127.0.0.1:8000',
  queues: ['apply-provider-event'],
};

describe('the environment of the functions', () => {
  test('is complete without the operator’s variables', () => {
    const settings = parseSettings(functionEnvironment({}, wiring));
    expect(settings).toMatchObject({
      STAGE: 'local',
      PUBLIC_BASE_URL: 'http://127.0.0.1:3000/pay',
      PROVIDER_TIMEOUT_MS: 1_000,
      slots: {
        provider_a: { ADAPTER: 'stripe', BASE_URL: 'http://127.0.0.1:3000/_local/providers/stripe' },
        provider_c: {
          ADAPTER: 'square',
          SIGNATURE_KEY: 'local_provider_c_key',
          NOTIFICATION_URL: ['http://127.0.0.1:3000/pay/webhooks/provider_c'],
        },
        provider_d: { ADAPTER: 'braintree', BASE_URL: 'http://127.0.0.1:3000/_local/providers/braintree' },
      },
    });
    expect(settings.queueUrls).toEqual({
      'apply-provider-event': 'http://127.0.0.1:3000/_local/aws/000000000000/apply-provider-event',
    });
  });

  test('accepts the operator’s settings, even if they are empty', () => {
    const env = functionEnvironment({ PROVIDER_A_WEBHOOK_SECRET: '', RATE_LIMITS: 'off' }, wiring);
    expect(env).toMatchObject({ PROVIDER_A_WEBHOOK_SECRET: '', RATE_LIMITS: 'off' });
  });

  test('ignores the operator’s AWS accounts and endpoints', () => {
    const own = {
      AWS_ACCESS_KEY_ID: 'AKIAREAL',
      AWS_SESSION_TOKEN: 'real',
      AWS_PROFILE: 'prod',
      AWS_ENDPOINT_URL_DYNAMODB: 'https://dynamodb.eu-central-1.amazonaws.com',
    };
    const env = functionEnvironment(own, wiring);
    expect(env).toMatchObject({ AWS_ACCESS_KEY_ID: 'local', AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000' });
    expect(env).not.toHaveProperty('AWS_SESSION_TOKEN');
    expect(env).not.toHaveProperty('AWS_PROFILE');
  });

  test('has its own webhook target only if the operator names none', () => {
    expect(functionEnvironment({}, wiring)['WEBHOOK_1_URL']).toBe('http://127.0.0.1:3000/_local/sink/default');
    expect(functionEnvironment({ WEBHOOK_2_URL: 'https://x.example' }, wiring)).not.toHaveProperty('WEBHOOK_1_URL');
  });

  test('enables its own webhook target by default, and any other target only by a setting', () => {
    const targets = (operator: Readonly<Record<string, string>>) =>
      parseTargets(functionEnvironment(operator, wiring), true).map(({ name }) => name);
    expect(targets({})).toEqual(['WEBHOOK_1']);
    expect(targets({ EXTERNAL_WEBHOOKS_ENABLED: '' })).toEqual([]);
    expect(targets({ WEBHOOK_6_URL: 'https://x.example' })).toEqual([]);
    expect(targets({ EXTERNAL_WEBHOOK_URLS: 'https://x.example' })).toEqual([]);
    const own = { WEBHOOK_6_ENABLED: 'true', WEBHOOK_6_URL: 'https://x.example' };
    expect(targets(own)).toEqual([]);
    expect(targets({ ...own, EXTERNAL_WEBHOOKS_ENABLED: 'true' })).toEqual(['WEBHOOK_6']);
  });
});

describe('the settings of the host', () => {
  test('refuse the stage prod, and list the other settings that prod refuses', () => {
    const DEPLOYED = 'STAGE: prod cannot run on the local host; deploy it (npm run deploy)';
    expect(() => checkSettings({ STAGE: 'prod' }, '')).toThrow(new RegExp(`^${DEPLOYED.replace(/[()]/g, '\\$&')}$`));
    const env = { STAGE: 'prod', GUEST_TOKEN_SECRET: 'x', RATE_LIMITS: 'off', WEBHOOK_1_SECRET: 'whsec_c2hvcnQ=' };
    expect(() => checkSettings({ ...env, WEBHOOK_1_URL: 'https://hooks.example' }, '')).toThrow(
      [
        DEPLOYED,
        'GUEST_TOKEN_SECRET: must have at least 32 characters in prod',
        'RATE_LIMITS: must be on in prod',
        'WEBHOOK_1_SECRET: must have at least 24 bytes in prod',
      ].join('\n'),
    );
  });

  test('have defaults', () => {
    expect(readHostSettings({})).toEqual({
      port: 3000,
      address: '127.0.0.1',
      allowedHosts: [],
      dataDir: '.local',
      basePath: '',
      demoData: 'demo',
      logLevel: 'silent',
    });
  });

  test.each<[Record<string, string>, object]>([
    [
      { PORT: '0', DATA_DIR: ':memory:' },
      { port: 0, dataDir: ':memory:' },
    ],
    [{ BASE_PATH: '/api/v1/' }, { basePath: '/api/v1' }],
    [{ BASE_PATH: '/' }, { basePath: '' }],
    [{ DEMO_DATA: 'none' }, { demoData: 'none' }],
    [{ LOG_LEVEL: 'INFO' }, { logLevel: 'info' }],
  ])('are read from %j', (env, expected) => {
    expect(readHostSettings(env)).toMatchObject(expected);
  });

  test.each([
    { PORT: '-1' },
    { PORT: 'http' },
    { PORT: '70000' },
    { BASE_PATH: 'api' },
    { DEMO_DATA: 'some' },
    { LOG_LEVEL: 'loud' },
  ])('refuse %j by name', (env) => {
    expect(() => readHostSettings(env)).toThrow(Object.keys(env)[0]);
  });
});
