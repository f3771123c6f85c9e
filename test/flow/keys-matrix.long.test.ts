import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { canonicalJson } from '../../shared/http/idempotency.ts';
import { itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { ALL_SCOPES, asMerchant, createKey, forOrganization, forUser, type TestKey } from './keys.ts';
import { createMatrixFixtures, type MatrixFixtures } from './matrix/fixtures.ts';
import { type MatrixRoute, ROUTES } from './matrix/routes.ts';
import { type How, SCOPE_ROWS, type ScopeRow, STAFF_SCOPES } from './matrix/scope-table.ts';
import type { CallerName, Column } from './matrix/tables.ts';

/**
 * Every route × every caller: each staff role, and service keys with and without the scope, as the merchant and for a
 * payer. A quick test, long-tables.test.ts, notices a route without a row.
 */
interface Row extends ScopeRow {
  readonly route: MatrixRoute;
}

const ROWS: readonly Row[] = SCOPE_ROWS.map((row) => {
  const route = ROUTES[row.id];
  if (!route) throw new Error(`no request of ${row.id}`);
  return { ...row, route };
});

/** The scope that the merchant needs to read the record in the path. */
const readScopeOf = ({ path }: Row): string => {
  if (/^\/(payments|refunds)/.test(path)) return 'payments:read';
  if (/^\/(subscriptions|memberships)/.test(path)) return 'subscriptions:read';
  return path.startsWith('/webhooks') ? 'webhooks:read' : 'customers:read';
};

/** True if the request concerns the caller's own records, or no record. */
const isOfCaller = ({ how }: Row): boolean => ['create', 'list', 'ask', 'open'].includes(how);
const namesNoOwner = ({ how }: Row): boolean => how === 'ask' || how === 'open';
const isOfOrganizations = ({ path }: Row): boolean => path.startsWith('/organizations');
const namesOrganization = ({ path }: Row): boolean => path.startsWith('/organizations/{id}');

/** `ok` is the route's own success. A body has exactly these fields in addition to `success` and `request_id`. */
type Expected =
  | 'ok'
  | { readonly status: number; readonly body: { readonly code: string; readonly error?: string; details?: unknown } };

const refused = (status: number, code: string): Expected => ({ status, body: { code } });
const scopeRequired = (scope: string | undefined): Expected => ({
  status: 403,
  body: {
    code: 'INSUFFICIENT_PERMISSIONS',
    error: `The scope ${scope} is required`,
    details: { required_scope: scope },
  },
});
const merchantRequired = (scope: string | undefined): Expected => ({
  status: 403,
  body: {
    code: 'INSUFFICIENT_PERMISSIONS',
    error: 'Only the merchant may do this; send the request without X-Act-For',
    details: { required_scope: scope },
  },
});
const FORBIDDEN: Expected = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS', details: undefined } };
const NOT_FOUND = refused(404, 'RESOURCE_NOT_FOUND');
const NO_MEMBER = refused(403, 'ORGANIZATION_ACCESS_DENIED');
const NAME_PAYER = refused(400, 'ACTING_REQUIRED');
const PAGE_GONE = refused(404, 'RESOURCE_NOT_FOUND');

/** The response for another owner's record to a caller without a right to it. */
const foreign = (row: Row): Expected => (namesOrganization(row) ? NO_MEMBER : NOT_FOUND);
const foreignColumn = (row: Row): Column => (namesOrganization(row) ? 'another organization' : "another's");

interface Cell {
  readonly who: string;
  readonly row: Row;
  readonly options: RequestOptions;
  readonly caller: CallerName;
  readonly column: Column;
  readonly as?: MatrixFixtures;
  readonly expected: Expected;
}

const service = withHost({ frozen: true, env: { SUPPORT_REFUND_LIMITS: 'USD:100000' } });
let fixtures: MatrixFixtures;
let admin: User;
const staff = new Map<string, { readonly user: User; readonly as: MatrixFixtures }>();
let keyWithAll: TestKey;
const withOnly = new Map<string, TestKey>();
const withAllBut = new Map<string, TestKey>();

/** The fixtures, with this user instead of the user without an organization. */
const fixturesOf = ({ session, userId }: User): MatrixFixtures => {
  const own = { options: { session }, fields: {} };
  const carriers = [{ name: 'X-Session-ID', headers: { 'x-session-id': session }, query: {} }];
  return {
    ...fixtures,
    callers: { ...fixtures.callers, [STAFF]: { carriers } },
    makerOf: (caller, column) => (column === 'own' && caller === STAFF ? own : fixtures.makerOf(caller, column)),
    userIdOf: (caller) => (caller === STAFF ? userId : fixtures.userIdOf(caller)),
  };
};
const STAFF = 'user without organization';

beforeAll(async () => {
  fixtures = await createMatrixFixtures(service);
  const session = fixtures.callers['platform admin'].carriers[0]?.headers['x-session-id'] ?? '';
  admin = { session, userId: fixtures.userIdOf('platform admin'), token: '', options: { session } };
  await service.put('/admin/tiers/gold', { name: 'Gold', slug: 'gold', entity_type: 'user' }, admin.options);
  const plan = { name: 'Gold', total_cents: 0, currency: 'USD', billing_interval: 'monthly' };
  const body = { ...plan, metadata: { membership_type_id: 'gold' } };
  await service.put('/admin/products/gold-plan', body, admin.options);
  keyWithAll = await createKey(service, admin);
  for (const scope of ALL_SCOPES) {
    withOnly.set(scope, await createKey(service, admin, { scopes: [scope] }));
    withAllBut.set(scope, await createKey(service, admin, { scopes: ALL_SCOPES.filter((one) => one !== scope) }));
  }
  for (const role of Object.keys(STAFF_SCOPES)) {
    const as = role === 'admin' ? { is_admin: true } : { staff_role: role };
    const user = await signIn(service, as);
    staff.set(role, { user, as: fixturesOf(user) });
  }
});

const keyIn = (keys: ReadonlyMap<string, TestKey>, scope: string | undefined): TestKey => {
  const key = keys.get(scope ?? 'payments:read');
  if (!key) throw new Error(`no key for ${scope}`);
  return key;
};

const NO_KEY: RequestOptions = {};
const WRONG_KEY: RequestOptions = { bearer: `psk_${'0'.repeat(24)}_${'x'.repeat(43)}` };

const cellsWithoutKey = (row: Row): Cell[] => {
  const at = { row, caller: 'anonymous', column: foreignColumn(row) } as const;
  return [
    { ...at, who: 'no credential', options: NO_KEY, expected: refused(401, 'AUTHENTICATION_REQUIRED') },
    { ...at, who: 'unknown key', options: WRONG_KEY, expected: refused(401, 'API_KEY_INVALID') },
  ];
};

const OF_MERCHANT: Readonly<Record<How, Expected>> = {
  get: 'ok',
  act: 'ok',
  all: 'ok',
  open: 'ok',
  ask: NAME_PAYER,
  list: NAME_PAYER,
  create: NAME_PAYER,
  write: NAME_PAYER,
  keys: FORBIDDEN,
  page: PAGE_GONE,
};

const cellsOfMerchant = (row: Row): Cell[] => {
  const scope = row.keys ?? row.payer;
  const isOwn = isOfCaller(row);
  const at = { row, caller: 'anonymous', column: isOwn ? 'own' : foreignColumn(row) } as const;
  const options = asMerchant(keyIn(withOnly, scope));
  const withScope = { ...at, who: 'key with the scope', options, expected: OF_MERCHANT[row.how] };
  if (row.how === 'keys') return [withScope];
  const without = asMerchant(keyIn(withAllBut, scope));
  const cells: Cell[] = [
    { ...at, who: 'key without the scope', options: without, expected: scopeRequired(scope) },
    withScope,
  ];
  if (row.how === 'list') {
    const expected = row.merchant === undefined ? NAME_PAYER : 'ok';
    cells.push({ ...at, who: 'key that names an owner', options, column: 'organization', expected });
  }
  const takesGuests = row.how === 'create' || row.how === 'ask';
  if (takesGuests && !isOfOrganizations(row) && row.id !== 'subscriptions.create') {
    cells.push({ ...at, who: 'key with guest_data', options, caller: 'guest_data', expected: 'ok' });
  }
  return cells;
};

/** The user with a right to the record in the column `own`, or to its organization. */
const payerOf = (row: Row): CallerName => {
  if (row.path.endsWith('/leave')) return 'member';
  return isOfOrganizations(row) ? 'owner' : STAFF;
};

const cellsOfPayer = (row: Row): Cell[] => {
  const caller = payerOf(row);
  const userId = fixtures.userIdOf(caller);
  const asUser = (key: TestKey) => forUser(key, { userId });
  const inOrganization = (key: TestKey) => forOrganization(key, fixtures.organizationId);
  const column = namesOrganization(row) ? 'organization' : 'own';
  const at = { row, caller, column } as const;
  const ofOrganization = { ...at, column: namesNoOwner(row) ? 'own' : 'organization' } as const;
  if (row.how === 'keys') {
    return [{ ...at, who: 'key for a user', options: asUser(keyIn(withOnly, undefined)), expected: FORBIDDEN }];
  }
  if (row.payer === undefined) {
    const expected = merchantRequired(row.keys);
    const key = keyIn(withOnly, row.keys);
    return [
      { ...at, who: 'key for a user', options: asUser(key), expected },
      { ...ofOrganization, who: 'key for an organization', options: inOrganization(key), expected },
    ];
  }
  const [key, without] = [keyIn(withOnly, row.payer), keyIn(withAllBut, row.payer)];
  const inside = isOfOrganizations(row) ? FORBIDDEN : 'ok';
  const cells: Cell[] = [
    { ...at, who: 'key without the scope for a user', options: asUser(without), expected: scopeRequired(row.payer) },
    { ...at, who: 'key with the scope for a user', options: asUser(key), expected: 'ok' },
    {
      ...ofOrganization,
      who: 'key with the scope for an organization',
      options: inOrganization(key),
      expected: inside,
    },
  ];
  if (isOfCaller(row)) return cells;
  cells.push({
    ...at,
    who: 'key with the scope for a user without a right',
    options: asUser(key),
    column: foreignColumn(row),
    expected: foreign(row),
  });
  if (!isOfOrganizations(row)) {
    const column = 'another organization';
    cells.push({ ...at, who: 'key for an organization', options: inOrganization(key), column, expected: NO_MEMBER });
  }
  return cells;
};

const expectedOfStaff = (row: Row, role: string): Expected => {
  const scopes = STAFF_SCOPES[role] ?? [];
  const may = (scope: string | undefined): boolean => scope !== undefined && scopes.includes(scope);
  if (row.how === 'keys') return role === 'admin' ? 'ok' : refused(403, 'ADMIN_REQUIRED');
  if (isOfCaller(row) || row.id === 'webhooks.list-logs') return 'ok';
  if (may(row.merchant)) return 'ok';
  if (row.how === 'all' && row.id !== 'webhooks.send-test') return refused(403, 'ADMIN_REQUIRED');
  if (role === 'admin') return FORBIDDEN;
  return refusalOfStaff(row, may(readScopeOf(row)));
};

/** The refusal names the missing scope if the role may read the record. Otherwise it is the refusal of a user. */
const refusalOfStaff = (row: Row, reads: boolean): Expected => {
  if (row.how === 'get') return foreign(row);
  if (reads) return scopeRequired(row.merchant ?? row.payer);
  return row.id === 'webhooks.send-test' ? refused(403, 'INSUFFICIENT_PERMISSIONS') : foreign(row);
};

const cellsOfStaff = (row: Row): Cell[] =>
  [...staff].map(([who, { user, as }]) => {
    const isOwn = isOfCaller(row);
    const column = isOwn ? 'own' : foreignColumn(row);
    return { who, row, options: user.options, caller: STAFF, column, as, expected: expectedOfStaff(row, who) };
  });

/** Requests without the token of a hosted page. No other credential replaces the token. */
const cellsOfPage = (row: Row): Cell[] => {
  const caller = STAFF;
  const senders: Readonly<Record<string, RequestOptions>> = {
    'no credential': NO_KEY,
    'unknown key': WRONG_KEY,
    'key with every scope': asMerchant(keyWithAll),
    'key with every scope for a user': forUser(keyWithAll, { userId: fixtures.userIdOf(caller) }),
    'key with every scope for an organization': forOrganization(keyWithAll, fixtures.organizationId),
    ...Object.fromEntries([...staff].map(([role, { user }]) => [role, user.options])),
  };
  return Object.entries(senders).map(([who, options]): Cell => {
    return { who, row, options, caller, column: 'own', expected: PAGE_GONE };
  });
};

const cellsOf = (row: Row): Cell[] => (row.how === 'page' ? cellsOfPage(row) : cellsOfKeys(row));

const cellsOfKeys = (row: Row): Cell[] => [
  ...cellsWithoutKey(row),
  ...cellsOfMerchant(row),
  ...cellsOfPayer(row),
  ...cellsOfStaff(row),
];

const askOf = ({ row, caller, column, as, expected }: Cell) =>
  row.route.ask(service, as ?? fixtures, { caller, column, fresh: expected === 'ok' && row.route.changes });

/** The wrong response of a cell; undefined if the response is right. */
const wrongIn = async (cell: Cell): Promise<unknown> => {
  const { row, who, options, expected } = cell;
  const asked = await askOf(cell);
  const query = new URLSearchParams(asked.query);
  const target = query.size > 0 ? `${asked.path}?${query}` : asked.path;
  const { status, body } = await service.request(row.method, target, { ...options, body: asked.body });
  const about = { cell: `${row.method} ${row.path}: ${who} × ${cell.column}`, status, body };
  if (expected === 'ok') return status === row.route.success ? undefined : about;
  const { code, error, details } = expected.body;
  const isSame =
    status === expected.status &&
    body.success === false &&
    body.code === code &&
    (error === undefined || body.error === error) &&
    (!('details' in expected.body) || JSON.stringify(body.details) === JSON.stringify(details));
  return isSame ? undefined : { ...about, expected };
};

const AT_ONCE = 16;
const wrongOf = async (cells: readonly Cell[]): Promise<unknown[]> => {
  const wrong: unknown[] = [];
  for (let at = 0; at < cells.length; at += AT_ONCE) {
    wrong.push(...(await Promise.all(cells.slice(at, at + AT_ONCE).map(wrongIn))));
  }
  return wrong.filter((one) => one !== undefined);
};

const WITHOUT_MEANING = /^(RATE|LOG|DLV|IDEM|COUNT|KEYUSE)#/;
const tableNow = async (): Promise<string[]> =>
  (await itemsOf(service)).filter(({ pk }) => !WITHOUT_MEANING.test(String(pk))).map(canonicalJson);

const LEAST_CELLS = 1_100;

describe('the matrix of scopes', () => {
  test(`has at least ${LEAST_CELLS} cells`, () => {
    expect(ROWS.flatMap(cellsOf).length).toBeGreaterThanOrEqual(LEAST_CELLS);
  });

  test('denies every request without the scope or the right, and changes nothing', async () => {
    const denied = ROWS.flatMap(cellsOf).filter(({ expected }) => expected !== 'ok');
    // `ask` creates the records that a request names. It runs first, so only the tested requests can change the table.
    for (const cell of denied) await askOf(cell);
    await service.settle();
    const before = await tableNow();
    expect(await wrongOf(denied)).toEqual([]);
    await service.settle();
    expect(await tableNow()).toEqual(before);
  });

  test.each(ROWS.filter(({ how }) => how !== 'page').map((row) => [row.method, row.path, row] as const))(
    'allows every request with the scope and the right: %s %s',
    async (_, __, row) => {
      expect(await wrongOf(cellsOf(row).filter(({ expected }) => expected === 'ok'))).toEqual([]);
    },
  );
});

describe('a hosted page without its token', () => {
  test('gets the same response from every route for every other credential', async () => {
    const answers = new Set<string>();
    for (const { row, options, ...cell } of ROWS.filter(({ how }) => how === 'page').flatMap(cellsOf)) {
      const { path, body: sent } = await askOf({ row, options, ...cell });
      const { status, body } = await service.request(row.method, path, { ...options, body: sent });
      answers.add(canonicalJson({ status, ...body, request_id: undefined }));
    }
    expect([...answers]).toHaveLength(1);
  });
});

describe('a route that requires no credential', () => {
  test.each(endpoints.filter(({ auth }) => auth === 'public').map(({ method, path }) => [method, path]))(
    'ignores a service key: %s %s',
    async (method, path) => {
      const target = path.replace('{email}', 'nobody@example.com').replaceAll(/\{[^}]+\}/g, 'unknown');
      const [without, wrong] = [
        await service.request(method, target),
        await service.request(method, target, WRONG_KEY),
      ];
      expect(wrong.status).toBe(without.status);
    },
  );
});
