/**
 * @module Tests PayPal's webhooks and the verification call to PayPal: every outcome of the call, and the events that
 * are refused without a call.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { paypalSignatureHeaders } from '../../infra/simulator/paypal/wire/signing.ts';
import type { SignatureKind } from '../../infra/simulator/protocol/vendor.ts';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { openRig, type ProviderRig, SHORT_DEADLINE_MS } from './provider-rig.ts';
import { PAYPAL } from './provider-subjects.ts';

let rig: ProviderRig;
beforeEach(async () => {
  rig = await openRig(PAYPAL);
});
afterEach(() => rig.close());

const SERVICE = '/v1/notifications/verify-webhook-signature';
/** JSON in a format that JSON.stringify does not produce. */
const EVENT = `{"id":"WH-1", "event_type":"PAYMENT.CAPTURE.COMPLETED","create_time":"2030-01-01T00:00:00.000Z",
  "resource": {"id":"C1","amount":{"value":"25.00","currency_code":"USD"},"rate":1.0,"zero":1e0,"text":"a\\u00e9\\/b"}}`;

type Headers = Record<string, string>;

const signed = (raw = EVENT, kind: SignatureKind = 'valid', at = rig.clock.now()): Headers =>
  paypalSignatureHeaders({ raw, slot: { adapter: 'paypal', webhookUrl: '', ...PAYPAL.credentials }, at, kind });

const verify = (headers: Headers, raw: string | Buffer = EVENT, by = rig.receiver) =>
  by?.verifyWebhook({ raw: Buffer.from(raw), headers, now: rig.clock.now() });

const asked = (): number => rig.exchanges.filter(({ path }) => path.endsWith(SERVICE)).length;

describe('a signed PayPal event', () => {
  test('is verified with its raw bytes in the call to PayPal', async () => {
    expect(await verify(signed())).toBe('valid');
    const [{ sent = '' } = {}] = rig.exchanges.filter(({ path }) => path.endsWith(SERVICE));
    expect(sent.endsWith(`,"webhook_event":${EVENT}}`)).toBe(true);
    expect(JSON.parse(sent)).toMatchObject({ webhook_id: 'LOCALWEBHOOK', auth_algo: 'SHA256withRSA' });
  });

  test('is invalid after its body was serialized again', async () => {
    expect(await verify(signed(), JSON.stringify(JSON.parse(EVENT)))).toBe('invalid');
  });

  test('is verified by one call, even if it arrives again', async () => {
    const headers = signed();
    for (const _ of [1, 2, 3]) expect(await verify(headers)).toBe('valid');
    expect(asked()).toBe(1);
  });

  test('does not validate another event with the same transmission id', async () => {
    const headers = signed();
    await verify(headers);
    expect(await verify(headers, EVENT.replace('25.00', '99.00'))).toBe('invalid');
    expect(await verify({ ...signed(), 'paypal-transmission-id': headers['paypal-transmission-id'] ?? '' })).toBe(
      'invalid',
    );
    expect(await verify(headers)).toBe('valid');
  });

  test.each([
    ['for another webhook', 'invalid'],
    ['not at all', 'missing'],
  ] as const)('is invalid if it is signed %s', async (_, kind) => {
    expect(await verify(signed(EVENT, kind))).toBe('invalid');
  });

  test.each([
    ['ten minutes ago', -10 * MINUTE_MS, 'valid'],
    ['three days ago, when PayPal gives up its retries', -3 * DAY_MS, 'valid'],
    ['an hour ahead of our clock', 60 * MINUTE_MS, 'valid'],
    ['30 days ago, while we still store its id', -30 * DAY_MS, 'valid'],
    ['longer ago than we store its id', -30 * DAY_MS - 1_000, 'invalid'],
  ] as const)('that was first sent %s (%d ms) is %s', async (_, offset, verdict) => {
    expect(await verify(signed(EVENT, 'valid', rig.clock.now() + offset))).toBe(verdict);
  });
});

describe('a forged PayPal event', () => {
  const BASE_URL = 'https://proxy.example:8443/paypal';

  test.each([
    'http://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://paypal.com.evil.example/cert',
    'https://evilpaypal.com/cert',
    'https://api.paypal.com:8443/cert',
    'https://api.paypal.com@evil.example/cert',
    'https://user@api.paypal.com/cert',
    'https://paypal.com/cert',
    'ftp://api.paypal.com/cert',
    'file:///etc/passwd',
    'cert',
    '',
  ])('is rejected for a certificate at %j', async (url) => {
    expect(await verify({ ...signed(), 'paypal-cert-url': url })).toBe('invalid');
    expect(asked()).toBe(0);
  });

  test('is rejected for a certificate on another host, unless the operator has overridden the base URL', async () => {
    const elsewhere = { ...signed(), 'paypal-cert-url': 'https://proxy.example:8443/certs/1' };
    expect(await verify(elsewhere)).toBe('invalid');
    expect(asked()).toBe(0);
    const bound = rig.reopenReceiver({ ...PAYPAL.settings, BASE_URL });
    // No server listens at this base URL. The verdict `unavailable` shows that the adapter made the call.
    expect(bound && (await verify(elsewhere, EVENT, bound))).toBe('unavailable');
    expect(bound && (await verify({ ...elsewhere, 'paypal-cert-url': 'https://proxy.example/c' }, EVENT, bound))).toBe(
      'invalid',
    );
  });

  test.each([
    ['a body that is not JSON', 'x'],
    ['an empty body', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['two values', '{}{}'],
    ['an object followed by other fields of the call', '{},"webhook_id":"OTHERWEBHOOK","x":{}'],
    ['one closing brace too many', '{}},{'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('is rejected for %s', async (_, raw) => {
    expect(await verify(signed(String(raw)), raw)).toBe('invalid');
    expect(asked()).toBe(0);
  });

  test.each([
    ['paypal-auth-algo', 'SHA1withRSA'],
    ['paypal-transmission-id', 'a b'],
    ['paypal-transmission-id', ''],
    ['paypal-transmission-sig', 'not base64!'],
    ['paypal-transmission-time', 'yesterday'],
  ])('is rejected for %s: %s', async (header, value) => {
    expect(await verify({ ...signed(), [header]: value })).toBe('invalid');
    expect(asked()).toBe(0);
  });

  test('finds no receiver if the webhook id is not configured', () => {
    expect(rig.reopenReceiver({ ...PAYPAL.settings, WEBHOOK_ID: '' })).toBeUndefined();
  });
});

describe('the PayPal verification service', () => {
  // The adapter retries a call once, immediately, if PayPal certainly did not execute it. So it needs two rate limits
  // to fail.
  test.each([
    ['error_500', 1],
    ['rate_limit', 2],
    ['reset', 1],
    ['malformed', 1],
  ])('gives no result after %s, and is called again', async (action, times) => {
    const headers = signed();
    await rig.control('POST', '/faults', { action, path: SERVICE, times });
    expect(await verify(headers)).toBe('unavailable');
    expect(await verify(headers)).toBe('valid');
  });

  test('gives no result if it does not respond in time', async () => {
    await rig.control('POST', '/faults', { action: 'timeout_before', path: SERVICE, times: 1 });
    expect(await verify(signed(), EVENT, rig.reopenReceiver(PAYPAL.settings, SHORT_DEADLINE_MS))).toBe('unavailable');
  });

  test('gives no result if it refuses our credentials', async () => {
    await rig.control('POST', '/faults', { action: 'error_500', path: '/oauth2/token', times: 1 });
    expect(await verify(signed())).toBe('unavailable');
    const stranger = rig.reopenReceiver({ ...PAYPAL.settings, CLIENT_SECRET: 'wrong' });
    expect(stranger && (await verify(signed(), EVENT, stranger))).toBe('unavailable');
  });
});

describe('the verification of altered events', () => {
  const MUTATIONS = 4_000;
  const HEADERS = [
    'paypal-auth-algo',
    'paypal-cert-url',
    'paypal-transmission-id',
    'paypal-transmission-sig',
    'paypal-transmission-time',
  ] as const;

  const changedText = (text: string): fc.Arbitrary<string> =>
    fc
      .record({
        at: fc.nat(text.length),
        by: fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom(' ', '0', 'a', '=', '}', '"', '\\u0000', '\n')),
        drop: fc.nat(2),
      })
      .map(({ at, by, drop }) => text.slice(0, at) + by + text.slice(at + drop))
      .filter((changed) => changed !== text);

  test('fails for thousands of changes to body and headers', async () => {
    const headers = signed();
    expect(await verify(headers)).toBe('valid');
    const change = fc.oneof(
      changedText(EVENT).map((raw) => ({ raw, headers })),
      fc
        .constantFrom(...HEADERS)
        .chain((name) =>
          changedText(headers[name] ?? '').map((value) => ({ raw: EVENT, headers: { ...headers, [name]: value } })),
        ),
      fc.constantFrom(...HEADERS).map((name) => {
        const { [name]: _, ...rest } = headers;
        return { raw: EVENT, headers: rest };
      }),
    );
    const accepted: unknown[] = [];
    for (const mutated of fc.sample(change, { numRuns: MUTATIONS, seed: 7 })) {
      if ((await verify(mutated.headers, mutated.raw)) !== 'invalid') accepted.push(mutated);
    }
    expect(accepted).toEqual([]);
    // Enough events passed the checks before the call, so the call was tested, too.
    expect(asked()).toBeGreaterThan(MUTATIONS / 5);
  }, 60_000);
});
