import { describe, expect, test } from 'vitest';
import { parseSettings, type SlotSettings } from '../../shared/core/settings.ts';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import type { PayPalExchange } from '../../shared/providers/paypal/outcome.ts';
import { openPayPalReceiver } from '../../shared/providers/paypal/paypal.ts';
import { webhookVerifier } from '../../shared/providers/paypal/verify.ts';
import { logLines } from '../builders/log-lines.ts';
import { NOON } from '../builders/payment.ts';

const VALID = { kind: 'done', value: { verification_status: 'SUCCESS' } } as const;
const HEADERS = {
  'paypal-auth-algo': 'SHA256withRSA',
  'paypal-cert-url': 'https://api.paypal.com/cert',
  'paypal-transmission-id': 'id-1',
  'paypal-transmission-sig': 'YWI=',
  'paypal-transmission-time': iso(NOON),
};

/** A verifier whose calls to PayPal get this response. */
const service = (answer: unknown = VALID, baseUrl = '', webhookId = 'W1') => {
  const calls: Parameters<PayPalExchange>[0][] = [];
  const exchange = (async (call: Parameters<PayPalExchange>[0]) => {
    calls.push(call);
    return answer;
  }) as unknown as PayPalExchange;
  const verifier = webhookVerifier({ exchange, webhookId, baseUrl });
  const verify = (
    headers: Readonly<Record<string, string>> = {},
    body: string | Buffer = '{"id":"WH-1"}',
    now = NOON,
  ) => verifier({ raw: Buffer.from(body), headers: { ...HEADERS, ...headers }, now });
  return { calls, verify };
};

describe("PayPal's verification", () => {
  test('is called with the headers of the event and its original bytes', async () => {
    const { calls, verify } = service();
    expect(await verify()).toBe('valid');
    expect(calls).toMatchObject([
      {
        ...{ method: 'POST', path: '/v1/notifications/verify-webhook-signature' },
        headers: { 'content-type': 'application/json' },
        body:
          '{"auth_algo":"SHA256withRSA","cert_url":"https://api.paypal.com/cert","transmission_id":"id-1",' +
          `"transmission_sig":"YWI=","transmission_time":"${iso(NOON)}","webhook_id":"W1",` +
          '"webhook_event":{"id":"WH-1"}}',
      },
    ]);
  });

  test.each([
    ['a success', VALID, 'valid'],
    ['a failure', { kind: 'done', value: { verification_status: 'FAILURE' } }, 'invalid'],
    ['a request that PayPal cannot read', { kind: 'answered no', status: 400 }, 'invalid'],
    ['a request that PayPal cannot process', { kind: 'answered no', status: 422 }, 'invalid'],
    ['any other refusal', { kind: 'answered no', status: 401 }, 'unavailable'],
    ['no response', { kind: 'unknown', reason: 'timeout', status: 400 }, 'unavailable'],
  ])('decides by the response: %s', async (_, answer, verdict) => {
    expect(await service(answer).verify()).toBe(verdict);
  });

  test('is cached for the last thousand events', async () => {
    const { calls, verify } = service();
    for (let count = 0; count < 1_000; count += 1) await verify({ 'paypal-transmission-id': `id-${count}` });
    await verify({ 'paypal-transmission-id': 'id-0' });
    expect(calls).toHaveLength(1_000);
    await verify({ 'paypal-transmission-id': 'id-1000' });
    await verify({ 'paypal-transmission-id': 'id-1' });
    expect(calls).toHaveLength(1_001);
    await verify({ 'paypal-transmission-id': 'id-0' });
    expect(calls).toHaveLength(1_002);
  });

  test('is called again after an outage', async () => {
    const { calls, verify } = service({ kind: 'answered no', status: 500 });
    await verify();
    await verify();
    expect(calls).toHaveLength(2);
  });

  test.each([
    ['a signature that is not the canonical text of its bytes', { 'paypal-transmission-sig': 'YWJ=' }],
    ['an empty signature', { 'paypal-transmission-sig': '' }],
    ['a certificate URL with a space', { 'paypal-cert-url': 'https://api.paypal.com/ce rt' }],
    ['a certificate URL without https', { 'paypal-cert-url': 'http://api.paypal.com/cert' }],
    ['a certificate URL with a user name', { 'paypal-cert-url': 'https://user@api.paypal.com/cert' }],
    ['a certificate URL with another port', { 'paypal-cert-url': 'https://api.paypal.com:8443/cert' }],
    ['an id with a space at its end', { 'paypal-transmission-id': 'id-1 ' }],
    ['an id with a space at its start', { 'paypal-transmission-id': ' id-1' }],
    ['a certificate URL of another host', { 'paypal-cert-url': 'https://api.example.com/cert' }],
    ['a time without a day', { 'paypal-transmission-time': '12:00:00Z' }],
  ])('is not called for %s', async (_, headers) => {
    const { calls, verify } = service();
    expect(await verify(headers)).toBe('invalid');
    expect(calls).toEqual([]);
  });

  test.each(['[1]', '{', '"{}"', ' {}', '{} '])(
    'is not called for a body that is not exactly one object: %j',
    async (text) => {
      const { calls, verify } = service();
      expect(await verify({}, text)).toBe('invalid');
      expect(calls).toEqual([]);
    },
  );

  test.each([Buffer.from('null'), Buffer.from('x'), Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])])(
    'is not called for bytes that are not a JSON object in valid UTF-8: %j',
    async (raw) => {
      const { calls, verify } = service();
      expect(await verify({}, raw)).toBe('invalid');
      expect(calls).toEqual([]);
    },
  );

  test('requires the webhook id and the API keys, and the route is closed without them', () => {
    const named = { ADAPTER: 'paypal', CLIENT_ID: 'id', CLIENT_SECRET: 'secret', WEBHOOK_ID: 'W1' } as const;
    const opened = (missing: Partial<SlotSettings>) =>
      openPayPalReceiver({
        slot: 'provider_b',
        settings: { ...parseSettings({}).slots.provider_b, ...named, ...missing },
        timeoutMs: 1_000,
        fetch: () => Promise.reject(new Error('no call')),
        log: logLines().log,
      });
    expect(opened({})).toBeDefined();
    for (const name of ['CLIENT_ID', 'CLIENT_SECRET', 'WEBHOOK_ID']) expect(opened({ [name]: '' })).toBeUndefined();
  });

  test('accepts a time with an offset, and an event that is up to thirty days old', async () => {
    const { verify } = service();
    expect(await verify({ 'paypal-transmission-time': '2026-03-10T14:00:00+02:00' })).toBe('valid');
    expect(await verify({}, '{}', NOON + 30 * DAY_MS)).toBe('valid');
    expect(await verify({}, '{}', NOON + 30 * DAY_MS + 1)).toBe('invalid');
  });

  test('trusts certificates of the configured base URL and of PayPal, and of no other host', async () => {
    const { verify } = service(VALID, 'https://proxy.example:8443/paypal');
    expect(await verify({ 'paypal-cert-url': 'https://proxy.example:8443/cert' })).toBe('valid');
    expect(await verify({ 'paypal-cert-url': 'https://proxy.example/cert', 'paypal-transmission-id': 'x' })).toBe(
      'invalid',
    );
    expect(await verify({ 'paypal-transmission-id': 'y' })).toBe('valid');
  });
});
