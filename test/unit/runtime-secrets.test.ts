import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { keyedId } from '../../shared/core/ids.ts';
import { MINUTE_MS } from '../../shared/core/time.ts';
import { setHost } from '../../shared/host.ts';
import type { AdapterOptions } from '../../shared/providers/adapter.ts';
import { dispatchDeps, methodDeps, moneyDeps, receiverDeps, webDeps } from '../../shared/runtime.ts';

/** The options of an opened adapter, either a provider or a receiver. */
const { opened } = vi.hoisted(() => ({ opened: [] as AdapterOptions[] }));
const noting =
  <T>(open: (options: AdapterOptions) => T) =>
  (options: AdapterOptions): T => {
    opened.push(options);
    return open(options);
  };
vi.mock('../../shared/providers/stripe/stripe.ts', async (original) => {
  const { openStripe, openStripeReceiver } = await original<typeof import('../../shared/providers/stripe/stripe.ts')>();
  return { openStripe: noting(openStripe), openStripeReceiver: noting(openStripeReceiver) };
});
vi.mock('../../shared/providers/paypal/paypal.ts', async (original) => {
  const { openPayPal, openPayPalReceiver } = await original<typeof import('../../shared/providers/paypal/paypal.ts')>();
  return { openPayPal: noting(openPayPal), openPayPalReceiver: noting(openPayPalReceiver) };
});

const manager = mockClient(SecretsManagerClient);
let now = 0;

const holding = (secret: string): void => {
  manager.on(GetSecretValueCommand, { SecretId: 'arn:a' }).resolves({ SecretString: secret });
};
const reads = (): number => manager.commandCalls(GetSecretValueCommand).length;
const open = () => moneyDeps().providers.find('provider_a');

beforeEach(() => {
  manager.reset();
  opened.length = 0;
  now = Date.parse('2026-11-01T12:00:00Z');
  const env = { TABLE_NAME: 't', PROVIDER_A: 'stripe', PROVIDER_A_SECRET_ARN: 'arn:a', LOG_LEVEL: 'silent' };
  setHost({ env, now: () => now });
});
afterAll(() => manager.restore());

describe('the keys of a provider', () => {
  test('are read from the provider’s secret once, and again after five minutes', async () => {
    holding('{"API_KEY":"sk_test_one"}');
    const first = await open();
    expect(first).toMatchObject({ slot: 'provider_a' });
    now += 5 * MINUTE_MS - 1;
    expect(await open()).toBe(first);
    expect(reads()).toBe(1);
    now += 1;
    expect(await open()).toBe(first);
    expect(reads()).toBe(2);
  });

  test('are replaced after a change of the secret', async () => {
    holding('{"API_KEY":"sk_test_one"}');
    await open();
    holding('{"API_KEY":"sk_test_two"}');
    now += 5 * MINUTE_MS;
    await open();
    expect(opened.map(({ settings }) => settings.API_KEY)).toEqual(['sk_test_one', 'sk_test_two']);
  });

  test('stay in use while the secret is unreadable, with a retry every minute', async () => {
    holding('{"API_KEY":"sk_test_one"}');
    const first = await open();
    manager.on(GetSecretValueCommand, { SecretId: 'arn:a' }).rejects(new Error('unavailable'));
    now += 5 * MINUTE_MS;
    expect(await open()).toBe(first);
    holding('{"API_KEY":"sk_test_two"}');
    now += MINUTE_MS - 1;
    expect(await open()).toBe(first);
    now += 1;
    await open();
    expect(opened.map(({ settings }) => settings.API_KEY)).toEqual(['sk_test_one', 'sk_test_two']);
  });

  test.each(['ResourceNotFoundException', 'InvalidRequestException', 'AccessDeniedException'])(
    'do not stay in use once the secret is deleted or forbidden (%s)',
    async (name) => {
      holding('{"API_KEY":"sk_test_one"}');
      await open();
      const error = Object.assign(new Error('withdrawn'), { name });
      manager.on(GetSecretValueCommand, { SecretId: 'arn:a' }).rejects(error);
      now += 5 * MINUTE_MS;
      await expect(open()).rejects.toThrow('withdrawn');
    },
  );

  test('cause an error if the secret was never read', async () => {
    manager.on(GetSecretValueCommand, { SecretId: 'arn:a' }).rejects(new Error('unavailable'));
    await expect(open()).rejects.toThrow('unavailable');
  });

  test('close the slot if the secret is empty', async () => {
    holding('{}');
    expect(await open()).toBeUndefined();
  });
});

describe('the secrets of a purpose', () => {
  const BOTH = { PROVIDER_A_SECRET_ARN: 'arn:a', PROVIDER_A_SIGNATURE_SECRET_ARN: 'arn:s' };
  const both = '{"API_KEY":"sk_test_one","WEBHOOK_SECRET":"whsec_one"}';
  const host = (env: Record<string, string>): void =>
    setHost({ env: { TABLE_NAME: 't', LOG_LEVEL: 'silent', ...env }, now: () => now });
  const read = (): readonly unknown[] =>
    manager.commandCalls(GetSecretValueCommand).map(({ args }) => args[0].input.SecretId);
  const secretsSeen = (): readonly unknown[] =>
    opened.map(({ settings: { API_KEY, WEBHOOK_SECRET, CLIENT_SECRET } }) => ({
      API_KEY,
      WEBHOOK_SECRET,
      CLIENT_SECRET,
    }));

  test('contain only the signature secret for a receiver, read from a single secret', async () => {
    manager.on(GetSecretValueCommand).resolves({ SecretString: both });
    host({ PROVIDER_A: 'stripe', ...BOTH });
    expect(await receiverDeps().receivers.find('provider_a')).toMatchObject({ slot: 'provider_a' });
    expect(read()).toEqual(['arn:s']);
    expect(secretsSeen()).toEqual([{ API_KEY: '', WEBHOOK_SECRET: 'whsec_one', CLIENT_SECRET: '' }]);
  });

  test('contain only the API key for a function that calls the provider, read from a single secret', async () => {
    manager.on(GetSecretValueCommand).resolves({ SecretString: both });
    host({ PROVIDER_A: 'stripe', ...BOTH });
    expect(await open()).toMatchObject({ slot: 'provider_a' });
    expect(read()).toEqual(['arn:a']);
    expect(secretsSeen()).toEqual([{ API_KEY: 'sk_test_one', WEBHOOK_SECRET: '', CLIENT_SECRET: '' }]);
  });

  test('are also separated in the environment of a host', async () => {
    host({ PROVIDER_A: 'stripe', PROVIDER_A_API_KEY: 'sk_test_one', PROVIDER_A_WEBHOOK_SECRET: 'whsec_one' });
    await receiverDeps().receivers.find('provider_a');
    await open();
    expect(secretsSeen()).toEqual([
      { API_KEY: '', WEBHOOK_SECRET: 'whsec_one', CLIENT_SECRET: '' },
      { API_KEY: 'sk_test_one', WEBHOOK_SECRET: '', CLIENT_SECRET: '' },
    ]);
  });

  test('contain the fingerprint secret only for a function that calls the provider', async () => {
    const env = { PROVIDER_A: 'stripe', PROVIDER_A_API_KEY: 'sk_test_one', PROVIDER_A_WEBHOOK_SECRET: 'whsec_one' };
    host({ ...env, FINGERPRINT_SECRET: 'hush' });
    await receiverDeps().receivers.find('provider_a');
    await open();
    expect(opened.map(({ settings }) => settings.FINGERPRINT_SECRET)).toEqual(['', 'hush']);
  });

  test('include the API keys for a PayPal receiver, because only an API call verifies PayPal events', async () => {
    manager.on(GetSecretValueCommand, { SecretId: 'arn:keys' }).resolves({ SecretString: '{"CLIENT_SECRET":"hush"}' });
    const env = { PROVIDER_A_CLIENT_ID: 'id', PROVIDER_A_WEBHOOK_ID: 'W' };
    host({ PROVIDER_A: 'paypal', ...env, PROVIDER_A_SIGNATURE_SECRET_ARN: 'arn:keys' });
    expect(await receiverDeps().receivers.find('provider_a')).toMatchObject({ slot: 'provider_a' });
    expect(secretsSeen()).toEqual([{ API_KEY: '', WEBHOOK_SECRET: '', CLIENT_SECRET: 'hush' }]);
  });
});

describe('the ids that only the deployment can compute', () => {
  const SECRET = 'the generated secret of one deployment';
  const stage = (env: Record<string, string> = {}) => {
    setHost({ env: { STAGE: 'prod', TABLE_NAME: 't', LOG_LEVEL: 'silent', ...env }, now: () => now });
    return webDeps().ids;
  };

  test('derive from the secret in Secrets Manager, which is read once in five minutes', async () => {
    manager.on(GetSecretValueCommand, { SecretId: 'arn:i' }).resolves({ SecretString: SECRET });
    const ids = stage({ ID_SECRET_ARN: 'arn:i' });
    expect(await ids.idOf('payment', 'scope')).toBe(keyedId(SECRET, 'payment', 'scope'));
    await ids.networkHash('203.0.113.7');
    expect(reads()).toBe(1);
  });

  test('do not depend on the secret of guest tokens', async () => {
    const idWith = (GUEST_TOKEN_SECRET: string) =>
      stage({ ID_SECRET: SECRET, GUEST_TOKEN_SECRET }).idOf('payment', 'scope');
    expect(await idWith('x'.repeat(32))).toBe(await idWith('y'.repeat(32)));
  });

  test('are refused without a secret, because everyone could compute them', async () => {
    await expect(stage().idOf('payment', 'scope')).rejects.toThrow('ID_SECRET');
    manager.on(GetSecretValueCommand, { SecretId: 'arn:i' }).resolves({ SecretString: '' });
    await expect(stage({ ID_SECRET_ARN: 'arn:i' }).networkHash('203.0.113.7')).rejects.toThrow('ID_SECRET');
  });

  test('never reveal a guest’s network', async () => {
    const ids = stage({ ID_SECRET: SECRET });
    const hash = await ids.networkHash('203.0.113.7');
    expect(hash).toMatch(/^[0-9a-f]{24}$/);
    expect(hash).toBe(await ids.networkHash('203.0.113.7'));
    expect(hash).not.toBe(await ids.networkHash('203.0.113.8'));
    expect(hash).not.toBe(await stage({ ID_SECRET: `${SECRET}.` }).networkHash('203.0.113.7'));
  });
});

describe('the secrets in production', () => {
  const GUEST = { email: 'ada@example.com', guestId: 'gst_1' };
  const LONG = 'x'.repeat(32);
  const stage = (STAGE: string, more: Record<string, string> = {}) => {
    const env = { STAGE, TABLE_NAME: 't', GUEST_TOKEN_SECRET_ARN: 'arn:g', WEBHOOKS_SECRET_ARN: 'arn:w', ...more };
    setHost({ env, now: () => now });
    return webDeps().guestTokens;
  };
  const guestSecret = (secret: string): void => {
    manager.on(GetSecretValueCommand, { SecretId: 'arn:g' }).resolves({ SecretString: secret });
  };

  test('exclude a guest secret shorter than 32 characters, and one log line reports it', async () => {
    const written: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => written.push(String(line)) > 0);
    guestSecret('short');
    const issued = await stage('staging').issue(GUEST);
    const guests = stage('prod');
    expect(await guests.issue(GUEST)).toBeUndefined();
    await expect(guests.read(issued?.token ?? '')).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    vi.restoreAllMocks();
    expect(written).toHaveLength(1);
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ level: 'ERROR', message: 'guest token secret refused' });
    expect(written[0]).not.toContain('"short"');
  });

  test('include guest secrets of 32 characters or more even if another secret is refused', async () => {
    vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    guestSecret(`short,${LONG}`);
    const guests = stage('prod');
    const issued = await guests.issue(GUEST);
    expect(await guests.read(issued?.token ?? '')).toMatchObject(GUEST);
  });

  test('allow no delivery with a webhook secret shorter than 24 bytes', async () => {
    const node = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://hooks.example' };
    const targets = { EXTERNAL_WEBHOOKS_ENABLED: 'true', ...node };
    const secret = JSON.stringify({ ...targets, WEBHOOK_1_SECRET: 'whsec_c2hvcnQ=' });
    manager.on(GetSecretValueCommand, { SecretId: 'arn:w' }).resolves({ SecretString: secret });
    stage('prod');
    await expect(dispatchDeps().targets()).rejects.toThrow('WEBHOOK_1_SECRET: must have at least 24 bytes in prod');
    stage('staging');
    expect(await dispatchDeps().targets()).toHaveLength(1);
  });

  test('never allow raw cards, even if the setting does', () => {
    stage('prod', { ALLOW_RAW_CARDS: 'true' });
    expect(methodDeps().allowRawCards).toBe(false);
    stage('staging', { ALLOW_RAW_CARDS: 'true' });
    expect(methodDeps().allowRawCards).toBe(true);
  });
});
