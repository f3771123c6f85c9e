import { describe, expect, test } from 'vitest';
import { DEMO_OWNER, expectError, idsOf, recordOf, service as startService, TIMESTAMP } from './http.ts';
import { expectGone, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

describe('a new customer', () => {
  test.each(['provider_a', 'provider_b', 'provider_c', 'provider_d'])(
    'is created at %s from the provider and an e-mail address',
    async (provider_id) => {
      const { caller, email, userId } = await service.person();
      const answer = await service.post('/customers', { provider_id, email }, caller);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      expect(recordOf(answer)).toMatchObject({
        ...{ id: expect.any(String), provider_id, provider_customer_id: expect.any(String), email },
        ...{ user_id: userId, is_guest: false, created_at: TIMESTAMP },
      });
    },
  );

  test('stores every optional field', async () => {
    const person = await service.person();
    const fields = {
      ...{ name: 'Ada Lovelace', first_name: 'Ada', last_name: 'Lovelace', phone: '+49 30 1234567' },
      metadata: { crm: 'A-1' },
    };
    const { id } = await make.customer(person, fields);
    const got = recordOf(await service.get(`/customers/${id}`, person.caller));
    expect(got).toMatchObject({ id, email: person.email, ...fields });
  });

  test('has no user if it belongs to an organization', async () => {
    const person = await service.person();
    const { id: organization_id } = await make.organization(person.caller);
    expect(await make.customer(person, { organization_id })).toMatchObject({ organization_id, user_id: null });
  });

  test('stores its project', async () => {
    const person = await service.person();
    const project_id = await make.project({ owner_user_id: person.userId });
    expect(await make.customer(person, { project_id })).toMatchObject({ project_id });
  });

  test('treats null and empty strings of optional fields as absent', async () => {
    const empty = {
      ...{ name: null, first_name: '', last_name: null, phone: '', organization_id: null, project_id: '' },
      ...{ metadata: null, guest_data: null },
    };
    expect(await make.customer(await service.person(), empty)).toMatchObject({ provider_id: 'provider_a' });
  });

  test.each([
    ['without a provider', { email: 'ada@example.com' }],
    ['without an e-mail address', { provider_id: 'provider_a' }],
    ['with an empty e-mail address', { provider_id: 'provider_a', email: '' }],
    ['with an invalid e-mail address', { provider_id: 'provider_a', email: 'ada' }],
    ['of an unknown provider', { provider_id: 'provider_e', email: 'ada@example.com' }],
  ])('is refused %s', async (_, body) => {
    expectError(await service.post('/customers', body, DEMO_OWNER), 400);
  });

  test('requires a session or guest data', async () => {
    expectError(await service.post('/customers', { provider_id: 'provider_a', email: 'ada@example.com' }), 401);
  });
});

describe('a customer', () => {
  test('is readable only by its owner', async () => {
    const person = await service.person();
    const { id } = await make.customer(person);
    expect(recordOf(await service.get(`/customers/${id}`, person.caller))).toMatchObject({ id });
    expectError(await service.get(`/customers/${id}`, DEMO_OWNER), 404);
    expectError(await service.get(`/customers/${id}`), 401);
  });

  test.each([
    { email: 'new@example.com' },
    { name: 'Grace Hopper' },
    { first_name: 'Grace' },
    { last_name: 'Hopper' },
    { phone: '+1 212 5550100' },
    { metadata: { crm: 'B-2' } },
    {},
  ])('is updated by PUT with only %j', async (body) => {
    const person = await service.person();
    const { id } = await make.customer(person, { first_name: 'Ada' });
    const answer = await service.put(`/customers/${id}`, body, person.caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id, first_name: 'Ada', ...body });
    expect(recordOf(await service.get(`/customers/${id}`, person.caller))).toMatchObject(body);
  });

  test('keeps the fields that a PUT sends as empty strings', async () => {
    const person = await service.person();
    const { id } = await make.customer(person, { name: 'Ada', phone: '+49 30 1234567' });
    const answer = await service.put(`/customers/${id}`, { name: '', phone: '' }, person.caller);
    expect(recordOf(answer)).toMatchObject({ name: 'Ada', phone: '+49 30 1234567' });
  });

  test('is deleted with 204 and no body, together with its payment methods', async () => {
    const person = await service.person();
    const { id } = await make.customer(person);
    const { id: method } = await make.method(person.caller);
    const { status, body } = await service.delete(`/customers/${id}`, person.caller);
    expect([status, body]).toEqual([204, undefined]);
    expectGone(await service.get(`/customers/${id}`, person.caller));
    expectGone(await service.get(`/payment-methods/${method}`, person.caller));
    expect(idsOf(await service.get('/customers', person.caller))).toEqual([]);
    expect(idsOf(await service.get('/payment-methods', person.caller))).toEqual([]);
  });

  test.each(['PUT', 'DELETE'])('is hidden from other users by %s', async (method) => {
    const { id } = await make.customer(await service.person());
    expectError(await service.send(method, `/customers/${id}`, { caller: DEMO_OWNER, body: {} }), 404);
    expectError(await service.send(method, `/customers/${id}`, { body: {} }), 401);
  });
});

describe('the list of customers', () => {
  test('contains each customer immediately after its creation, and counts them', async () => {
    const person = await service.person();
    const expected: string[] = [];
    for (const provider_id of ['provider_a', 'provider_b', 'provider_c', 'provider_d']) {
      expected.push((await make.customer(person, { provider_id })).id);
      const answer = await service.get('/customers', person.caller);
      expect(idsOf(answer).toSorted()).toEqual(expected.toSorted());
      expect(answer.headers.get('X-Total-Count')).toBe(String(expected.length));
    }
  });

  test('filters by provider, and is paged by limit and offset', async () => {
    const person = await service.person();
    const { id: a } = await make.customer(person);
    const { id: b } = await make.customer(person, { provider_id: 'provider_b' });
    const seen = async (query: string) => {
      const answer = await service.get(`/customers?${query}`, person.caller);
      return { ids: idsOf(answer).toSorted(), total: answer.headers.get('X-Total-Count') };
    };
    expect(await seen('provider_id=provider_a')).toEqual({ ids: [a], total: '1' });
    expect(await seen('provider_id=PROVIDER_B')).toEqual({ ids: [b], total: '1' });
    expect(await seen('provider_id=&limit=&offset=&organization_id=')).toEqual({ ids: [a, b].toSorted(), total: '2' });
    const first = await seen('limit=1');
    const second = await seen('limit=1&offset=1');
    expect([...first.ids, ...second.ids].toSorted()).toEqual([a, b].toSorted());
    expect([first.total, second.total]).toEqual(['2', '2']);
  });

  test('shows the customers of an organization to its members only', async () => {
    const person = await service.person();
    const { id: organization_id } = await make.organization(person.caller);
    const { id } = await make.customer(person, { organization_id });
    expect(idsOf(await service.get(`/customers?organization_id=${organization_id}`, person.caller))).toEqual([id]);
    for (const other of [organization_id, 'org_0123456789abcdef01234567']) {
      expectError(await service.get(`/customers?organization_id=${other}`, DEMO_OWNER), 403);
    }
    expectError(await service.get(`/customers/${id}`, DEMO_OWNER), 403);
  });

  test('requires a session', async () => {
    expectError(await service.get('/customers'), 401);
  });
});
