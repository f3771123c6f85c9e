/**
 * @module Memberships change in transactions, which may conflict. The engine of the flow tests has no conflicts, so
 * these tests prepare the conflicts.
 */
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openDocumentClient } from '../../shared/platform/aws-clients.ts';
import { connectDynamo } from '../../shared/platform/dynamo-table.ts';
import { openTable } from '../../shared/platform/table.ts';

const documents = mockClient(DynamoDBDocumentClient);
const table = openTable(
  connectDynamo(openDocumentClient({ env: {} }), 'payments', () => 0),
  () => 0,
);
const KEY = { pk: 'ORG#1', sk: 'ORG' };
const SIX_TRIES = 6;

const canceled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'canceled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
const conflict = new TransactionConflictException({ $metadata: {}, message: 'conflict' });

/** Skips the pauses between tries. */
const through = async <T>(work: Promise<T>): Promise<T> => {
  work.catch(() => undefined);
  await vi.runAllTimersAsync();
  return work;
};
const transact = () => through(table.transact([{ put: KEY }, { update: KEY, changes: { add: { n: 1 } } }]));
const sent = (): number => documents.calls().length;

beforeEach(() => {
  vi.useFakeTimers();
  documents.reset();
});
afterEach(() => {
  // The spies are restored first, because a later restore would bring the fake timer back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a transaction that meets a conflict', () => {
  test('is retried until it succeeds', async () => {
    documents
      .on(TransactWriteCommand)
      .rejectsOnce(canceled('None', 'TransactionConflict'))
      .rejectsOnce(canceled('TransactionConflict'))
      .resolves({});
    expect(await transact()).toEqual({ ok: true });
    expect(sent()).toBe(3);
  });

  test('fails after six attempts with a conflict error that its caller can retry', async () => {
    documents.on(TransactWriteCommand).rejects(canceled('TransactionConflict', 'None'));
    await expect(transact()).rejects.toMatchObject({ code: 'VERSION_CONFLICT', status: 409 });
    expect(sent()).toBe(SIX_TRIES);
  });

  test('waits for a growing random time, so that the two transactions do not conflict again', async () => {
    const waits: number[] = [];
    const setTimer = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((run, ms, ...rest) => {
      waits.push(Number(ms));
      return setTimer(run, ms, ...rest);
    });
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    documents.on(TransactWriteCommand).rejects(canceled('TransactionConflict'));
    await expect(transact()).rejects.toThrow();
    expect(waits).toEqual([20, 40, 80, 160, 320]);
  });

  test('returns a failed condition immediately, even if another item conflicts', async () => {
    documents.on(TransactWriteCommand).rejects(canceled('ConditionalCheckFailed', 'TransactionConflict'));
    expect(await transact()).toEqual({ ok: false, failed: [0], found: [undefined, undefined] });
    expect(sent()).toBe(1);
  });

  test('is not retried after any other error', async () => {
    documents.on(TransactWriteCommand).rejects(canceled('ValidationError', 'None'));
    await expect(transact()).rejects.toBeInstanceOf(TransactionCanceledException);
    expect(sent()).toBe(1);
  });
});

describe('a single write that meets a conflict with a transaction', () => {
  test('is retried until it succeeds', async () => {
    documents
      .on(UpdateCommand)
      .rejectsOnce(conflict)
      .resolves({ Attributes: { ...KEY, n: 1 } });
    const written = await through(table.update(KEY, { add: { n: 1 } }));
    expect(written).toEqual({ ok: true, item: { ...KEY, n: 1 } });
    expect(sent()).toBe(2);
  });

  test('fails after six attempts', async () => {
    documents.on(PutCommand).rejects(conflict);
    await expect(through(table.put(KEY))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(sent()).toBe(SIX_TRIES);
  });
});
