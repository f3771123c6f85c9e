import { describe, expect, test } from 'vitest';
import { VISA } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { putCode } from './discounts.ts';
import { itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { createLink, pageOf, startLink, withToken } from './pages.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: { PAGE_RETURN_HOSTS: 'shop.example' } });

const pay = (token: string, method = VISA): Promise<ParsedJson> =>
  service.post('/pay/confirm', { payment_method_id: method }, withToken(token));

describe('a payment link', () => {
  test('starts a guest payment with its price, description and metadata', async () => {
    const link = await createLink(service, {
      description: 'Workshop',
      metadata: { event: 'W-1' },
      return_url: 'https://shop.example/thanks',
    });
    expect(await pageOf(service, link.token)).toMatchObject({ kind: 'link', status: 'active', amount_cents: 2_500 });
    const started = await startLink(service, link.token, { email: 'Pia@Example.com' });
    expect(started).toMatchObject({
      status: 201,
      body: {
        kind: 'payment',
        status: 'requires_payment_method',
        amount_cents: 2_500,
        description: 'Workshop',
        return_url: 'https://shop.example/thanks',
        token: expect.stringMatching(/^plk_/),
      },
    });
    const shown: ParsedJson = await service.get(`/payments/${started.body.payment_id}`, link.admin.options);
    expect(shown.body.data).toMatchObject({
      guest_email: 'pia@example.com',
      payment_link_id: link.id,
      metadata: { event: 'W-1' },
      total_cents: 2_500,
    });
    expect(await link.read()).toMatchObject({ payments: { open: 1, succeeded: 0 } });
    expect(await pay(started.body.token)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await link.read()).toMatchObject({ payments: { open: 0, succeeded: 1 } });
    const [made] = (await service.busEvents()).filter((event) => event['detail-type'] === 'payment.created');
    expect(made?.detail.payload.data).toMatchObject({ payment_link_id: link.id });
  });

  test('starts at most max_payments payments, and another once an unpaid payment is canceled', async () => {
    const link = await createLink(service, { max_payments: 2 });
    const [paid, left] = [await startLink(service, link.token), await startLink(service, link.token)];
    expect(await pay(paid.body.token)).toMatchObject({ status: 200 });
    expect(await startLink(service, link.token)).toMatchObject({ status: 409, body: { code: 'LINK_SPENT' } });
    expect(await pageOf(service, link.token)).toMatchObject({ status: 'spent' });
    expect(await link.read()).toMatchObject({ status: 'spent', payments: { open: 1, succeeded: 1 } });
    await service.advance(DAY_SECONDS + HOUR_SECONDS);
    expect(await link.read()).toMatchObject({ status: 'active', payments: { open: 0, succeeded: 1 } });
    expect((await service.get('/pay/state', withToken(left.body.token))).status).toBe(404);
    expect(await startLink(service, link.token)).toMatchObject({ status: 201 });
  });

  test('never exceeds max_payments with concurrent starts', async () => {
    const link = await createLink(service, { max_payments: 3 });
    const answers = await Promise.all(Array.from({ length: 24 }, () => startLink(service, link.token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ body }) => body.code === 'LINK_SPENT')).toHaveLength(21);
    expect(await link.read()).toMatchObject({ status: 'spent', payments: { open: 3, succeeded: 0 } });
  });

  test('accepts a discount code, but refuses a code used up by another start', async () => {
    await putCode(service, 'ONCE', { max_redemptions: 1 });
    const link = await createLink(service, { subtotal_cents: 2_000, total_cents: undefined });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => startLink(service, link.token, { discount_code: 'once' })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(made[0].body.amount_cents).toBeLessThan(2_000);
    for (const { status, body } of answers.filter((answer) => answer !== made[0])) {
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'DISCOUNT_INVALID' } });
    }
  });

  test('returns the same payment for a repeated start, even after max_payments is reached', async () => {
    const link = await createLink(service, { max_payments: 1 });
    const fields = { email: 'same@example.com' };
    const first = await startLink(service, link.token, fields, 'the key of a repeated start');
    const again = await startLink(service, link.token, fields, 'the key of a repeated start');
    expect(again).toMatchObject({ status: 201, body: { payment_id: first.body.payment_id, token: first.body.token } });
    expect(await link.read()).toMatchObject({ payments: { open: 1, succeeded: 0 } });
  });

  test('limits the quantity and charges the product’s price', async () => {
    const admin = await signIn(service, { is_admin: true });
    const product = { name: 'Ticket', subtotal_cents: 700, total_cents: 700, currency: 'USD', max_quantity: 10 };
    expect((await service.put('/admin/products/ticket', product, admin.options)).status).toBe(200);
    const link = await createLink(service, {
      total_cents: undefined,
      currency: undefined,
      product_id: 'ticket',
      quantity: { min: 2, max: 4 },
    });
    expect(await pageOf(service, link.token)).toMatchObject({
      amount_cents: 700,
      product: { name: 'Ticket' },
      quantity: { min: 2, max: 4 },
    });
    expect(await startLink(service, link.token, { quantity: 3 })).toMatchObject({
      body: { amount_cents: 2_100, quantity: 3 },
    });
    for (const quantity of [1, 5]) {
      const refused = await startLink(service, link.token, { quantity });
      expect(refused).toMatchObject({ status: 400, body: { code: 'QUANTITY_INVALID' } });
    }
  });

  test('closes when archived, but its payments can still be paid', async () => {
    const link = await createLink(service);
    const started = await startLink(service, link.token);
    const archived = await service.request('DELETE', `/payment-links/${link.id}`, link.admin.options);
    expect(archived.status).toBe(204);
    expect((await service.get('/pay/state', withToken(link.token))).status).toBe(404);
    expect((await startLink(service, link.token)).status).toBe(404);
    expect(await pay(started.body.token)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await link.read()).toMatchObject({ status: 'archived', payments: { open: 0, succeeded: 1 } });
  });

  test('has a fixed price once a payment exists', async () => {
    const link = await createLink(service, { max_payments: 5 });
    const change = (body: Readonly<Record<string, unknown>>): Promise<ParsedJson> =>
      service.request('PATCH', `/payment-links/${link.id}`, { ...link.admin.options, body });
    expect(await change({ total_cents: 2_600 })).toMatchObject({ status: 200, body: { data: { total_cents: 2_600 } } });
    expect(await startLink(service, link.token)).toMatchObject({ body: { amount_cents: 2_600 } });
    expect(await change({ total_cents: 2_700 })).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    expect(await change({ description: 'Renamed' })).toMatchObject({
      status: 200,
      body: { data: { total_cents: 2_600 } },
    });
  });

  test('refuses to start if its product has become recurring', async () => {
    const admin = await signIn(service, { is_admin: true });
    const product = { name: 'Pass', total_cents: 700, currency: 'USD' };
    const put = (fields: object) => service.put('/admin/products/pass', { ...product, ...fields }, admin.options);
    expect((await put({})).status).toBe(200);
    const link = await createLink(service, { total_cents: undefined, currency: undefined, product_id: 'pass' });
    expect((await put({ billing_interval: 'monthly' })).status).toBe(200);
    expect(await startLink(service, link.token)).toMatchObject({ status: 400, body: { code: 'PRODUCT_INACTIVE' } });
    expect(await link.read()).toMatchObject({ payments: { open: 0, succeeded: 0 } });
  });

  test('accepts its own GET response as an update, even if the link is expired and its product is withdrawn', async () => {
    const admin = await signIn(service, { is_admin: true, expires_in: YEAR_SECONDS });
    const product = { name: 'Seat', total_cents: 700, currency: 'USD', max_quantity: 10 };
    const put = (fields: object) => service.put('/admin/products/seat', { ...product, ...fields }, admin.options);
    expect((await put({})).status).toBe(200);
    const link = await createLink(service, {
      ...{ total_cents: undefined, currency: undefined, product_id: 'seat', quantity: { min: 1, max: 4 } },
      expires_at: new Date(service.now() + HOUR_SECONDS * 1_000).toISOString(),
    });
    await service.advance(2 * HOUR_SECONDS);
    expect((await put({ is_active: false })).status).toBe(200);
    const read = await link.read();
    const change = (fields: object): Promise<ParsedJson> =>
      service.request('PATCH', `/payment-links/${link.id}`, { ...admin.options, body: { ...read, ...fields } });
    expect(await change({ description: 'Row 1' })).toMatchObject({
      status: 200,
      body: { data: { description: 'Row 1', status: 'expired', expires_at: read.expires_at } },
    });
    expect(await change({ quantity: { min: 1, max: 3 } })).toMatchObject({ body: { code: 'PRODUCT_INACTIVE' } });
    expect(await change({ expires_at: link.created_at })).toMatchObject({ body: { code: 'VALIDATION_ERROR' } });
  });

  test('lets its token check a discount code without another credential', async () => {
    await putCode(service, 'PEEK', { percent_bp: 1_000, max_redemptions: 1 });
    const link = await createLink(service);
    const payment = await startLink(service, link.token);
    const check = (token: string, code = 'peek'): Promise<ParsedJson> =>
      service.post('/discounts/check', { code, subtotal_cents: 2_500, currency: 'USD' }, withToken(token));
    for (let at = 0; at < 2; at += 1) {
      expect(await check(link.token)).toMatchObject({ status: 200, body: { valid: true, total_cents: 2_250 } });
    }
    expect(await check(link.token, 'NONE')).toMatchObject({ status: 200, body: { valid: false, reason: 'unknown' } });
    expect((await service.request('DELETE', `/payment-links/${link.id}`, link.admin.options)).status).toBe(204);
    for (const token of [link.token, payment.body.token, `${link.token}A`]) {
      expect(await check(token)).toMatchObject({ status: 404, body: { error: 'The link is no longer valid' } });
    }
    expect(await check('')).toMatchObject({ status: 401 });
  });

  test('starts a payment only with a hard-to-guess Idempotency-Key', async () => {
    const link = await createLink(service);
    const body = { email: 'a@example.com', name: 'A' };
    const without: ParsedJson = await service.post('/pay/start', body, withToken(link.token));
    expect(without).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const short = await startLink(service, link.token, {}, 'short');
    expect(short).toMatchObject({ status: 400, body: { code: 'IDEMPOTENCY_KEY_INVALID' } });
  });

  test('stores no token in any table item', async () => {
    const link = await createLink(service);
    const { body } = await startLink(service, link.token);
    await pay(body.token);
    await service.settle();
    const stored = JSON.stringify(await itemsOf(service));
    for (const token of [link.token, body.token]) expect(stored.includes(token.slice(4))).toBe(false);
  });
});
