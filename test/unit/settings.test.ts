import { describe, expect, test } from 'vitest';
import type { Environment } from '../../shared/core/setting.ts';
import { PROVIDER_SLOTS, parseSettings, SettingsError } from '../../shared/core/settings.ts';

const mistakes = (env: Environment): readonly string[] => {
  try {
    parseSettings(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.mistakes;
    throw error;
  }
};

describe('the settings', () => {
  test('enable nothing that needs a secret if the environment is empty', () => {
    const settings = parseSettings({});
    expect(settings).toMatchObject({
      STAGE: 'local',
      IDENTITY_URL: '',
      ADMIN_USER_IDS: [],
      PROVIDER_TIMEOUT_MS: 10_000,
      GUEST_TOKEN_SECRET: [],
      GUEST_TOKEN_TTL_SECONDS: 604_800,
      GUEST_CONTINUE_SECONDS: 3_600,
      GUEST_EMAIL_LIST: 'minimal',
      ALLOW_RAW_CARDS: false,
      ALLOW_QUERY_SESSION: true,
      RATE_LIMITS: true,
      queueUrls: {},
    });
    expect(PROVIDER_SLOTS.map((slot) => settings.slots[slot].ADAPTER)).toEqual(['', '', '', '']);
  });

  test('treat an empty variable, other than STAGE, as absent', () => {
    const names = ['PROVIDER_TIMEOUT_MS', 'GUEST_TOKEN_TTL_SECONDS', 'ALLOW_RAW_CARDS', 'RATE_LIMITS', 'PROVIDER_A'];
    const { queueUrls: _, ...settings } = parseSettings(Object.fromEntries(names.map((name) => [name, ''])));
    expect(settings).toMatchObject({ PROVIDER_TIMEOUT_MS: 10_000, ALLOW_RAW_CARDS: false, RATE_LIMITS: true });
  });

  test('give each slot the shared fingerprint secret, unless the slot has its own', () => {
    const { slots } = parseSettings({ FINGERPRINT_SECRET: 'shared', PROVIDER_B_FINGERPRINT_SECRET: 'own' });
    expect(PROVIDER_SLOTS.map((slot) => slots[slot].FINGERPRINT_SECRET)).toEqual(['shared', 'own', 'shared', 'shared']);
    expect(parseSettings({}).slots.provider_a.FINGERPRINT_SECRET).toBe('');
  });

  test('refuse an empty stage, which would have the weakest protection', () => {
    expect(mistakes({ STAGE: '' })).toEqual(['STAGE: must be local, dev, staging or prod']);
  });

  test('refuse a blank as a number', () => {
    expect(mistakes({ PROVIDER_A_BACKGROUND_RATE: ' ' })).toEqual([
      expect.stringMatching(/^PROVIDER_A_BACKGROUND_RATE: must be a whole number/),
    ]);
  });

  test.each<[string, string]>([
    ['STAGE', 'production'],
    ['PUBLIC_BASE_URL', 'api.example'],
    ['IDENTITY_URL', 'nowhere'],
    ['IDENTITY_JWKS_URI', 'nowhere'],
    ['IDENTITY_TIMEOUT_MS', '4001'],
    ['PROVIDER_TIMEOUT_MS', '10s'],
    ['PROVIDER_TIMEOUT_MS', '99'],
    ['PROVIDER_TIMEOUT_MS', '15001'],
    ['PROVIDER_TIMEOUT_MS', '25000'],
    ['PROVIDER_TIMEOUT_MS', '1000.5'],
    ['GUEST_TOKEN_TTL_SECONDS', '0'],
    ['GUEST_TOKEN_TTL_SECONDS', '-1'],
    ['GUEST_EMAIL_LIST', 'all'],
    ['ALLOW_RAW_CARDS', 'yes'],
    ['ALLOW_QUERY_SESSION', '1'],
    ['RATE_LIMITS', 'false'],
    ['CUSTOMER_DELETE_HISTORY', 'on'],
    ['PROVIDER_A', 'adyen'],
    ['PROVIDER_B_BASE_URL', 'nowhere'],
    ['PROVIDER_D_SUBSCRIPTIONS', 'both'],
    ['TRUSTED_EDGE_HEADER', 'cloudfront-viewer-address'],
    ['TRUSTED_EDGE_SECRET_SHA256', 'a'.repeat(64)],
    ['TRUSTED_EDGE_SECRET_SHA256', 'a'.repeat(63)],
    ['TRUSTED_EDGE_HEADER', 'X-Forwarded-For'],
    ['TRUSTED_EDGE_HEADER', 'two words'],
    ['RATE_LIMITS', 'off '],
    ['BASE_PATH', 'pay'],
    ['PUBLIC_BASE_URL', 'https://api\t.example'],
    ['DUNNING_DAYS', '3,1'],
    ['DUNNING_DAYS', '1,1'],
    ['DUNNING_DAYS', '0,1'],
    ['DUNNING_DAYS', '1.5'],
    ['DUNNING_DAYS', '366'],
    ['DUNNING_DAYS', 'daily'],
    ['PROVIDER_A_PUBLISHABLE_KEY', 'sk_test_1'],
    ['ID_SECRET', 'x'.repeat(31)],
  ])('report %s=%s as the only mistake, in one line', (name, value) => {
    const found = mistakes({ [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  });

  test('report all mistakes together, one line each', () => {
    const env = { STAGE: 'x', RATE_LIMITS: 'x', PROVIDER_A: 'x', PROVIDER_C_BASE_URL: 'x', PROVIDER_TIMEOUT_MS: 'x' };
    const found = mistakes(env);
    expect(found.map((line) => line.split(':')[0]).toSorted()).toEqual(Object.keys(env).toSorted());
    expect(new SettingsError(found).message.split('\n')).toEqual([...found]);
  });

  test('never repeat a value, because it could be a secret in the wrong place', () => {
    const secret = 'sk_live_canary';
    const env = { STAGE: secret, PUBLIC_BASE_URL: secret, PROVIDER_A: secret, PROVIDER_TIMEOUT_MS: secret };
    expect(mistakes(env).join('\n')).not.toContain(secret);
  });

  test('refuse production without rate limits', () => {
    expect(mistakes({ STAGE: 'prod', RATE_LIMITS: 'off' })).toEqual(['RATE_LIMITS: must be on in prod']);
    expect(mistakes({ STAGE: 'prod' })).toEqual([]);
    expect(parseSettings({ STAGE: 'staging', RATE_LIMITS: 'off' }).RATE_LIMITS).toBe(false);
  });

  test.each([
    ['local', { RATE_LIMITS: false, ALLOW_RAW_CARDS: true }],
    ['dev', { RATE_LIMITS: true, ALLOW_RAW_CARDS: false }],
    ['staging', { RATE_LIMITS: true, ALLOW_RAW_CARDS: false }],
    ['prod', { RATE_LIMITS: true, ALLOW_RAW_CARDS: false }],
  ])('limit requests and refuse raw cards by default, except in the stage local (%s)', (STAGE, expected) => {
    expect(parseSettings({ STAGE })).toMatchObject(expected);
    expect(parseSettings({ STAGE, RATE_LIMITS: '', ALLOW_RAW_CARDS: '' })).toMatchObject(expected);
  });

  test('limit requests and refuse raw cards in the stage local if configured', () => {
    const settings = parseSettings({ STAGE: 'local', RATE_LIMITS: 'on', ALLOW_RAW_CARDS: 'false' });
    expect(settings).toMatchObject({ RATE_LIMITS: true, ALLOW_RAW_CARDS: false });
  });

  test('limit requests and refuse raw cards without a stage', () => {
    expect(parseSettings({})).toMatchObject({ RATE_LIMITS: true, ALLOW_RAW_CARDS: false });
  });

  const TOKENS = { IDENTITY_ISSUER: 'https://id.example', IDENTITY_AUDIENCE: 'payments' };
  const FOR_TESTS_ONLY: Environment = {
    PUBLIC_BASE_URL: 'http://api.example',
    IDENTITY_URL: 'http://id.example',
    IDENTITY_JWKS_URI: 'http://id.example/jwks',
    PROVIDER_A_BASE_URL: 'http://127.0.0.1:1/stripe',
    PROVIDER_D_BASE_URL: 'HTTP://braintree.example',
    GUEST_TOKEN_SECRET: `${'x'.repeat(32)},${'x'.repeat(31)}`,
    RATE_LIMITS: 'off',
    EXTERNAL_WEBHOOK_ALLOW_PRIVATE: 'true',
  };

  test.each(Object.entries(FOR_TESTS_ONLY))('refuse production with %s=%s', (name, value) => {
    const found = mistakes({ ...TOKENS, STAGE: 'prod', [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}: must [^\\n]+ in prod$`));
    expect(mistakes({ STAGE: 'staging', [name]: value })).toEqual([]);
  });

  test('report everything that production refuses, together with any other mistake', () => {
    const found = mistakes({ ...FOR_TESTS_ONLY, ...TOKENS, STAGE: 'prod', GUEST_EMAIL_LIST: 'all' });
    expect(found.map((line) => line.split(':')[0]).toSorted()).toEqual(
      [...Object.keys(FOR_TESTS_ONLY), 'GUEST_EMAIL_LIST'].toSorted(),
    );
    expect(found.join()).not.toContain('xxx');
  });

  test('refuse production with bearer tokens of any issuer or for any audience', () => {
    const tokens = { STAGE: 'prod', IDENTITY_JWKS_URI: 'https://id.example/jwks' };
    expect(mistakes(tokens)).toEqual([
      'IDENTITY_ISSUER: must be set in prod with IDENTITY_JWKS_URI',
      'IDENTITY_AUDIENCE: must be set in prod with IDENTITY_JWKS_URI',
    ]);
    expect(mistakes({ ...tokens, IDENTITY_ISSUER: 'https://id.example', IDENTITY_AUDIENCE: 'payments' })).toEqual([]);
    expect(mistakes({ ...tokens, STAGE: 'staging' })).toEqual([]);
  });

  test('allow production with https and a guest secret of 32 characters', () => {
    const good = { STAGE: 'prod', IDENTITY_URL: 'https://id.example', GUEST_TOKEN_SECRET: 'x'.repeat(32) };
    expect(mistakes(good)).toEqual([]);
  });

  test('refuse an identity service together with IDENTITY_LOOKUP=off, and allow production without either', () => {
    expect(mistakes({ IDENTITY_LOOKUP: 'off', IDENTITY_URL: 'https://id.example' })).toEqual([
      'IDENTITY_LOOKUP: off requires an empty IDENTITY_URL',
    ]);
    expect(mistakes({ STAGE: 'prod', IDENTITY_LOOKUP: 'off' })).toEqual([]);
  });

  test('split lists at commas', () => {
    expect(parseSettings({ GUEST_TOKEN_SECRET: ' new , old,, ', ADMIN_USER_IDS: 'user_1' })).toMatchObject({
      GUEST_TOKEN_SECRET: ['new', 'old'],
      ADMIN_USER_IDS: ['user_1'],
    });
  });

  test('give each slot its own adapter and secrets', () => {
    const { slots } = parseSettings({
      PROVIDER_A: 'stripe',
      PROVIDER_A_API_KEY: ' sk_a ',
      PROVIDER_C: 'stripe',
      PROVIDER_C_API_KEY: 'sk_c',
      PROVIDER_C_BASE_URL: 'http://127.0.0.1:1/stripe',
    });
    expect([slots.provider_a.API_KEY, slots.provider_b.API_KEY, slots.provider_c.API_KEY]).toEqual([
      'sk_a',
      '',
      'sk_c',
    ]);
    expect([slots.provider_a.BASE_URL, slots.provider_c.BASE_URL]).toEqual(['', 'http://127.0.0.1:1/stripe']);
  });

  test('map the name of each queue to its URL', () => {
    const env = {
      QUEUE_URL_RUN_DUE: 'https://sqs/run',
      QUEUE_URL_APPLY_PROVIDER_EVENT: 'https://sqs/apply',
      QUEUE_URL_NONE: '',
    };
    expect(parseSettings(env).queueUrls).toEqual({
      'run-due': 'https://sqs/run',
      'apply-provider-event': 'https://sqs/apply',
    });
  });
});

describe('the statement descriptor', () => {
  const slots = { PROVIDER_A: 'stripe', PROVIDER_B: 'paypal', PROVIDER_C: 'square', PROVIDER_D: 'braintree' };

  test('is the slot’s text, else the shared text', () => {
    const { slots: parsed } = parseSettings({
      ...slots,
      STATEMENT_DESCRIPTOR: 'Gold Club',
      PROVIDER_C_STATEMENT_DESCRIPTOR: 'Gold',
    });
    expect(PROVIDER_SLOTS.map((slot) => parsed[slot].STATEMENT_DESCRIPTOR)).toEqual([
      'Gold Club',
      'Gold Club',
      'Gold',
      'Gold Club',
    ]);
    expect(parseSettings({}).slots.provider_a.STATEMENT_DESCRIPTOR).toBe('');
  });

  test.each([
    ['PROVIDER_A', 'Club', /5 to 22/],
    ['PROVIDER_A', 'x'.repeat(23), /at most 22/],
    ['PROVIDER_A', '12345', /a letter/],
    ['PROVIDER_A', 'Gold*Club', /none of/],
    ['PROVIDER_A', "Gold's", /none of/],
    ['PROVIDER_A', 'Gold \\ Club', /none of/],
    ['PROVIDER_A', 'Café Gold', /ASCII/],
    ['PROVIDER_B', 'Gold & Club', /letters, digits/],
    ['PROVIDER_C', 'x'.repeat(21), /1 to 20/],
    ['PROVIDER_C', 'Gold™', /ASCII/],
  ])('is refused at startup for %s: %s', (slot, text, problem) => {
    const name = `${slot}_STATEMENT_DESCRIPTOR`;
    const own = mistakes({ ...slots, [name]: text });
    expect(own).toHaveLength(1);
    expect(own[0]).toMatch(new RegExp(`^${name}: `));
    expect(own[0]).toMatch(problem);
  });

  test('names its slot’s setting if the provider refuses it', () => {
    expect(mistakes({ ...slots, STATEMENT_DESCRIPTOR: 'Gold Club of Our City' })).toEqual([
      'STATEMENT_DESCRIPTOR: Square requires 1 to 20 characters; or set PROVIDER_C_STATEMENT_DESCRIPTOR',
    ]);
    const own = { PROVIDER_C_STATEMENT_DESCRIPTOR: 'Gold Club' };
    expect(mistakes({ ...slots, STATEMENT_DESCRIPTOR: 'Gold Club of Our City', ...own })).toEqual([]);
  });

  test.each(['Gold*Club', "Gold's", '12'])('can be %s at a slot whose provider accepts it', (text) => {
    expect(mistakes({ PROVIDER_C: 'square', STATEMENT_DESCRIPTOR: text })).toEqual([]);
  });
});
