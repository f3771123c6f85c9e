import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { AwsOperation } from './aws-service.ts';
import type { DynamoOperations } from './dynamo-operations.ts';

type Attributes = Record<string, AttributeValue>;

interface Answer {
  readonly Item?: Attributes;
  readonly Attributes?: Attributes;
  readonly Items?: readonly Attributes[];
  readonly Count?: number;
  readonly ScannedCount?: number;
  readonly LastEvaluatedKey?: Attributes;
}

interface BatchAnswer {
  readonly Responses?: Readonly<Record<string, readonly Attributes[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: readonly Attributes[] }>>;
}

/** DynamoDB by the thin client. */
export const thinOperations = (call: AwsOperation): DynamoOperations => {
  const send = async (operation: string, input: object) =>
    plainAnswer(await call<Answer>(operation, wireFields(input)));
  return {
    get: (input) => send('GetItem', input),
    batchGet: async ({ RequestItems = {}, ...rest }) => {
      const requests = mapValues(RequestItems, ({ Keys = [], ...more }) => ({ ...more, Keys: Keys.map(attributes) }));
      const answer = await call<BatchAnswer>('BatchGetItem', { ...rest, RequestItems: requests });
      return {
        Responses: mapValues(answer.Responses ?? {}, (items) => items.map(plainItem)),
        UnprocessedKeys: mapValues(answer.UnprocessedKeys ?? {}, ({ Keys }) => ({ Keys: Keys.map(plainItem) })),
      };
    },
    put: (input) => send('PutItem', input),
    update: (input) => send('UpdateItem', input),
    delete: (input) => send('DeleteItem', input),
    transact: ({ TransactItems = [], ...rest }) =>
      call('TransactWriteItems', {
        // A retry of a lost answer is the same transaction.
        ClientRequestToken: randomUUID(),
        ...rest,
        TransactItems: TransactItems.map((step) => mapValues(step, (fields) => wireFields(fields ?? {}))),
      }),
    query: (input) => send('Query', input),
    scan: (input) => send('Scan', input),
  };
};

const mapValues = <Value, Mapped>(record: object & { readonly [name: string]: Value }, map: (value: Value) => Mapped) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

const attributes = (item: object): Attributes => marshall(item, { removeUndefinedValues: true });
const plainItem = (item: Attributes): Record<string, unknown> => unmarshall(item);

/** The fields of a request that hold items or values. */
const WITH_ATTRIBUTES: ReadonlySet<string> = new Set(['Key', 'Item', 'ExclusiveStartKey', 'ExpressionAttributeValues']);

const wireFields = (input: object): object =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, WITH_ATTRIBUTES.has(name) ? attributes(value) : value]),
  );

const plainAnswer = ({ Item, Attributes, Items, Count, ScannedCount, LastEvaluatedKey }: Answer) => ({
  Item: Item && plainItem(Item),
  Attributes: Attributes && plainItem(Attributes),
  Items: Items?.map(plainItem),
  Count,
  ScannedCount,
  LastEvaluatedKey: LastEvaluatedKey && plainItem(LastEvaluatedKey),
});
