import { beforeAll, describe, expect, test } from 'vitest';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { productBody, projectBody } from '../builders/reference.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { atProvider, confirm, itemsOf, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true });

let admin: User;
let user: User;
beforeAll(async () => {
  admin = await signIn(service, { is_admin: true, expires_in: 30 * DAY_SECONDS });
  user = await signIn(service, { expires_in: 30 * DAY_SECONDS });
  await put('projects/garden', projectBody({ billing_email: 'bills@example.com', owner_user_id: user.userId }));
  await put('products/course', productBody({ tax_cents: 900, discount_cents: 100, project_id: 'garden' }));
});

const put = async (path: `${'products' | 'projects' | 'tiers'}/${string}`, body: unknown) => {
  const answer = await service.put(`/admin/${path}`, body, admin.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  return answer.body.data;
};
const buy = (fields: ParsedJson = {}, options = user.options) =>
  service.post('/payments/intents', { product_id: 'course', payment_method_id: VISA, ...fields }, options);
const get = async (id: string, query: string) =>
  (await service.get<string>(`/payments/${id}?${query}`, user.options)).body.data;

const PRICE = { subtotal_cents: 4_100, tax_cents: 900, discount_cents: 100, total_cents: 4_900, currency: 'EUR' };

describe('a payment for a product', () => {
  test('uses the product’s price if the request names no price', async () => {
    const { status, body } = await buy();
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...PRICE, amount_cents: 4_900 });
    expect(await get(body.id, '')).toMatchObject({ ...PRICE, product_id: 'course', project_id: 'garden' });
    expect(await atProvider(service, body.id)).toMatchObject({ intents: [{ amount: 4_900, currency: 'EUR' }] });
    const guest = await service.post('/payments/intents', {
      product_id: 'course',
      guest_data: guestIntentBody()['guest_data'],
    });
    expect(guest).toMatchObject({ status: 201, body: PRICE });
  });

  test.each([
    { total_cents: 1 },
    { total_cents: 4_899 },
    { amount_cents: 4_901 },
    { subtotal_cents: 4_900 },
    { total_cents: 4_900, amount_cents: 1 },
    { tax_cents: 0 },
    { discount_cents: 4_800 },
    { currency: 'USD' },
  ])('is refused with any other price: %j', async (fields) => {
    await service.settle();
    const before = await itemsOf(service, 'PAY#');
    const answer = await buy(fields);
    expect(answer).toMatchObject({ status: 400, body: { code: 'PRICING_MISMATCH' } });
    expect(await itemsOf(service, 'PAY#')).toEqual(before);
  });

  test('can repeat the product’s price', async () => {
    expect(await buy({ ...PRICE, amount_cents: 4_900, currency: 'eur' })).toMatchObject({ status: 201, body: PRICE });
  });

  test('keeps its original price after a change of the product', async () => {
    await put('products/offer', productBody({ total_cents: 1_000 }));
    const { body } = await buy({ product_id: 'offer' });
    await put('products/offer', productBody({ total_cents: 2_000 }));
    expect(await get(body.id, 'include=product')).toMatchObject({
      total_cents: 1_000,
      product: { total_cents: 2_000 },
    });
    expect((await confirm(service, body.id, user.options)).status).toBe(200);
    expect(await atProvider(service, body.id)).toMatchObject({ charges: [{ amount: 1_000, status: 'succeeded' }] });
  });

  test('refuses another price in an update', async () => {
    const { body } = await buy();
    const update = (fields: ParsedJson) => service.put(`/payments/intents/${body.id}`, fields, user.options);
    for (const fields of [{ total_cents: 1 }, { product_id: 'course', total_cents: 1 }, { currency: 'USD' }]) {
      expect(await update(fields)).toMatchObject({ status: 400, body: { code: 'PRICING_MISMATCH' } });
    }
    expect(await get(body.id, '')).toMatchObject(PRICE);
    await put('products/other', productBody({ total_cents: 700 }));
    expect(await update({ product_id: 'other' })).toMatchObject({
      status: 200,
      body: { total_cents: 700, subtotal_cents: 700, tax_cents: 0, product_id: 'other' },
    });
  });

  test('is refused if the product is inactive, missing or free', async () => {
    await put('products/ended', productBody({ is_active: false }));
    expect(await buy({ product_id: 'ended' })).toMatchObject({ status: 400, body: { code: 'PRODUCT_INACTIVE' } });
    expect(await buy({ product_id: 'nothing' })).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'product' } },
    });
    await put('products/free', productBody({ total_cents: 0 }));
    expect(await buy({ product_id: 'free' })).toMatchObject({ status: 400, body: { code: 'AMOUNT_TOO_SMALL' } });
  });

  test('shows product, project and order on request', async () => {
    const { body } = await buy({ reference_code: 'R-1' });
    const plain = await get(body.id, '');
    for (const name of ['product', 'project', 'order']) expect(plain).not.toHaveProperty(name);
    const order = {
      id: expect.stringMatching(/^ord_[0-9a-f]{24}$/),
      payment_id: body.id,
      product_id: 'course',
      status: 'pending',
      total_cents: 4_900,
      currency: 'EUR',
      reference_code: 'R-1',
      created_at: body.created_at,
    };
    const project = { id: 'garden', name: 'Garden', slug: 'garden', billing_email: 'bills@example.com' };
    const included = await get(body.id, 'include=product,project,order');
    expect(included).toMatchObject({ product: { id: 'course', name: 'Course', ...PRICE }, project, order });
    expect(await get(body.id, 'include_product=true&include_project=true&include_order=true')).toEqual(included);
    await confirm(service, body.id, user.options);
    const paid = await get(body.id, 'include=order');
    expect(paid.order).toEqual({ ...included.order, status: 'paid', customer_id: paid.customer_id ?? null });
    expect(paid).not.toHaveProperty('product');
  });

  test('returns null for a removed product and project', async () => {
    await put('projects/gone', projectBody({ owner_user_id: user.userId }));
    await put('products/gone', productBody({ project_id: 'gone' }));
    const { body } = await buy({ product_id: 'gone' });
    for (const path of ['products/gone', 'projects/gone']) {
      expect((await service.request('DELETE', `/admin/${path}`, admin.options)).status).toBe(204);
    }
    expect(await get(body.id, 'include=product,project,order')).toMatchObject({
      product: null,
      project: null,
      product_id: 'gone',
      order: { status: 'pending' },
    });
  });

  test('is found only with its own product_id as scope guard', async () => {
    const { body } = await buy();
    expect((await service.get(`/payments/${body.id}?product_id=course`, user.options)).status).toBe(200);
    expect((await service.get(`/payments/${body.id}?product_id=other`, user.options)).status).toBe(404);
  });
});
