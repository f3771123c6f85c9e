import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import { expression } from './expression.ts';

/** A table of DynamoDB: the SDK's client, the table's name, and a builder of expressions for the present second. */
export type DynamoTable = ReturnType<typeof openDynamo>;

export const openDynamo = (config: DynamoDBClientConfig, tableName: string, now: Now) => {
  const client = new DynamoDBClient(config);
  // It formats every call and answer for a log that the service does not write.
  client.middlewareStack.remove('loggerMiddleware');
  return {
    client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    tableName,
    compose: () => expression(epochSeconds(now())),
  };
};
