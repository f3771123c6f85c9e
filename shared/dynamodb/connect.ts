import { epochSeconds, type Now } from '../core/time.ts';
import type { Connection } from '../table/connection.ts';
import { expression } from '../table/expression.ts';
import type { DynamoOperations } from './operations.ts';
import { countPage, getBatch, getItem, queryPage, scanPage } from './reads.ts';
import { deleteItem, putItem, transact, updateItem } from './writes.ts';

/** A table of DynamoDB, by either client. */
export const connectDynamo = (operations: DynamoOperations, tableName: string, now: Now): Connection => {
  const dynamo = { operations, tableName, compose: () => expression(epochSeconds(now())) };
  return {
    getItem: (key, consistent) => getItem(dynamo, key, consistent),
    getBatch: (keys, consistent) => getBatch(dynamo, keys, consistent),
    putItem: (item, clauses) => putItem(dynamo, item, clauses),
    updateItem: (update) => updateItem(dynamo, update),
    deleteItem: (key, clauses) => deleteItem(dynamo, key, clauses),
    transact: (steps) => transact(dynamo, steps),
    query: (query) => queryPage(dynamo, query),
    count: (query) => countPage(dynamo, query),
    scan: (slice) => scanPage(dynamo, slice),
  };
};
