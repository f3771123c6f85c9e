import { describe, expect, test } from 'vitest';
import { customerBody } from '../builders/payer.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { createIntent, PATIENT, signIn, type User } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import {
  company,
  createCustomer,
  customerAtProvider,
  customerEventsOf,
  ONLY_A,
  problemsOf,
  saveMethod,
  storedRecord,
} from './payers.ts';

/** Every route of customers, for users and for organizations. */
const service = withHost({ frozen: true, env: { ...PATIENT, ...ONLY_A } });

const put = (user: User, id: string, fields: object) => service.put(`/customers/${id}`, fields, user.options);
const remove = (user: User, id: string) => service.request('DELETE', `/customers/${id}`, user.options);
const idsOf = ({ body }: TestAnswer<readonly { readonly id: string }[]>): string[] => body.map(({ id }) => id);

describe('a customer', () => {
  test('is created at the provider and stored, and is returned without an envelope and with every field', async () => {
    const user = await signIn(service);
    const answer = await service.post(
      '/customers',
      customerBody({
        email: 'Ada.Payer@Example.com',
        first_name: 'Ada',
        last_name: 'Payer',
        phone: '+15550100',
        metadata: { tier: 'gold', seats: 3 },
      }),
      user.options,
    );
    const at = new Date(service.now()).toISOString();
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-request-id')).toEqual(expect.any(String));
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^cust_[0-9a-f]{24}$/),
      provider_id: 'provider_a',
      provider_customer_id: expect.stringMatching(/^cus_/),
      email: 'ada.payer@example.com',
      name: 'Ada Payer',
      first_name: 'Ada',
      last_name: 'Payer',
      phone: '+15550100',
      user_id: user.userId,
      is_guest: false,
      metadata: { tier: 'gold', seats: 3 },
      created_at: at,
      updated_at: at,
    });
    expect(await service.get(`/customers/${answer.body.id}`, user.options)).toMatchObject({
      status: 200,
      body: answer.body,
    });
    expect(await customerAtProvider(service, answer.body.provider_customer_id)).toMatchObject({
      email: 'ada.payer@example.com',
      name: 'Ada Payer',
      metadata: { customer_id: answer.body.id },
      deleted: false,
    });
  });

  test('keeps an explicit name beside first and last name', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Acme', first_name: 'Ada', last_name: '' });
    expect(customer).toMatchObject({ name: 'Acme', first_name: 'Ada', last_name: null });
    expect(await createCustomer(service, user.options)).toMatchObject({ name: null, phone: null, metadata: {} });
  });

  test('is returned in an envelope on request', async () => {
    const user = await signIn(service);
    const headers = { 'x-response-form': 'envelope' };
    const made = await service.post<string>('/customers', customerBody(), { ...user.options, headers });
    expect(made.body).toMatchObject({ success: true, data: { id: expect.any(String) } });
    const { id } = made.body.data;
    const read = await service.get(`/customers/${id}?envelope=true`, user.options);
    expect(read.body).toMatchObject({ success: true, data: { id } });
    const list = await service.get('/customers', { ...user.options, headers });
    expect(list.body).toMatchObject({ success: true, data: [{ id }] });
  });

  test.each([
    ['no provider', { provider_id: undefined }, ['provider_id']],
    ['an unknown provider', { provider_id: 'provider_e' }, ['provider_id']],
    ['no e-mail', { email: undefined }, ['email']],
    ['an invalid e-mail', { email: 'payer' }, ['email']],
    ['a long e-mail', { email: `${'a'.repeat(250)}@example.com` }, ['email']],
    [
      'a long name',
      { name: 'n'.repeat(201), first_name: 'n'.repeat(201), last_name: 7 },
      ['name', 'first_name', 'last_name'],
    ],
    ['a long phone', { phone: '1'.repeat(33) }, ['phone']],
    ['metadata of the wrong type', { metadata: 'gold' }, ['metadata']],
    ['metadata with a long key', { metadata: { [`k${'k'.repeat(40)}`]: 1 } }, [`metadata.k${'k'.repeat(40)}`]],
    ['guest_data without a name', { guest_data: { email: 'g@example.com' } }, ['guest_data.name']],
  ])('is refused with %s', async (_, fields, paths) => {
    const user = await signIn(service);
    const answer = await service.post('/customers', customerBody(fields), user.options);
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer).sort()).toEqual([...paths].sort());
    expect(await service.get('/customers', user.options)).toMatchObject({ body: [] });
  });

  test('is refused at a provider that is not configured', async () => {
    const user = await signIn(service);
    for (const provider_id of ['provider_b', 'provider_c', 'provider_d']) {
      const answer = await service.post('/customers', customerBody({ provider_id }), user.options);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'UNSUPPORTED_PROVIDER', details: { provider_id } },
      });
    }
  });

  test('may name only a project that its user can edit', async () => {
    const [user, stranger, admin] = [
      await signIn(service),
      await signIn(service),
      await signIn(service, { is_admin: true }),
    ];
    const project = { name: 'Site', slug: 'site', owner_user_id: user.userId };
    expect((await service.put('/admin/projects/proj_customers', project, admin.options)).status).toBe(200);
    expect(await createCustomer(service, user.options, { project_id: 'proj_customers' })).toMatchObject({
      project_id: 'proj_customers',
    });
    const body = customerBody({ project_id: 'proj_customers' });
    expect(await service.post('/customers', body, stranger.options)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS', details: { path: 'project_id' } },
    });
    const unknown = await service.post('/customers', customerBody({ project_id: 'proj_nowhere' }), user.options);
    expect(unknown).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'project' } },
    });
  });

  test('belongs to its user, so other callers get 404', async () => {
    const [user, stranger] = [await signIn(service), await signIn(service)];
    const { id } = await createCustomer(service, user.options);
    for (const [method, path] of [
      ['GET', `/customers/${id}`],
      ['PUT', `/customers/${id}`],
      ['DELETE', `/customers/${id}`],
      ['GET', '/customers/cust_000000000000000000000000'],
    ] as const) {
      const body = method === 'PUT' ? { name: 'Mine' } : undefined;
      const answer = await service.request(method, path, { ...stranger.options, body });
      expect({ method, path, answer }).toMatchObject({
        answer: { status: 404, body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'customer' } } },
      });
    }
    expect(await service.get('/customers', stranger.options)).toMatchObject({ status: 200, body: [] });
    expect((await service.get(`/customers/${id}`, user.options)).body.name).toBeNull();
  });
});

describe('an update of a customer', () => {
  test('changes the named fields here and at the provider, and publishes one event', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada', phone: '+1555', metadata: { a: 1 } });
    await service.advance(5);
    const changed = await put(user, customer.id, { email: 'NEW@example.com', last_name: 'Payer', metadata: { b: 2 } });
    expect(changed).toMatchObject({ status: 200 });
    expect(changed.body).toEqual({
      ...customer,
      email: 'new@example.com',
      last_name: 'Payer',
      metadata: { b: 2 },
      updated_at: new Date(service.now()).toISOString(),
    });
    expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({
      email: 'new@example.com',
      name: 'Ada',
    });
    await service.settle();
    expect((await customerEventsOf(service, customer.id)).map((event) => event['detail-type'])).toEqual([
      'customer.created',
      'customer.updated',
    ]);
  });

  test('clears fields set to null, and the provider’s event does not restore them', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, {
      name: 'Ada Payer',
      first_name: 'Ada',
      phone: '+1555',
      metadata: { a: 1 },
    });
    const cleared = await put(user, customer.id, { name: null, first_name: null, phone: null, metadata: null });
    const expected = { name: null, first_name: null, phone: null, metadata: {}, email: 'payer@example.com' };
    expect(cleared).toMatchObject({ status: 200, body: expected });
    expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({ name: null });
    await service.settle();
    await service.advance(60);
    expect((await service.get(`/customers/${customer.id}`, user.options)).body).toMatchObject(expected);
  });

  test('writes nothing here if nothing changes, but sends the named fields to the provider', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada', metadata: { a: 1 } });
    await service.settle();
    await service.advance(5);
    await service.clearProviderRequests();
    const { metadata, first_name } = customer;
    for (const same of [{}, { metadata }, { first_name }]) {
      expect(await put(user, customer.id, same)).toMatchObject({ status: 200, body: customer });
    }
    expect(await service.providerRequests()).toEqual([]);
    for (const same of [{ name: 'Ada' }, { email: 'payer@example.com' }]) {
      expect(await put(user, customer.id, same)).toMatchObject({ status: 200, body: customer });
    }
    expect(await service.providerRequests()).toHaveLength(2);
    await service.settle();
    expect(await customerEventsOf(service, customer.id)).toHaveLength(1);
  });

  test.each([{ email: null }, { email: '', name: '', phone: '' }])('changes nothing with %j', async (fields) => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada', phone: '+1555' });
    expect(await put(user, customer.id, fields)).toMatchObject({ status: 200, body: customer });
  });

  test.each([
    [{ email: 'not-an-email' }, 'email'],
    [{ name: 1 }, 'name'],
    [{ metadata: { deep: 'x'.repeat(501) } }, 'metadata.deep'],
  ])('is refused with %j', async (fields, path) => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    const answer = await put(user, customer.id, fields);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual([path]);
  });
});

describe('the list of customers', () => {
  test('is sorted newest first, pages by limit and offset, and has total and next page in headers', async () => {
    const user = await signIn(service);
    const made: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      made.unshift((await createCustomer(service, user.options, { name })).id);
      await service.advance(1);
    }
    const all = await service.get('/customers', user.options);
    expect(idsOf(all)).toEqual(made);
    expect(all.headers.get('x-total-count')).toBe('3');
    expect(all.headers.get('link')).toBeNull();
    expect(all.headers.get('cache-control')).toBe('no-store');

    const first = await service.get('/customers?limit=2', user.options);
    expect(idsOf(first)).toEqual(made.slice(0, 2));
    const link = /^<(\/[^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(link).toBe('/customers?limit=2&offset=2');
    const rest = await service.get(link, user.options);
    expect(idsOf(rest)).toEqual(made.slice(2));
    expect(rest.headers.get('x-total-count')).toBe('3');
    expect(rest.headers.get('link')).toBeNull();
    expect(await service.get('/customers?offset=3', user.options)).toMatchObject({ status: 200, body: [] });
  });

  test('treats a limit above 100 as 100', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    expect(await service.get('/customers?limit=5000', user.options)).toMatchObject({ status: 200, body: [customer] });
  });

  test('filters by provider', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    expect(await service.get('/customers?provider_id=provider_a', user.options)).toMatchObject({ body: [customer] });
    const none = await service.get('/customers?provider_id=provider_b', user.options);
    expect(none).toMatchObject({ status: 200, body: [] });
    expect(none.headers.get('x-total-count')).toBe('0');
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=ten', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=10001', 'offset'],
    ['provider_id=stripe', 'provider_id'],
    [`organization_id=${'o'.repeat(65)}`, 'organization_id'],
  ])('refuses %s', async (query, path) => {
    const user = await signIn(service);
    const answer = await service.get(`/customers?${query}`, user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual([path]);
  });
});

describe('a customer of an organization', () => {
  test('can be written by members with the permission, read by all members, and is refused to others', async () => {
    const acme = await company(service);
    const stranger = await signIn(service);
    const inAcme = { organization_id: acme.id };
    const customer = await createCustomer(service, acme.billing.options, inAcme);
    expect(customer).toMatchObject({ organization_id: acme.id, user_id: null, is_guest: false });
    for (const user of [acme.owner, acme.admin, acme.billing, acme.member]) {
      expect((await service.get(`/customers/${customer.id}`, user.options)).body).toEqual(customer);
      const listed = await service.get(`/customers?organization_id=${acme.id}`, user.options);
      expect(idsOf(listed)).toEqual([customer.id]);
      expect(idsOf(await service.get('/customers', user.options))).toEqual([]);
    }
    for (const [user, code] of [
      [acme.member, 'INSUFFICIENT_PERMISSIONS'],
      [stranger, 'ORGANIZATION_ACCESS_DENIED'],
    ] as const) {
      const refused = { status: 403, body: { code } };
      expect(await service.post('/customers', customerBody(inAcme), user.options)).toMatchObject(refused);
      expect(await put(user, customer.id, { name: 'Mine' })).toMatchObject(refused);
      expect(await remove(user, customer.id)).toMatchObject(refused);
    }
    const denied = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
    expect(await service.get(`/customers/${customer.id}`, stranger.options)).toMatchObject(denied);
    expect(await service.get(`/customers?organization_id=${acme.id}`, stranger.options)).toMatchObject(denied);
    expect(await put(acme.admin, customer.id, { name: 'Acme Inc' })).toMatchObject({ status: 200 });
    expect((await remove(acme.owner, customer.id)).status).toBe(204);
  });

  test('is created and listed by default in an organization’s session, unless the request is personal', async () => {
    const acme = await company(service);
    const user = await signIn(service, { user_id: acme.owner.userId, organization_id: acme.id });
    const ofAcme = await createCustomer(service, user.options);
    const own = await createCustomer(service, user.options, { organization_id: null });
    expect(ofAcme).toMatchObject({ organization_id: acme.id, user_id: null });
    expect(own).toMatchObject({ user_id: acme.owner.userId });
    expect(own).not.toHaveProperty('organization_id');
    expect(idsOf(await service.get('/customers', user.options))).toEqual([ofAcme.id]);
    expect(idsOf(await service.get('/customers?organization_id=', user.options))).toEqual([own.id]);
  });
});

describe('the deletion of a customer', () => {
  test('detaches and deletes its payment methods, and keeps the payments', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { setup_future_usage: 'off_session' });
    const customer = (await service.get(`/customers/${payment.customer_id}`, user.options)).body;
    const methods = [
      await saveMethod(service, user.options),
      await saveMethod(service, user.options, { is_default: true }),
    ];
    await service.settle();
    await service.clearProviderRequests();
    const answer = await remove(user, customer.id);
    expect(answer).toMatchObject({ status: 204, body: undefined });
    const calls = (await service.providerRequests()).map(({ method, path }) => `${method} ${path}`);
    expect(calls).toHaveLength(3);
    expect(calls.slice(0, 2).every((call: string) => call.endsWith('/detach'))).toBe(true);
    expect(calls[2]).toContain(`DELETE /v1/customers/${customer.provider_customer_id}`);
    await service.settle();
    expect(await service.get('/payment-methods', user.options)).toMatchObject({ status: 200, body: [] });
    for (const { id } of methods) expect(await storedRecord(service, 'PM', id)).toBeUndefined();
    expect((await service.get(`/customers/${customer.id}`, user.options)).status).toBe(404);
    expect(await service.get('/customers', user.options)).toMatchObject({ body: [] });
    expect((await service.get(`/payments/${payment.id}`, user.options)).status).toBe(200);
    expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({ deleted: true });
    expect((await remove(user, customer.id)).status).toBe(404);
    expect(await customerEventsOf(service, customer.id)).toHaveLength(1);
  });

  test('keeps the methods of the owner’s other customers', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    const other = await createCustomer(service, user.options);
    expect(other.id).not.toBe(method.customer_id);
    expect((await remove(user, other.id)).status).toBe(204);
    await service.settle();
    expect(await service.get('/payment-methods', user.options)).toMatchObject({ body: [{ id: method.id }] });
  });

  test('makes another customer of the same owner the default', async () => {
    const user = await signIn(service);
    const [first, second] = [await createCustomer(service, user.options), await createCustomer(service, user.options)];
    expect(await createIntent(service, user)).toMatchObject({ customer_id: first.id });
    await remove(user, first.id);
    expect(await createIntent(service, user)).toMatchObject({ customer_id: second.id });
    expect(await saveMethod(service, user.options)).toMatchObject({ customer_id: second.id });
    await remove(user, second.id);
    expect(await createIntent(service, user)).toMatchObject({ customer_id: null });
    const method = await saveMethod(service, user.options);
    expect([first.id, second.id, null]).not.toContain(method.customer_id);
  });

  test('is not undone when an old payment create is repeated with its key', async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const keyed = { ...user.options, idempotencyKey: 'basket' };
    const body = { total_cents: 900, currency: 'EUR', setup_future_usage: 'off_session' };
    const first = await service.post('/payments/intents', body, keyed);
    await remove(user, first.body.customer_id);
    await service.settle();
    const again = await service.post('/payments/intents', body, keyed);
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id } });
    expect(await service.get('/customers', user.options)).toMatchObject({ body: [] });
    expect(await createIntent(service, user, { setup_future_usage: 'off_session' })).toMatchObject({
      customer_id: expect.not.stringContaining(first.body.customer_id),
    });
  });
});
