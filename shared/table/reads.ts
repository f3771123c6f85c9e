import { BatchGetCommand, GetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Connection, Item } from './connection.ts';
import type { Clause, Expression } from './expression.ts';
import { type Key, TABLE } from './keys.ts';

export interface IndexQuery {
  readonly index: (typeof TABLE.indexes)[number]['name'];
  readonly partition: string;
  /** Inclusive bounds on the index's sort key. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly descending?: boolean;
  /** Items evaluated, before the filter. */
  readonly limit?: number;
  readonly filter?: readonly Clause[];
  readonly after?: Item | undefined;
}

export interface Page {
  readonly items: readonly Item[];
  /** Where the next page starts; undefined at the end. */
  readonly next: Item | undefined;
}

const BATCH_GET_LIMIT = 100;
const BATCH_GET_TRIES = 8;
const nameOf = (key: { pk?: unknown; sk?: unknown }): string => `${key.pk}\n${key.sk}`;

export const getItem = async (
  { client, tableName, unlessExpired }: Connection,
  key: Key,
  options: { consistent?: boolean } = {},
): Promise<Item | undefined> => {
  const { Item } = await client.send(
    new GetCommand({
      TableName: tableName,
      Key: { pk: key.pk, sk: key.sk },
      ConsistentRead: options.consistent ?? true,
    }),
  );
  return unlessExpired(Item);
};

/** Reads all keys, a hundred per request. @returns the items in the order of the keys; undefined for an absent item. */
export const getItems = async (
  connection: Connection,
  keys: readonly Key[],
  options: { consistent?: boolean } = {},
): Promise<readonly (Item | undefined)[]> => {
  const found = new Map<string, Item>();
  const unique = [...new Map(keys.map((key) => [nameOf(key), { pk: key.pk, sk: key.sk }])).values()];
  for (let start = 0; start < unique.length; start += BATCH_GET_LIMIT) {
    const batch = unique.slice(start, start + BATCH_GET_LIMIT);
    for (const item of await getBatch(connection, batch, options.consistent ?? false)) found.set(nameOf(item), item);
  }
  return keys.map((key) => connection.unlessExpired(found.get(nameOf(key))));
};

const getBatch = async (
  { client, tableName }: Connection,
  keys: readonly Key[],
  consistent: boolean,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let pending: readonly Key[] = keys;
  for (let tries = 0; pending.length > 0; tries += 1) {
    if (tries === BATCH_GET_TRIES) throw new Error('BatchGetItem left keys unprocessed');
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({
        RequestItems: { [tableName]: { Keys: pending.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: consistent } },
      }),
    );
    items.push(...(Responses?.[tableName] ?? []));
    const left = UnprocessedKeys?.[tableName]?.Keys ?? [];
    pending = left.map((key) => ({ pk: String(key['pk']), sk: String(key['sk']) }));
  }
  return items;
};

/** One page of an index, eventually consistent. */
export const queryIndex = async (connection: Connection, query: IndexQuery): Promise<Page> => {
  const shape = TABLE.indexes.find((index) => index.name === query.index);
  if (!shape) throw new Error(`the table has no index ${query.index}`);
  return page(connection, { ...query, partitionKey: shape.partitionKey, sortKey: shape.sortKey });
};

/** One page of the items under a partition key of the table itself, by sort key. */
export const queryItems = (
  connection: Connection,
  query: Omit<IndexQuery, 'index'> & { readonly consistent?: boolean },
): Promise<Page> => page(connection, { ...query, partitionKey: TABLE.partitionKey, sortKey: TABLE.sortKey });

/** One page of all items of the table, read consistently, in no useful order; expired items, too. */
export const scanItems = async (
  { client, tableName }: Connection,
  { after, limit }: { readonly after: Item | undefined; readonly limit: number },
): Promise<Page> => {
  const { Items = [], LastEvaluatedKey } = await client.send(
    new ScanCommand({
      TableName: tableName,
      Limit: limit,
      ConsistentRead: true,
      ...(after && { ExclusiveStartKey: after }),
    }),
  );
  return { items: Items, next: LastEvaluatedKey };
};

type PageQuery = Omit<IndexQuery, 'index'> & {
  readonly index?: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  readonly consistent?: boolean;
};

const page = async ({ client, tableName, compose, unlessExpired }: Connection, query: PageQuery): Promise<Page> => {
  const built = compose();
  const filter = built.all(query.filter ?? []);
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: tableName,
      ...(query.index && { IndexName: query.index }),
      KeyConditionExpression: keyCondition(built, query),
      ...(filter && { FilterExpression: filter }),
      ScanIndexForward: !(query.descending ?? false),
      ...(query.limit && { Limit: query.limit }),
      ...(query.after && { ExclusiveStartKey: query.after }),
      ...(query.consistent && { ConsistentRead: true }),
      ...built.parts(),
    }),
  );
  return { items: Items.filter((item) => unlessExpired(item) !== undefined), next: LastEvaluatedKey };
};

const keyCondition = (
  built: Expression,
  query: Pick<IndexQuery, 'partition' | 'from' | 'to'> & { partitionKey: string; sortKey: string },
): string => {
  const partition = `${built.name(query.partitionKey)} = ${built.value(query.partition)}`;
  const sort = () => built.name(query.sortKey);
  if (query.from !== undefined && query.to !== undefined) {
    return `${partition} AND ${sort()} BETWEEN ${built.value(query.from)} AND ${built.value(query.to)}`;
  }
  if (query.from !== undefined) return `${partition} AND ${sort()} >= ${built.value(query.from)}`;
  if (query.to !== undefined) return `${partition} AND ${sort()} <= ${built.value(query.to)}`;
  return partition;
};
