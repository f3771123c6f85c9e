import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { DomainError } from '../core/errors.ts';
import type { Connection, Item } from './connection.ts';
import type { Changes, Clause, Expression } from './expression.ts';
import type { Key } from './keys.ts';

/** A conditional write either happened, or tells what stood in its way. */
export type Written =
  | { readonly ok: true; readonly item: Item }
  | { readonly ok: false; readonly found: Item | undefined };

export type TransactionStep =
  | { readonly put: Item; readonly if?: readonly Clause[] }
  | { readonly update: Key; readonly changes: Changes; readonly if?: readonly Clause[] }
  | { readonly delete: Key; readonly if?: readonly Clause[] }
  | { readonly check: Key; readonly if: readonly Clause[] };

export type Transacted =
  | { readonly ok: true }
  | { readonly ok: false; readonly failed: readonly number[]; readonly found: readonly (Item | undefined)[] };

const CONFLICT_TRIES = 6;
const CONFLICT_WAIT_MS = 20;

/**
 * A write that meets a transaction on its item is told so, and comes again a random moment later.
 * @throws DomainError VERSION_CONFLICT where it has met one each time.
 */
const pastConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tries === CONFLICT_TRIES) throw new DomainError('VERSION_CONFLICT', { cause: error });
      const waitMs = Math.random() * CONFLICT_WAIT_MS * 2 ** tries;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
};

/** A condition that did not hold says more than a conflict beside it. */
const isConflict = (error: unknown): boolean => {
  if (error instanceof TransactionConflictException) return true;
  if (!(error instanceof TransactionCanceledException)) return false;
  const codes = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
  return codes.includes('TransactionConflict') && !codes.includes('ConditionalCheckFailed');
};

const guarded = async ({ live }: Connection, write: () => Promise<Item>): Promise<Written> => {
  try {
    return { ok: true, item: await pastConflicts(write) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { ok: false, found: live(error.Item && unmarshall(error.Item)) };
  }
};

/** The condition, with the item that stood in its way asked back: it tells "missing" from "wrong state" in one call. */
const guard = (built: Expression, clauses: readonly Clause[]) => {
  const condition = built.all(clauses);
  return condition ? { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const } : {};
};

const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });

export const putItem = (connection: Connection, item: Item, clauses: readonly Clause[] = []): Promise<Written> =>
  guarded(connection, async () => {
    const built = connection.compose();
    const condition = guard(built, clauses);
    await connection.client.send(
      new PutCommand({ TableName: connection.tableName, Item: item, ...condition, ...built.parts() }),
    );
    return item;
  });

/** @returns the item as it is after the update. */
export const updateItem = (
  connection: Connection,
  key: Key,
  changes: Changes,
  clauses: readonly Clause[] = [],
): Promise<Written> =>
  guarded(connection, async () => {
    const built = connection.compose();
    const condition = guard(built, clauses);
    const { Attributes } = await connection.client.send(
      new UpdateCommand({
        TableName: connection.tableName,
        Key: keyOf(key),
        UpdateExpression: built.update(changes),
        ...condition,
        ReturnValues: 'ALL_NEW',
        ...built.parts(),
      }),
    );
    return Attributes ?? {};
  });

export const removeItem = (connection: Connection, key: Key, clauses: readonly Clause[] = []): Promise<Written> =>
  guarded(connection, async () => {
    const built = connection.compose();
    const condition = guard(built, clauses);
    await connection.client.send(
      new DeleteCommand({ TableName: connection.tableName, Key: keyOf(key), ...condition, ...built.parts() }),
    );
    return {};
  });

/** All steps or none. Where a condition did not hold: the indexes of the steps that failed, and what they found. */
export const transact = async (connection: Connection, steps: readonly TransactionStep[]): Promise<Transacted> => {
  const { client, live } = connection;
  const items = steps.map((step) => transactItem(connection, step));
  try {
    await pastConflicts(() => client.send(new TransactWriteCommand({ TransactItems: items })));
    return { ok: true };
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    const reasons = error.CancellationReasons ?? [];
    const failed = reasons.flatMap((reason, index) => (reason.Code === 'ConditionalCheckFailed' ? [index] : []));
    if (failed.length === 0) throw error;
    return { ok: false, failed, found: reasons.map((reason) => live(reason.Item && unmarshall(reason.Item))) };
  }
};

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const transactItem = ({ compose, tableName }: Connection, step: TransactionStep): TransactItem => {
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
