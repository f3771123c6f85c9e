import { beforeAll, describe, expect, test } from 'vitest';
import { openTable } from '../../shared/platform/table.ts';
import { defaultKey } from '../../shared/platform/table-defaults.ts';
import { fullAddress, partialAddress } from '../builders/address.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { itemsOf, partitionOf, signIn, type User } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true });

type Fields = Readonly<Record<string, unknown>>;
const signedIn = (session: Parameters<typeof service.session>[0] = {}) =>
  signIn(service, { expires_in: 30 * DAY_SECONDS, ...session });

/** Creates the address a second after the previous address, so their order is certain. */
const create = async (user: User, fields: Fields = {}) => {
  await service.advance(1);
  const answer = await service.post('/addresses', partialAddress(fields), user.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
  return answer.body;
};
const createMany = async (user: User, fields: readonly Fields[]) => {
  const made: ParsedJson[] = [];
  for (const one of fields) made.push(await create(user, one));
  return made;
};
const list = async (user: User, query = '') => {
  const answer = await service.get(`/addresses${query}`, user.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  return answer.body;
};
const idsOf = (addresses: readonly { readonly id: string }[]): string[] => addresses.map(({ id }) => id);
const defaultsIn = (addresses: readonly ParsedJson[]): string[] => idsOf(addresses.filter((one) => one.is_default));
const setDefault = (user: User, id: string) => service.post(`/addresses/${id}/set-default`, {}, user.options);
const remove = (user: User, id: string) => service.request('DELETE', `/addresses/${id}`, user.options);

/** Opens the table directly, for records that no route can create. */
const table = () => openTable(service.host().connection, service.now);

describe('the list of addresses', () => {
  let user: User;
  let mine: ParsedJson[];
  beforeAll(async () => {
    user = await signedIn();
    const other = await signedIn();
    mine = await createMany(user, [
      { type: 'billing' },
      { type: 'shipping' },
      { type: 'billing', ...fullAddress(), is_partial: false },
      { type: 'shipping', ...fullAddress(), is_partial: false },
      { type: 'billing', country: 'FR' },
    ]);
    await create(other);
  });
  const at = (...indexes: readonly number[]) => indexes.map((index) => mine[index].id);

  test('is a bare array of the caller’s own addresses, newest first', async () => {
    const answer = await service.get('/addresses', user.options);
    expect(idsOf(answer.body)).toEqual(at(4, 3, 2, 1, 0));
    expect(answer.body).toEqual(mine.toReversed());
    expect(answer.headers.get('x-total-count')).toBe('5');
    expect(answer.headers.get('link')).toBeNull();
  });

  test.each([
    ['?type=billing', [4, 2, 0]],
    ['?type=shipping', [3, 1]],
    ['?completeness=full', [3, 2]],
    ['?completeness=partial', [4, 1, 0]],
    ['?completeness=any', [4, 3, 2, 1, 0]],
    ['?type=billing&completeness=partial', [4, 0]],
    ['?organization_id=', [4, 3, 2, 1, 0]],
    ['?limit=2', [4, 3]],
    ['?limit=2&offset=2', [2, 1]],
    ['?limit=2&offset=4', [0]],
    ['?offset=5', []],
    ['?limit=500', [4, 3, 2, 1, 0]],
    ['?type=billing&limit=1&offset=1', [2]],
  ])('returns the matching addresses for %s', async (query, expected) => {
    expect(idsOf(await list(user, query))).toEqual(at(...expected));
  });

  test('has up to 100 addresses if the request names no limit', async () => {
    const rich = await signedIn();
    await Promise.all(Array.from({ length: 101 }, () => service.post('/addresses', partialAddress(), rich.options)));
    const answer = await service.get('/addresses', rich.options);
    expect(answer.body).toHaveLength(100);
    expect(answer.headers.get('x-total-count')).toBe('101');
    expect(await list(rich, '?offset=100')).toHaveLength(1);
  });

  test('links to its next page', async () => {
    const walked: string[] = [];
    for (let path: string | undefined = '/addresses?limit=2&completeness=any'; path; ) {
      const answer: TestAnswer<{ id: string }[]> = await service.get<string>(path, user.options);
      walked.push(...idsOf(answer.body));
      path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    expect(walked).toEqual(at(4, 3, 2, 1, 0));
  });

  test.each(['?limit=0', '?limit=-1', '?limit=x', '?offset=10001', '?offset=-1', '?type=home', '?completeness=some'])(
    'refuses %s',
    async (query) => {
      const answer = await service.get(`/addresses${query}`, user.options);
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    },
  );

  test('refuses project_id as an unsupported filter', async () => {
    const answer = await service.get('/addresses?project_id=project_1', user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_FILTER' } });
  });

  test('filters by the current type and completeness of a changed address', async () => {
    const shopper = await signedIn();
    const { id } = await create(shopper, { type: 'billing' });
    await service.put(`/addresses/${id}`, { ...fullAddress(), type: 'shipping', is_partial: false }, shopper.options);
    expect(await list(shopper, '?type=billing')).toEqual([]);
    expect(idsOf(await list(shopper, '?type=shipping&completeness=full'))).toEqual([id]);
  });
});

describe('the default address', () => {
  test('is unique per owner and type, and the last set address wins', async () => {
    const user = await signedIn();
    const [b1, b2, s1, s2] = await createMany(user, [
      { type: 'billing', is_default: true },
      { type: 'billing' },
      { type: 'shipping', is_default: true },
      { type: 'shipping' },
    ]);
    expect(b1).toMatchObject({ is_default: true });
    expect(b2).toMatchObject({ is_default: false });
    expect(defaultsIn(await list(user))).toEqual([s1.id, b1.id]);
    expect(await setDefault(user, b2.id)).toMatchObject({ status: 200, body: { ...b2, is_default: true } });
    expect(defaultsIn(await list(user))).toEqual([s1.id, b2.id]);
    expect(defaultsIn(await list(user, '?type=billing'))).toEqual([b2.id]);
    expect((await service.get(`/addresses/${b1.id}`, user.options)).body.is_default).toBe(false);
    expect((await service.get(`/addresses/${b2.id}`, user.options)).body.is_default).toBe(true);
    expect((await setDefault(user, s2.id)).body.is_default).toBe(true);
    expect(defaultsIn(await list(user))).toEqual([s2.id, b2.id]);
    const another = await create(user, { type: 'billing', is_default: true });
    expect(defaultsIn(await list(user))).toEqual([another.id, s2.id]);
  });

  test('is set and cleared by an update', async () => {
    const user = await signedIn();
    const [one, two] = await createMany(user, [{ is_default: true }, {}]);
    const put = async (id: string, fields: Fields) =>
      (await service.put(`/addresses/${id}`, fields, user.options)).body.is_default;
    expect(await put(two.id, { is_default: true })).toBe(true);
    expect(defaultsIn(await list(user))).toEqual([two.id]);
    expect(await put(one.id, { is_default: false, alias: 'x' })).toBe(false);
    expect(await put(two.id, { alias: 'y' })).toBe(true);
    expect(await put(two.id, { is_default: false })).toBe(false);
    expect(defaultsIn(await list(user))).toEqual([]);
  });

  test('passes to the newest address of the type when the default is deleted or changes its type', async () => {
    const user = await signedIn();
    const [b1, b2, s1, b3] = await createMany(user, [{}, {}, { type: 'shipping' }, { is_default: true }]);
    expect((await remove(user, s1.id)).status).toBe(204);
    expect(defaultsIn(await list(user))).toEqual([b3.id]);
    expect((await remove(user, b3.id)).status).toBe(204);
    expect(defaultsIn(await list(user))).toEqual([b2.id]);
    const moved = await service.put(`/addresses/${b2.id}`, { type: 'shipping' }, user.options);
    expect(moved).toMatchObject({ status: 200, body: { type: 'shipping', is_default: false } });
    expect(defaultsIn(await list(user))).toEqual([b1.id]);
    expect((await remove(user, b1.id)).status).toBe(204);
    expect(defaultsIn(await list(user))).toEqual([]);
    expect(await partitionOf(service, `OWNER#USER#${user.userId}`)).toEqual([]);
  });

  test('stays the default if one request changes its type and sets is_default', async () => {
    const user = await signedIn();
    const [older, newer] = await createMany(user, [{}, { is_default: true }]);
    await service.put(`/addresses/${newer.id}`, { type: 'shipping', is_default: true }, user.options);
    expect(defaultsIn(await list(user))).toEqual([newer.id, older.id]);
  });

  test('is repaired by a read of any page if its pointer names no address of the type', async () => {
    const user = await signedIn();
    const made = await createMany(user, [{}, {}, {}]);
    const slot = { owner: { kind: 'user', userId: user.userId }, kind: 'ADDR', variant: 'billing' } as const;
    const lead = (recordId: string) => table().put({ ...defaultKey(slot), recordId });
    await lead('addr_ffffffffffffffffffffffff');
    expect(defaultsIn(await list(user, '?limit=1&offset=2'))).toEqual([]);
    expect(defaultsIn(await list(user))).toEqual([made[2].id]);
    const shipping = await create(user, { type: 'shipping' });
    await lead(shipping.id);
    expect(defaultsIn(await list(user, '?completeness=partial&type=billing'))).toEqual([made[2].id]);
    expect(await partitionOf(service, `OWNER#USER#${user.userId}`)).toMatchObject([{ recordId: made[2].id }]);
  });

  test('is a single address after 50 concurrent calls of set-default', async () => {
    const user = await signedIn();
    const made = await Promise.all(
      Array.from({ length: 10 }, () => service.post('/addresses', partialAddress(), user.options)),
    );
    const ids = idsOf(made.map(({ body }) => body));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => setDefault(user, ids[index % 10] ?? '')),
    );
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { is_default: true } });
    expect(defaultsIn(await list(user))).toHaveLength(1);
    expect(await partitionOf(service, `OWNER#USER#${user.userId}`)).toHaveLength(1);
  });

  test('is not set again by a repeated request with the same Idempotency-Key', async () => {
    const user = await signedIn();
    const [one, two] = await createMany(user, [{}, {}]);
    const withKey = { ...user.options, idempotencyKey: 'default-1' };
    const first = await service.post(`/addresses/${one.id}/set-default`, {}, withKey);
    await setDefault(user, two.id);
    const again = await service.post(`/addresses/${one.id}/set-default`, {}, withKey);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(defaultsIn(await list(user))).toEqual([two.id]);
  });
});

describe('a personal address', () => {
  test('cannot be read, changed or deleted by another user', async () => {
    const [owner, stranger] = [await signedIn(), await signedIn()];
    const { id } = await create(owner);
    const before = await partitionOf(service, `ADDR#${id}`);
    const path = `/addresses/${id}`;
    const answers = [
      await service.get(path, stranger.options),
      await service.put(path, { alias: 'x' }, stranger.options),
      await setDefault(stranger, id),
      await remove(stranger, id),
      await service.get('/addresses/addr_000000000000000000000000', owner.options),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'address' } },
      });
    }
    expect(await service.get(path)).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
    expect(await partitionOf(service, `ADDR#${id}`)).toEqual(before);
    expect(await list(stranger)).toEqual([]);
  });
});

describe("an organization's addresses", () => {
  let organizationId: string;
  const people = new Map<string, User>();
  let stranger: User;
  const as = (role: string): User => {
    const person = people.get(role);
    if (!person) throw new Error(`no person has the role ${role}`);
    return person;
  };

  beforeAll(async () => {
    people.set('owner', await signedIn({ email: 'owner@team.example.com' }));
    const made = await service.post('/organizations', { name: 'Team' }, as('owner').options);
    organizationId = made.body.data.id;
    for (const role of ['admin', 'billing', 'member']) {
      const email = `${role}@team.example.com`;
      people.set(role, await signedIn({ email }));
      const added = await service.post(
        `/organizations/${organizationId}/members`,
        { email, role },
        as('owner').options,
      );
      expect(added, JSON.stringify(added.body)).toMatchObject({ status: 201 });
    }
    stranger = await signedIn();
    await service.post('/organizations', { name: 'Elsewhere' }, stranger.options);
  });

  const theirs = (fields: Fields = {}) => ({ organization_id: organizationId, ...fields });

  test('carry no user and belong to the organization', async () => {
    const made = await create(as('billing'), theirs());
    expect(made).toMatchObject({ organization_id: organizationId, is_guest_address: false });
    const [item] = await partitionOf(service, `ADDR#${made.id}`);
    expect(item).toMatchObject({ organizationId, owner: `ORG#${organizationId}#ADDR` });
    expect(item).not.toHaveProperty('userId');
    expect(idsOf(await list(as('billing')))).not.toContain(made.id);
    expect(idsOf(await list(as('owner'), `?organization_id=${organizationId}`))).toContain(made.id);
  });

  test.each(['owner', 'admin', 'billing'])('can be written by the role %s', async (role) => {
    const made = await create(as(role), theirs({ type: 'shipping' }));
    const path = `/addresses/${made.id}`;
    expect((await service.put(path, { alias: role }, as(role).options)).status).toBe(200);
    expect(await setDefault(as(role), made.id)).toMatchObject({ status: 200, body: { is_default: true, alias: role } });
    expect((await remove(as(role), made.id)).status).toBe(204);
  });

  test('can be read, but not written, by a member', async () => {
    const made = await create(as('owner'), theirs());
    await service.settle();
    const before = await itemsOf(service);
    const { options } = as('member');
    const path = `/addresses/${made.id}`;
    expect(await service.get(path, options)).toMatchObject({ status: 200, body: made });
    expect(idsOf(await list(as('member'), `?organization_id=${organizationId}`))).toContain(made.id);
    const refused = [
      await service.post('/addresses', partialAddress(theirs()), options),
      await service.put(path, { alias: 'x' }, options),
      await setDefault(as('member'), made.id),
      await remove(as('member'), made.id),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } });
    }
    expect(await itemsOf(service)).toEqual(before);
  });

  test('cannot be read or written by users outside the organization', async () => {
    const made = await create(as('owner'), theirs());
    const path = `/addresses/${made.id}`;
    await service.settle();
    const before = await itemsOf(service, 'ADDR#');
    const { options } = stranger;
    const refused = [
      await service.get(path, options),
      await service.get(`/addresses?organization_id=${organizationId}`, options),
      await service.post('/addresses', partialAddress(theirs()), options),
      await service.put(path, { alias: 'x' }, options),
      await setDefault(stranger, made.id),
      await remove(stranger, made.id),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } });
    }
    expect(await itemsOf(service, 'ADDR#')).toEqual(before);
  });

  test('are created and listed by default if the session names the organization', async () => {
    const email = 'billing@team.example.com';
    const inside = await signedIn({ email, user_id: as('billing').userId, organization_id: organizationId });
    const made = await create(inside);
    expect(made).toMatchObject({ organization_id: organizationId });
    expect(idsOf(await list(inside))).toContain(made.id);
    expect(idsOf(await list(inside, '?organization_id='))).not.toContain(made.id);
    const own = await create(inside, { organization_id: null });
    expect(own).not.toHaveProperty('organization_id');
    expect(idsOf(await list(inside, '?organization_id='))).toContain(own.id);
  });

  test('have a default separate from the members’ defaults', async () => {
    const owner = as('owner');
    const personal = await create(owner, { is_default: true });
    const shared = await create(owner, theirs({ is_default: true }));
    expect(defaultsIn(await list(owner))).toEqual([personal.id]);
    expect(defaultsIn(await list(owner, `?organization_id=${organizationId}&type=billing`))).toEqual([shared.id]);
  });

  test('are refused for an unknown organization with the same error as for non-members', async () => {
    const answer = await service.get('/addresses?organization_id=org_none', as('owner').options);
    expect(answer).toMatchObject({ status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } });
  });
});
