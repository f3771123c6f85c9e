import { describe, expect, test } from 'vitest';
import { putCode } from './discounts.ts';
import { PATIENT, signIn } from './flow.ts';
import { from, withHost } from './host.ts';
import { asMerchant, createKey, forUser, newAdmin } from './keys.ts';

describe('checks of discount codes', () => {
  const service = withHost({ frozen: true, env: { ...PATIENT, RATE_LIMITS: 'on' } });
  const body = { subtotal_cents: 2_000, currency: 'USD' };
  const times = async (count: number, ask: () => Promise<{ status: number }>) => {
    const answers = [];
    for (let at = 0; at < count; at += 1) answers.push((await ask()).status);
    return answers;
  };

  test('are limited to 20 per minute per user, including creates refused for their code', async () => {
    await putCode(service, 'LIMITED');
    const user = await signIn(service);
    const check = () => service.post('/discounts/check', { ...body, code: 'LIMITED' }, user.options);
    const create = (code?: string) =>
      service.post('/payments/intents', { ...body, ...(code && { discount_code: code }) }, user.options);
    expect(await times(15, check)).toEqual(Array(15).fill(200));
    expect(await times(5, () => create('NO-SUCH'))).toEqual(Array(5).fill(400));
    expect(await check()).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(await create('LIMITED')).toMatchObject({ status: 429 });
    expect(await create()).toMatchObject({ status: 201 });
    const other = await signIn(service);
    expect(await service.post('/discounts/check', { ...body, code: 'LIMITED' }, other.options)).toMatchObject({
      status: 200,
    });
  });

  test('are limited to 20 per minute per network for guests', async () => {
    await putCode(service, 'GUESTS');
    const check = (email: string, ip = '203.0.113.9') =>
      service.post('/discounts/check', { ...body, code: 'GUESTS', guest_data: { email, name: 'G' } }, from(ip));
    let guests = 0;
    const next = () => {
      guests += 1;
      return check(`g${guests}@example.com`);
    };
    expect(await times(21, next)).toEqual([...Array(20).fill(200), 429]);
    expect(await check('g@example.com', '203.0.113.10')).toMatchObject({ status: 200 });
  });

  test('count for the payer if a service key makes them, and need payments:write', async () => {
    await putCode(service, 'KEYS');
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    const [one, other] = [await signIn(service), await signIn(service)];
    const checkFor = (user: typeof one) =>
      service.post('/discounts/check', { ...body, code: 'KEYS' }, forUser(key, user));
    expect(await times(21, () => checkFor(one))).toEqual([...Array(20).fill(200), 429]);
    expect(await checkFor(other)).toMatchObject({ status: 200 });
    const guest = { ...body, code: 'KEYS', guest_data: { email: 'k@example.com', name: 'K' } };
    expect(await times(25, () => service.post('/discounts/check', guest, asMerchant(key)))).toEqual(
      Array(25).fill(200),
    );
    expect(await service.post('/discounts/check', { ...body, code: 'KEYS' }, asMerchant(key))).toMatchObject({
      body: { code: 'ACTING_REQUIRED' },
    });
    const reader = await createKey(service, admin, { scopes: ['payments:read'] });
    expect(await service.post('/discounts/check', guest, asMerchant(reader))).toMatchObject({ status: 403 });
  });
});
