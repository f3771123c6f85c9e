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

/** The result of a conditional write; on failure with the item that the condition refused. */
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
 * Retries a write that conflicts with a transaction on its item, after a random wait.
 * @throws DomainError VERSION_CONFLICT if every try conflicts.
 */
const retryConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
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

/** A failed condition takes precedence over a conflict on another item of the transaction. */
const isConflict = (error: unknown): boolean => {
  if (error instanceof TransactionConflictException) return true;
  if (!(error instanceof TransactionCanceledException)) return false;
  const codes = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
  return codes.includes('TransactionConflict') && !codes.includes('ConditionalCheckFailed');
};

const runGuarded = async ({ unlessExpired }: Connection, write: () => Promise<Item>): Promise<Written> => {
  try {
    return { ok: true, item: await retryConflicts(write) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { ok: false, found: unlessExpired(error.Item && unmarshall(error.Item)) };
  }
};

/** The condition. A failure returns the stored item, which tells "missing" from "wrong state" in one call. */
const guard = (built: Expression, clauses: readonly Clause[]) => {
  const condition = built.all(clauses);
  return condition ? { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const } : {};
};

const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });

export const putItem = (connection: Connection, item: Item, clauses: readonly Clause[] = []): Promise<Written> =>
  runGuarded(connection, async () => {
    const built = connection.compose();
    const condition = guard(built, clauses);
    await connection.client.send(
      new PutCommand({ TableName: connection.tableName, Item: item, ...condition, ...built.parts() }),
    );
    return item;
  });

interface ItemUpdate {
  readonly key: Key;
  readonly changes: Changes;
  readonly clauses: readonly Clause[] | undefined;
}

/** @returns the item after the update. */
export const updateItem = (connection: Connection, { key, changes, clauses = [] }: ItemUpdate): Promise<Written> =>
  runGuarded(connection, async () => {
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
  runGuarded(connection, async () => {
    const built = connection.compose();
    const condition = guard(built, clauses);
    await connection.client.send(
      new DeleteCommand({ TableName: connection.tableName, Key: keyOf(key), ...condition, ...built.parts() }),
    );
    return {};
  });

/** Writes all steps or none. If a condition fails: the indexes of the failed steps, and the items that they found. */
export const transact = async (connection: Connection, steps: readonly TransactionStep[]): Promise<Transacted> => {
  const { client, unlessExpired } = connection;
  const items = steps.map((step) => transactItem(connection, step));
  try {
    await retryConflicts(() => client.send(new TransactWriteCommand({ TransactItems: items })));
    return { ok: true };
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    const reasons = error.CancellationReasons ?? [];
    const failed = reasons.flatMap((reason, index) => (reason.Code === 'ConditionalCheckFailed' ? [index] : []));
    if (failed.length === 0) throw error;
    return { ok: false, failed, found: reasons.map((reason) => unlessExpired(reason.Item && unmarshall(reason.Item))) };
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
