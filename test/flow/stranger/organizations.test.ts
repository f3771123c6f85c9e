import { describe, expect, test } from 'vitest';
import { DEMO_OWNER, expectError, idsOf, type SignedCaller, service as startService, TIMESTAMP } from './http.ts';
import { expectGone, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

/** An organization of a new user, with a member of each other role. */
const staffed = async (...roles: readonly string[]) => {
  const owner = await service.person();
  const { id } = await make.organization(owner.caller);
  const members = [];
  for (const role of roles) members.push(await make.member(id, owner.caller, role));
  return { owner, id, path: `/organizations/${id}`, members };
};

const membersOf = async (id: string, caller: SignedCaller, query = '') => {
  const answer = await service.get(`/organizations/${id}/members${query}`, caller);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

describe('an organization', () => {
  test('is created from a name, and its creator becomes its owner', async () => {
    const { caller, userId } = await service.person();
    const answer = await service.post('/organizations', { name: 'Acme' }, caller);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      success: true,
      data: {
        id: expect.any(String),
        name: 'Acme',
        owner_user_id: userId,
        created_at: TIMESTAMP,
        updated_at: TIMESTAMP,
      },
    });
  });

  test('stores every field of its table', async () => {
    const { caller } = await service.person();
    const fields = {
      ...{ name: 'Acme', business_email: 'pay@acme.example', business_phone: '+49 30 1234567', tax_id: 'DE1' },
      address: 'Main Road 1, Berlin',
    };
    const { body } = await service.post('/organizations', fields, caller);
    expect((await service.get(`/organizations/${body.data.id}`, caller)).body.data).toMatchObject(fields);
  });

  test('treats null and empty strings of optional fields as absent', async () => {
    const { caller } = await service.person();
    const empty = { name: 'Acme', business_email: '', business_phone: null, tax_id: '', address: null };
    expect((await service.post('/organizations', empty, caller)).status).toBe(201);
  });

  test('shows each member their own role', async () => {
    const { owner, path, members } = await staffed('admin', 'billing', 'member');
    expect((await service.get(path, owner.caller)).body).toMatchObject({ success: true, data: { your_role: 'owner' } });
    for (const [index, role] of ['admin', 'billing', 'member'].entries()) {
      const { data } = (await service.get(path, members[index]?.caller)).body;
      expect(data).toMatchObject({ your_role: role });
      expect(data).not.toHaveProperty('role');
    }
  });

  test('is closed to others, and an unknown organization returns 404', async () => {
    const { path } = await staffed();
    expectError(await service.get(path, DEMO_OWNER), 403);
    expectError(await service.get('/organizations/org_0123456789abcdef01234567', DEMO_OWNER), 404);
  });

  test.each([
    { name: 'New name' },
    { business_email: 'new@acme.example' },
    { business_phone: '+1 212 5550100' },
    { tax_id: 'X' },
    { address: 'Elsewhere' },
  ])('is updated by PUT with only %j', async (body) => {
    const { owner, path } = await staffed();
    const answer = await service.put(path, body, owner.caller);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, data: body });
    expect((await service.get(path, owner.caller)).body.data).toMatchObject({ name: 'Acme', ...body });
  });

  test('is not updated by PUT without a field, and is unchanged by PUT with an empty field', async () => {
    const { owner, path } = await staffed();
    expectError(await service.put(path, {}, owner.caller), 400, 'VALIDATION_ERROR');
    for (const body of [{ name: '' }, { name: null }, { tax_id: '' }]) {
      expect((await service.put(path, body, owner.caller)).body).toMatchObject({
        success: true,
        data: { name: 'Acme' },
      });
    }
  });

  test.each(['admin', 'billing', 'member'])(
    'is neither updated nor deleted by a member with the role %s',
    async (role) => {
      const { path, members } = await staffed(role);
      const caller = members[0]?.caller;
      expectError(await service.put(path, { name: 'Mine' }, caller), 403, 'INSUFFICIENT_PERMISSIONS');
      expectError(await service.delete(path, caller), 403, 'INSUFFICIENT_PERMISSIONS');
    },
  );

  test('is deleted by its owner with a message, together with its members and records', async () => {
    const { owner, id, path, members } = await staffed('admin');
    const { id: address } = await make.address(owner.caller, { organization_id: id });
    const answer = await service.delete(path, owner.caller);
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } });
    await service.settle();
    expectGone(await service.get(path, owner.caller));
    expect(idsOf(await service.get('/organizations', members[0]?.caller))).toEqual([]);
    expect((await service.get(`/addresses/${address}`, owner.caller)).status).toBeGreaterThanOrEqual(403);
  });
});

describe('the list of organizations', () => {
  test('contains each organization immediately after its creation, with the role of the caller', async () => {
    const { caller } = await service.person();
    for (let total = 1; total <= 3; total += 1) {
      const { id } = await make.organization(caller);
      const { status, body } = await service.get('/organizations', caller);
      expect(status).toBe(200);
      expect(body.success).toBe(true);
      expect(body.data).toHaveLength(total);
      expect(body.data.map((item: { id: string }) => item.id)).toContain(id);
      expect(body.data[0]).toMatchObject({ role: 'owner' });
      expect(body.data[0]).not.toHaveProperty('your_role');
      expect(body.meta.pagination).toEqual({ total, page: 1, pageSize: 20, totalPages: 1 });
    }
  });

  test('shows a member their role', async () => {
    const { id, members } = await staffed('billing');
    expect((await service.get('/organizations', members[0]?.caller)).body).toMatchObject({
      data: [{ id, role: 'billing' }],
    });
  });

  test('is paged', async () => {
    const { caller } = await service.person();
    for (let count = 0; count < 3; count += 1) await make.organization(caller);
    const pages = [await service.get('/organizations?limit=2', caller)];
    pages.push(await service.get('/organizations?page=2&limit=2', caller));
    expect(new Set(pages.flatMap(idsOf)).size).toBe(3);
    expect(pages.map(({ body }) => body.meta.pagination)).toEqual([
      { total: 3, page: 1, pageSize: 2, totalPages: 2 },
      { total: 3, page: 2, pageSize: 2, totalPages: 2 },
    ]);
  });

  test('accepts a limit from 1 to 100, 20 by default', async () => {
    for (const limit of [1, 100]) {
      const { status, body } = await service.get(`/organizations?limit=${limit}`, DEMO_OWNER);
      expect([status, body.meta.pagination.pageSize]).toEqual([200, limit]);
    }
    const { body } = await service.get('/organizations?limit=&page=', DEMO_OWNER);
    expect(body.meta.pagination).toMatchObject({ page: 1, pageSize: 20 });
    for (const query of ['limit=0', 'limit=101', 'page=0']) {
      expectError(await service.get(`/organizations?${query}`, DEMO_OWNER), 400);
    }
  });
});

describe('the list of members', () => {
  test('shows each member to every member, immediately after the addition', async () => {
    const { owner, id, members } = await staffed('admin', 'member');
    for (const caller of [owner.caller, members[1]?.caller ?? {}]) {
      const { success, data, meta } = await membersOf(id, caller);
      expect(success).toBe(true);
      expect(meta.pagination).toEqual({ total: 3, page: 1, pageSize: 20, totalPages: 1 });
      expect(data.map(({ role }: { role: string }) => role).toSorted()).toEqual(['admin', 'member', 'owner']);
      const admin = data.find(({ role }: { role: string }) => role === 'admin');
      expect(admin).toMatchObject({
        ...{ id: members[0]?.memberId, user_id: members[0]?.userId, user_email: members[0]?.email },
        ...{ created_at: TIMESTAMP, updated_at: TIMESTAMP },
      });
      for (const name of ['user_name', 'user_last_name', 'user_picture']) expect(admin).toHaveProperty(name);
      expect(admin).not.toHaveProperty('organization_id');
    }
  });

  test.each(['owner', 'admin', 'billing', 'member', 'ADMIN'])('filters by the role %s', async (role) => {
    const { owner, id } = await staffed('admin', 'billing', 'member');
    const { data, meta } = await membersOf(id, owner.caller, `?role=${role}`);
    expect(data).toMatchObject([{ role: role.toLowerCase() }]);
    expect(meta.pagination.total).toBe(1);
  });

  test('is paged, with a limit from 1 to 100', async () => {
    const { owner, id, path } = await staffed('member', 'member');
    const pages = [await membersOf(id, owner.caller, '?limit=2'), await membersOf(id, owner.caller, '?limit=2&page=2')];
    expect(pages.map(({ data }) => data.length)).toEqual([2, 1]);
    expect(pages.map(({ meta }) => meta.pagination.totalPages)).toEqual([2, 2]);
    expect((await membersOf(id, owner.caller, '?limit=100&role=&page=')).meta.pagination.pageSize).toBe(100);
    for (const query of ['limit=0', 'limit=101', 'page=0', 'role=chief']) {
      expectError(await service.get(`${path}/members?${query}`, owner.caller), 400);
    }
  });

  test('is closed to others', async () => {
    const { path } = await staffed();
    expectError(await service.get(`${path}/members`, DEMO_OWNER), 403);
  });
});

describe('the addition of a member', () => {
  test.each(['admin', 'billing', 'member'])('returns the membership with the role %s and a message', async (role) => {
    const { owner, id, path } = await staffed();
    const { email, userId } = await service.person();
    const answer = await service.post(`${path}/members`, { email: email.toUpperCase(), role }, owner.caller);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      ...{ success: true, message: expect.any(String) },
      data: { id: expect.any(String), organization_id: id, user_id: userId, role, created_at: TIMESTAMP },
    });
  });

  test('refuses the role owner, an unknown role and a missing field', async () => {
    const { owner, path } = await staffed();
    const { email } = await service.person();
    for (const body of [{ email, role: 'owner' }, { email, role: 'chief' }, { email }, { role: 'member' }, {}]) {
      expectError(await service.post(`${path}/members`, body, owner.caller), 400);
    }
  });

  test('returns 400 if the user is already a member', async () => {
    const { owner, path, members } = await staffed('member');
    for (const email of [members[0]?.email, owner.email]) {
      expectError(await service.post(`${path}/members`, { email, role: 'admin' }, owner.caller), 400);
    }
  });

  test('returns 404 if no user has the e-mail address', async () => {
    const { owner, path } = await staffed();
    const body = { email: 'unknown@example.com', role: 'member' };
    expectError(await service.post(`${path}/members`, body, owner.caller), 404);
  });
});

describe('a change of a member’s role', () => {
  test.each(['admin', 'billing', 'member'])('takes effect immediately for %s', async (role) => {
    const { owner, path, members } = await staffed('billing');
    const answer = await service.put(`${path}/members/${members[0]?.memberId}`, { role }, owner.caller);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, data: { id: members[0]?.memberId, role } });
    expect((await service.get(path, members[0]?.caller)).body.data.your_role).toBe(role);
  });

  test('never makes an owner and never changes the owner', async () => {
    const { owner, id, path, members } = await staffed('member');
    expectError(await service.put(`${path}/members/${members[0]?.memberId}`, { role: 'owner' }, owner.caller), 400);
    const [own] = (await membersOf(id, owner.caller, '?role=owner')).data;
    const refused = await service.put(`${path}/members/${own.id}`, { role: 'admin' }, owner.caller);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expectError(refused, refused.status);
    expect((await membersOf(id, owner.caller, '?role=owner')).data).toHaveLength(1);
  });

  test('returns 404 for an unknown membership', async () => {
    const { owner, path } = await staffed();
    expectError(await service.put(`${path}/members/mem_0123456789abcdef`, { role: 'admin' }, owner.caller), 404);
  });
});

describe('the removal of a member', () => {
  test('revokes the access', async () => {
    const { owner, id, path, members } = await staffed('admin');
    const answer = await service.delete(`${path}/members/${members[0]?.memberId}`, owner.caller);
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } });
    expectError(await service.get(path, members[0]?.caller), 403);
    expect((await membersOf(id, owner.caller)).meta.pagination.total).toBe(1);
  });

  test('is refused for the owner, even at the owner’s own request', async () => {
    const { owner, id, path } = await staffed();
    const [own] = (await membersOf(id, owner.caller, '?role=owner')).data;
    const refused = await service.delete(`${path}/members/${own.id}`, owner.caller);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expectError(refused, refused.status);
  });
});

describe('a leave request', () => {
  test.each(['admin', 'billing', 'member'])('is accepted from the role %s', async (role) => {
    const { path, members } = await staffed(role);
    const answer = await service.post(`${path}/leave`, undefined, members[0]?.caller);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expectError(await service.get(path, members[0]?.caller), 403);
    expect(idsOf(await service.get('/organizations', members[0]?.caller))).toEqual([]);
  });

  test('is refused for the owner and for non-members', async () => {
    const { owner, path } = await staffed();
    const refused = await service.post(`${path}/leave`, undefined, owner.caller);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expectError(refused, refused.status);
    expectError(await service.post(`${path}/leave`, undefined, DEMO_OWNER), 403);
  });
});

describe('the routes of organizations', () => {
  test('require a session', async () => {
    const routes = [
      'POST ',
      'GET ',
      'GET /org_demo',
      'PUT /org_demo',
      'DELETE /org_demo',
      'GET /org_demo/members',
      'POST /org_demo/members',
      'PUT /org_demo/members/mem_1',
      'DELETE /org_demo/members/mem_1',
      'POST /org_demo/leave',
    ];
    for (const route of routes) {
      const [method = '', path = ''] = route.split(' ');
      const body = method === 'POST' || method === 'PUT' ? { name: 'Acme' } : undefined;
      expectError(await service.send(method, `/organizations${path}`, { body }), 401);
    }
  });
});
