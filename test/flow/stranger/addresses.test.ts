import { describe, expect, test } from 'vitest';
import { DEMO_OWNER, expectError, idsOf, recordOf, service as startService, TIMESTAMP } from './http.ts';
import { expectGone, HOME, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

describe('a new address', () => {
  test('is created from country, line1, city and postal code, without a name', async () => {
    const full = { country: 'DE', line1: 'Main Road 1', city: 'Berlin', postal_code: '10115' };
    const answer = await service.post('/addresses', full, DEMO_OWNER);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(recordOf(answer)).toMatchObject({
      ...{ id: expect.any(String), ...full, is_partial: false, is_business: false, is_guest_address: false },
      ...{ created_at: TIMESTAMP },
    });
  });

  test('stores every field of the address table', async () => {
    const { caller } = await service.person();
    const fields = {
      ...{ country: 'ES', line1: 'Plaza Mayor 1', line2: '2B', city: 'Madrid', state: 'MD', postal_code: '28013' },
      ...{ name: 'Ada', is_partial: false, is_business: true, business_name: 'Ada SL', tax_id: 'B12345674' },
      ...{ tax_id_type: 'nif', type: 'billing', is_default: true, alias: 'Office' },
    };
    const { id } = await make.address(caller, fields);
    expect(recordOf(await service.get(`/addresses/${id}`, caller))).toMatchObject({ id, ...fields });
  });

  test('requires only the country for a partial address', async () => {
    const answer = await service.post('/addresses', { country: 'US', is_partial: true }, DEMO_OWNER);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(recordOf(answer)).toMatchObject({ country: 'US', is_partial: true, line1: null, city: null });
  });

  test.each([
    ['a partial address without the country', { is_partial: true }],
    ['a full address without the country', { ...HOME, country: undefined }],
    ['a full address without line1', { ...HOME, line1: undefined }],
    ['a full address without the city', { ...HOME, city: undefined }],
    ['a business without its name', { ...HOME, is_business: true }],
    ['an address with a nickname', { ...HOME, nickname: 'Home' }],
    ['an address in an unknown country', { ...HOME, country: 'Germany' }],
    ['an address of an unknown type', { ...HOME, type: 'holiday' }],
    ['an address with an unknown kind of tax id', { ...HOME, tax_id: '1', tax_id_type: 'ssn' }],
  ])('is refused as %s', async (_, body) => {
    expectError(await service.post('/addresses', body, DEMO_OWNER), 400);
  });

  test('accepts and keeps a tax id of each kind', async () => {
    const kinds = ['vat', 'ein', 'rfc', 'rnc', 'cnpj', 'cpf', 'gst', 'nit', 'cuit', 'nif', 'siren', 'kvk', 'other'];
    for (const tax_id_type of kinds) {
      const body = { country: 'DE', is_partial: true, tax_id: 'RAW 12-3', tax_id_type };
      expect(recordOf(await service.post('/addresses', body, DEMO_OWNER))).toMatchObject({
        tax_id: 'RAW 12-3',
        tax_id_type,
      });
    }
  });

  test('needs no postal code in a country whose mail does not require it', async () => {
    const without = 'IE CL CO NG VN PE KW LB BM VG MA MG TW HK AE QA'.split(' ');
    const refused = [];
    for (const country of without) {
      const address = { country, line1: 'Street 1', city: 'Town', name: 'Ada' };
      const { status } = await service.post('/addresses', address, DEMO_OWNER);
      if (status !== 201) refused.push(country);
    }
    expect(refused).toEqual([]);
    const { postal_code: _, ...israel } = { ...HOME, country: 'IL' };
    expectError(await service.post('/addresses', israel, DEMO_OWNER), 400);
  });

  test.each(['billing', 'shipping'])('accepts the type %s', async (type) => {
    expect(await make.address(DEMO_OWNER, { type })).toMatchObject({ type });
  });

  test('treats null and empty strings of optional fields as absent', async () => {
    const empty = {
      ...{ line2: null, state: '', is_partial: null, is_business: null, business_name: '', tax_id: null },
      ...{ tax_id_type: '', type: null, is_default: null, alias: '', organization_id: null },
    };
    expect(await make.address(DEMO_OWNER, empty)).toMatchObject({ ...HOME, is_partial: false, is_default: false });
  });

  test('requires a session or guest data', async () => {
    expectError(await service.post('/addresses', HOME), 401);
  });
});

describe('an address', () => {
  test('is readable only by its owner', async () => {
    const { caller } = await service.person();
    const { id } = await make.address(caller);
    expect(recordOf(await service.get(`/addresses/${id}`, caller))).toMatchObject({ id, ...HOME });
    expectError(await service.get(`/addresses/${id}`, DEMO_OWNER), 404);
    expectError(await service.get(`/addresses/${id}`), 401);
  });

  test.each([
    { line1: 'Side Road 2' },
    { line2: 'Back yard' },
    { city: 'Hamburg' },
    { state: 'HH' },
    { postal_code: '20095' },
    { name: 'Grace' },
    { country: 'FR' },
    { alias: 'Holiday' },
    { type: 'shipping' },
    { is_default: true },
    { is_partial: true },
    { tax_id: 'X1', tax_id_type: 'other' },
    { is_business: true, business_name: 'Acme' },
    {},
  ])('is updated by PUT with only %j', async (body) => {
    const { caller } = await service.person();
    const { id } = await make.address(caller);
    const answer = await service.put(`/addresses/${id}`, body, caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(recordOf(answer)).toMatchObject({ ...HOME, id, ...body });
  });

  test('becomes full by PUT once it has the required fields', async () => {
    const { id } = await make.address(DEMO_OWNER, {
      ...{ line1: null, city: null, postal_code: null },
      is_partial: true,
    });
    expectError(await service.put(`/addresses/${id}`, { is_partial: false }, DEMO_OWNER), 400);
    const full = { is_partial: false, line1: 'Main Road 1', city: 'Berlin', postal_code: '10115', name: 'Ada' };
    expect(recordOf(await service.put(`/addresses/${id}`, full, DEMO_OWNER))).toMatchObject(full);
  });

  test('becomes a business address by PUT only with the business name', async () => {
    const { id } = await make.address(DEMO_OWNER);
    expectError(await service.put(`/addresses/${id}`, { is_business: true }, DEMO_OWNER), 400);
    const business = { is_business: true, business_name: 'Acme' };
    expect(recordOf(await service.put(`/addresses/${id}`, business, DEMO_OWNER))).toMatchObject(business);
  });

  test('clears a nullable field on PUT with null, and keeps it on PUT with an empty string', async () => {
    const { id } = await make.address(DEMO_OWNER, { line2: 'Back yard', state: 'BE' });
    const answer = await service.put(`/addresses/${id}`, { line2: null, state: '' }, DEMO_OWNER);
    expect(recordOf(answer)).toMatchObject({ line2: null, state: 'BE' });
  });

  test('is deleted with 204 and no body, and then returns 404', async () => {
    const { caller } = await service.person();
    const { id } = await make.address(caller);
    const { status, body } = await service.delete(`/addresses/${id}`, caller);
    expect([status, body]).toEqual([204, undefined]);
    expectGone(await service.get(`/addresses/${id}`, caller));
    expect((await service.get('/addresses', caller)).body).toEqual([]);
  });

  test('becomes the default and replaces the previous default', async () => {
    const { caller } = await service.person();
    const first = await make.address(caller, { type: 'billing', is_default: true });
    const second = await make.address(caller, { type: 'billing' });
    const answer = await service.post(`/addresses/${second.id}/set-default`, undefined, caller);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id: second.id, is_default: true });
    expect(recordOf(await service.get(`/addresses/${first.id}`, caller))).toMatchObject({ is_default: false });
  });

  test.each([
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/set-default'],
  ])('is hidden from other users by %s %s', async (method, end) => {
    const { id } = await make.address(DEMO_OWNER);
    const { caller } = await service.person();
    expectError(await service.send(method, `/addresses/${id}${end}`, { caller, body: {} }), 404);
    expectError(await service.send(method, `/addresses/${id}${end}`, { body: {} }), 401);
  });
});

describe('the list of addresses', () => {
  test('is an array that contains each address immediately after its creation, and counts them', async () => {
    const { caller } = await service.person();
    for (let total = 1; total <= 4; total += 1) {
      const { id } = await make.address(caller);
      const answer = await service.get('/addresses', caller);
      expect(answer.status).toBe(200);
      expect(answer.body).toHaveLength(total);
      expect(idsOf(answer)).toContain(id);
      expect(answer.headers.get('X-Total-Count')).toBe(String(total));
    }
  });

  test('filters by type and by completeness', async () => {
    const { caller } = await service.person();
    const { id: billing } = await make.address(caller, { type: 'billing' });
    const { id: shipping } = await make.address(caller, { type: 'shipping', is_partial: true });
    const seen = async (query: string) => {
      const answer = await service.get(`/addresses?${query}`, caller);
      expect(answer.headers.get('X-Total-Count'), query).toBe(String(answer.body.length));
      return idsOf(answer).toSorted();
    };
    const both = [billing, shipping].toSorted();
    expect(await seen('type=billing')).toEqual([billing]);
    expect(await seen('type=shipping')).toEqual([shipping]);
    expect(await seen('type=Shipping')).toEqual([shipping]);
    expect(await seen('completeness=full')).toEqual([billing]);
    expect(await seen('completeness=partial')).toEqual([shipping]);
    expect(await seen('completeness=any')).toEqual(both);
    expect(await seen('completeness=FULL&type=billing')).toEqual([billing]);
    expect(await seen('type=&completeness=&organization_id=&limit=&offset=')).toEqual(both);
  });

  test('is paged by limit and offset, with the total on each page', async () => {
    const { caller } = await service.person();
    for (let count = 0; count < 3; count += 1) await make.address(caller);
    const pages = [
      await service.get('/addresses?limit=2', caller),
      await service.get('/addresses?limit=2&offset=2', caller),
    ];
    expect(pages.map(({ body }) => body.length)).toEqual([2, 1]);
    expect(new Set(pages.flatMap(idsOf)).size).toBe(3);
    expect(pages.map(({ headers }) => headers.get('X-Total-Count'))).toEqual(['3', '3']);
  });

  test('has up to 100 addresses by default', async () => {
    const { caller } = await service.person();
    const partial = { country: 'US', is_partial: true };
    const created = Array.from({ length: 101 }, () => service.post('/addresses', partial, caller));
    expect(new Set((await Promise.all(created)).map(({ status }) => status))).toEqual(new Set([201]));
    const answer = await service.get('/addresses', caller);
    expect(answer.body).toHaveLength(100);
    expect(answer.headers.get('X-Total-Count')).toBe('101');
    expect((await service.get('/addresses?offset=100', caller)).body).toHaveLength(1);
  });

  test('shows the addresses of an organization to its members only', async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization(caller);
    const { id } = await make.address(caller, { organization_id });
    expect((await service.get(`/addresses?organization_id=${organization_id}`, caller)).body).toMatchObject([
      { id, organization_id },
    ]);
    expect((await service.get('/addresses', caller)).body).toEqual([]);
    for (const other of [organization_id, 'org_0123456789abcdef01234567']) {
      expectError(await service.get(`/addresses?organization_id=${other}`, DEMO_OWNER), 403);
    }
    expectError(await service.get(`/addresses/${id}`, DEMO_OWNER), 403);
  });

  test('refuses project_id, which it does not support', async () => {
    expectError(await service.get('/addresses?project_id=projects_1', DEMO_OWNER), 400);
  });

  test('requires a session', async () => {
    expectError(await service.get('/addresses'), 401);
  });
});
