import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { canonicalJson } from '../../shared/http/idempotency.ts';
import { itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { ALL_SCOPES, asMerchant, createKey, forOrganization, forUser, type TestKey } from './keys.ts';
import { createMatrixFixtures, type MatrixFixtures } from './matrix/fixtures.ts';
import { type MatrixRoute, ROUTES } from './matrix/routes.ts';
import type { CallerName, Column } from './matrix/tables.ts';

/**
 * Every route × service keys without and with the scope, as the merchant and for a payer × the staff roles. The two
 * tables below are written from the decisions, section 22, and not read from the service.
 */

/**
 * `get` reads a record, `list` the list of one owner, `create` makes a record (of a guest, too), `write` changes a
 * payer's record, `act` changes any record, `all` names no owner's record.
 */
const TABLE = `
POST   /payments/intents                        | -                    | payments:write      | create
POST   /payments                                | -                    | payments:write      | create
PUT    /payments/intents/{id}                   | -                    | payments:write      | write
POST   /payments/confirm/{id}                   | -                    | payments:write      | write
POST   /payments/intents/{id}/cancel            | payments:operate     | payments:write      | act
POST   /payments/sync/{provider_payment_id}     | payments:operate     | -                   | act
GET    /payments/{id}                           | payments:read        | payments:read       | get
GET    /payments/{id}/timeline                  | payments:read        | payments:read       | get
GET    /payments                                | payments:read        | payments:read       | list
GET    /payments/summary                        | payments:read        | payments:read       | list
POST   /payments/{id}/capture                   | payments:capture     | -                   | act
POST   /payments/{id}/refunds                   | refunds:write        | -                   | act
GET    /payments/{id}/refunds                   | payments:read        | payments:read       | get
GET    /refunds/{id}                            | payments:read        | payments:read       | get
GET    /refunds                                 | payments:read        | -                   | all
GET    /payments/{id}/disputes                  | payments:read        | payments:read       | get
GET    /disputes                                | payments:read        | -                   | all
POST   /payment-methods                         | -                    | methods:write       | create
GET    /payment-methods/{id}                    | customers:read       | customers:read      | get
GET    /payment-methods                         | customers:read       | customers:read      | list
PUT    /payment-methods/{id}                    | -                    | methods:write       | write
PATCH  /payment-methods/{id}/billing-address    | -                    | methods:write       | write
POST   /payment-methods/{id}/set-default        | -                    | methods:write       | write
DELETE /payment-methods/{id}                    | -                    | methods:write       | write
POST   /customers                               | -                    | methods:write       | create
GET    /customers/{id}                          | customers:read       | customers:read      | get
GET    /customers                               | customers:read       | customers:read      | list
PUT    /customers/{id}                          | -                    | methods:write       | write
DELETE /customers/{id}                          | -                    | methods:write       | write
POST   /addresses                               | -                    | methods:write       | create
GET    /addresses/{id}                          | customers:read       | customers:read      | get
GET    /addresses                               | customers:read       | customers:read      | list
PUT    /addresses/{id}                          | -                    | methods:write       | write
POST   /addresses/{id}/set-default              | -                    | methods:write       | write
DELETE /addresses/{id}                          | -                    | methods:write       | write
POST   /subscriptions                           | -                    | subscriptions:write | create
GET    /subscriptions/{id}                      | subscriptions:read   | subscriptions:read  | get
GET    /subscriptions/{id}/timeline             | subscriptions:read   | subscriptions:read  | get
GET    /subscriptions                           | subscriptions:read   | subscriptions:read  | list
PATCH  /subscriptions/{id}                      | -                    | subscriptions:write | write
PATCH  /subscriptions/{id}/billing-address      | -                    | subscriptions:write | write
POST   /subscriptions/{id}/cancel               | subscriptions:operate| subscriptions:write | act
POST   /subscriptions/{id}/reactivate           | -                    | subscriptions:write | write
POST   /subscriptions/{id}/pause                | -                    | subscriptions:write | write
POST   /subscriptions/{id}/resume               | -                    | subscriptions:write | write
POST   /subscriptions/{id}/change               | subscriptions:operate| subscriptions:write | act
POST   /subscriptions/{id}/change/preview       | subscriptions:operate| subscriptions:write | act
DELETE /subscriptions/{id}/change               | subscriptions:operate| subscriptions:write | act
GET    /memberships/{id}                        | subscriptions:read   | subscriptions:read  | get
GET    /memberships                             | subscriptions:read   | subscriptions:read  | list
POST   /organizations                           | -                    | organizations:write | create
GET    /organizations                           | -                    | customers:read      | list
GET    /organizations/{id}                      | customers:read       | customers:read      | get
PUT    /organizations/{id}                      | -                    | organizations:write | write
DELETE /organizations/{id}                      | -                    | organizations:write | write
GET    /organizations/{id}/members              | customers:read       | customers:read      | get
POST   /organizations/{id}/members              | -                    | organizations:write | write
PUT    /organizations/{id}/members/{memberId}   | -                    | organizations:write | write
DELETE /organizations/{id}/members/{memberId}   | -                    | organizations:write | write
POST   /organizations/{id}/leave                | -                    | organizations:write | write
GET    /webhooks/logs                           | webhooks:read        | -                   | all
GET    /webhooks/logs/{id}                      | webhooks:read        | -                   | get
POST   /webhooks/test                           | webhooks:write       | -                   | all
POST   /webhooks/logs/{id}/replay               | webhooks:write       | -                   | act
GET    /admin/payments                          | payments:read        | -                   | all
GET    /admin/subscriptions                     | subscriptions:read   | -                   | all
GET    /admin/search                            | payments:read        | -                   | all
GET    /admin/summary                           | payments:read        | -                   | all
POST   /admin/cache/clear                       | admin:cache          | -                   | all
POST   /admin/erasures                          | admin:erasures       | -                   | all
GET    /admin/erasures/{id}                     | admin:erasures       | -                   | all
PUT    /admin/{kind}/{id}                       | catalog:write        | -                   | all
GET    /admin/{kind}/{id}                       | catalog:write        | -                   | all
DELETE /admin/{kind}/{id}                       | catalog:write        | -                   | all
GET    /admin/{kind}                            | catalog:write        | -                   | all
POST   /admin/keys                              | -                    | -                   | keys
GET    /admin/keys                              | -                    | -                   | keys
GET    /admin/keys/{id}                         | -                    | -                   | keys
PATCH  /admin/keys/{id}                         | -                    | -                   | keys
POST   /admin/keys/{id}/rotate                  | -                    | -                   | keys
DELETE /admin/keys/{id}                         | -                    | -                   | keys
`;

const ROLES: Readonly<Record<string, readonly string[]>> = {
  support: [
    ...['payments:read', 'subscriptions:read', 'customers:read', 'payments:operate', 'refunds:write'],
    'webhooks:read',
  ],
  finance: [
    ...['payments:read', 'subscriptions:read', 'customers:read', 'payments:capture', 'refunds:write'],
    'subscriptions:operate',
  ],
  operations: [
    ...['payments:read', 'subscriptions:read', 'payments:operate', 'payments:capture', 'subscriptions:operate'],
    ...['catalog:write', 'webhooks:read', 'webhooks:write', 'admin:cache'],
  ],
  admin: ALL_SCOPES,
};

type How = 'get' | 'list' | 'create' | 'write' | 'act' | 'all' | 'keys';

interface Row {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly merchant: string | undefined;
  readonly payer: string | undefined;
  readonly how: How;
  readonly route: MatrixRoute;
}

const scopeIn = (text: string | undefined): string | undefined => (text === '-' ? undefined : text);

const ROWS: readonly Row[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [call = '', merchant, payer, how] = line.split('|').map((cell) => cell.trim());
    const [method = '', path = ''] = call.split(/ +/);
    const id = endpoints.find((endpoint) => endpoint.method === method && endpoint.path === path)?.id ?? call;
    const route = ROUTES[id];
    if (!route) throw new Error(`the catalogue has no route ${call}`);
    return { id, method, path, merchant: scopeIn(merchant), payer: scopeIn(payer), how: how as How, route };
  });

/** The scope with which the merchant reads the record that the path names. */
const readScopeOf = ({ path }: Row): string => {
  if (/^\/(payments|refunds)/.test(path)) return 'payments:read';
  if (/^\/(subscriptions|memberships)/.test(path)) return 'subscriptions:read';
  return path.startsWith('/webhooks') ? 'webhooks:read' : 'customers:read';
};

const isOfOrganizations = ({ path }: Row): boolean => path.startsWith('/organizations');
const namesOrganization = ({ path }: Row): boolean => path.startsWith('/organizations/{id}');

/** `ok` is the route's own success. A body names exactly these fields beside `success` and `request_id`. */
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

/** The record of another owner, for a caller without a right to it. */
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
const withOnly = new Map<string, TestKey>();
const withAllBut = new Map<string, TestKey>();

/** The fixtures with the user in place of the user without an organization. */
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
  for (const scope of ALL_SCOPES) {
    withOnly.set(scope, await createKey(service, admin, { scopes: [scope] }));
    withAllBut.set(scope, await createKey(service, admin, { scopes: ALL_SCOPES.filter((one) => one !== scope) }));
  }
  for (const role of Object.keys(ROLES)) {
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
  list: NAME_PAYER,
  create: NAME_PAYER,
  write: NAME_PAYER,
  keys: FORBIDDEN,
};

const cellsOfMerchant = (row: Row): Cell[] => {
  const scope = row.merchant ?? row.payer;
  const isOwn = row.how === 'create' || row.how === 'list';
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
  if (row.how === 'create' && !isOfOrganizations(row) && row.id !== 'subscriptions.create') {
    cells.push({ ...at, who: 'key with guest_data', options, caller: 'guest_data', expected: 'ok' });
  }
  return cells;
};

/** The user with a right to the record of `own`, or to its organization. */
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
  const ofOrganization = { ...at, column: 'organization' } as const;
  if (row.how === 'keys') {
    return [{ ...at, who: 'key for a user', options: asUser(keyIn(withOnly, undefined)), expected: FORBIDDEN }];
  }
  if (row.payer === undefined) {
    const expected = merchantRequired(row.merchant);
    const key = keyIn(withOnly, row.merchant);
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
  if (row.how === 'list' || row.how === 'create') return cells;
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
  const scopes = ROLES[role] ?? [];
  const may = (scope: string | undefined): boolean => scope !== undefined && scopes.includes(scope);
  if (row.how === 'keys') return role === 'admin' ? 'ok' : refused(403, 'ADMIN_REQUIRED');
  if (row.how === 'create' || row.how === 'list' || row.id === 'webhooks.list-logs') return 'ok';
  if (may(row.merchant)) return 'ok';
  if (row.how === 'all' && row.id !== 'webhooks.send-test') return refused(403, 'ADMIN_REQUIRED');
  if (role === 'admin') return FORBIDDEN;
  return refusalOfStaff(row, may(readScopeOf(row)));
};

/** The missing scope for a record that staff may read, else the response to a user. */
const refusalOfStaff = (row: Row, reads: boolean): Expected => {
  if (row.how === 'get') return foreign(row);
  if (reads) return scopeRequired(row.merchant ?? row.payer);
  return row.id === 'webhooks.send-test' ? refused(403, 'INSUFFICIENT_PERMISSIONS') : foreign(row);
};

const cellsOfStaff = (row: Row): Cell[] =>
  [...staff].map(([who, { user, as }]) => {
    const isOwn = row.how === 'create' || row.how === 'list';
    const column = isOwn ? 'own' : foreignColumn(row);
    return { who, row, options: user.options, caller: STAFF, column, as, expected: expectedOfStaff(row, who) };
  });

const cellsOf = (row: Row): Cell[] => [
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

const LEAST_CELLS = 700;

describe('the matrix of scopes', () => {
  test('covers every route that asks for a credential', () => {
    const open = endpoints.filter(({ auth }) => auth === 'public' || auth === 'provider-signature');
    // `me.test.ts` refuses keys at GET /me, which every session may read.
    expect([...ROWS.map(({ id }) => id), ...open.map(({ id }) => id), 'api.me'].sort()).toEqual(
      endpoints.map(({ id }) => id).sort(),
    );
    expect(ROWS.flatMap(cellsOf).length).toBeGreaterThanOrEqual(LEAST_CELLS);
  });

  test('denies every request without the scope or the right, and changes nothing', async () => {
    const denied = ROWS.flatMap(cellsOf).filter(({ expected }) => expected !== 'ok');
    // The named records are created first, so that only the requests themselves could change the table.
    for (const cell of denied) await askOf(cell);
    await service.settle();
    const before = await tableNow();
    expect(await wrongOf(denied)).toEqual([]);
    await service.settle();
    expect(await tableNow()).toEqual(before);
  });

  test.each(ROWS.map((row) => [row.method, row.path, row] as const))(
    'allows every request with the scope and the right: %s %s',
    async (_, __, row) => {
      expect(await wrongOf(cellsOf(row).filter(({ expected }) => expected === 'ok'))).toEqual([]);
    },
  );
});

describe('a route that asks for no credential', () => {
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
