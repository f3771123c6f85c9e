import { beforeAll, describe, expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { productBody } from '../builders/reference.ts';
import { changeTable, itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';

const service = withHost({ frozen: true });

describe('GET /products', () => {
  let admin: User;
  let buyer: User;

  const put = async (id: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> => {
    await service.advance(1);
    const path = `/admin/products/${encodeURIComponent(id)}`;
    expect(await service.put(path, productBody(fields), admin.options)).toMatchObject({ status: 200 });
  };
  const list = async (query = '', options: RequestOptions = buyer.options) => {
    const { status, body } = await service.get(`/products${query}`, options);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  };
  const idsOf = (body: { readonly data: readonly { readonly id: string }[] }) => body.data.map(({ id }) => id);

  beforeAll(async () => {
    admin = await signIn(service, { is_admin: true });
    buyer = await signIn(service);
    await put('one', { metadata: { margin: '70 %' }, provider_refs: { provider_a: 'price_1' } });
    await put('no longer sold', { is_active: false });
    await put('two: "gold" #1', { billing_interval: 'monthly', trial_days: 7, max_quantity: 5 });
    await put('three');
  });

  test('lists the active products, newest first, with the fields for buyers', async () => {
    const { data, meta } = await list();
    expect(meta).toEqual({ limit: 25, has_more: false, next_cursor: null });
    expect(idsOf({ data })).toEqual(['three', 'two: "gold" #1', 'one']);
    expect(Object.keys(data[2] ?? {}).toSorted()).toEqual(
      [
        ...['id', 'name', 'description', 'is_active', 'currency', 'billing_interval', 'interval_multiplier'],
        ...['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'trial_days'],
        ...['min_quantity', 'max_quantity'],
      ].toSorted(),
    );
    expect(data[1]).toMatchObject({ billing_interval: 'monthly', trial_days: 7, max_quantity: 5 });
    expect((await list('', admin.options)).data).toEqual(data);
  });

  test('pages by cursor, and omits withdrawn products', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages += 1) {
      const body = await list(`?limit=1${cursor}`);
      seen.push(...idsOf(body));
      if (body.meta.next_cursor === null) break;
      cursor = `&cursor=${body.meta.next_cursor}`;
    }
    expect(seen).toEqual(['three', 'two: "gold" #1', 'one']);
  });

  test('reflects a change of is_active, even for a product stored before the list existed', async () => {
    const stored = (await itemsOf(service, 'PRODUCT#one')).at(0);
    await changeTable(service, { put: { ...stored, f: undefined } });
    expect(idsOf(await list())).toContain('one');
    await put('one', { is_active: false });
    await put('no longer sold');
    expect(idsOf(await list())).toEqual(['three', 'two: "gold" #1', 'no longer sold']);
  });

  test('accepts a key with subscriptions:read, and refuses other keys, guests and anonymous callers', async () => {
    const keyWith = async (scope: string): Promise<RequestOptions> => {
      const made = await service.post('/admin/keys', { name: scope, scopes: [scope] }, admin.options);
      return { headers: { authorization: `Bearer ${made.body.data.secret}` } };
    };
    expect(idsOf(await list('', await keyWith('subscriptions:read')))).toContain('three');
    const refused = await service.get('/products', await keyWith('payments:read'));
    expect(refused).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } });
    const guest = await service.post('/payments/intents', guestIntentBody({}, { email: 'gus@example.com' }));
    const asGuest = await service.get('/products', { guestToken: guest.body.guest_token });
    expect([asGuest.status, (await service.get('/products')).status]).toEqual([401, 401]);
  });

  test.each(['limit=0', 'limit=101', 'limit=ten', 'cursor=x'])('refuses %s', async (query) => {
    expect(await service.get(`/products?${query}`, buyer.options)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
  });
});
