import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { epochSeconds, type Now } from '../core/time.ts';
import { type Changes, type Clause, type Expression, expression } from './expression.ts';
import type { Key } from './keys.ts';
import { TABLE } from './schema.ts';

/** An item as stored; a row schema of its resource makes a record of it. */
export type Item = Readonly<Record<string, unknown>>;

/** A conditional write either happened, or tells what stood in its way. */
export type Written =
  | { readonly ok: true; readonly item: Item }
  | { readonly ok: false; readonly found: Item | undefined };

export type TransactionStep =
  | { readonly put: Item; readonly if?: readonly Clause[] }
  | { readonly update: Key; readonly changes: Changes; readonly if?: readonly Clause[] }
  | { readonly delete: Key; readonly if?: readonly Clause[] }
  | { readonly check: Key; readonly if: readonly Clause[] };

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
  /** Where to go on; undefined at the end. */
  readonly next: Item | undefined;
}

const BATCH_GET_LIMIT = 100;
const BATCH_GET_TRIES = 8;

export type Table = ReturnType<typeof openTable>;

/** The only door to the table. Every write is guarded by clauses; every read leaves out what is past its ttl. */
export const openTable = (dynamo: DynamoDBClient, tableName: string, now: Now) => {
  const client = DynamoDBDocumentClient.from(dynamo, { marshallOptions: { removeUndefinedValues: true } });
  const compose = () => expression(epochSeconds(now()));
  const live = (item: Item | undefined): Item | undefined =>
    item && typeof item['ttl'] === 'number' && item['ttl'] <= epochSeconds(now()) ? undefined : item;
  const target = { TableName: tableName } as const;

  const guarded = async (write: () => Promise<Item>): Promise<Written> => {
    try {
      return { ok: true, item: await write() };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { ok: false, found: live(error.Item && unmarshall(error.Item)) };
    }
  };

  const get = async (key: Key, options: { consistent?: boolean } = {}): Promise<Item | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ ...target, Key: key, ConsistentRead: options.consistent ?? true }),
    );
    return live(Item);
  };

  /** Reads all keys in one request a hundred; the answer keeps their order, with undefined for what is absent. */
  const getMany = async (
    keys: readonly Key[],
    options: { consistent?: boolean } = {},
  ): Promise<readonly (Item | undefined)[]> => {
    const found = new Map<string, Item>();
    const nameOf = (key: { pk?: unknown; sk?: unknown }) => `${key.pk}\n${key.sk}`;
    const unique = [...new Map(keys.map((key) => [nameOf(key), { pk: key.pk, sk: key.sk }])).values()];
    for (let start = 0; start < unique.length; start += BATCH_GET_LIMIT) {
      let pending: Key[] = unique.slice(start, start + BATCH_GET_LIMIT);
      for (let tries = 0; pending.length > 0; tries += 1) {
        if (tries === BATCH_GET_TRIES) throw new Error('BatchGetItem left keys unprocessed');
        const answer = await client.send(
          new BatchGetCommand({
            RequestItems: { [tableName]: { Keys: pending, ConsistentRead: options.consistent ?? false } },
          }),
        );
        for (const item of answer.Responses?.[tableName] ?? []) found.set(nameOf(item), item);
        const left = answer.UnprocessedKeys?.[tableName]?.Keys ?? [];
        pending = left.map((key) => ({ pk: String(key['pk']), sk: String(key['sk']) }));
      }
    }
    return keys.map((key) => live(found.get(nameOf(key))));
  };

  const put = (item: Item, clauses: readonly Clause[] = []): Promise<Written> =>
    guarded(async () => {
      const built = compose();
      const condition = built.all(clauses);
      await client.send(
        new PutCommand({
          ...target,
          Item: item,
          ...(condition && { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
          ...built.parts(),
        }),
      );
      return item;
    });

  /** @returns the item as it is after the update. */
  const update = (key: Key, changes: Changes, clauses: readonly Clause[] = []): Promise<Written> =>
    guarded(async () => {
      const built = compose();
      const condition = built.all(clauses);
      const { Attributes } = await client.send(
        new UpdateCommand({
          ...target,
          Key: { pk: key.pk, sk: key.sk },
          UpdateExpression: built.update(changes),
          ...(condition && { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
          ReturnValues: 'ALL_NEW',
          ...built.parts(),
        }),
      );
      return Attributes ?? {};
    });

  const remove = (key: Key, clauses: readonly Clause[] = []): Promise<Written> =>
    guarded(async () => {
      const built = compose();
      const condition = built.all(clauses);
      await client.send(
        new DeleteCommand({
          ...target,
          Key: { pk: key.pk, sk: key.sk },
          ...(condition && { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
          ...built.parts(),
        }),
      );
      return {};
    });

  /** All steps or none. @returns false where a condition did not hold; the indexes of the failed steps. */
  const transact = async (
    steps: readonly TransactionStep[],
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly failed: readonly number[]; readonly found: readonly (Item | undefined)[] }> => {
    try {
      await client.send(new TransactWriteCommand({ TransactItems: steps.map((step) => transactItem(step)) }));
      return { ok: true };
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const failed = reasons.flatMap((reason, index) => (reason.Code === 'ConditionalCheckFailed' ? [index] : []));
      if (failed.length === 0) throw error;
      return { ok: false, failed, found: reasons.map((reason) => live(reason.Item && unmarshall(reason.Item))) };
    }
  };

  const transactItem = (step: TransactionStep): NonNullable<TransactWriteCommandInput['TransactItems']>[number] => {
    const built = compose();
    const returned = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
    if ('update' in step) {
      const text = built.update(step.changes);
      const condition = built.all(step.if ?? []);
      return {
        Update: {
          ...target,
          Key: { pk: step.update.pk, sk: step.update.sk },
          UpdateExpression: text,
          ...(condition && { ConditionExpression: condition, ...returned }),
          ...built.parts(),
        },
      };
    }
    const condition = built.all(step.if ?? []);
    const guard = { ...(condition && { ConditionExpression: condition, ...returned }), ...built.parts() };
    if ('put' in step) return { Put: { ...target, Item: step.put, ...guard } };
    if ('delete' in step) return { Delete: { ...target, Key: { pk: step.delete.pk, sk: step.delete.sk }, ...guard } };
    return {
      ConditionCheck: {
        ...target,
        Key: { pk: step.check.pk, sk: step.check.sk },
        ConditionExpression: condition ?? '',
        ...returned,
        ...built.parts(),
      },
    };
  };

  /** One page of an index, eventually consistent. */
  const queryIndex = async (query: IndexQuery): Promise<Page> => {
    const shape = TABLE.indexes.find((index) => index.name === query.index);
    if (!shape) throw new Error(`no index ${query.index}`);
    return page({ ...query, partitionKey: shape.partitionKey, sortKey: shape.sortKey });
  };

  /** One page of the items under a partition key of the table itself, by sort key. */
  const queryItems = (query: Omit<IndexQuery, 'index'> & { readonly consistent?: boolean }): Promise<Page> =>
    page({ ...query, partitionKey: TABLE.partitionKey, sortKey: TABLE.sortKey });

  const page = async (
    query: Omit<IndexQuery, 'index'> & { index?: string; partitionKey: string; sortKey: string; consistent?: boolean },
  ): Promise<Page> => {
    const built = compose();
    const filter = built.all(query.filter ?? []);
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        ...target,
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
    return { items: Items.filter((item) => live(item) !== undefined), next: LastEvaluatedKey };
  };

  return { get, getMany, put, update, remove, transact, queryIndex, queryItems };
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
