/** @module Random operations on few keys and attributes, so the operations often conflict. */

import fc from 'fast-check';
import type {
  Connection,
  Item,
  PageCount,
  PartitionPage,
  TransactionStep,
} from '../../../shared/platform/connection.ts';
import type { Changes, Clause, Scalar } from '../../../shared/platform/expression.ts';
import type { Key } from '../../../shared/platform/keys.ts';
import { NOW_SECONDS } from './engines.ts';
import { STREAMED } from './sort-keys.ts';

export type TableOperation =
  | { readonly get: Key }
  | { readonly getBatch: readonly Key[] }
  | { readonly put: Item; readonly if: readonly Clause[] }
  | { readonly update: Key; readonly changes: Changes; readonly if: readonly Clause[] }
  | { readonly delete: Key; readonly if: readonly Clause[] }
  | { readonly transact: readonly TransactionStep[] }
  | { readonly query: PartitionPage }
  | { readonly count: PartitionPage };

/** The keys differ in their UTF-8 bytes. One key is outside the Basic Multilingual Plane. */
const PARTITIONS = ['A', 'B', 'ü'] as const;
const SORT_KEYS = [STREAMED, 'HIST#1', 'HIST#2', '\uFFFD', '💶'] as const;
const INDEX_KEYS = ['o1', 'o2'] as const;
const DAYS = ['2026-01-01', '2026-01-02', '2026-01-03'] as const;
/** `ttl` values in the past, in this second and in the future. */
const TTLS = [NOW_SECONDS - 1, NOW_SECONDS, NOW_SECONDS + 1] as const;

/** Without this option, `fc.record` and `fc.dictionary` create objects without a prototype. */
const PLAIN = { noNullPrototype: true } as const;

const key: fc.Arbitrary<Key> = fc.record(
  {
    pk: fc.constantFrom(...PARTITIONS),
    sk: fc.constantFrom(...SORT_KEYS),
  },
  PLAIN,
);
const number = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, 1_234_567, -0.25, 1e15));
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  number,
  fc.constantFrom('', 'a', 'b', 'ab', 'ü', '💶', '\uFFFD', '\u0000'),
  fc.boolean(),
  fc.constant(null),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('x', 'y', '\u0000B'), scalar, { ...PLAIN, maxKeys: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(new Set(['a', 'b']), new Set([1, 2.5])) },
);

const NAMES = ['n', 'a', 'status', 'version', 'm'] as const;
const PATHS = [...NAMES, 'm.x', 'm.y', 'f.s', 'f.t', 'ttl', 'owner'] as const;
const path = fc.constantFrom(...PATHS);
/**
 * The paths that an update may remove. Dynoxide accepts the removal of a nested path in a missing map, unlike DynamoDB
 * and the embedded table.
 */
const topLevel = fc.constantFrom(...NAMES, 'ttl', 'owner');
const compared = fc.tuple(path, scalar);
const comparedText = fc.tuple(path, fc.constantFrom('a', 'b', 'ü'));

const inOrder = fc.tuple(path, fc.oneof(number, fc.constantFrom('a', 'b', 'ü', '💶', '\uFFFD')));

const clause: fc.Arbitrary<Clause> = fc.letrec<{ clause: Clause }>((tie) => ({
  clause: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom<Clause>({ absent: true }, { exists: true }),
    compared.map((equals): Clause => ({ equals })),
    compared.map((differs): Clause => ({ differs })),
    inOrder.map((atMost): Clause => ({ atMost })),
    inOrder.map((atLeast): Clause => ({ atLeast })),
    inOrder.map((below): Clause => ({ below })),
    comparedText.map((contains): Clause => ({ contains })),
    fc.tuple(path, fc.array(scalar, { minLength: 1, maxLength: 3 })).map((oneOf): Clause => ({ oneOf })),
    path.map((lacks): Clause => ({ lacks })),
    path.map((has): Clause => ({ has })),
    fc.array(tie('clause'), { minLength: 1, maxLength: 3 }).map((any): Clause => ({ any })),
    fc.array(tie('clause'), { minLength: 1, maxLength: 3 }).map((every): Clause => ({ every })),
  ),
})).clause;
const clauses = fc.oneof(fc.constant([]), fc.array(clause, { maxLength: 3 }));

/**
 * Replaces null in the map `m`. Dynoxide treats null as a map if an update names a path in it, unlike DynamoDB and the
 * embedded table.
 */
const withoutNullMap = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...fields,
  ...(fields['m'] === null && { m: 'a' }),
});

const listFields = fc.dictionary(fc.constantFrom('s', 't', 'u'), fc.constantFrom('a', 'b', 1, true), {
  ...PLAIN,
  maxKeys: 3,
});
const item: fc.Arbitrary<Item> = fc
  .tuple(
    key,
    fc.dictionary(fc.constantFrom('n', 'a', 'status', 'm'), value, { ...PLAIN, maxKeys: 4 }),
    fc.record(
      {
        version: fc.integer({ min: 1, max: 4 }),
        ttl: fc.constantFrom<unknown>(...TTLS, 'never'),
        owner: fc.constantFrom<unknown>(...INDEX_KEYS),
        project: fc.constantFrom('p1', 'p2'),
        sort: fc.constantFrom(...DAYS),
        f: listFields,
        due: fc.constantFrom('DUE#0', 'DUE#1'),
        due_at: fc.constantFrom(...DAYS),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([place, fields, known]) => ({ ...withoutNullMap(fields), ...known, ...place }));

const overlaps = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
const changes: fc.Arbitrary<Changes> = fc
  .record({
    set: fc
      .tuple(
        fc.dictionary(path, value, { ...PLAIN, minKeys: 1, maxKeys: 3 }),
        fc.dictionary(topLevel, fc.constant(undefined), { ...PLAIN, maxKeys: 1 }),
      )
      .map(([set, removed]) => ({ ...withoutNullMap(set), ...('owner' in set && { owner: 'o1' }), ...removed })),
    remove: fc.array(topLevel, { maxLength: 1 }),
    add: fc.dictionary(fc.constantFrom('n', 'version', 'm.x', 'count'), fc.integer({ min: -5, max: 5 }), {
      ...PLAIN,
      maxKeys: 1,
    }),
  })
  .filter(({ set, remove, add }) => {
    const paths = [...Object.keys(set), ...remove, ...Object.keys(add)];
    return !paths.some((one, index) => paths.slice(index + 1).some((other) => overlaps(one, other)));
  });

/**
 * Requests that are invalid for any table content. DynamoDB and the embedded table validate a request before they test
 * its condition. Dynoxide finds some errors only if the condition holds, so these requests have no condition.
 */
const invalid: fc.Arbitrary<TableOperation> = key.chain((at) =>
  fc.constantFrom<TableOperation>(
    { put: { ...at, owner: '', sort: DAYS[0] }, if: [] },
    { put: { ...at, owner: 7, sort: DAYS[0] }, if: [] },
    { put: { ...at, pk: '' }, if: [] },
    { update: at, changes: { set: { pk: 'A' } }, if: [] },
    { update: at, changes: { set: { owner: '' } }, if: [] },
    { update: at, changes: { set: { owner: 7 } }, if: [] },
    { update: at, changes: { set: { m: 1, 'm.x': 1 } }, if: [] },
    { transact: [{ put: { ...at } }, { delete: at }] },
    { query: { partition: 'A', filter: [{ equals: ['sk', 'A'] }] } },
    { query: { partition: 'A', from: 'b', to: 'a' } },
  ),
);

const step: fc.Arbitrary<TransactionStep> = fc.oneof(
  fc.record({ put: item, if: clauses }),
  fc.record({ update: key, changes, if: clauses }),
  fc.record({ delete: key, if: clauses }),
  fc.record({ check: key, if: fc.array(clause, { minLength: 1, maxLength: 2 }) }),
);

const bounds = fc.record({ from: fc.constantFrom(undefined, ...DAYS), to: fc.constantFrom(undefined, ...DAYS) });
/** A filter may not name a key attribute, but the existence clauses do. */
const namesNoKey = (filter: readonly Clause[] | undefined): boolean =>
  !/"absent":|"exists":/.test(JSON.stringify(filter ?? []));
const page = fc.record(
  {
    descending: fc.boolean(),
    limit: fc.integer({ min: 1, max: 4 }),
    filter: clauses.filter(namesNoKey),
    consistent: fc.constant(true),
  },
  { requiredKeys: [] },
);
const tableQuery: fc.Arbitrary<PartitionPage> = fc
  .tuple(fc.constantFrom(...PARTITIONS), page)
  .map(([partition, rest]) => ({ partition, ...rest }));
const indexQuery: fc.Arbitrary<PartitionPage> = fc
  .tuple(
    fc.constantFrom<Pick<PartitionPage, 'index' | 'partition'>>(
      { index: 'owner', partition: 'o1' },
      { index: 'owner', partition: 'o2' },
      { index: 'project', partition: 'p1' },
      { index: 'due', partition: 'DUE#0' },
    ),
    bounds,
    page,
  )
  .map(([place, range, { consistent: _, ...rest }]) => ({ ...place, ...range, ...rest }));

const keyName = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

export const anyTableOperation: fc.Arbitrary<TableOperation> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ get: key }) },
  {
    weight: 1,
    arbitrary: fc.record({ getBatch: fc.uniqueArray(key, { minLength: 1, maxLength: 4, selector: keyName }) }),
  },
  { weight: 6, arbitrary: fc.record({ put: item, if: clauses }) },
  { weight: 1, arbitrary: invalid },
  { weight: 5, arbitrary: fc.record({ update: key, changes, if: clauses }) },
  { weight: 2, arbitrary: fc.record({ delete: key, if: clauses }) },
  { weight: 4, arbitrary: fc.record({ transact: fc.array(step, { minLength: 1, maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ query: tableQuery }) },
  { weight: 3, arbitrary: fc.record({ query: indexQuery }) },
  { weight: 1, arbitrary: fc.record({ count: indexQuery }) },
);

/**
 * Both errors count as a refusal. Dynoxide reports some transactions as canceled that DynamoDB and the embedded table
 * report as invalid.
 */
const REFUSED = ['ValidationException', 'TransactionCanceledException'];

/** The result of the table, or its refusal. */
export const answerOf = async (connection: Connection, asked: TableOperation): Promise<unknown> => {
  try {
    return await carryOut(connection, asked);
  } catch (error) {
    if (error instanceof Error && REFUSED.includes(error.name)) return 'refused';
    throw error;
  }
};

const carryOut = async (connection: Connection, asked: TableOperation): Promise<unknown> => {
  if ('get' in asked) return connection.getItem(asked.get, true);
  if ('getBatch' in asked) return sorted((await connection.getBatch(asked.getBatch, true)).items);
  if ('put' in asked) return connection.putItem(asked.put, asked.if);
  if ('update' in asked) {
    return connection.updateItem({ key: asked.update, changes: asked.changes, clauses: asked.if });
  }
  if ('delete' in asked) return connection.deleteItem(asked.delete, asked.if);
  if ('transact' in asked) return connection.transact(asked.transact);
  if ('count' in asked) return countsOf(connection, asked.count);
  return pagesOf(connection, asked.query);
};

/** All pages as received. A page ends at its limit, and the next page continues after it. */
const pagesOf = async (connection: Connection, query: PartitionPage): Promise<unknown> => {
  const pages: unknown[] = [];
  let after: Item | undefined;
  do {
    const found = await connection.query({ ...query, after });
    pages.push(found);
    after = found.next;
  } while (after);
  return pages;
};

const countsOf = async (connection: Connection, query: PartitionPage): Promise<unknown> => {
  const counts: PageCount[] = [];
  do counts.push(await connection.count({ ...query, after: counts.at(-1)?.next }));
  while (counts.at(-1)?.next);
  return counts;
};

const sorted = (items: readonly Item[]): readonly Item[] =>
  items.toSorted((one, other) => (itemName(one) < itemName(other) ? -1 : 1));
const itemName = (one: Item): string => `${one['pk']}\n${one['sk']}`;

/** All stored items, by key. */
export const everything = async (connection: Connection): Promise<readonly Item[]> =>
  sorted((await connection.scan({ after: undefined, limit: 1_000 })).items);

/** Deletes all items. */
export const clear = async (connection: Connection): Promise<void> => {
  for (const { pk, sk } of await everything(connection)) {
    await connection.deleteItem({ pk: String(pk), sk: String(sk) }, []);
  }
};
