/**
 * @module DynamoDB's wire protocol over the embedded table, for other processes such as payctl, the AWS CLI or a
 * benchmark. It supports the operations and parameters that this service and its tools use, and refuses all others.
 */

import * as z from 'zod';
import type { Item } from '../../../shared/platform/connection.ts';
import type { Key } from '../../../shared/platform/keys.ts';
import { AwsError, operation, type Operations as WireOperations } from '../machine/aws-protocol.ts';
import type { EmbeddedTable } from '../table/embedded-table.ts';
import type { Evaluated, Replaced, WriteStep } from '../table/operations.ts';
import { invalidRequest } from '../table/refusals.ts';
import { ALL_INDEXES } from '../table/schema.ts';
import { applyChanges, checkPaths } from '../table/updates.ts';
import { type ConsumedUnits, readUnits, sumUnits, TRANSACTION_FACTOR, unitsRead, unitsWritten } from './capacity.ts';
import { nodeTest } from './expression-nodes.ts';
import { parseCondition, parseUpdate, placeholdersOf } from './expression-parser.ts';
import { keyRange } from './key-condition.ts';
import { itemOfWire, type WireItem, wireItem } from './wire-values.ts';

export interface WireOptions {
  readonly tableName: string;
  readonly streamArn: string;
}

const wireItemSchema = z.record(z.string(), z.looseObject({}));
const keySchema = z.strictObject({ pk: z.strictObject({ S: z.string() }), sk: z.strictObject({ S: z.string() }) });
const capacityField = { ReturnConsumedCapacity: z.enum(['NONE', 'TOTAL', 'INDEXES']).default('NONE') };
const placeholderFields = {
  ExpressionAttributeNames: z.record(z.string(), z.string()).optional(),
  ExpressionAttributeValues: wireItemSchema.optional(),
};
const conditionFields = {
  ...placeholderFields,
  TableName: z.string(),
  ConditionExpression: z.string().optional(),
  ReturnValuesOnConditionCheckFailure: z.enum(['NONE', 'ALL_OLD']).default('NONE'),
};
const returned = (...values: readonly [string, ...string[]]) => ({ ReturnValues: z.enum(values).default('NONE') });

const putSchema = z.strictObject({ ...conditionFields, Item: wireItemSchema });
const updateSchema = z.strictObject({ ...conditionFields, Key: keySchema, UpdateExpression: z.string().default('') });
const deleteSchema = z.strictObject({ ...conditionFields, Key: keySchema });
const stepSchema = z.strictObject({
  Put: putSchema.optional(),
  Update: updateSchema.optional(),
  Delete: deleteSchema.optional(),
  ConditionCheck: deleteSchema.optional(),
});
const pageFields = {
  ...capacityField,
  ...placeholderFields,
  TableName: z.string(),
  FilterExpression: z.string().optional(),
  Limit: z.int().min(1).optional(),
  ExclusiveStartKey: wireItemSchema.optional(),
  ConsistentRead: z.boolean().default(false),
};
const keysSchema = z.strictObject({
  Keys: z.array(keySchema).min(1).max(100),
  ConsistentRead: z.boolean().default(false),
});
const requestsSchema = z.array(
  z.strictObject({
    PutRequest: z.strictObject({ Item: wireItemSchema }).optional(),
    DeleteRequest: z.strictObject({ Key: keySchema }).optional(),
  }),
);

type Condition = Pick<
  z.infer<typeof deleteSchema>,
  'ConditionExpression' | 'ReturnValuesOnConditionCheckFailure' | keyof typeof placeholderFields
>;

export const wireOperations = (table: EmbeddedTable, options: WireOptions): WireOperations => {
  const named = { ...reads(table, options), ...writes(table, options), ...batches(table, options) };
  return Object.fromEntries(Object.entries(named).map(([name, run]) => [`DynamoDB_20120810.${name}`, run]));
};

const reads = (table: EmbeddedTable, options: WireOptions): WireOperations => ({
  DescribeTable: operation(z.strictObject({ TableName: z.string() }), ({ TableName }) => {
    checkTable(options, TableName);
    return { Table: description(options) };
  }),
  GetItem: operation(
    z.strictObject({
      ...capacityField,
      TableName: z.string(),
      Key: keySchema,
      ConsistentRead: z.boolean().default(false),
    }),
    ({ TableName, Key, ConsistentRead, ReturnConsumedCapacity: detail }) => {
      checkTable(options, TableName);
      return table.run((operations) => {
        const found = operations.find(keyOf(Key));
        const units = unitsRead(readUnits(found?.size ?? 0, ConsistentRead), undefined);
        return { ...(found && { Item: wireItem(found.item) }), ...consumed(options, detail, units) };
      });
    },
  ),
  Query: operation(
    z.strictObject({
      ...pageFields,
      IndexName: z.string().optional(),
      KeyConditionExpression: z.string(),
      ScanIndexForward: z.boolean().default(true),
      Select: z.literal('COUNT').optional(),
    }),
    (input) => {
      checkTable(options, input.TableName);
      const { IndexName, Limit: limit, ExclusiveStartKey: start } = input;
      const index = ALL_INDEXES.find(({ name }) => name === IndexName);
      if (IndexName !== undefined && !index) {
        throw invalidRequest(`The table does not have the specified index: ${IndexName}`);
      }
      const range = keyRange(parseCondition(input.KeyConditionExpression, placeholdersOf(input)), index);
      const query = {
        ...range,
        ...(index && { index: index.name }),
        descending: !input.ScanIndexForward,
        ...(limit !== undefined && { limit }),
        ...(start && { after: itemOfWire(start) }),
      };
      return table.run((operations) => page(options, input, operations.query(query, filterOf(input))));
    },
  ),
  Scan: operation(z.strictObject(pageFields), (input) => {
    checkTable(options, input.TableName);
    const { Limit: limit, ExclusiveStartKey: start } = input;
    const slice = { after: start && itemOfWire(start), ...(limit !== undefined && { limit }) };
    return table.run((operations) => page(options, input, operations.scan(slice, filterOf(input))));
  }),
});

const writes = (table: EmbeddedTable, options: WireOptions): WireOperations => ({
  PutItem: operation(putSchema.extend({ ...capacityField, ...returned('NONE', 'ALL_OLD') }), (input) =>
    writeOne(table, { options, input, step: putStep(input) }),
  ),
  UpdateItem: operation(updateSchema.extend({ ...capacityField, ...returned('NONE', 'ALL_OLD', 'ALL_NEW') }), (input) =>
    writeOne(table, { options, input, step: updateStepOf(input) }),
  ),
  DeleteItem: operation(deleteSchema.extend({ ...capacityField, ...returned('NONE', 'ALL_OLD') }), (input) =>
    writeOne(table, { options, input, step: deleteStep(input) }),
  ),
  TransactWriteItems: operation(
    z.strictObject({
      ...capacityField,
      TransactItems: z.array(stepSchema).min(1).max(100),
      // Ignored, because only an SDK retry after a lost response needs it. No response is lost on one machine.
      ClientRequestToken: z.string().optional(),
    }),
    ({ TransactItems, ReturnConsumedCapacity: detail }) => {
      const steps = TransactItems.map((item) => transactStep(options, item));
      return table.run((operations) => {
        const result = operations.write(steps.map(({ step }) => step));
        if (result.ok) return consumed(options, detail, unitsOfAll(result.replaced), 'list');
        throw canceled(steps, result.failed, result.found);
      });
    },
  ),
});

const batches = (table: EmbeddedTable, options: WireOptions): WireOperations => ({
  BatchGetItem: operation(
    z.strictObject({ ...capacityField, RequestItems: z.record(z.string(), keysSchema) }),
    ({ RequestItems, ReturnConsumedCapacity: detail }) => {
      const { Keys, ConsistentRead } = onlyTable(options, RequestItems);
      return table.run((operations) => {
        const found = Keys.map((key) => operations.find(keyOf(key)));
        const units = sumUnits(found.map((one) => unitsRead(readUnits(one?.size ?? 0, ConsistentRead), undefined)));
        const items = found.filter((one) => one !== undefined).map(({ item }) => wireItem(item));
        return {
          Responses: { [options.tableName]: items },
          UnprocessedKeys: {},
          ...consumed(options, detail, units, 'list'),
        };
      });
    },
  ),
  BatchWriteItem: operation(
    z.strictObject({ ...capacityField, RequestItems: z.record(z.string(), requestsSchema.min(1).max(25)) }),
    ({ RequestItems, ReturnConsumedCapacity: detail }) => {
      const steps = onlyTable(options, RequestItems).map(({ PutRequest, DeleteRequest }): WriteStep => {
        if (PutRequest) return putStep(PutRequest);
        if (DeleteRequest) return deleteStep(DeleteRequest);
        throw invalidRequest('a request of a batch puts or deletes');
      });
      return table.run((operations) => {
        const results = steps.map((step) => operations.write([step]));
        const units = sumUnits(results.flatMap((one) => (one.ok ? one.replaced.map(unitsWritten) : [])));
        return { UnprocessedItems: {}, ...consumed(options, detail, units, 'list') };
      });
    },
  ),
});

type CapacityDetail = z.infer<typeof capacityField.ReturnConsumedCapacity>;

const checkTable = ({ tableName }: WireOptions, asked: string): void => {
  if (asked !== tableName) {
    throw new AwsError('ResourceNotFoundException', `Requested resource not found: Table: ${asked} not found`);
  }
};

const onlyTable = <T>(options: WireOptions, requests: Readonly<Record<string, T>>): T => {
  const [[name, request] = ['', undefined], ...others] = Object.entries(requests);
  checkTable(options, others[0]?.[0] ?? name);
  if (request === undefined) throw invalidRequest('RequestItems names no table');
  return request;
};

const keyOf = ({ pk, sk }: z.infer<typeof keySchema>): Key => ({ pk: pk.S, sk: sk.S });

const testOf = (input: Condition): WriteStep['test'] =>
  input.ConditionExpression === undefined
    ? undefined
    : nodeTest(parseCondition(input.ConditionExpression, placeholdersOf(input)));

const filterOf = (
  input: Pick<z.infer<typeof putSchema>, keyof typeof placeholderFields> & { FilterExpression?: string | undefined },
) =>
  input.FilterExpression === undefined
    ? undefined
    : nodeTest(parseCondition(input.FilterExpression, placeholdersOf(input)));

const putStep = (input: { readonly Item: WireItem } & Partial<Condition>): WriteStep => {
  const item = itemOfWire(input.Item);
  const { pk, sk } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') {
    throw invalidRequest('One or more parameter values were invalid: Missing the key in the item');
  }
  return { key: { pk, sk }, test: testOf({ ReturnValuesOnConditionCheckFailure: 'NONE', ...input }), next: () => item };
};

const updateStepOf = (input: z.infer<typeof updateSchema>): WriteStep => {
  const key = keyOf(input.Key);
  const changes = parseUpdate(input.UpdateExpression, placeholdersOf(input));
  checkPaths(changes);
  return { key, test: testOf(input), next: (old) => applyChanges(old ?? { ...key }, changes) };
};

const deleteStep = (input: Pick<z.infer<typeof deleteSchema>, 'Key'> & Partial<Condition>): WriteStep => ({
  key: keyOf(input.Key),
  test: testOf({ ReturnValuesOnConditionCheckFailure: 'NONE', ...input }),
  next: () => undefined,
});

interface OneWrite {
  readonly options: WireOptions;
  readonly input: Condition & {
    readonly TableName: string;
    readonly ReturnValues: string;
    readonly ReturnConsumedCapacity: CapacityDetail;
  };
  readonly step: WriteStep;
}

const writeOne = (table: EmbeddedTable, { options, input, step }: OneWrite): Promise<object> => {
  checkTable(options, input.TableName);
  return table.run((operations) => {
    const result = operations.write([step]);
    if (!result.ok) throw conditionFailed(input, result.found[0]);
    const { before, after } = result.replaced[0] ?? {};
    const shown = input.ReturnValues === 'ALL_OLD' ? before : input.ReturnValues === 'ALL_NEW' ? after : undefined;
    const units = unitsOfAll(result.replaced, 1);
    return {
      ...(shown && { Attributes: wireItem(shown.item) }),
      ...consumed(options, input.ReturnConsumedCapacity, units),
    };
  });
};

const conditionFailed = (input: Condition, found: Item | undefined): AwsError =>
  new AwsError('ConditionalCheckFailedException', 'The conditional request failed', foundItem(input, found));

const foundItem = (input: Condition, found: Item | undefined): { readonly Item?: WireItem } =>
  found && input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? { Item: wireItem(found) } : {};

interface TransactStep {
  readonly step: WriteStep;
  readonly condition: Condition;
}

const transactStep = (options: WireOptions, item: z.infer<typeof stepSchema>): TransactStep => {
  const { Put, Update, Delete, ConditionCheck } = item;
  for (const one of [Put, Update, Delete, ConditionCheck]) if (one) checkTable(options, one.TableName);
  if (Put) return { step: putStep(Put), condition: Put };
  if (Update) return { step: updateStepOf(Update), condition: Update };
  if (Delete) return { step: deleteStep(Delete), condition: Delete };
  if (!ConditionCheck) throw invalidRequest('a step of a transaction puts, updates, deletes or checks');
  return { step: { key: keyOf(ConditionCheck.Key), test: testOf(ConditionCheck) }, condition: ConditionCheck };
};

const canceled = (
  steps: readonly TransactStep[],
  failed: readonly number[],
  found: readonly (Item | undefined)[],
): AwsError => {
  const reasons = steps.map(({ condition }, index) =>
    failed.includes(index)
      ? {
          Code: 'ConditionalCheckFailed',
          Message: 'The conditional request failed',
          ...foundItem(condition, found[index]),
        }
      : { Code: 'None' },
  );
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new AwsError('TransactionCanceledException', `Transaction cancelled, reasons: [${codes}]`, {
    CancellationReasons: reasons,
  });
};

const unitsOfAll = (replaced: readonly Replaced[], factor = TRANSACTION_FACTOR): ConsumedUnits =>
  sumUnits(replaced.map(unitsWritten), factor);

type PageInput = Readonly<{
  ConsistentRead: boolean;
  ReturnConsumedCapacity: CapacityDetail;
  IndexName?: string | undefined;
  Select?: 'COUNT' | undefined;
}>;

const page = (options: WireOptions, input: PageInput, { items, next, bytes, count }: Evaluated): object => ({
  ...(input.Select !== 'COUNT' && { Items: items.map(wireItem) }),
  Count: items.length,
  ScannedCount: count,
  ...(next && { LastEvaluatedKey: wireItem(next) }),
  ...consumed(
    options,
    input.ReturnConsumedCapacity,
    unitsRead(readUnits(bytes, input.ConsistentRead), input.IndexName),
  ),
});

/** Batches and transactions report their capacity as a list with one entry per table. */
const consumed = (
  { tableName }: WireOptions,
  detail: CapacityDetail,
  ...[units, form]: readonly [ConsumedUnits, 'list'?]
): object => {
  if (detail === 'NONE') return {};
  const { table, indexes } = units;
  const total = Object.values(indexes).reduce((sum, count) => sum + count, table);
  const byIndex = Object.entries(indexes).map(([name, count]) => [name, { CapacityUnits: count }] as const);
  const capacity = {
    TableName: tableName,
    CapacityUnits: total,
    ...(detail === 'INDEXES' && {
      Table: { CapacityUnits: table },
      ...(byIndex.length > 0 && { GlobalSecondaryIndexes: Object.fromEntries(byIndex) }),
    }),
  };
  return { ConsumedCapacity: form === 'list' ? [capacity] : capacity };
};

const description = ({ tableName, streamArn }: WireOptions) => ({
  TableName: tableName,
  TableStatus: 'ACTIVE',
  TableArn: streamArn.split('/stream/')[0],
  KeySchema: keySchemaOf('pk', 'sk'),
  GlobalSecondaryIndexes: ALL_INDEXES.map(({ name, partitionKey, sortKey, include }) => ({
    IndexName: name,
    IndexStatus: 'ACTIVE',
    KeySchema: keySchemaOf(partitionKey, sortKey),
    Projection:
      include.length === 0
        ? { ProjectionType: 'KEYS_ONLY' }
        : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] },
  })),
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  LatestStreamArn: streamArn,
});

const keySchemaOf = (partitionKey: string, sortKey: string) => [
  { AttributeName: partitionKey, KeyType: 'HASH' },
  { AttributeName: sortKey, KeyType: 'RANGE' },
];
