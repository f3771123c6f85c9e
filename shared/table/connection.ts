import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import { expression } from './expression.ts';

/** An item as stored; a row schema of its resource makes a record of it. */
export type Item = Readonly<Record<string, unknown>>;

/** What reads and writes share: the client, the table's name, and which items count as absent. */
export type Connection = ReturnType<typeof connect>;

export const connect = (dynamo: DynamoDBClient, tableName: string, now: Now) => ({
  client: DynamoDBDocumentClient.from(dynamo, { marshallOptions: { removeUndefinedValues: true } }),
  tableName,
  compose: () => expression(epochSeconds(now())),
  /** The item, unless its ttl has passed. */
  live: (item: Item | undefined): Item | undefined =>
    item && typeof item['ttl'] === 'number' && item['ttl'] <= epochSeconds(now()) ? undefined : item,
});
