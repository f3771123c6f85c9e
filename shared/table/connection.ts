import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import { expression } from './expression.ts';

/** An item as stored; the schema of its resource parses it into a record. */
export type Item = Readonly<Record<string, unknown>>;

/** Shared by reads and writes: the client, the table's name, and the rule which items count as absent. */
export type Connection = ReturnType<typeof connect>;

export const connect = (dynamo: DynamoDBClient, tableName: string, now: Now) => ({
  client: DynamoDBDocumentClient.from(dynamo, { marshallOptions: { removeUndefinedValues: true } }),
  tableName,
  compose: () => expression(epochSeconds(now())),
  /** The item, unless its ttl has passed. */
  unlessExpired: (item: Item | undefined): Item | undefined =>
    item && typeof item['ttl'] === 'number' && item['ttl'] <= epochSeconds(now()) ? undefined : item,
});
