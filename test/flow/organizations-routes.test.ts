import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { partitionOf, signIn } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import { addMember, expectSound, newOrganization, newPerson, stored } from './organization-steps.ts';

const service = withHost({ frozen: true });

const refused = (status: number, code: string) => ({ status, body: { success: false, code } });
const validation = (path: string) => ({ status: 400, body: { code: 'VALIDATION_ERROR', details: [{ path }] } });

/** An organization with one member of every role, and a stranger. */
const staffed = async () => {
  const [owner, admin, billing, member, stranger] = await Promise.all(
    Array.from({ length: 5 }, () => newPerson(service)),
  );
  if (!owner || !admin || !billing || !member || !stranger) throw new Error('unreachable');
  const id = await newOrganization(service, owner);
  const ids = {
    admin: await addMember(service, owner, { organizationId: id, email: admin.email, role: 'admin' }),
    billing: await addMember(service, owner, { organizationId: id, email: billing.email, role: 'billing' }),
    member: await addMember(service, owner, { organizationId: id, email: member.email, role: 'member' }),
  };
  const owned = (await stored(service, id)).members.find(({ role }) => role === 'owner');
  return { id, owner, admin, billing, member, stranger, ids: { ...ids, owner: String(owned?.id) } };
};

describe('the creation of an organization', () => {
  test('makes its creator the owner', async () => {
    const user = await newPerson(service);
    const body = {
      name: '  Acme  ',
      business_email: 'Office@Acme.example',
      business_phone: '+1 555',
      tax_id: 'T-1',
      address: '1 Main Street',
    };
    const made = await service.post('/organizations', body, user.options);
    expect(made.status).toBe(201);
    const at = new Date(service.now()).toISOString();
    expect(made.body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^org_[0-9a-f]{24}$/),
        name: 'Acme',
        owner_user_id: user.userId,
        business_email: 'office@acme.example',
        business_phone: '+1 555',
        tax_id: 'T-1',
        address: '1 Main Street',
        created_at: at,
        updated_at: at,
      },
    });
    const found = await stored(service, made.body.data.id);
    expectSound(found);
    expect(found.members).toMatchObject([{ userId: user.userId, role: 'owner' }]);
  });

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'A', business_email: 'not-an-email' }, 'business_email'],
    [{ name: 'A', business_phone: 'x'.repeat(33) }, 'business_phone'],
    [{ name: 'A', tax_id: 'x'.repeat(51) }, 'tax_id'],
    [{ name: 'A', address: ['x'] }, 'address'],
  ])('refuses %j', async (body, path) => {
    const user = await newPerson(service);
    expect(await service.post('/organizations', body, user.options)).toMatchObject(validation(path));
  });

  test('creates one organization under one key, even for repeated or concurrent requests', async () => {
    const user = await newPerson(service);
    const create = (name: string) => service.post('/organizations', { name }, { ...user.options, idempotencyKey: 'k' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('Acme')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    const replays = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replays).toHaveLength(19);
    expect(await create('Other')).toMatchObject(refused(422, 'IDEMPOTENCY_KEY_REUSED'));
    expect((await service.get('/organizations', user.options)).body.meta.pagination.total).toBe(1);
    await service.advance(DAY_SECONDS + 1);
    const later = await create('Acme');
    expect(later.status).toBe(201);
    expect(later.body.data.id).not.toBe(answers[0]?.body.data.id);
  });

  test('requires a session', async () => {
    const guest = { name: 'A', guest_data: { email: 'g@example.com', name: 'G' } };
    expect(await service.post('/organizations', { name: 'A' })).toMatchObject(refused(401, 'AUTHENTICATION_REQUIRED'));
    expect(await service.post('/organizations', guest)).toMatchObject(refused(401, 'GUEST_NOT_ALLOWED'));
    expect(await service.get('/organizations', { session: 'none' })).toMatchObject(refused(401, 'SESSION_INVALID'));
  });
});

describe('the list of organizations', () => {
  test("shows the caller's organizations, with the role in each", async () => {
    const [user, other] = [await newPerson(service), await newPerson(service)];
    const own = await newOrganization(service, user, 'Own');
    await service.advance(1);
    const others = await newOrganization(service, other, 'Other');
    await newOrganization(service, other, 'Unseen');
    await addMember(service, other, { organizationId: others, email: user.email, role: 'billing' });
    const { body } = await service.get('/organizations', user.options);
    expect(body).toMatchObject({
      success: true,
      data: [
        { id: others, name: 'Other', role: 'billing', owner_user_id: other.userId },
        { id: own, name: 'Own', role: 'owner', owner_user_id: user.userId },
      ],
      meta: { pagination: { total: 2, page: 1, pageSize: 20, totalPages: 1 } },
    });
    expect(body.data[0]).not.toHaveProperty('your_role');
  });

  test.each([7, 105])('shows %i organizations in pages', async (count) => {
    const user = await newPerson(service);
    const made: string[] = [];
    for (let start = 0; start < count; start += 15) {
      const some = Array.from({ length: Math.min(15, count - start) }, () => newOrganization(service, user));
      made.push(...(await Promise.all(some)));
    }
    const limit = Math.ceil(count / 3);
    const seen: string[] = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await service.get(`/organizations?page=${page}&limit=${limit}`, user.options);
      expect(body.meta.pagination).toEqual({ total: count, page, pageSize: limit, totalPages: 3 });
      seen.push(...body.data.map(({ id }: { id: string }) => id));
    }
    expect(seen).toHaveLength(count);
    expect(new Set(seen)).toEqual(new Set(made));
  });

  test.each(['page=0', 'page=-1', 'page=x', 'page=1.5', 'limit=0', 'limit=101', 'page=10001&limit=2'])(
    'refuses ?%s',
    async (query) => {
      const user = await newPerson(service);
      const path = query.startsWith('limit') ? 'limit' : 'page';
      expect(await service.get(`/organizations?${query}`, user.options)).toMatchObject(validation(path));
    },
  );

  test('is empty for a user without organizations', async () => {
    const user = await newPerson(service);
    const { body } = await service.get('/organizations', user.options);
    expect(body).toEqual({
      success: true,
      data: [],
      meta: { pagination: { total: 0, page: 1, pageSize: 20, totalPages: 0 } },
    });
  });
});

describe('GET of an organization', () => {
  test('shows each member their role', async () => {
    const { id, stranger, ids: _, ...people } = await staffed();
    for (const [role, person] of Object.entries(people)) {
      const { status, body } = await service.get(`/organizations/${id}`, person.options);
      expect({ status, role: body.data.your_role }).toEqual({ status: 200, role });
      expect(body.data).not.toHaveProperty('role');
    }
    const denied = refused(403, 'ORGANIZATION_ACCESS_DENIED');
    expect(await service.get(`/organizations/${id}`, stranger.options)).toMatchObject(denied);
  });

  test('returns 404 for an unknown organization', async () => {
    const user = await newPerson(service);
    expect(await service.get('/organizations/org_none', user.options)).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'organization' } },
    });
  });
});

describe('an update of an organization', () => {
  test('changes the sent fields, clears null fields, and ignores empty fields', async () => {
    const user = await newPerson(service);
    const full = { name: 'Acme', business_phone: '1', tax_id: 'T', address: 'A' };
    const { body } = await service.post('/organizations', full, user.options);
    const { id, created_at } = body.data;
    await service.advance(5);
    const change = {
      tax_id: null,
      address: null,
      business_phone: '',
      business_email: 'a@b.example',
    };
    const updated = await service.put(`/organizations/${id}`, change, user.options);
    expect(updated).toMatchObject({ status: 200, body: { success: true } });
    const expected = {
      id,
      name: 'Acme',
      owner_user_id: user.userId,
      business_email: 'a@b.example',
      business_phone: '1',
      tax_id: null,
      address: null,
      created_at,
      updated_at: new Date(service.now()).toISOString(),
    };
    expect(updated.body.data).toEqual(expected);
    const read = await service.get(`/organizations/${id}`, user.options);
    expect(read.body.data).toEqual({ ...expected, your_role: 'owner' });
    const found = await stored(service, id);
    expectSound(found);
    expect(found.organization.version).toBe(2);
  });

  test.each([{}, { unknown: 1 }, { name: '   ' }, { business_email: 'x' }])('refuses %j', async (body) => {
    const user = await newPerson(service);
    const id = await newOrganization(service, user);
    const answer = await service.put(`/organizations/${id}`, body, user.options);
    expect(answer).toMatchObject(refused(400, 'VALIDATION_ERROR'));
  });
});

describe('a command for the owner only', () => {
  const attempts = (id: string, memberId: string, email: string) =>
    [
      ['PUT', `/organizations/${id}`, { name: 'Mine' }],
      ['DELETE', `/organizations/${id}`, undefined],
      ['POST', `/organizations/${id}/members`, { email, role: 'member' }],
      ['PUT', `/organizations/${id}/members/${memberId}`, { role: 'member' }],
      ['DELETE', `/organizations/${id}/members/${memberId}`, undefined],
    ] as const;

  test('is refused to other members, to strangers and for an unknown organization', async () => {
    const { id, admin, billing, member, stranger, ids } = await staffed();
    const before = await partitionOf(service, `ORG#${id}`);
    const askedBy = async (person: { options: object }, organizationId: string): Promise<TestAnswer[]> =>
      Promise.all(
        attempts(organizationId, ids.billing, stranger.email).map(([method, path, body]) =>
          service.request(method, path, { ...person.options, ...(body && { body }) }),
        ),
      );
    for (const [role, person] of Object.entries({ admin, billing, member })) {
      for (const answer of await askedBy(person, id)) {
        expect(answer).toMatchObject({
          status: 403,
          body: { code: 'INSUFFICIENT_PERMISSIONS', details: { role, required_role: 'owner' } },
        });
      }
    }
    for (const answer of await askedBy(stranger, id)) {
      expect(answer).toMatchObject(refused(403, 'ORGANIZATION_ACCESS_DENIED'));
    }
    for (const answer of await askedBy(admin, 'org_none')) {
      expect(answer).toMatchObject(refused(404, 'RESOURCE_NOT_FOUND'));
    }
    expect(await partitionOf(service, `ORG#${id}`)).toEqual(before);
  });
});

describe('the addition of a member', () => {
  test.each(['admin', 'billing', 'member'])('gives an existing user the role %s', async (role) => {
    const [owner, user] = [await newPerson(service), await newPerson(service)];
    const id = await newOrganization(service, owner);
    const body = { email: user.email.toUpperCase(), role };
    const added = await service.post(`/organizations/${id}/members`, body, owner.options);
    const at = new Date(service.now()).toISOString();
    expect(added.status).toBe(201);
    expect(added.body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^mem_[0-9a-f]{24}$/),
        organization_id: id,
        user_id: user.userId,
        role,
        created_at: at,
        updated_at: at,
      },
      message: expect.any(String),
    });
    expectSound(await stored(service, id));
  });

  test('refuses a role that cannot be assigned, an unknown user and a user who is a member', async () => {
    const [owner, user] = [await newPerson(service), await newPerson(service)];
    const id = await newOrganization(service, owner);
    const add = (body: object) => service.post(`/organizations/${id}/members`, body, owner.options);
    expect(await add({ email: user.email, role: 'owner' })).toMatchObject(refused(400, 'INVALID_ROLE'));
    expect(await add({ email: user.email, role: 'boss' })).toMatchObject(validation('role'));
    expect(await add({ email: 'no e-mail', role: 'member' })).toMatchObject(validation('email'));
    expect(await add({ role: 'member' })).toMatchObject(validation('email'));
    expect(await add({ email: 'unknown@example.com', role: 'member' })).toMatchObject(refused(404, 'USER_NOT_FOUND'));
    expect(await add({ email: user.email, role: 'member' })).toMatchObject({ status: 201 });
    expect(await add({ email: user.email, role: 'admin' })).toMatchObject(refused(400, 'ALREADY_MEMBER'));
    expect(await add({ email: owner.email, role: 'admin' })).toMatchObject(refused(400, 'ALREADY_MEMBER'));
    expectSound(await stored(service, id));
  });

  test('returns the same response under one key, for the same request only', async () => {
    const [owner, user, other] = [await newPerson(service), await newPerson(service), await newPerson(service)];
    const id = await newOrganization(service, owner);
    const options = { ...owner.options, idempotencyKey: 'k' };
    const add = (email: string) => service.post(`/organizations/${id}/members`, { email, role: 'member' }, options);
    const first = await add(user.email);
    const again = await add(user.email);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.data).toEqual(first.body.data);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await add(other.email)).toMatchObject(refused(422, 'IDEMPOTENCY_KEY_REUSED'));
    expectSound(await stored(service, id));
  });

  test('needs the identity service', async () => {
    const owner = await newPerson(service);
    const id = await newOrganization(service, owner);
    await service.get('/organizations', owner.options);
    await service.identity({ available: false });
    const body = { email: 'x@example.com', role: 'member' };
    const answers = [
      await service.post(`/organizations/${id}/members`, body, owner.options),
      await service.get(`/organizations/${id}/members`, owner.options),
    ];
    await service.identity({ available: true });
    for (const answer of answers) expect(answer).toMatchObject(refused(503, 'IDENTITY_UNAVAILABLE'));
  });
});

describe('the list of members', () => {
  test('shows names and e-mails in order of joining, to every member', async () => {
    const owner = await newPerson(service, { name: 'Olga' });
    const id = await newOrganization(service, owner);
    const { user_id } = await service.control('POST', '/sessions', {
      email: 'pat@example.com',
      name: 'Pat',
      last_name: 'Lee',
      picture: 'https://p.example/1',
    });
    await service.advance(1);
    const memberId = await addMember(service, owner, { organizationId: id, email: 'pat@example.com', role: 'billing' });
    const at = new Date(service.now()).toISOString();
    const pat = await signIn(service, { user_id, email: 'pat@example.com' });
    const { status, body } = await service.get(`/organizations/${id}/members`, pat.options);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: [{ user_id: owner.userId, role: 'owner', user_name: 'Olga', user_picture: null }, {}],
      meta: { pagination: { total: 2, page: 1, pageSize: 20, totalPages: 1 } },
    });
    expect(body.data[1]).toEqual({
      id: memberId,
      user_id,
      role: 'billing',
      created_at: at,
      updated_at: at,
      user_name: 'Pat',
      user_last_name: 'Lee',
      user_email: 'pat@example.com',
      user_picture: 'https://p.example/1',
    });
  });

  test('filters by role and has pages, with the total on each page', async () => {
    const owner = await newPerson(service);
    const id = await newOrganization(service, owner);
    for (let index = 0; index < 7; index += 1) {
      const { email } = await newPerson(service);
      await addMember(service, owner, { organizationId: id, email, role: index % 2 === 0 ? 'member' : 'admin' });
    }
    const list = async (query: string) =>
      (await service.get(`/organizations/${id}/members?${query}`, owner.options)).body;
    const pages = await Promise.all([1, 2, 3].map((page) => list(`limit=3&page=${page}`)));
    expect(pages.map(({ data }) => data.length)).toEqual([3, 3, 2]);
    expect(pages.map(({ meta }) => meta.pagination.totalPages)).toEqual([3, 3, 3]);
    expect(new Set(pages.flatMap(({ data }) => data.map((member: { id: string }) => member.id))).size).toBe(8);
    expect((await list('role=member')).data.map(({ role }: { role: string }) => role)).toEqual(Array(4).fill('member'));
    expect(await list('role=admin&limit=2&page=2')).toMatchObject({
      data: [{ role: 'admin' }],
      meta: { pagination: { total: 3, page: 2, pageSize: 2, totalPages: 2 } },
    });
    expect((await list('role=billing')).meta.pagination).toMatchObject({ total: 0, totalPages: 0 });
    const wrong = await service.get(`/organizations/${id}/members?role=boss&limit=101`, owner.options);
    expect(wrong).toMatchObject({ status: 400, body: { details: [{ path: 'limit' }, { path: 'role' }] } });
  });

  test('requires membership', async () => {
    const { id, stranger } = await staffed();
    const answer = await service.get(`/organizations/${id}/members`, stranger.options);
    expect(answer).toMatchObject(refused(403, 'ORGANIZATION_ACCESS_DENIED'));
  });
});

describe('a change of a member’s role', () => {
  test('takes effect immediately on every route', async () => {
    const { id, owner, member, ids } = await staffed();
    await service.advance(1);
    const path = `/organizations/${id}/members/${ids.member}`;
    const changed = await service.put(path, { role: 'admin' }, owner.options);
    expect(changed).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: {
          id: ids.member,
          organization_id: id,
          user_id: member.userId,
          role: 'admin',
          updated_at: new Date(service.now()).toISOString(),
        },
      },
    });
    expectSound(await stored(service, id));
    expect((await service.get(`/organizations/${id}`, member.options)).body.data.your_role).toBe('admin');
    expect((await service.get('/organizations', member.options)).body.data[0]?.role).toBe('admin');
    const admins = await service.get(`/organizations/${id}/members?role=admin`, owner.options);
    expect(admins.body.meta.pagination.total).toBe(2);
    const before = await partitionOf(service, `ORG#${id}`);
    await service.advance(1);
    expect(await service.put(path, { role: 'admin' }, owner.options)).toMatchObject({ status: 200 });
    expect(await partitionOf(service, `ORG#${id}`)).toEqual(before);
  });

  test('is refused for the owner, to the role owner, without a role, and for an unknown member', async () => {
    const { id, owner, ids } = await staffed();
    const before = await partitionOf(service, `ORG#${id}`);
    const change = (memberId: string, role: unknown) =>
      service.put(`/organizations/${id}/members/${memberId}`, { role }, owner.options);
    expect(await change(ids.owner, 'admin')).toMatchObject(refused(400, 'OWNER_IMMUTABLE'));
    expect(await change(ids.admin, 'owner')).toMatchObject(refused(400, 'INVALID_ROLE'));
    expect(await change(ids.admin, 'boss')).toMatchObject(validation('role'));
    expect(await change(ids.admin, undefined)).toMatchObject(validation('role'));
    expect(await change('mem_none', 'admin')).toMatchObject({ status: 404, body: { details: { resource: 'member' } } });
    expect(await partitionOf(service, `ORG#${id}`)).toEqual(before);
  });
});

describe('the removal of a member', () => {
  test('ends the membership', async () => {
    const { id, owner, member, ids } = await staffed();
    const path = `/organizations/${id}/members/${ids.member}`;
    const removed = await service.request('DELETE', path, owner.options);
    expect(removed.status).toBe(200);
    expect(removed.body).toEqual({ success: true, message: expect.any(String) });
    expectSound(await stored(service, id));
    const denied = refused(403, 'ORGANIZATION_ACCESS_DENIED');
    expect(await service.get(`/organizations/${id}`, member.options)).toMatchObject(denied);
    expect((await service.get('/organizations', member.options)).body.data).toEqual([]);
    expect(await service.request('DELETE', path, owner.options)).toMatchObject(refused(404, 'RESOURCE_NOT_FOUND'));
    const again = await addMember(service, owner, { organizationId: id, email: member.email, role: 'billing' });
    expect(again).toBe(ids.member);
    expectSound(await stored(service, id));
  });

  test('is refused for the owner and for an unknown member', async () => {
    const { id, owner, ids } = await staffed();
    const remove = (memberId: string) =>
      service.request('DELETE', `/organizations/${id}/members/${memberId}`, owner.options);
    expect(await remove(ids.owner)).toMatchObject(refused(400, 'OWNER_IMMUTABLE'));
    expect(await remove('mem_none')).toMatchObject(refused(404, 'RESOURCE_NOT_FOUND'));
    expectSound(await stored(service, id));
  });
});

describe('a leave request', () => {
  test('is accepted from any member except the owner', async () => {
    const { id, owner, admin, billing, member, stranger } = await staffed();
    const leave = (options: object) => service.post(`/organizations/${id}/leave`, {}, options);
    for (const person of [admin, billing, member]) {
      expect(await leave({ ...person.options, idempotencyKey: 'k' })).toMatchObject({
        status: 200,
        body: { success: true, message: expect.any(String) },
      });
      expect(await leave(person.options)).toMatchObject(refused(403, 'ORGANIZATION_ACCESS_DENIED'));
      const replay = await leave({ ...person.options, idempotencyKey: 'k' });
      expect(replay).toMatchObject({ status: 200, body: { data: { organization_id: id } } });
    }
    expect(await leave(owner.options)).toMatchObject(refused(400, 'OWNER_CANNOT_LEAVE'));
    expect(await leave(stranger.options)).toMatchObject(refused(403, 'ORGANIZATION_ACCESS_DENIED'));
    const found = await stored(service, id);
    expectSound(found);
    expect(found.members).toHaveLength(1);
  });
});

describe('the demo organization', () => {
  test('exists from the start, and keeps later changes', async () => {
    const found = await stored(service, 'org_demo');
    expectSound(found);
    const roles = found.members.map(({ userId, role }) => [userId, role]).sort();
    expect(roles).toEqual([
      ['user_demo_member', 'member'],
      ['user_demo_owner', 'owner'],
    ]);
    const listed = await service.get('/organizations', { session: 'demo-member' });
    expect(listed.body.data).toMatchObject([{ id: 'org_demo', role: 'member' }]);
  });
});
