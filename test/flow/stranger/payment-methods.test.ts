import { describe, expect, test } from 'vitest';
import { DEMO_OWNER, expectError, idsOf, recordOf, service as startService, TIMESTAMP } from './http.ts';
import { CARD, expectGone, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

const MINIMAL = { provider_id: 'provider_a', provider_payment_method_token: CARD };

describe('a new payment method', () => {
  test('is created from the provider and a token, and shows every field of its table', async () => {
    const { caller } = await service.person();
    const answer = await service.post('/payment-methods', MINIMAL, caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    const made = recordOf(answer);
    expect(made).toMatchObject({
      ...{ id: expect.any(String), provider_id: 'provider_a', provider_payment_method_id: expect.any(String) },
      ...{ type: 'card', card_brand: 'visa', card_last_four: '4242', card_exp_month: expect.stringMatching(/^\d\d$/) },
      ...{ card_exp_year: expect.stringMatching(/^\d{4}$/), billing_address_id: null, is_default: expect.any(Boolean) },
      ...{ is_guest_method: false, created_at: TIMESTAMP },
    });
    expect(made).not.toHaveProperty('project_id');
    expect(made.organization_id ?? '').toBe('');
  });

  test.each([
    ['provider_b', 'SIM-OK'],
    ['provider_c', 'cnon:card-nonce-ok'],
  ])('is created at %s from a token', async (provider_id, provider_payment_method_token) => {
    const { caller } = await service.person();
    expect(await make.method(caller, { provider_id, provider_payment_method_token })).toMatchObject({ provider_id });
  });

  test('is created from raw card data in development', async () => {
    const { caller } = await service.person();
    const card = { card_number: '4242424242424242', card_exp_month: '12', card_exp_year: '2030', card_cvc: '123' };
    const answer = await service.post('/payment-methods', { provider_id: 'provider_a', type: 'card', ...card }, caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(recordOf(answer)).toMatchObject({ card_last_four: '4242', card_exp_month: '12', card_exp_year: '2030' });
    expect(JSON.stringify(answer.body)).not.toContain(card.card_number);
  });

  test('stores every optional field', async () => {
    const { caller } = await service.person();
    const { id: billing_address_id } = await make.address(caller);
    const fields = { type: 'card', alias: 'Work card', is_default: true, billing_address_id };
    expect(await make.method(caller, fields)).toMatchObject(fields);
  });

  test('treats null and empty strings of optional fields as absent', async () => {
    const { caller } = await service.person();
    const empty = {
      ...{ type: '', billing_address_id: '', is_default: null, alias: '', organization_id: '', guest_data: null },
      ...{ card_number: '', card_exp_month: null, card_exp_year: '', card_cvc: null },
    };
    expect(await make.method(caller, empty)).toMatchObject({ type: 'card', billing_address_id: null });
  });

  test.each([
    ['without a provider', { provider_payment_method_token: CARD }],
    ['without a token and without card data', { provider_id: 'provider_a' }],
    ['of provider_d, which is for customers', { ...MINIMAL, provider_id: 'provider_d' }],
    ['of an unknown type', { ...MINIMAL, type: 'wallet' }],
  ])('is refused %s', async (_, body) => {
    expectError(await service.post('/payment-methods', body, DEMO_OWNER), 400);
  });

  test('requires a session or guest data', async () => {
    expectError(await service.post('/payment-methods', MINIMAL), 401);
  });
});

describe('a payment method', () => {
  test('is readable only by its owner', async () => {
    const { caller } = await service.person();
    const { id } = await make.method(caller);
    expect(recordOf(await service.get(`/payment-methods/${id}`, caller))).toMatchObject({ id, card_last_four: '4242' });
    expectError(await service.get(`/payment-methods/${id}`, DEMO_OWNER), 404);
    expectError(await service.get(`/payment-methods/${id}`), 401);
  });

  test('is updated by PUT with alias, billing address and default mark, each alone', async () => {
    const { caller } = await service.person();
    const { id: billing_address_id } = await make.address(caller);
    const { id } = await make.method(caller);
    for (const body of [{ alias: 'Red card' }, { billing_address_id }, { is_default: true }, {}]) {
      const answer = await service.put(`/payment-methods/${id}`, body, caller);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(recordOf(answer)).toMatchObject({ id, ...body });
    }
    const cleared = await service.put(`/payment-methods/${id}`, { billing_address_id: null, alias: '' }, caller);
    expect(recordOf(cleared)).toMatchObject({ billing_address_id: null, alias: 'Red card' });
  });

  test('has its billing address linked and unlinked by PATCH, which reports whether the provider was updated', async () => {
    const { caller } = await service.person();
    const { id: billing_address_id } = await make.address(caller);
    const { id } = await make.method(caller);
    const linked = await service.patch(`/payment-methods/${id}/billing-address`, { billing_address_id }, caller);
    expect(linked.status).toBe(200);
    expect(recordOf(linked)).toMatchObject({ id, billing_address_id, provider_synced: true });
    const unlinked = await service.patch(
      `/payment-methods/${id}/billing-address`,
      { billing_address_id: null },
      caller,
    );
    expect(recordOf(unlinked)).toMatchObject({ id, billing_address_id: null });
  });

  test('refuses a billing address of another user', async () => {
    const { caller } = await service.person();
    const { id: billing_address_id } = await make.address(DEMO_OWNER);
    const { id } = await make.method(caller);
    const answer = await service.patch(`/payment-methods/${id}/billing-address`, { billing_address_id }, caller);
    expectError(answer, 404);
  });

  test('is deleted with 204 and no body, and then returns 404', async () => {
    const { caller } = await service.person();
    const { id } = await make.method(caller);
    const { status, body } = await service.delete(`/payment-methods/${id}`, caller);
    expect([status, body]).toEqual([204, undefined]);
    expectGone(await service.get(`/payment-methods/${id}`, caller));
    expect((await service.get('/payment-methods', caller)).body).toEqual([]);
  });

  test('becomes the default and replaces the previous default', async () => {
    const { caller } = await service.person();
    const first = await make.method(caller, { is_default: true });
    const second = await make.method(caller);
    const answer = await service.post(`/payment-methods/${second.id}/set-default`, undefined, caller);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id: second.id, is_default: true });
    expect(recordOf(await service.get(`/payment-methods/${first.id}`, caller))).toMatchObject({ is_default: false });
  });

  test.each([
    ['PUT', ''],
    ['PATCH', '/billing-address'],
    ['DELETE', ''],
    ['POST', '/set-default'],
  ])('is hidden from other users by %s %s', async (method, end) => {
    const { id } = await make.method((await service.person()).caller);
    const body = { billing_address_id: null };
    expectError(await service.send(method, `/payment-methods/${id}${end}`, { caller: DEMO_OWNER, body }), 404);
    expectError(await service.send(method, `/payment-methods/${id}${end}`, { body }), 401);
  });
});

describe('the list of payment methods', () => {
  const MASTERCARD = 'pm_card_mastercard';

  test('is an array that contains each method immediately after its creation, and counts them', async () => {
    const { caller } = await service.person();
    for (let total = 1; total <= 3; total += 1) {
      const { id } = await make.method(caller);
      const answer = await service.get('/payment-methods', caller);
      expect(answer.body).toHaveLength(total);
      expect(idsOf(answer)).toContain(id);
      expect(answer.headers.get('X-Total-Count')).toBe(String(total));
    }
  });

  test('filters by type, brand and search', async () => {
    const { caller } = await service.person();
    const { id: visa } = await make.method(caller, { alias: 'Groceries' });
    const { id: master } = await make.method(caller, { provider_payment_method_token: MASTERCARD });
    const seen = async (query: string) => {
      const answer = await service.get(`/payment-methods?${query}`, caller);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(answer.headers.get('X-Total-Count'), query).toBe(String(answer.body.length));
      return idsOf(answer).toSorted();
    };
    const both = [visa, master].toSorted();
    expect(await seen('card_brand=visa')).toEqual([visa]);
    expect(await seen('card_brand=MasterCard')).toEqual([master]);
    expect(await seen('payment_type=card')).toEqual(both);
    expect(await seen('payment_type=Card')).toEqual(both);
    expect(await seen('payment_type=bank_account')).toEqual([]);
    expect(await seen('search=groceries')).toEqual([visa]);
    expect(await seen('search=4444')).toEqual([master]);
    const names = ['organization_id', 'page', 'limit', 'payment_type', 'card_brand', 'search', 'orderBy', 'orderDir'];
    expect(await seen([...names, 'token'].map((name) => `${name}=`).join('&'))).toEqual(both);
  });

  test('is sorted by orderBy and orderDir', async () => {
    const { caller } = await service.person();
    const { id: first } = await make.method(caller);
    const { id: second } = await make.method(caller);
    expect(idsOf(await service.get('/payment-methods?orderBy=created_at&orderDir=asc', caller))).toEqual([
      first,
      second,
    ]);
    expect(idsOf(await service.get('/payment-methods?orderBy=created_at&orderDir=DESC', caller))).toEqual([
      second,
      first,
    ]);
  });

  test('is paged by page and limit, with the total on each page', async () => {
    const { caller } = await service.person();
    for (let count = 0; count < 3; count += 1) await make.method(caller);
    const pages = [await service.get('/payment-methods?limit=2', caller)];
    pages.push(await service.get('/payment-methods?page=2&limit=2', caller));
    expect(pages.map(({ body }) => body.length)).toEqual([2, 1]);
    expect(new Set(pages.flatMap(idsOf)).size).toBe(3);
    expect(pages.map(({ headers }) => headers.get('X-Total-Count'))).toEqual(['3', '3']);
  });

  test('shows either an organization’s methods or the personal methods, never both', async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization(caller);
    const { id: own } = await make.method(caller);
    const { id: company } = await make.method(caller, { organization_id });
    expect(idsOf(await service.get('/payment-methods', caller))).toEqual([own]);
    expect(idsOf(await service.get('/payment-methods?organization_id=', caller))).toEqual([own]);
    expect(idsOf(await service.get(`/payment-methods?organization_id=${organization_id}`, caller))).toEqual([company]);
    for (const other of [organization_id, 'org_0123456789abcdef01234567']) {
      expectError(await service.get(`/payment-methods?organization_id=${other}`, DEMO_OWNER), 403);
    }
    expectError(await service.get(`/payment-methods/${company}`, DEMO_OWNER), 403);
  });

  test('refuses project_id, which it does not support', async () => {
    expectError(await service.get('/payment-methods?project_id=projects_1', DEMO_OWNER), 400);
  });

  test('requires a credential', async () => {
    expectError(await service.get('/payment-methods'), 401);
  });
});
