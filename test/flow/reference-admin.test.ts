import { beforeAll, describe, expect, test, vi } from 'vitest';
import { inviteBody, productBody, projectBody, tierBody } from '../builders/reference.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { itemsOf, signIn, type User } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import type { RefusalBody } from './routes.ts';

const service = withHost({ frozen: true, env: { LOG_LEVEL: 'INFO' } });

/** The log lines of functions, from standard output. */
const logged: string[] = [];
const listen = (): void => {
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    logged.push(String(chunk));
    return true;
  });
};
const changesOf = (record: string) =>
  logged
    .join('')
    .split('\n')
    .filter((line) => line.includes('reference record changed'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.record === record);

let admin: User;
beforeAll(async () => {
  admin = await signIn(service, { is_admin: true, expires_in: 30 * DAY_SECONDS });
});

const put = <const P extends string>(path: P, body: unknown, user = admin) =>
  service.put(`/admin/${path}`, body, user.options);
const get = <const P extends string>(path: P, user = admin) => service.get(`/admin/${path}`, user.options);
const remove = <const P extends string>(path: P, user = admin) =>
  service.request('DELETE', `/admin/${path}`, user.options);
const problemsOf = ({ body }: TestAnswer<RefusalBody>): string[] => body.details.map(({ path }) => path).sort();

const KINDS = [
  {
    kind: 'products',
    resource: 'product',
    prefix: 'PRODUCT',
    body: productBody,
    shown: {
      name: 'Course',
      description: null,
      organization_id: null,
      project_id: null,
      is_active: true,
      subtotal_cents: 4_900,
      tax_cents: 0,
      discount_cents: 0,
      total_cents: 4_900,
      currency: 'EUR',
      billing_interval: null,
      interval_multiplier: 1,
      trial_days: 0,
      min_quantity: 1,
      max_quantity: null,
      provider_refs: {},
      metadata: {},
    },
  },
  {
    kind: 'projects',
    resource: 'project',
    prefix: 'PROJECT',
    body: projectBody,
    shown: {
      name: 'Garden',
      slug: 'garden',
      billing_email: null,
      organization_id: null,
      owner_user_id: null,
      metadata: {},
    },
  },
  {
    kind: 'tiers',
    resource: 'tier',
    prefix: 'TIER',
    body: tierBody,
    shown: {
      name: 'Gold',
      slug: 'gold',
      description: null,
      rank: 0,
      entity_type: 'user',
      features: [],
      product_ids: [],
      is_active: true,
    },
  },
  {
    kind: 'invites',
    resource: 'invite',
    prefix: 'INVITE',
    body: inviteBody,
    shown: {
      project_id: 'garden',
      organization_id: null,
      inviter_name: 'Ada',
      role: 'editor',
      email: 'grace@example.com',
      status: 'pending',
      expires_at: '2099-01-01T00:00:00.000Z',
    },
  },
] as const;

describe.each(KINDS)('$kind', ({ kind, resource, prefix, body, shown }) => {
  const now = () => new Date(service.now()).toISOString();

  test('can be created, replaced, read and deleted', async () => {
    const made_at = now();
    const made = await put(`${kind}/one`, body());
    const first = { id: 'one', ...shown, created_at: made_at, updated_at: made_at, updated_by: admin.userId };
    expect(made.body).toEqual({ success: true, data: first });
    expect(made.status).toBe(200);
    expect((await get(`${kind}/one`)).body).toEqual(made.body);
    await service.advance(1);
    const next = kind === 'invites' ? { inviter_name: 'Mary' } : { name: 'Another' };
    const changed = await put(`${kind}/one`, body(next));
    expect(changed).toMatchObject({ status: 200, body: { data: { ...first, ...next, updated_at: now() } } });
    expect(await get(`${kind}/one`)).toMatchObject({ status: 200, body: changed.body });
    expect(await itemsOf(service, `${prefix}#one`)).toMatchObject([{ version: 2, owner: `KIND#${prefix}` }]);
    const removed = await remove(`${kind}/one`);
    expect([removed.status, removed.body]).toEqual([204, undefined]);
    const missing = { status: 404, body: { code: 'RESOURCE_NOT_FOUND', details: { resource } } };
    expect(await remove(`${kind}/one`)).toMatchObject(missing);
    expect(await get(`${kind}/one`)).toMatchObject(missing);
  });

  test('are unchanged by a repeated put with the same body', async () => {
    const { body: first } = await put(`${kind}/same`, body());
    await service.advance(1);
    const before = await itemsOf(service, `${prefix}#same`);
    expect(await put(`${kind}/same`, body())).toMatchObject({ status: 200, body: first });
    expect(await itemsOf(service, `${prefix}#same`)).toEqual(before);
  });

  test('are created once by concurrent puts', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(`${kind}/many`, body())));
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await itemsOf(service, `${prefix}#many`)).toMatchObject([{ version: 1 }]);
  });

  test('refuse read-only fields, and an id other than the path’s', async () => {
    const forged = { version: 99, pk: 'x', owner: 'USER#x#PAY', f: { a: false }, ttl: 1, by: 'u', unknown: 'x' };
    const answer = await put(`${kind}/forged`, body({ ...forged, id: 'other' }));
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(answer.body.details.map(({ path, rule }) => [path, rule])).toEqual([
      ...Object.keys(forged).map((field) => [field, 'unknown_field']),
      ['id', 'read_only'],
    ]);
    expect(await itemsOf(service, `${prefix}#forged`)).toEqual([]);
  });

  test('accept a GET response as the body of a PUT', async () => {
    await put(`${kind}/as-read`, body());
    const { data } = (await get(`${kind}/as-read`)).body;
    expect(await put(`${kind}/as-read`, data)).toMatchObject({ status: 200, body: { data } });
  });

  test('name the admin of the last change, and log the admin of each change', async () => {
    listen();
    const other = await signIn(service, { is_admin: true });
    const made = await put(`${kind}/watched`, body());
    expect(made.body.data.updated_by).toBe(admin.userId);
    const next = body(kind === 'invites' ? { role: 'other' } : { name: 'Other' });
    const changed = await put(`${kind}/watched`, next, other);
    expect([changed.body.data.updated_by, (await get(`${kind}/watched`)).body.data.updated_by]).toEqual([
      other.userId,
      other.userId,
    ]);
    const removed = await remove(`${kind}/watched`);
    expect(changesOf(`${kind}/watched`)).toMatchObject(
      [
        { outcome: 'stored', actor_id: admin.userId, answer: made },
        { outcome: 'stored', actor_id: other.userId, answer: changed },
        { outcome: 'removed', actor_id: admin.userId, answer: removed },
      ].map(({ answer, ...line }) => ({ ...line, request_id: answer.headers.get('x-request-id') })),
    );
  });

  test('are listed newest first, with limit and offset', async () => {
    for (const id of ['a', 'b', 'c']) {
      await service.advance(1);
      await put(`${kind}/list-${id}`, body());
    }
    const page = await get(`${kind}?limit=2`);
    expect(page).toMatchObject({ status: 200, body: { success: true, data: [{ id: 'list-c' }, { id: 'list-b' }] } });
    expect(page.headers.get('link')).toContain('offset=2');
    const rest = await get(`${kind}?limit=1&offset=2`);
    expect(rest.body.data).toMatchObject([{ id: 'list-a', ...shown }]);
    const all = await get(kind);
    expect(all.headers.get('x-total-count')).toBe(String(all.body.data.length));
    expect(await get(`${kind}?limit=0`)).toMatchObject({ status: 400 });
  });

  test('require a platform admin', async () => {
    await put(`${kind}/guarded`, body());
    const before = await itemsOf(service, prefix);
    const user = await signIn(service);
    const ask = (options: object) => [
      service.put(`/admin/${kind}/guarded`, body({ role: 'x', name: 'x' }), options),
      service.get(`/admin/${kind}/guarded`, options),
      service.request('DELETE', `/admin/${kind}/guarded`, options),
      service.get(`/admin/${kind}`, options),
    ];
    for (const answer of await Promise.all(ask(user.options))) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'ADMIN_REQUIRED' } });
    }
    for (const answer of await Promise.all(ask({}))) {
      expect(answer).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
    }
    expect(await itemsOf(service, prefix)).toEqual(before);
  });
});

describe('the body of a reference record', () => {
  test.each([
    ['products/x', {}, ['currency', 'name', 'total_cents']],
    ['products/x', productBody({ currency: 'XXQ', total_cents: -1, name: '' }), ['currency', 'name', 'total_cents']],
    ['products/x', productBody({ subtotal_cents: 5_000 }), ['total_cents']],
    ['products/x', productBody({ tax_cents: 5_000 }), ['subtotal_cents']],
    ['products/x', productBody({ discount_cents: Number.MAX_SAFE_INTEGER }), ['subtotal_cents', 'total_cents']],
    ['products/x', productBody({ metadata: { membership_type_id: 7 } }), ['metadata.membership_type_id']],
    ['products/x', productBody({ metadata: { membership_type_id: null } }), ['metadata.membership_type_id']],
    ['products/x', productBody({ billing_interval: 'hourly', trial_days: 731 }), ['billing_interval', 'trial_days']],
    ['projects/x', { slug: '' }, ['name', 'slug']],
    ['projects/x', projectBody({ billing_email: 'no address' }), ['billing_email']],
    ['tiers/x', {}, ['entity_type', 'name', 'slug']],
    ['tiers/x', tierBody({ rank: 1.5, features: 'all' }), ['features', 'rank']],
    ['invites/x', {}, ['email', 'expires_at', 'inviter_name', 'project_id', 'role']],
    ['invites/x', inviteBody({ expires_at: 'soon', status: 'open' }), ['expires_at', 'status']],
  ])('is refused for %s %j, with every problem listed', async (path, body, problems) => {
    const answer = await put(path, body);
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual(problems);
    expect((await get(path)).status).toBe(404);
  });

  test.each([[[]], ['text'], [7]])('is refused if it is not an object: %j', async (body) => {
    expect(await put('tiers/x', JSON.stringify(body))).toMatchObject({ status: 400 });
  });

  test('of a product can omit the subtotal, and can name a tier', async () => {
    const product = productBody({
      currency: 'eur',
      tax_cents: 900,
      discount_cents: 100,
      metadata: { membership_type_id: 'gold' },
    });
    expect((await put('products/priced', product)).body.data).toMatchObject({
      currency: 'EUR',
      subtotal_cents: 4_100,
      total_cents: 4_900,
      metadata: { membership_type_id: 'gold' },
    });
    expect((await put('products/free', productBody({ total_cents: 0 }))).status).toBe(200);
  });

  test('of an invite is stored with its time in UTC and its e-mail in lower case', async () => {
    const invite = inviteBody({ email: ' Grace@Example.com ', expires_at: '2099-01-01T02:00:00+02:00' });
    expect((await put('invites/utc', invite)).body.data).toMatchObject({
      email: 'grace@example.com',
      expires_at: '2099-01-01T00:00:00.000Z',
    });
  });
});

describe('an unknown kind', () => {
  test.each([
    ['PUT', '/admin/payments/x'],
    ['GET', '/admin/orders/x'],
    ['DELETE', '/admin/cache/clear'],
    ['GET', '/admin/memberships'],
    ['GET', '/admin/constructor'],
  ])('has no route: %s %s', async (method, path) => {
    const body = method === 'PUT' ? { body: {} } : {};
    const answer = await service.request(method, path, { ...admin.options, ...body });
    expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'ROUTE_NOT_FOUND' } });
  });
});
