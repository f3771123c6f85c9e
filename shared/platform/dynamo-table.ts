import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import type { Connection } from './connection.ts';
import { countPage, getBatch, getItem, queryPage, scanPage } from './dynamo-reads.ts';
import { deleteItem, putItem, transact, updateItem } from './dynamo-writes.ts';
import { expression } from './expression.ts';

export const connectDynamo = (documents: DynamoDBDocumentClient, tableName: string, now: Now): Connection => {
  const dynamo = { documents, tableName, compose: () => expression(epochSeconds(now())) };
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
