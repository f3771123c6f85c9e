/**
 * @module The writes of a table connection. A failed condition is a result. Conflicts with transactions are retried.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { DomainError } from '../core/errors.ts';
import type { Item, ItemUpdate, Transacted, TransactionStep, Written } from './connection.ts';
import type { DynamoTable } from './dynamo-reads.ts';
import type { Clause, Expression } from './expression.ts';
import type { Key } from './keys.ts';
import { type Waits, waitForAttempt } from './waits.ts';

const CONFLICT_WAITS: Waits = { attempts: 6, firstMs: 40 };

/** Retries a conflicting write after a random wait. @throws DomainError VERSION_CONFLICT if every attempt conflicts */
const retryConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw error;
      const hasWaited = await waitForAttempt(tries, CONFLICT_WAITS);
      if (!hasWaited) throw new DomainError('VERSION_CONFLICT', { cause: error });
    }
  }
};

interface Refusal extends Error {
  /** The stored item that a condition refused. */
  readonly Item?: Attributes;
  /** One reason for each step of a transaction. */
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: Attributes }[];
}
type Attributes = Record<string, AttributeValue>;
type RefusalName = 'ConditionalCheckFailedException' | 'TransactionCanceledException' | 'TransactionConflictException';

const isRefusal = (error: unknown, name: RefusalName): error is Refusal =>
  error instanceof Error && error.name === name;

/**
 * True if another transaction caused the failure. False if a condition failed too, because a failed condition takes
 * precedence over a conflict on another item.
 */
const isConflict = (error: unknown): boolean => {
  if (isRefusal(error, 'TransactionConflictException')) return true;
  if (!isRefusal(error, 'TransactionCanceledException')) return false;
  const codes = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
  return codes.includes('TransactionConflict') && !codes.includes('ConditionalCheckFailed');
};

const runGuarded = async (write: () => Promise<Item>): Promise<Written> => {
  try {
    return { ok: true, item: await retryConflicts(write) };
  } catch (error) {
    if (!isRefusal(error, 'ConditionalCheckFailedException')) throw error;
    return { ok: false, found: error.Item && unmarshall(error.Item) };
  }
};

/**
 * The write's condition. On failure DynamoDB returns the stored item, so one call distinguishes "missing" from "wrong
 * state".
 */
const guard = (built: Expression, clauses: readonly Clause[]) => {
  const condition = built.all(clauses);
  return condition ? { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const } : {};
};

const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });

export const putItem = (dynamo: DynamoTable, item: Item, clauses: readonly Clause[]): Promise<Written> =>
  runGuarded(async () => {
    const built = dynamo.compose();
    const condition = guard(built, clauses);
    await dynamo.documents.send(
      new PutCommand({ TableName: dynamo.tableName, Item: item, ...condition, ...built.parts() }),
    );
    return item;
  });

/** @returns the item after the update. */
export const updateItem = (dynamo: DynamoTable, { key, changes, clauses }: ItemUpdate): Promise<Written> =>
  runGuarded(async () => {
    const built = dynamo.compose();
    const condition = guard(built, clauses);
    const { Attributes } = await dynamo.documents.send(
      new UpdateCommand({
        TableName: dynamo.tableName,
        Key: keyOf(key),
        UpdateExpression: built.update(changes),
        ...condition,
        ReturnValues: 'ALL_NEW',
        ...built.parts(),
      }),
    );
    return Attributes ?? {};
  });

export const deleteItem = (dynamo: DynamoTable, key: Key, clauses: readonly Clause[]): Promise<Written> =>
  runGuarded(async () => {
    const built = dynamo.compose();
    const condition = guard(built, clauses);
    await dynamo.documents.send(
      new DeleteCommand({ TableName: dynamo.tableName, Key: keyOf(key), ...condition, ...built.parts() }),
    );
    return {};
  });

export const transact = async (
  dynamo: DynamoTable,
  steps: readonly TransactionStep[],
  token: string | undefined,
): Promise<Transacted> => {
  const input = { TransactItems: steps.map((step) => transactItem(dynamo, step)), ClientRequestToken: token };
  try {
    await retryConflicts(() => dynamo.documents.send(new TransactWriteCommand(input)));
    return { ok: true };
  } catch (error) {
    if (!isRefusal(error, 'TransactionCanceledException')) throw error;
    const reasons = error.CancellationReasons ?? [];
    const failed = reasons.flatMap((reason, index) => (reason.Code === 'ConditionalCheckFailed' ? [index] : []));
    if (failed.length === 0) throw error;
    return { ok: false, failed, found: reasons.map((reason) => reason.Item && unmarshall(reason.Item)) };
  }
};

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const transactItem = ({ compose, tableName }: DynamoTable, step: TransactionStep): TransactItem => {
  const built = compose();
  const target = { TableName: tableName };
  if ('update' in step) {
    const UpdateExpression = built.update(step.changes);
    const condition = guard(built, step.if ?? []);
    return { Update: { ...target, Key: keyOf(step.update), UpdateExpression, ...condition, ...built.parts() } };
  }
  const condition = guard(built, step.if ?? []);
  if ('put' in step) return { Put: { ...target, Item: step.put, ...condition, ...built.parts() } };
  if ('delete' in step) return { Delete: { ...target, Key: keyOf(step.delete), ...condition, ...built.parts() } };
  return {
    ConditionCheck: { ...target, Key: keyOf(step.check), ConditionExpression: '', ...condition, ...built.parts() },
  };
};
