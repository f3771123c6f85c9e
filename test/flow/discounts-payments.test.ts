import { describe, expect, test } from 'vitest';
import { DECLINED, guestIntentBody, intentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { productBody } from '../builders/reference.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { codeCounts, heldOf, putCode, signInForYears, usesOf } from './discounts.ts';
import { confirm, createIntent, eventsOf, itemsOf, read, signIn } from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true, env: { PLACE_HOLD_MINUTES: '30' } });

const create = (body: unknown, options: Parameters<typeof service.post>[2]) =>
  service.post('/payments/intents', body, options);
const priced = (fields: Readonly<Record<string, unknown>>) => ({ subtotal_cents: 2_000, currency: 'USD', ...fields });
const refusalOf = (reason: string) => ({ status: 400, body: { code: 'DISCOUNT_INVALID', details: { reason } } });

describe('a code', () => {
  test('is stored in upper case, matches in any case, and refuses invalid fields', async () => {
    expect(await putCode(service, 'spring-25', { max_redemptions: 3 })).toMatchObject({
      ...{ id: 'SPRING-25', percent_bp: 2_500, duration: 'once', reserved: 0, redeemed: 0 },
    });
    const admin = await signInForYears(service, { is_admin: true });
    const read = await service.get('/admin/discounts/Spring-25', admin.options);
    expect(read).toMatchObject({ status: 200, body: { data: { id: 'SPRING-25' } } });
    const sentBack = await service.put('/admin/discounts/spring-25', read.body.data, admin.options);
    expect(sentBack.body.data).toEqual(read.body.data);
    const bad = { name: 'x', percent_bp: 0, amounts: {}, duration: 'repeating', ends_at: 'soon', limit: 1 };
    const refused = await service.put('/admin/discounts/a!', bad, admin.options);
    expect(refused.status).toBe(400);
    const paths = refused.body.details.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['id', 'limit', 'percent_bp', 'ends_at']));
  });

  test('is written only with catalog:write', async () => {
    const support = await signIn(service, { staff_role: 'support' });
    const body = { name: 'x', percent_bp: 100 };
    expect(await service.put('/admin/discounts/MINE', body, support.options)).toMatchObject({ status: 403 });
    const operations = await signIn(service, { staff_role: 'operations' });
    expect(await service.put('/admin/discounts/MINE', body, operations.options)).toMatchObject({ status: 200 });
  });

  test('keeps no counts without max_redemptions', async () => {
    expect(await putCode(service, 'UNCOUNTED')).toMatchObject({ reserved: null, redeemed: null });
    const user = await signIn(service);
    await createIntent(service, user, priced({ discount_code: 'UNCOUNTED', total_cents: undefined }));
    expect(await itemsOf(service, 'DISCOUNTCOUNT#UNCOUNTED')).toEqual([]);
  });
});

describe('a payment with a code', () => {
  test('costs the reduced price of its product, and shows the code', async () => {
    const admin = await signInForYears(service, { is_admin: true });
    const product = productBody({ subtotal_cents: 2_000, tax_cents: 380, total_cents: 2_380, currency: 'USD' });
    await service.put('/admin/products/prod_course', product, admin.options);
    await putCode(service, 'COURSE', { product_ids: ['prod_course'] });
    const user = await signIn(service);
    const body = { product_id: 'prod_course', discount_code: 'course' };
    const made = await create(body, user.options);
    const price = { subtotal_cents: 2_000, tax_cents: 285, discount_cents: 500, total_cents: 1_785 };
    expect(made).toMatchObject({
      status: 201,
      body: { ...price, discount: { code: 'COURSE', cents: 500 }, own_discount_cents: 0 },
    });
    expect(await create({ ...body, ...price }, user.options)).toMatchObject({ status: 201 });
    const mismatch = { status: 400, body: { code: 'PRICING_MISMATCH', details: { expected: 1_785 } } };
    expect(await create({ ...body, total_cents: 1_000 }, user.options)).toMatchObject(mismatch);
    expect(await create({ product_id: 'prod_course', total_cents: 1_785 }, user.options)).toMatchObject({
      body: { code: 'PRICING_MISMATCH', details: { expected: 2_380 } },
    });
    expect(await create(priced({ discount_code: 'COURSE' }), user.options)).toMatchObject(refusalOf('wrong_product'));
    await confirm(service, made.body.id, { ...user.options, body: { payment_method_id: VISA } });
    await service.settle();
    const [event] = (await service.busEvents('payment.succeeded')).filter(
      ({ detail }) => detail.payload.data.payment_id === made.body.id,
    );
    expect(event?.detail.payload.data).toMatchObject({ amount: 1_785, discount_code: 'COURSE' });
  });

  test('expects subtotal, tax and discount before the code is applied, and the total after it', async () => {
    await putCode(service, 'FREE-PRICE', { percent_bp: 1_000 });
    const user = await signIn(service);
    const body = { subtotal_cents: 1_000, tax_cents: 190, discount_cents: 100, currency: 'EUR' };
    const made = await create({ ...body, discount_code: 'FREE-PRICE', total_cents: 1_000 }, user.options);
    expect(made).toMatchObject({
      status: 201,
      body: { tax_cents: 190, discount_cents: 190, own_discount_cents: 100, total_cents: 1_000 },
    });
    const alone = await create({ total_cents: 900, currency: 'EUR', discount_code: 'FREE-PRICE' }, user.options);
    expect(alone).toMatchObject({ status: 400, body: { details: [{ path: 'subtotal_cents' }] } });
  });

  test.each([
    ['unknown', 'NO-SUCH-CODE', undefined],
    ['unknown', 'INACTIVE', { is_active: false }],
    ['not_started', 'LATER', { starts_at: '2090-01-01T00:00:00Z' }],
    ['ended', 'OVER', { ends_at: '2020-01-01T00:00:00Z' }],
    ['wrong_currency', 'IN-EUR', { percent_bp: null, amounts: { eur: 100 } }],
    ['no_effect', 'TINY', { percent_bp: 1 }],
  ] as const)('is refused as %s (%s), and nothing is stored', async (reason, code, fields) => {
    if (fields) await putCode(service, code, fields);
    const user = await signIn(service);
    expect(await create({ subtotal_cents: 60, currency: 'USD', discount_code: code }, user.options)).toMatchObject(
      refusalOf(reason),
    );
    expect((await service.get('/payments', user.options)).body.data).toEqual([]);
    const checked = { code, subtotal_cents: 60, currency: 'USD' };
    expect(await service.post('/discounts/check', checked, user.options)).toMatchObject({
      status: 200,
      body: { valid: false, reason, discount_cents: 0, total_cents: 60, duration: null },
    });
  });

  test('is refused as too small if the code takes the whole amount', async () => {
    await putCode(service, 'ALL', { percent_bp: null, amounts: { USD: 5_000 } });
    const user = await signIn(service);
    expect(await create(priced({ discount_code: 'ALL' }), user.options)).toMatchObject({
      body: { code: 'AMOUNT_TOO_SMALL' },
    });
  });

  test('is returned for a repeated request, although its code is used up', async () => {
    await putCode(service, 'ONE', { max_redemptions: 1 });
    const user = await signIn(service);
    const options = { ...user.options, idempotencyKey: 'one' };
    const made = await create(priced({ discount_code: 'ONE' }), options);
    expect(made.status).toBe(201);
    const again = await create(priced({ discount_code: 'ONE' }), options);
    expect(again).toMatchObject({ status: 201, body: { id: made.body.id } });
    expect(await create(priced({ discount_code: 'ONE' }), user.options)).toMatchObject(refusalOf('exhausted'));
    const other = await create(priced({ discount_code: 'ONE', tax_cents: 1 }), options);
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    expect(await codeCounts(service, 'ONE')).toEqual({ reserved: 1, redeemed: 0 });
  });

  test('counts guest e-mail addresses that differ only in tag or case as one payer', async () => {
    await putCode(service, 'WELCOME', { max_per_payer: 1 });
    const asGuest = (email: string) =>
      create(guestIntentBody({ ...priced({ discount_code: 'WELCOME' }), total_cents: undefined }, { email }), {});
    expect((await asGuest('a+1@x.example')).status).toBe(201);
    expect(await asGuest('A@x.example')).toMatchObject(refusalOf('used'));
    expect((await asGuest('b@x.example')).status).toBe(201);
    expect(JSON.stringify(await itemsOf(service, 'DISCOUNTUSE#'))).not.toContain('x.example');
  });
});

describe('the uses of a code', () => {
  test('stop at ten for thirty simultaneous creates', async () => {
    await putCode(service, 'TEN', { max_redemptions: 10 });
    const users = await Promise.all(Array.from({ length: 30 }, () => signIn(service)));
    const answers = await Promise.all(users.map(({ options }) => create(priced({ discount_code: 'TEN' }), options)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject(refusalOf('exhausted'));
    }
    expect(await codeCounts(service, 'TEN')).toEqual({ reserved: 10, redeemed: 0 });
  });

  test('are redeemed when paid, and released once by a canceled payment', async () => {
    await putCode(service, 'FEW', { max_redemptions: 10, max_per_payer: 5 });
    const user = await signIn(service);
    const made = () => createIntent(service, user, priced({ discount_code: 'FEW', total_cents: undefined }));
    const [paid, canceled, kept] = [await made(), await made(), await made()];
    await confirm(service, paid.id, { ...user.options, body: { payment_method_id: VISA } });
    await service.post(`/payments/intents/${canceled.id}/cancel`, {}, user.options);
    await service.post(`/payments/intents/${canceled.id}/cancel`, {}, user.options);
    expect(await codeCounts(service, 'FEW')).toEqual({ reserved: 1, redeemed: 1 });
    expect(await heldOf(service, 'FEW')).toEqual({ reserved: 1, redeemed: 1 });
    expect(await usesOf(service, 'FEW')).toBe(2);
    expect(await read(service, kept.id, user.options)).toMatchObject({ discount: { code: 'FEW', cents: 500 } });
  });

  test.each([
    ['is not confirmed', undefined],
    ['was declined', DECLINED],
    ['waits for its payer', THREE_D_SECURE],
  ])('are released after PLACE_HOLD_MINUTES by a payment that %s', async (_, method) => {
    await putCode(service, `HOLD-${method ?? 'NONE'}`, { max_redemptions: 2 });
    const code = `HOLD-${method ?? 'NONE'}`.toUpperCase();
    const user = await signInForYears(service);
    const payment = await createIntent(service, user, priced({ discount_code: code, total_cents: undefined }));
    if (method) await confirm(service, payment.id, { ...user.options, body: { payment_method_id: method } });
    await service.advance(29 * MINUTE_SECONDS);
    expect(await codeCounts(service, code)).toEqual({ reserved: 1, redeemed: 0 });
    await service.advance(3 * MINUTE_SECONDS);
    expect(await codeCounts(service, code)).toEqual({ reserved: 0, redeemed: 0 });
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled' });
    const late = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
    expect(late).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
  });
});

describe('a payment without a code', () => {
  test('shows discount: null, and no discount of its own', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, intentBody());
    expect(payment).toMatchObject({ discount: null });
    expect(payment).not.toHaveProperty('own_discount_cents');
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created']);
  });
});

describe('the checks of codes', () => {
  test('show the price with the code, and reserve nothing', async () => {
    await putCode(service, 'SEE', { max_redemptions: 1, duration: 'repeating', duration_periods: 3 });
    const user = await signIn(service);
    const body = { code: 'see', subtotal_cents: 2_000, tax_cents: 380, currency: 'USD' };
    const fit = { status: 200, body: { valid: true, discount_cents: 500, tax_cents: 380, total_cents: 1_880 } };
    const checked = await service.post('/discounts/check', body, user.options);
    expect(checked).toMatchObject(fit);
    expect(checked.body).toMatchObject({ duration: 'repeating', duration_periods: 3 });
    const asGuest = { ...body, guest_data: { email: 'guest@example.com', name: 'Guest' } };
    expect(await service.post('/discounts/check', asGuest)).toMatchObject(fit);
    expect(await codeCounts(service, 'SEE')).toEqual({ reserved: 0, redeemed: 0 });
    expect(await service.post('/discounts/check', { code: 'SEE', amount: 1 }, user.options)).toMatchObject({
      status: 400,
    });
  });
});

describe('the timeline of a payment', () => {
  test('names the code at the versions that add or remove it', async () => {
    await putCode(service, 'LINE');
    const user = await signIn(service);
    const { id } = await createIntent(service, user, priced({ discount_code: 'LINE', total_cents: undefined }));
    await service.put(`/payments/intents/${id}`, { discount_code: null }, user.options);
    await service.settle();
    const { body } = await service.get(`/payments/${id}/timeline`, user.options);
    expect(body.data.map(({ discount }: { discount?: unknown }) => discount)).toEqual([
      { code: 'LINE', cents: 500 },
      { code: null, cents: 0 },
    ]);
  });
});
