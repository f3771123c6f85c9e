/** @module The reads of a table connection, as DynamoDB commands. */

import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Batch, Item, Page, PageCount, PartitionPage, Slice } from './connection.ts';
import type { Expression } from './expression.ts';
import { type Key, TABLE } from './keys.ts';

/** The client, the table's name, and a builder of expressions that knows the current second. */
export interface DynamoTable {
  readonly documents: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly compose: () => Expression;
}

export const getItem = async (
  { documents, tableName }: DynamoTable,
  key: Key,
  consistent: boolean,
): Promise<Item | undefined> => {
  const { Item } = await documents.send(
    new GetCommand({ TableName: tableName, Key: { pk: key.pk, sk: key.sk }, ConsistentRead: consistent }),
  );
  return Item;
};

export const getBatch = async (
  { documents, tableName }: DynamoTable,
  keys: readonly Key[],
  consistent: boolean,
): Promise<Batch> => {
  const Keys = keys.map(({ pk, sk }) => ({ pk, sk }));
  const { Responses, UnprocessedKeys } = await documents.send(
    new BatchGetCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: consistent } } }),
  );
  const left = UnprocessedKeys?.[tableName]?.Keys ?? [];
  return {
    items: Responses?.[tableName] ?? [],
    unprocessed: left.map((key) => ({ pk: String(key['pk']), sk: String(key['sk']) })),
  };
};

export const scanPage = async ({ documents, tableName }: DynamoTable, { after, limit }: Slice): Promise<Page> => {
  const { Items = [], LastEvaluatedKey } = await documents.send(
    new ScanCommand({
      TableName: tableName,
      Limit: limit,
      ConsistentRead: true,
      ...(after && { ExclusiveStartKey: after }),
    }),
  );
  return { items: Items, next: LastEvaluatedKey };
};

export const queryPage = async (dynamo: DynamoTable, query: PartitionPage): Promise<Page> => {
  const { Items = [], LastEvaluatedKey } = await dynamo.documents.send(new QueryCommand(queryInput(dynamo, query)));
  return { items: Items, next: LastEvaluatedKey };
};

export const countPage = async (dynamo: DynamoTable, query: PartitionPage): Promise<PageCount> => {
  const { Count, ScannedCount, LastEvaluatedKey } = await dynamo.documents.send(
    new QueryCommand({ ...queryInput(dynamo, query), Select: 'COUNT' }),
  );
  if (Count === undefined || ScannedCount === undefined) throw new Error('DynamoDB counts the rows of every query');
  return { matching: Count, evaluated: ScannedCount, next: LastEvaluatedKey };
};

const queryInput = ({ tableName, compose }: DynamoTable, query: PartitionPage): QueryCommandInput => {
  const built = compose();
  const filter = built.all(query.filter ?? []);
  return {
    TableName: tableName,
    ...(query.index && { IndexName: query.index }),
    KeyConditionExpression: keyCondition(built, query),
    ...(filter && { FilterExpression: filter }),
    ScanIndexForward: !(query.descending ?? false),
    ...(query.limit && { Limit: query.limit }),
    ...(query.after && { ExclusiveStartKey: query.after }),
    ...(query.consistent && { ConsistentRead: true }),
    ...built.parts(),
  };
};

const keyCondition = (built: Expression, query: PartitionPage): string => {
  const { partitionKey, sortKey } = TABLE.indexes.find(({ name }) => name === query.index) ?? TABLE;
  const partition = `${built.name(partitionKey)} = ${built.value(query.partition)}`;
  const sort = () => built.name(sortKey);
  if (query.from !== undefined && query.to !== undefined) {
    return `${partition} AND ${sort()} BETWEEN ${built.value(query.from)} AND ${built.value(query.to)}`;
  }
  if (query.from !== undefined) return `${partition} AND ${sort()} >= ${built.value(query.from)}`;
  if (query.to !== undefined) return `${partition} AND ${sort()} <= ${built.value(query.to)}`;
  return partition;
};
