import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { hostedBy, moneyDeps } from '../../shared/runtime.ts';

const manager = mockClient(SecretsManagerClient);
const MINUTE_MS = 60_000;
let now = 0;

const holding = (secret: string): void => {
  manager.on(GetSecretValueCommand, { SecretId: 'arn:a' }).resolves({ SecretString: secret });
};
const reads = (): number => manager.commandCalls(GetSecretValueCommand).length;
const open = () => moneyDeps().providers.find('provider_a');

beforeEach(() => {
  manager.reset();
  now = Date.parse('2026-11-01T12:00:00Z');
  const env = { TABLE_NAME: 't', PROVIDER_A: 'stripe', PROVIDER_A_SECRET_ARN: 'arn:a', LOG_LEVEL: 'silent' };
  hostedBy({ env, now: () => now });
});
afterAll(() => manager.restore());

describe('the keys of a provider', () => {
  test('are read from its secret once, and again after five minutes', async () => {
    holding('{"API_KEY":"sk_test_one","WEBHOOK_SECRET":"whsec_one"}');
    const first = await open();
    expect(first).toMatchObject({ slot: 'provider_a', acceptsWebhooks: true });
    now += 5 * MINUTE_MS - 1;
    expect(await open()).toBe(first);
    expect(reads()).toBe(1);
    now += 1;
    expect(await open()).toBe(first);
    expect(reads()).toBe(2);
  });

  test('count anew once they have changed', async () => {
    holding('{"API_KEY":"sk_test_one"}');
    expect(await open()).toMatchObject({ acceptsWebhooks: false });
    holding('{"API_KEY":"sk_test_two","WEBHOOK_SECRET":"whsec_two"}');
    now += 5 * MINUTE_MS;
    expect(await open()).toMatchObject({ acceptsWebhooks: true });
  });

  test('close the slot where the secret is empty', async () => {
    holding('{}');
    expect(await open()).toBeUndefined();
  });
});
