/** @module The host's table in another engine. Functions reach the engine through the AWS SDK. */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  QueryCommand,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { type Database, DUE_INDEX, earliest } from '../../infra/local/dynamodb/database.ts';
import type { HostOptions } from '../../infra/local/host/host.ts';
import { awsEnvironment, REGION } from '../../infra/local/machine/environment.ts';
import { openDocumentClient } from '../../shared/platform/aws-clients.ts';
import { connectDynamo } from '../../shared/platform/dynamo-table.ts';
import { everyDueShard, TABLE } from '../../shared/platform/keys.ts';
import { type Engine, startEngine } from './dynoxide.ts';
import { createPolledStream } from './polled-stream.ts';

type OpenDatabase = NonNullable<HostOptions['openDatabase']>;

/** Starts dynoxide for one host, and stops it with the host. */
export const onDynoxide: OpenDatabase = async ({ tableName, place, onLoss, onClose }) => {
  const engine = await startEngine({ ...place, onLoss });
  onClose(engine.stop);
  return openEngineDatabase(engine.endpoint, tableName, engine);
};

/** Uses a running engine. */
export const onEngineAt =
  (endpoint: string): OpenDatabase =>
  ({ tableName }) =>
    openEngineDatabase(endpoint, tableName);

const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

const ACTIVE_TRIES = 100;
const LOOK_AGAIN_MS = 20;

/**
 * @param engine if given, due times are read directly from its file, because moving the clock reads them often
 * @throws if the engine cannot be reached, or contains a table with another schema
 */
const openEngineDatabase = async (endpoint: string, tableName: string, engine?: Engine): Promise<Database> => {
  const config = { endpoint, region: REGION, credentials: localCredentials };
  const client = new DynamoDBClient({ ...config, maxAttempts: 2 });
  const table = await tableOf(client, tableName).catch((error: unknown) => {
    client.destroy();
    throw new Error(`the endpoint ${endpoint} does not respond like a DynamoDB engine: ${String(error)}`, {
      cause: error,
    });
  });
  engine?.indexStreamRecords();
  return {
    endpoint,
    operations: {},
    stream: createPolledStream({ endpoint, arn: table.LatestStreamArn ?? '', writeMark: engine?.writeMark }),
    earliestDue: async () =>
      earliest(
        engine
          ? engine.firstSortKeys({ table: tableName, index: DUE_INDEX }, everyDueShard)
          : await Promise.all(everyDueShard.map((shard) => earliestOf(client, tableName, shard))),
      ),
    connect: (now) => connectDynamo(openDocumentClient({ env: awsEnvironment(endpoint) }), tableName, now),
    close: () => client.destroy(),
  };
};

const tableOf = async (client: DynamoDBClient, tableName: string): Promise<TableDescription> => {
  const found = await describe(client, tableName);
  if (!found) await client.send(new CreateTableCommand(tableInput(tableName)));
  for (let tries = 0; tries < ACTIVE_TRIES; tries += 1) {
    const table = await describe(client, tableName);
    if (table?.TableStatus === 'ACTIVE') return checked(table);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new Error(`the table ${tableName} does not become active`);
};

const describe = async (client: DynamoDBClient, tableName: string): Promise<TableDescription | undefined> => {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    return Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const checked = (table: TableDescription): TableDescription => {
  const present = new Set(table.GlobalSecondaryIndexes?.map((index) => index.IndexName));
  const missing = TABLE.indexes.map((index) => index.name).filter((name) => !present.has(name));
  if (missing.length === 0 && table.LatestStreamArn) return table;
  const lack = missing.length > 0 ? `index ${missing.join(', ')}` : 'stream';
  throw new Error(`the table ${table.TableName} has no ${lack}`);
};

const tableInput = (tableName: string): CreateTableCommandInput => {
  const keys = new Set<string>([
    TABLE.partitionKey,
    TABLE.sortKey,
    ...TABLE.indexes.flatMap((index) => [index.partitionKey, index.sortKey]),
  ]);
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...keys].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: keySchema(TABLE.partitionKey, TABLE.sortKey),
    GlobalSecondaryIndexes: TABLE.indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.partitionKey, index.sortKey),
      Projection:
        index.include.length === 0
          ? { ProjectionType: 'KEYS_ONLY' }
          : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.include] },
    })),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  };
};

const keySchema = (partitionKey: string, sortKey: string): CreateTableCommandInput['KeySchema'] => [
  { AttributeName: partitionKey, KeyType: 'HASH' },
  { AttributeName: sortKey, KeyType: 'RANGE' },
];

const earliestOf = async (client: DynamoDBClient, tableName: string, shard: string): Promise<string | undefined> => {
  const { Items } = await client.send(
    new QueryCommand({
      TableName: tableName,
      IndexName: DUE_INDEX,
      KeyConditionExpression: '#due = :shard',
      ExpressionAttributeNames: { '#due': 'due' },
      ExpressionAttributeValues: { ':shard': { S: shard } },
      Limit: 1,
    }),
  );
  return Items?.[0]?.['due_at']?.S;
};
