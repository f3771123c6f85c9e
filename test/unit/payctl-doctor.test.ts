import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { runDoctor } from '../../infra/payctl/commands/doctor.ts';
import type { Installation } from '../../infra/payctl/installation/installation.ts';
import { parseSettings, SettingsError } from '../../shared/core/settings.ts';
import type { ParsedJson } from '../flow/routes.ts';

const dynamodb = mockClient(DynamoDBClient);
beforeEach(() => {
  dynamodb.reset();
  dynamodb.rejects(new Error('not today'));
});

/** A stage without resources. Every call of DynamoDB fails. */
const stage = {
  name: 'dev',
  isLocal: false,
  settings: parseSettings({}),
  dynamodb: new DynamoDBClient({}),
  queueUrls: [],
  datesSeen: [],
  deps: { providers: { find: async () => undefined } },
  receivers: { find: async () => undefined },
  closed: undefined,
  outbound: async () => ({ targets: ['WEBHOOK_1', 'WEBHOOK_7'], closed: undefined, switchesOff: [] }),
  whyNoGuestTokens: async () => undefined,
  alarmSubscriptions: async () => ({ confirmed: 1, pending: 0 }),
};
const checksOf = async (more: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, string>>> => {
  const { json } = await runDoctor({ ...stage, ...more } as unknown as Installation);
  const { checks } = json as ParsedJson;
  return Object.fromEntries(checks.map(({ check, state, detail }: ParsedJson) => [check, `${state}: ${detail}`]));
};

const OUR_URL = 'https://pay.example.com/webhooks/provider_a';
const endpointOf = (version: string | undefined) => ({ url: OUR_URL, isEnabled: true, version });

describe('the doctor command for a stage', () => {
  test('reports open features, and features closed by missing settings or secrets', async () => {
    expect(await checksOf({})).toMatchObject({
      table: 'fail: Error: not today',
      provider_a: 'closed: provider_a is closed: it is bound to no provider',
      'bearer tokens': 'closed: bearer tokens are closed: IDENTITY_JWKS_URI names no keys',
      'guest tokens': 'ok: a signing secret is set',
      'outbound webhooks': 'ok: events are sent to WEBHOOK_1, WEBHOOK_7',
      alarms: 'ok: 1 subscriptions confirmed',
    });
  });

  test('names the variables that disable a configured webhook URL', async () => {
    const outbound = async () => ({ targets: ['WEBHOOK_1'], closed: undefined, switchesOff: ['WEBHOOK_6_ENABLED'] });
    expect(await checksOf({ outbound })).toMatchObject({
      'outbound webhooks':
        'ok: events are sent to WEBHOOK_1; nothing is sent to other URLs, because WEBHOOK_6_ENABLED is not true',
    });
  });

  test('reports every mistake of the webhooks’ secret in one line', async () => {
    const outbound = () => Promise.reject(new SettingsError(['WEBHOOK_1_URL: one', 'WEBHOOK_2_URL: two']));
    expect(await checksOf({ outbound })).toMatchObject({
      'outbound webhooks': 'fail: SettingsError: WEBHOOK_1_URL: one WEBHOOK_2_URL: two',
    });
  });

  test.each([
    [{ kind: 'done', value: 'EUR' }, /^ok: square responds in \d+ ms and accepts our keys; accepts only EUR$/],
    [
      { kind: 'refused', reason: 'unsupported currency NZD' },
      /^fail: the currency of its location cannot be read: unsupported currency NZD$/,
    ],
    [{ kind: 'unknown', reason: 'timeout' }, /^fail: the currency of its location cannot be read: timeout$/],
  ])('reports the currency of a provider’s only location: %j', async (currency, provider_c) => {
    const square = {
      can: { payments: true },
      findPayment: async () => ({ kind: 'refused', reason: 'NOT_FOUND' }),
      onlyCurrency: async () => currency,
    };
    const slots = parseSettings({}).slots;
    const settings = {
      ...parseSettings({}),
      slots: { ...slots, provider_c: { ...slots.provider_c, ADAPTER: 'square' } },
    };
    const deps = { providers: { find: async (slot: string) => (slot === 'provider_c' ? square : undefined) } };
    expect(await checksOf({ settings, deps, closed: [] })).toMatchObject({
      provider_c: expect.stringMatching(provider_c),
    });
  });

  test.each([
    [
      {
        kind: 'done',
        value: [endpointOf('2026-10-28.endive'), { ...endpointOf('2020-08-27'), url: 'https://other.example' }],
      },
      'ok: are sent in version 2026-10-28.endive',
    ],
    [
      { kind: 'done', value: [endpointOf('2024-11-20.acacia'), endpointOf(undefined)] },
      'fail: are sent in another version than 2026-10-28.endive; register the endpoint with it: ' +
        `${OUR_URL} has 2024-11-20.acacia, ${OUR_URL} has the default of the account`,
    ],
    [
      { kind: 'done', value: [{ ...endpointOf('2020-08-27'), isEnabled: false }] },
      'closed: no enabled webhook endpoint ends in /webhooks/provider_a',
    ],
    [{ kind: 'refused', reason: 'HTTP_403' }, 'closed: the webhook endpoints cannot be read: HTTP_403'],
  ])('reports the API version of Stripe’s events: %j', async (listed, expected) => {
    const stripe = {
      can: { payments: true },
      findPayment: async () => ({ kind: 'refused', reason: 'NOT_FOUND' }),
      eventVersions: { pinned: '2026-10-28.endive', endpoints: async () => listed },
    };
    const deps = { providers: { find: async (slot: string) => (slot === 'provider_a' ? stripe : undefined) } };
    expect(await checksOf({ deps, closed: [] })).toMatchObject({ 'provider_a events': expected });
  });

  test.each([
    [{ confirmed: 1, pending: 1 }, 'fail: 1 subscriptions are not confirmed'],
    [{ confirmed: 0, pending: 0 }, 'closed: alarms have no recipient: their topic has no subscription'],
  ])('reports whether alarms have subscribers (%o)', async (hasSubscribers, alarms) => {
    expect(await checksOf({ alarmSubscriptions: async () => hasSubscribers })).toMatchObject({ alarms });
  });
});
