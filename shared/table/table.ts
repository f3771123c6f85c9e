import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import { connect, type Item } from './connection.ts';
import type { Changes, Clause } from './expression.ts';
import type { Key } from './keys.ts';
import { getItem, getItems, type IndexQuery, type Page, queryIndex, queryItems, scanItems } from './reads.ts';
import {
  putItem,
  removeItem,
  type Transacted,
  type TransactionStep,
  transact,
  updateItem,
  type Written,
} from './writes.ts';

export type { Item } from './connection.ts';
export type { IndexQuery, Page } from './reads.ts';
export type { TransactionStep, Written } from './writes.ts';

/** The only access to the table. Clauses guard every write; every read leaves out expired items. */
export type Table = ReturnType<typeof openTable>;

type Consistency = { readonly consistent?: boolean };

export const openTable = (config: DynamoDBClientConfig, tableName: string, now: Now) => {
  const client = new DynamoDBClient(config);
  // It formats every call and answer for a log that the service does not write.
  client.middlewareStack.remove('loggerMiddleware');
  const connection = connect(client, tableName, now);
  return {
    get: (key: Key, options?: Consistency): Promise<Item | undefined> => getItem(connection, key, options),
    getMany: (keys: readonly Key[], options?: Consistency): Promise<readonly (Item | undefined)[]> =>
      getItems(connection, keys, options),
    put: (item: Item, clauses?: readonly Clause[]): Promise<Written> => putItem(connection, item, clauses),
    update: (key: Key, changes: Changes, clauses?: readonly Clause[]): Promise<Written> =>
      updateItem(connection, { key, changes, clauses }),
    remove: (key: Key, clauses?: readonly Clause[]): Promise<Written> => removeItem(connection, key, clauses),
    /** The item counts as absent from now on, and DynamoDB deletes it later: needs no right to delete. */
    expire: (key: Key, clauses: readonly Clause[]): Promise<Written> =>
      updateItem(connection, { key, changes: { set: { ttl: epochSeconds(now()) } }, clauses }),
    transact: (steps: readonly TransactionStep[]): Promise<Transacted> => transact(connection, steps),
    queryIndex: (query: IndexQuery): Promise<Page> => queryIndex(connection, query),
    /** Only the erasure of a person reads the whole table: also expired items that DynamoDB has not deleted yet. */
    scanItems: (slice: { readonly after: Item | undefined; readonly limit: number }): Promise<Page> =>
      scanItems(connection, slice),
    queryItems: (query: Omit<IndexQuery, 'index'> & Consistency): Promise<Page> => queryItems(connection, query),
  };
};
