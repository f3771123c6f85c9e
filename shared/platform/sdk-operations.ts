import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { DynamoOperations } from './dynamo-operations.ts';

/** DynamoDB by the AWS SDK. */
export const sdkOperations = (config: DynamoDBClientConfig): DynamoOperations => {
  const client = new DynamoDBClient(config);
  // It formats every call and answer for a log that the service does not write.
  client.middlewareStack.remove('loggerMiddleware');
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    get: (input) => documents.send(new GetCommand(input)),
    batchGet: (input) => documents.send(new BatchGetCommand(input)),
    put: (input) => documents.send(new PutCommand(input)),
    update: (input) => documents.send(new UpdateCommand(input)),
    delete: (input) => documents.send(new DeleteCommand(input)),
    transact: (input) => documents.send(new TransactWriteCommand(input)),
    query: (input) => documents.send(new QueryCommand(input)),
    scan: (input) => documents.send(new ScanCommand(input)),
  };
};
