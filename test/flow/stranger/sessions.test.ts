import { describe, expect, test } from 'vitest';
import { DEMO_ADMIN, DEMO_OWNER, expectError, idsOf, recordOf, service as startService } from './http.ts';
import { CARD, HOME, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

describe('a credential', () => {
  test('can be in the X-Session-ID header, the Authorization header or the session_id query parameter', async () => {
    const { caller, token } = await service.person();
    const { id } = await make.payment(caller);
    const read = [
      await service.get('/payments', caller),
      await service.get('/payments', { Authorization: `Bearer ${token}` }),
      await service.get(`/payments?session_id=${caller['X-Session-ID']}`),
    ];
    for (const answer of read) expect(answer.body).toMatchObject({ data: [{ id }] });
  });

  test('is read from X-Session-ID, then Authorization, then session_id', async () => {
    const [first, second, third] = [await service.person(), await service.person(), await service.person()];
    const query = `?session_id=${third.caller['X-Session-ID']}`;
    const bearer = { Authorization: `Bearer ${second.token}` };
    const seen = async (caller: Record<string, string>) =>
      (await service.get(`/payments${query}`, caller)).body.user_context.user_id;
    expect(await seen({ ...first.caller, ...bearer })).toBe(first.userId);
    expect(await seen(bearer)).toBe(second.userId);
    expect(await seen({})).toBe(third.userId);
  });

  test('counts as absent if its header is empty', async () => {
    const { caller, token, userId } = await service.person();
    const seen = [
      await service.get('/payments', { 'X-Session-ID': '', Authorization: `Bearer ${token}` }),
      await service.get(`/payments?session_id=${caller['X-Session-ID']}`, { 'X-Session-ID': '', Authorization: '' }),
      await service.get('/payments?session_id=', { ...caller, Authorization: '' }),
    ];
    for (const { body } of seen) expect(body.user_context?.user_id).toBe(userId);
    expectError(await service.get('/payments', { 'X-Session-ID': '', Authorization: '' }), 401);
    const guest_data = { email: service.email(), name: 'Gus' };
    const body = { subtotal_cents: 700, total_cents: 700, currency: 'EUR', guest_data };
    expect((await service.post('/payments/intents', body, { 'X-Session-ID': '' })).status).toBe(201);
  });

  test('is refused with 401 if it is unknown', async () => {
    expectError(await service.get('/payments', { 'X-Session-ID': 'made-up' }), 401);
    expectError(await service.get('/payments', { Authorization: 'Bearer made-up' }), 401);
    expectError(await service.get('/payments?session_id=made-up'), 401);
  });

  test('is required by every route that does not support guests', async () => {
    const routes = [
      'PUT /payments/intents/pay_1',
      'POST /payments/confirm/pay_1',
      'POST /payments/sync/pi_1',
      'GET /payments/pay_1',
      'GET /payments',
      'GET /addresses',
      'GET /addresses/addr_1',
      'PUT /addresses/addr_1',
      'DELETE /addresses/addr_1',
      'POST /addresses/addr_1/set-default',
      'GET /subscriptions/subs_1',
      'GET /subscriptions',
      'PATCH /subscriptions/subs_1',
      'PATCH /subscriptions/subs_1/billing-address',
      'POST /subscriptions/subs_1/cancel',
      'POST /subscriptions/subs_1/reactivate',
      'GET /payment-methods',
      'GET /payment-methods/pmt_1',
      'PUT /payment-methods/pmt_1',
      'PATCH /payment-methods/pmt_1/billing-address',
      'DELETE /payment-methods/pmt_1',
      'POST /payment-methods/pmt_1/set-default',
      'GET /customers/cust_1',
      'GET /customers',
      'PUT /customers/cust_1',
      'DELETE /customers/cust_1',
      'GET /webhooks/logs',
      'GET /webhooks/logs/log_1',
      'POST /webhooks/test',
      'POST /admin/cache/clear',
    ];
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ');
      const answer = await service.send(method, path, { body: method === 'GET' ? undefined : {} });
      expect({ route, status: answer.status }).toEqual({ route, status: 401 });
      expectError(answer, 401);
    }
  });
});

describe('a request without organization_id', () => {
  /** An owner with a session that carries the organization. */
  const inOrganization = async () => {
    const person = await service.person();
    const { id: organization_id } = await make.organization(person.caller);
    const { caller } = await service.person({ user_id: person.userId, email: person.email, organization_id });
    return { ...person, organization_id, personal: person.caller, caller };
  };

  test('creates for the organization of the session', async () => {
    const { caller, organization_id, userId, email } = await inOrganization();
    expect(await make.payment(caller)).toMatchObject({ organization_id });
    expect(await make.address(caller)).toMatchObject({ organization_id });
    const person = { caller, userId, email, token: '' };
    expect(await make.customer(person)).toMatchObject({ organization_id, user_id: null });
    expect(await make.subscription(person)).toMatchObject({ organization_id });
  });

  test('lists for the organization of the session', async () => {
    const { caller, personal } = await inOrganization();
    const { id: own } = await make.payment(personal);
    const { id } = await make.payment(caller);
    expect(idsOf(await service.get('/payments', caller))).toEqual([id]);
    expect(idsOf(await service.get('/payments', personal))).toEqual([own]);
    const { id: address } = await make.address(caller);
    expect(idsOf(await service.get('/addresses', caller))).toEqual([address]);
    expect(idsOf(await service.get('/addresses', personal))).toEqual([]);
  });

  test('is overridden by an organization in the request', async () => {
    const { caller } = await inOrganization();
    const { id: organization_id } = await make.organization(caller, 'Other');
    expect(await make.payment(caller, { organization_id })).toMatchObject({ organization_id });
  });

  test.each([[null], ['']])('differs from a request with %j, which is personal', async (organization_id) => {
    const { caller } = await inOrganization();
    expect(await make.payment(caller, { organization_id })).not.toHaveProperty('organization_id');
  });

  test('lists personal payment methods', async () => {
    const { caller, personal } = await inOrganization();
    const { id } = await make.method(personal);
    expect(idsOf(await service.get('/payment-methods', caller))).toEqual([id]);
    expect(idsOf(await service.get('/payment-methods?organization_id=', caller))).toEqual([id]);
  });
});

describe('an unknown organization', () => {
  test.each([
    ['/payments/intents', { subtotal_cents: 900, total_cents: 900, currency: 'USD' }],
    ['/addresses', HOME],
    ['/customers', { provider_id: 'provider_a', email: 'ada@example.com' }],
    ['/payment-methods', { provider_id: 'provider_a', provider_payment_method_token: CARD }],
  ])('is refused by POST %s like another user’s organization', async (path, body) => {
    const { id: other } = await make.organization((await service.person()).caller);
    for (const organization_id of ['org_0123456789abcdef01234567', other]) {
      const answer = await service.post(path, { ...body, organization_id }, DEMO_OWNER);
      expectError(answer, 403, 'ORGANIZATION_ACCESS_DENIED');
    }
  });
});

describe('the cache of organization memberships', () => {
  test('can be cleared by an admin', async () => {
    const answer = await service.post('/admin/cache/clear', { cache_type: 'organization_membership' }, DEMO_ADMIN);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });

  test('cannot be cleared by another user', async () => {
    const body = { cache_type: 'organization_membership' };
    expectError(await service.post('/admin/cache/clear', body, DEMO_OWNER), 403);
    expectError(await service.post('/admin/cache/clear', body), 401);
  });

  test('can be cleared only under a known name', async () => {
    for (const body of [{}, { cache_type: '' }, { cache_type: 'everything' }]) {
      expectError(await service.post('/admin/cache/clear', body, DEMO_ADMIN), 400);
    }
  });
});

describe('the public routes', () => {
  test('preview an invite without a credential', async () => {
    const project_id = await make.project({});
    const invite = {
      ...{ project_id, inviter_name: 'Ada', role: 'editor', email: 'grace@example.com' },
      expires_at: '2100-01-01T00:00:00.000Z',
    };
    await service.put('/admin/invites/invite-token-1', invite, DEMO_ADMIN);
    const answer = await service.get('/projects/invites/invite-token-1');
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).not.toContain('grace@example.com');
    expectError(await service.get('/projects/invites/unknown-token'), 404);
  });

  test('show the membership tiers without a credential', async () => {
    const id = await make.tier();
    const answer = await service.get('/memberships/tiers');
    expect(answer.status).toBe(200);
    expect(idsOf(answer)).toContain(id);
  });
});

describe('an error', () => {
  test('has the error body for an unknown path', async () => {
    expectError(await service.get('/nothing', DEMO_OWNER), 404);
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['a text', '"text"'],
    ['an object with a field of a wrong type', { ...HOME, city: 7 }],
  ])('has the error body for a request body that is %s', async (_, body) => {
    expectError(await service.post('/addresses', body, DEMO_OWNER), 400);
  });

  test('ignores fields that the interface does not name', async () => {
    const answer = await service.post('/addresses', { ...HOME, id: 'addr_mine', color: 'red' }, DEMO_OWNER);
    expect(answer.status).toBe(201);
    expect(recordOf(answer).id).not.toBe('addr_mine');
  });
});
