import { beforeEach, describe, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../shared/core/time.ts';
import { intentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, itemsOf, signIn } from './flow.ts';
import { from, type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { asMerchant, createKey, forOrganization, forUser, newAdmin, type TestKey } from './keys.ts';
import { company } from './payers.ts';

/** Card testing behind a service key. Declines are limited per key, and per network of the key's payers. */
const lines: string[] = [];
const env = { RATE_LIMITS: 'on', LOG_LEVEL: 'WARN', KEY_DECLINES_PER_HOUR: '30' };
const service = withHost({ frozen: true, env });

const DECLINED_SAVE = { provider_payment_method_token: 'pm_card_visa_chargeDeclined' };
let guests = 0;
const saveAsGuest = (options: RequestOptions, fields: object = DECLINED_SAVE, host = service) => {
  guests += 1;
  const guest_data = { email: `guest.${guests}@example.com`, name: 'Guest' };
  return host.post('/payment-methods', methodBody({ guest_data, ...fields }), options);
};
const payingFrom = (key: TestKey, address: string, options: RequestOptions = asMerchant(key)): RequestOptions => ({
  ...options,
  headers: { ...options.headers, 'x-payer-address': address },
});
const newKey = async (): Promise<TestKey> => createKey(service, await newAdmin(service));

const statusesOf = async (count: number, ask: () => Promise<TestAnswer>): Promise<Record<string, number>> => {
  const statuses: Record<string, number> = {};
  for (let at = 0; at < count; at += 1) {
    const { status } = await ask();
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
};

/** The alarm `key-declines` counts these lines. */
const alarms = (): number => lines.filter((line) => line.includes('key declines limited')).length;

describe('declines behind a service key', () => {
  /** Moves the clock until every window is empty. */
  beforeEach(async () => {
    await service.moveTo(new Date(Math.ceil((service.now() + HOUR_MS) / HOUR_MS) * HOUR_MS).toISOString());
    lines.length = 0;
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((chunk) => {
        lines.push(String(chunk));
        return true;
      });
    }
  });

  test('stop at the hourly limit across guests, with an alarm, and continue as the window slides', async () => {
    const [key, other] = [await newKey(), await newKey()];
    expect(await statusesOf(40, () => saveAsGuest(asMerchant(key)))).toEqual({ 402: 30, 429: 10 });
    expect(alarms()).toBe(10);
    expect(lines.find((line) => line.includes('key declines limited'))).toContain(key.id);
    const refused = await saveAsGuest(asMerchant(key), {});
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers.get('retry-after'))).toBe(HOUR_SECONDS + HOUR_SECONDS / 30);
    expect(await saveAsGuest(asMerchant(other), {})).toMatchObject({ status: 201 });
    await service.advance(HOUR_SECONDS + HOUR_SECONDS / 2);
    expect(await statusesOf(18, () => saveAsGuest(asMerchant(key)))).toEqual({ 402: 15, 429: 3 });
  });

  test('share one window for guests and organizations, and have a separate window per user', async () => {
    const [key, acme] = [await newKey(), await company(service)];
    const user = await signIn(service);
    const pay = async (options: RequestOptions) => {
      const { body } = await service.post('/payments/intents', intentBody(), options);
      return confirm(service, body.id, { ...options, body: { payment_method_id: 'pm_card_visa_chargeDeclined' } });
    };
    const payOften = async (options: RequestOptions, count: number) => {
      // Stays below the limit of confirms per minute.
      await service.advance(2 * MINUTE_SECONDS);
      return statusesOf(count, () => pay(options));
    };
    for (const count of [12, 10]) expect(await payOften(forOrganization(key, acme.id), count)).toEqual({ 402: count });
    expect(await statusesOf(9, () => saveAsGuest(asMerchant(key)))).toEqual({ 402: 8, 429: 1 });
    expect(await pay(forOrganization(key, acme.id))).toMatchObject({ status: 429 });
    expect(await payOften(forUser(key, user), 12)).toEqual({ 402: 12 });
    expect(await payOften(forUser(key, user), 10)).toEqual({ 402: 8, 429: 2 });
  });

  test('count only per payer network if the key names the network', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const declined = (address: string, of = key) => saveAsGuest(payingFrom(of, address));
    expect(await statusesOf(12, () => declined('203.0.113.7'))).toEqual({ 402: 10, 429: 2 });
    expect(alarms()).toBe(0);
    expect((await declined('203.0.113.7', other)).status).toBe(402);
    expect((await declined('::ffff:203.0.113.7')).status).toBe(429);
    let host = 0;
    const sameNetwork = () => {
      host += 1;
      return declined(`2001:db8:0:1::${host.toString(16)}`);
    };
    expect(await statusesOf(12, sameNetwork)).toEqual({ 402: 10, 429: 2 });
    expect((await declined('2001:db8:0:2::1')).status).toBe(402);
    expect(await statusesOf(1, () => saveAsGuest(from('203.0.113.7')))).toEqual({ 402: 1 });
    for (let at = 0; at < 30; at += 1) expect((await declined(`198.51.100.${at}`)).status).toBe(402);
    expect((await saveAsGuest(asMerchant(key))).status).toBe(402);
  });
});

describe('X-Payer-Address', () => {
  test('is refused unless it is one IP address, and nothing is stored', async () => {
    const key = await newKey();
    const stored = (await itemsOf(service, 'PM#')).length;
    for (const address of [
      ...[
        '203.0.113',
        '203.0.113.0/24',
        '203.0.113.7, 203.0.113.8',
        '203.0.113.7:443',
        'localhost',
        '127.1',
        '0x7f.1.1.1',
      ],
      ...['2001:db8::/64', '[2001:db8::1]', 'fe80::1%eth0', '203.0.113.256', '1'.repeat(8_000)],
    ]) {
      expect(await saveAsGuest(payingFrom(key, address), {})).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [{ path: 'X-Payer-Address', rule: 'format' }] },
      });
    }
    expect(await itemsOf(service, 'PM#')).toHaveLength(stored);
  });

  test('counts as absent if empty', async () => {
    expect(await saveAsGuest(payingFrom(await newKey(), ' '), {})).toMatchObject({ status: 201 });
  });

  test('is refused from sessions and guests, and has no effect if a key acts for a user', async () => {
    const headers = { 'x-payer-address': '203.0.113.7' };
    const refused = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const get = (options: RequestOptions) => service.get(`/payments/${payment.id}`, options);
    expect(await get({ ...user.options, headers })).toMatchObject(refused);
    expect(await saveAsGuest({ headers }, {})).toMatchObject(refused);
    const guest = await saveAsGuest({}, {});
    expect(await get({ guestToken: guest.body.guest_token, headers })).toMatchObject(refused);
    const key = await newKey();
    expect(await get(payingFrom(key, '203.0.113.7', forUser(key, user)))).toMatchObject({ status: 200 });
    expect(await get(payingFrom(key, 'x', forUser(key, user)))).toMatchObject({ status: 400 });
  });
});

describe('the service with KEY_DECLINES_PER_HOUR=0', () => {
  const free = withHost({ frozen: true, env: { ...env, KEY_DECLINES_PER_HOUR: '0' } });

  test('limits the declines per network named by a key, but not per key', async () => {
    const key = await createKey(free, await newAdmin(free));
    const ask = (options: RequestOptions) => saveAsGuest(options, DECLINED_SAVE, free);
    expect(await statusesOf(32, () => ask(asMerchant(key)))).toEqual({ 402: 32 });
    expect(await statusesOf(11, () => ask(payingFrom(key, '203.0.113.7')))).toEqual({ 402: 10, 429: 1 });
  });
});
