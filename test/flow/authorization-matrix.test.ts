import { beforeAll, describe, expect, inject, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { canonicalJson } from '../../shared/http/idempotency.ts';
import { itemsOf } from './flow.ts';
import { withHost } from './host.ts';
import { type Carrier, createMatrixFixtures, type MatrixFixtures } from './matrix/fixtures.ts';
import { type MatrixRoute, ROUTES } from './matrix/routes.ts';
import { CALLERS, type CallerName, COLUMNS, type Column, type ExpectedCell } from './matrix/tables.ts';

/**
 * Every route of the catalogue × every caller × every record × every credential carrier. `npm test` uses one carrier
 * per cell. A denied request does not change the table, except rate windows, logs and idempotency keys.
 */
interface MatrixCell {
  readonly caller: CallerName;
  readonly column: Column;
  readonly carrier: Carrier;
  readonly expected: Exclude<ExpectedCell, '-'>;
}

const LEAST_CELLS = 3_000;
const AT_ONCE = 32;

const service = withHost({ frozen: true });
let fixtures: MatrixFixtures;

beforeAll(async () => {
  fixtures = await createMatrixFixtures(service);
  const admin = { session: fixtures.callers['platform admin'].carriers[0]?.headers['x-session-id'] ?? '' };
  await service.put('/admin/projects/project-1', { name: 'P', slug: 'p' }, admin);
  await service.put('/admin/tiers/gold', { name: 'Gold', slug: 'gold', entity_type: 'user' }, admin);
  const plan = { name: 'Gold', total_cents: 0, currency: 'USD', billing_interval: 'monthly' };
  await service.put('/admin/products/gold-plan', { ...plan, metadata: { membership_type_id: 'gold' } }, admin);
  const invite = { project_id: 'project-1', inviter_name: 'Ina', role: 'editor', email: 'new@example.com' };
  await service.put('/admin/invites/invite-1', { ...invite, expires_at: '2100-01-01T00:00:00.000Z' }, admin);
});

const cellsOf = ({ table }: MatrixRoute): MatrixCell[] =>
  CALLERS.flatMap((caller) =>
    COLUMNS.flatMap((column) => {
      const expected = table[caller][column];
      if (expected === '-') return [];
      return fixtures.callers[caller].carriers.map((carrier) => ({ caller, column, carrier, expected }));
    }),
  );

let turn = 0;
/** True if the cell is tested. `npm test` takes the carriers of a caller in turn; `npm run test:long` takes all. */
const isAsked = ({ caller, carrier }: MatrixCell): boolean => {
  const { carriers } = fixtures.callers[caller];
  if (carrier === carriers[0]) turn += 1;
  return inject('scale') > 1 || carrier === carriers[turn % carriers.length];
};

/** Describes the wrong response of a cell; undefined if the response is right. */
const wrongIn = async (id: string, route: MatrixRoute, cell: MatrixCell): Promise<string | undefined> => {
  const { caller, column, carrier, expected } = cell;
  const method = endpoints.find((endpoint) => endpoint.id === id)?.method ?? '';
  const fresh = expected === 'ok' && route.changes;
  const asked = await route.ask(service, fixtures, { caller, column, fresh });
  const query = new URLSearchParams({ ...asked.query, ...carrier.query });
  const target = query.size > 0 ? `${asked.path}?${query}` : asked.path;
  const { status, body } = await service.request(method, target, { headers: carrier.headers, body: asked.body });
  const wanted = expected === 'ok' ? route.success : expected;
  if (status === wanted) return undefined;
  return `${id}: ${caller} (${carrier.name}) × ${column}: ${status} ${body?.code ?? ''} instead of ${wanted}`;
};

const inTurns = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
};

const WITHOUT_MEANING = /^(RATE|LOG|DLV|IDEM|COUNT)#/;
const tableNow = async (): Promise<string[]> =>
  (await itemsOf(service)).filter(({ pk }) => !WITHOUT_MEANING.test(String(pk))).map(canonicalJson);

const routes = Object.entries(ROUTES);
const cellsOfAll = (isWanted: (cell: MatrixCell) => boolean) =>
  routes.flatMap(([id, route]) =>
    cellsOf(route)
      .filter(isWanted)
      .map((cell) => ({ id, route, cell })),
  );

describe('the authorization matrix', () => {
  test('covers every route, with at least 3,000 cells in total', () => {
    expect(Object.keys(ROUTES).sort()).toEqual(endpoints.map(({ id }) => id).sort());
    expect(cellsOfAll(() => true).length).toBeGreaterThanOrEqual(LEAST_CELLS);
  });

  test('denies every request that a caller may not make, and changes nothing', async () => {
    const denied = cellsOfAll(({ expected }) => expected !== 'ok').filter(({ cell }) => isAsked(cell));
    // `ask` creates the records that a request names. It runs first, so only the tested requests can change the table.
    await inTurns(denied, ({ route, cell }) => route.ask(service, fixtures, { ...cell, fresh: false }));
    await service.settle();
    const before = await tableNow();
    const wrong = await inTurns(denied, ({ id, route, cell }) => wrongIn(id, route, cell));
    await service.settle();
    expect(wrong.filter((line) => line !== undefined)).toEqual([]);
    expect(await tableNow()).toEqual(before);
  }, 120_000);

  test.each(routes)('allows every request that a caller may make: %s', async (id, route) => {
    const allowed = cellsOf(route).filter((cell) => cell.expected === 'ok' && isAsked(cell));
    const wrong = await inTurns(allowed, (cell) => wrongIn(id, route, cell));
    expect(wrong.filter((line) => line !== undefined)).toEqual([]);
  });
});
