import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  QueryCommand,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import type { Now } from '../../../shared/core/time.ts';
import { openDocumentClient } from '../../../shared/platform/aws-clients.ts';
import type { Connection } from '../../../shared/platform/connection.ts';
import { connectDynamo } from '../../../shared/platform/dynamo-table.ts';
import { everyDueShard, TABLE } from '../../../shared/platform/keys.ts';
import type { Operations } from '../machine/aws-protocol.ts';
import { awsEnvironment, REGION } from '../machine/environment.ts';
import { StartError } from '../machine/start-error.ts';
import type { Engine } from './engine.ts';
import { createPolledStream, type StreamSource } from './stream-source.ts';

/**
 * The table of the host, with the indexes of the deployed table. It is embedded in the host, or kept by another engine.
 */
export interface Database {
  /** The URL at which other processes reach the table. */
  readonly endpoint: string;
  /** The operations of the wire protocol, if the host itself serves them. */
  readonly operations: Operations;
  readonly stream: StreamSource;
  /** The earliest due time of all records, epoch ms, or undefined. */
  earliestDue(): Promise<number | undefined>;
  connect(now: Now): Connection;
  close(): void;
}

const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

export const DUE_INDEX = 'due';
const ACTIVE_TRIES = 100;
const LOOK_AGAIN_MS = 20;

/**
 * @param engine the host's own engine, whose file gives due times directly, since moving the clock reads them often
 * @throws StartError if the engine cannot be reached, or holds a table with another schema
 */
export const openEngineDatabase = async (endpoint: string, tableName: string, engine?: Engine): Promise<Database> => {
  const config = { endpoint, region: REGION, credentials: localCredentials };
  const client = new DynamoDBClient({ ...config, maxAttempts: 2 });
  const table = await tableOf(client, tableName).catch((error: unknown) => {
    client.destroy();
    if (error instanceof StartError) throw error;
    throw new StartError(`the endpoint ${endpoint} does not respond like a DynamoDB engine: ${String(error)}`, error);
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

/** @param dueTimes ISO times */
export const earliest = (dueTimes: readonly (string | undefined)[]): number | undefined => {
  const [first] = dueTimes.filter((due) => due !== undefined).sort();
  return first === undefined ? undefined : Date.parse(first);
};

const tableOf = async (client: DynamoDBClient, tableName: string): Promise<TableDescription> => {
  const found = await describe(client, tableName);
  if (!found) await client.send(new CreateTableCommand(tableInput(tableName)));
  for (let tries = 0; tries < ACTIVE_TRIES; tries += 1) {
    const table = await describe(client, tableName);
    if (table?.TableStatus === 'ACTIVE') return checked(table);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new StartError(`the table ${tableName} does not become active`);
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
  throw new StartError(
    `the table ${table.TableName} was made by another version and has no ${lack}; set another DATA_DIR`,
  );
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
