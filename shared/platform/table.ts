/** @module The only access to the table. Clauses guard writes. All reads except counts and scans hide expired items. */

import { epochSeconds, type Now } from '../core/time.ts';
import type {
  Connection,
  Consistency,
  IndexName,
  Item,
  Page,
  PageCount,
  PartitionPage,
  PartitionQuery,
  Slice,
  Transacted,
  TransactionStep,
  Written,
} from './connection.ts';
import type { Changes, Clause } from './expression.ts';
import type { Key } from './keys.ts';
import { inCurrentTrace } from './stored-trace.ts';
import { readBatch, transactInTime } from './throttled-table.ts';

export type { Item, Page, PageCount, TransactionStep, Written } from './connection.ts';

export type IndexQuery = PartitionQuery & { readonly index: IndexName };

export type Table = ReturnType<typeof openTable>;

const BATCH_GET_LIMIT = 100;
const nameOf = (key: { pk?: unknown; sk?: unknown }): string => `${key.pk}\n${key.sk}`;

/** The dependencies of every store, and of most use cases. */
export interface StoreDeps {
  readonly table: Table;
  readonly now: Now;
}

const stepInTrace = (step: TransactionStep): TransactionStep =>
  'put' in step ? { ...step, put: inCurrentTrace(step.put) } : step;

export const openTable = (connection: Connection, now: Now) => {
  const unlessExpired = (item: Item | undefined): Item | undefined =>
    item && typeof item['ttl'] === 'number' && item['ttl'] <= epochSeconds(now()) ? undefined : item;

  const guarded = async (written: Promise<Written>): Promise<Written> => {
    const result = await written;
    return result.ok ? result : { ok: false, found: unlessExpired(result.found) };
  };

  const getMany = async (keys: readonly Key[], { consistent = false }: Consistency = {}) => {
    const found = new Map<string, Item>();
    const unique = [...new Map(keys.map((key) => [nameOf(key), { pk: key.pk, sk: key.sk }])).values()];
    const batches: Promise<readonly Item[]>[] = [];
    for (let start = 0; start < unique.length; start += BATCH_GET_LIMIT) {
      batches.push(readBatch(connection, unique.slice(start, start + BATCH_GET_LIMIT), consistent));
    }
    for (const item of (await Promise.all(batches)).flat()) found.set(nameOf(item), item);
    return keys.map((key) => unlessExpired(found.get(nameOf(key))));
  };

  const page = async (query: PartitionPage): Promise<Page> => {
    const { items, next } = await connection.query(query);
    return { items: items.filter((item) => unlessExpired(item) !== undefined), next };
  };

  /** Reads page after page as the caller iterates. */
  async function* pages(query: PartitionPage): AsyncGenerator<Item> {
    let after: Item | undefined;
    do {
      const { items, next } = await page({ ...query, after });
      yield* items;
      after = next;
    } while (after);
  }

  const update = (key: Key, changes: Changes, clauses: readonly Clause[] = []): Promise<Written> =>
    guarded(connection.updateItem({ key, changes, clauses }));

  return {
    get: async (key: Key, { consistent = true }: Consistency = {}): Promise<Item | undefined> =>
      unlessExpired(await connection.getItem(key, consistent)),
    /**
     * Reads all keys, a hundred per request. @returns the items in the order of the keys; undefined for an absent item
     */
    getMany: (keys: readonly Key[], options?: Consistency): Promise<readonly (Item | undefined)[]> =>
      getMany(keys, options),
    put: (item: Item, clauses: readonly Clause[] = []): Promise<Written> =>
      guarded(connection.putItem(inCurrentTrace(item), clauses)),
    /** @returns the item after the update */
    update,
    remove: (key: Key, clauses: readonly Clause[] = []): Promise<Written> =>
      guarded(connection.deleteItem(key, clauses)),
    /** Makes the item count as absent immediately; DynamoDB deletes it later. Needs no right to delete. */
    expire: (key: Key, clauses: readonly Clause[]): Promise<Written> =>
      update(key, { set: { ttl: epochSeconds(now()) } }, clauses),
    /** All or none. @returns the indexes of failed steps and the items found by them, if a condition fails */
    transact: async (steps: readonly TransactionStep[]): Promise<Transacted> => {
      const result = await transactInTime(connection, steps.map(stepInTrace));
      return result.ok ? result : { ...result, found: result.found.map(unlessExpired) };
    },
    /** One page of an index, eventually consistent. */
    queryIndex: (query: IndexQuery): Promise<Page> => page(query),
    /** Eventually consistent. The index lacks `ttl`, so expired items count until DynamoDB deletes them. */
    countIndex: (query: IndexQuery): Promise<PageCount> => connection.count(query),
    /** Only for the erasure of a person. Includes expired items that DynamoDB has not deleted yet. */
    scanItems: (slice: Slice): Promise<Page> => connection.scan(slice),
    /** One page of the items in a partition of the table itself, by sort key. */
    queryItems: (query: PartitionQuery & Consistency): Promise<Page> => page(query),
    /** All entries of an index in a range, eventually consistent. */
    eachInIndex: (query: Omit<IndexQuery, 'after'>): AsyncGenerator<Item> => pages(query),
    /** All items of a partition in a range of sort keys. */
    eachItem: (query: Omit<PartitionQuery & Consistency, 'after'>): AsyncGenerator<Item> => pages(query),
  };
};
