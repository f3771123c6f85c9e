import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import type { Connection } from './connection.ts';
import { countPage, getBatch, getItem, queryPage, scanPage } from './dynamo-reads.ts';
import { deleteItem, putItem, transact, updateItem } from './dynamo-writes.ts';
import { expression } from './expression.ts';

export const connectDynamo = (documents: DynamoDBDocumentClient, tableName: string, now: Now): Connection => {
  const dynamo = { documents, tableName, compose: () => expression(epochSeconds(now())) };
  const inTurn = limitedTo(SOCKETS);
  return {
    getItem: (key, consistent) => inTurn(() => getItem(dynamo, key, consistent)),
    getBatch: (keys, consistent) => inTurn(() => getBatch(dynamo, keys, consistent)),
    putItem: (item, clauses) => inTurn(() => putItem(dynamo, item, clauses)),
    updateItem: (update) => inTurn(() => updateItem(dynamo, update)),
    deleteItem: (key, clauses) => inTurn(() => deleteItem(dynamo, key, clauses)),
    transact: (steps, token) => inTurn(() => transact(dynamo, steps, token)),
    query: (query) => inTurn(() => queryPage(dynamo, query)),
    count: (query) => inTurn(() => countPage(dynamo, query)),
    scan: (slice) => inTurn(() => scanPage(dynamo, slice)),
  };
};

/**
 * The number of sockets of the SDK's agent, and so the maximum number of calls at the same time. The SDK's time-outs
 * include the wait for a socket, so such a wait could fail a call although the table is healthy.
 */
const SOCKETS = 50;

/** Runs at most `most` calls at the same time. Further calls wait in order. */
const limitedTo = (most: number) => {
  let free = most;
  const waiting: (() => void)[] = [];
  return async <T>(call: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((start) => waiting.push(start));
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
};
