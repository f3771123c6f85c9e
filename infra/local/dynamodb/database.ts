import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  QueryCommand,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { dueShards, TABLE } from '../../../shared/table/keys.ts';
import { REGION } from '../machine/environment.ts';
import { StartError } from '../machine/start-error.ts';
import type { Engine } from './engine.ts';

/** The table on the local engine, created from the same schema as the deployed table. */
export interface Database {
  readonly streamArn: string;
  /** Epoch ms of the earliest due work of all records, or undefined. */
  earliestDue(): Promise<number | undefined>;
  close(): void;
}

export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

const DUE_INDEX = 'due';
const ACTIVE_TRIES = 100;
const LOOK_AGAIN_MS = 20;

/**
 * @param engine the host's own engine, which reads due times straight from its file: moving the clock reads them often
 * @throws StartError where the engine cannot be reached, or holds a table of another shape.
 */
export const openDatabase = async (
  endpoint: string,
  tableName: string,
  engine: Pick<Engine, 'firstSortKeys'> | undefined,
): Promise<Database> => {
  const client = new DynamoDBClient({ endpoint, region: REGION, credentials: localCredentials, maxAttempts: 2 });
  const table = await tableOf(client, tableName).catch((error: unknown) => {
    client.destroy();
    if (error instanceof StartError) throw error;
    throw new StartError(`the DynamoDB engine at ${endpoint} does not answer as one: ${String(error)}`, error);
  });
  return {
    streamArn: table.LatestStreamArn ?? '',
    earliestDue: async () => {
      const perShard = engine
        ? engine.firstSortKeys({ table: tableName, index: DUE_INDEX }, dueShards)
        : await Promise.all(dueShards.map((shard) => earliestOf(client, tableName, shard)));
      const known = perShard.filter((due) => due !== undefined).sort();
      return known[0] === undefined ? undefined : Date.parse(known[0]);
    },
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
    `the table ${table.TableName} was made by another version and has no ${lack}: set another DATA_DIR`,
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
