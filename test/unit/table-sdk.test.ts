import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openDocumentClient } from '../../shared/platform/aws-clients.ts';
import { connectDynamo } from '../../shared/platform/dynamo-table.ts';
import { openTable } from '../../shared/platform/table.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';
import { inTime, waitsOf } from '../builders/waits.ts';

const engine = mockClient(DynamoDBDocumentClient);
const table = openTable(
  connectDynamo(openDocumentClient({ env: {} }), 'records', () => NOON),
  () => NOON,
);
const said = { $metadata: {}, message: 'no' };
const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ pk: `PAY#${index}`, sk: 'PAY' }));
const conflict = () =>
  new TransactionCanceledException({ ...said, CancellationReasons: [{ Code: 'TransactionConflict' }] });

beforeEach(() => {
  engine.reset();
  // A retry waits for a random time. Here the time is zero.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

describe('the calls of a table', () => {
  test('never outnumber the sockets of the SDK, and a failed call frees its place', async () => {
    let [running, most] = [0, 0];
    engine.on(UpdateCommand).callsFake(async ({ Key: { pk } }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((turn) => setImmediate(turn));
      running -= 1;
      if (pk === 'PAY#7') throw new Error('the engine failed');
      return {};
    });
    const updates = await Promise.allSettled(keys(400).map((key) => table.update(key, { set: { due_at: 'now' } })));
    expect(updates.filter(({ status }) => status === 'fulfilled')).toHaveLength(399);
    expect(most).toBe(50);
  });
});

describe('getMany', () => {
  test('requests again only the keys that the engine left unprocessed', async () => {
    const [one, other] = keys(2);
    engine
      .on(BatchGetCommand)
      .resolvesOnce({ Responses: { records: [{ ...one }] }, UnprocessedKeys: { records: { Keys: [{ ...other }] } } })
      .resolvesOnce({ Responses: { records: [{ ...other }] } });
    expect(await table.getMany(keys(2))).toEqual([one, other]);
    const asked = engine.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems?.['records']?.Keys);
    expect(asked).toEqual([[one, other], [other]]);
  });

  test('fails if the engine repeatedly leaves the same keys unprocessed', async () => {
    engine.on(BatchGetCommand).resolves({ UnprocessedKeys: { records: { Keys: keys(1) } } });
    await expect(table.getMany(keys(1))).rejects.toThrow('unprocessed');
    expect(engine.commandCalls(BatchGetCommand).length).toBeLessThanOrEqual(10);
  });

  test('requests unprocessed keys again after growing delays of at most a few seconds', async () => {
    engine.on(BatchGetCommand).resolves({ UnprocessedKeys: { records: { Keys: keys(1) } } });
    const waits = await waitsOf(() => table.getMany(keys(1)).catch(() => undefined));
    expect(waits).toEqual([25, 50, 100, 200, 400, 800, 1_600, 2_500, 2_500]);
  });

  test('fails shortly before the function’s timeout', async () => {
    engine.on(BatchGetCommand).resolves({ UnprocessedKeys: { records: { Keys: keys(1) } } });
    const waits = await waitsOf(() => inTime(1_000, () => table.getMany(keys(1)).catch(() => undefined)));
    expect(waits).toEqual([25, 50, 100, 200]);
  });

  test('reads a hundred keys at a time, each only once, and returns the records in the requested order', async () => {
    engine.on(BatchGetCommand).callsFake(({ RequestItems }) => ({
      Responses: { records: RequestItems.records.Keys.toReversed() },
    }));
    const asked = [...keys(150), ...keys(3)];
    expect(await table.getMany(asked)).toEqual(asked);
    const sizes = engine
      .commandCalls(BatchGetCommand)
      .map(({ args }) => args[0].input.RequestItems?.['records']?.Keys?.length);
    expect(sizes).toEqual([100, 50]);
  });

  test('omits missing and expired records', async () => {
    const [one, other, third] = keys(3);
    const seconds = NOON / 1_000;
    engine.on(BatchGetCommand).resolves({
      Responses: {
        records: [
          { ...one, ttl: seconds },
          { ...third, ttl: seconds + 1 },
        ],
      },
    });
    expect(await table.getMany(keys(3))).toEqual([undefined, undefined, { ...third, ttl: seconds + 1 }]);
    engine.on(GetCommand).resolves({ Item: { ...other, ttl: seconds } });
    expect(await table.get(keys(1)[0] ?? { pk: '', sk: '' })).toBeUndefined();
    engine.on(QueryCommand).resolves({ Items: [{ ...one, ttl: seconds }, { ...other }] });
    expect((await table.queryIndex({ index: 'owner', partition: 'USER#1#PAY' })).items).toEqual([other]);
  });
});

describe('a write to the table', () => {
  const item = { pk: 'PAY#1', sk: 'PAY', version: 2 };

  test('returns the existing item if its condition fails', async () => {
    const found = { pk: { S: 'PAY#1' }, sk: { S: 'PAY' }, version: { N: '7' } };
    engine.on(PutCommand).rejects(new ConditionalCheckFailedException({ ...said, Item: found }));
    expect(await table.put(item, [{ equals: ['version', 1] }])).toEqual({ ok: false, found: { ...item, version: 7 } });
    expect(engine.commandCalls(PutCommand)[0]?.args[0].input.ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
  });

  test('returns no item if its condition fails on an expired item', async () => {
    const found = { pk: { S: 'PAY#1' }, sk: { S: 'PAY' }, ttl: { N: String(NOON / 1_000) } };
    engine.on(PutCommand).rejects(new ConditionalCheckFailedException({ ...said, Item: found }));
    expect(await table.put(item, [{ exists: true }])).toEqual({ ok: false, found: undefined });
  });

  test('throws if the table has no capacity, instead of reporting a failed condition', async () => {
    engine.on(UpdateCommand).rejects(new ProvisionedThroughputExceededException(said));
    await expect(table.update(item, { set: { a: 1 } })).rejects.toThrow(ProvisionedThroughputExceededException);
  });

  test('is retried if it conflicts with a transaction on its item', async () => {
    engine.on(PutCommand).rejectsOnce(new TransactionConflictException(said)).resolves({});
    expect(await table.put(item)).toEqual({ ok: true, item });
    expect(engine.commandCalls(PutCommand)).toHaveLength(2);
  });
});

describe('a transaction on the table', () => {
  const step = { put: { pk: 'PAY#1', sk: 'HIST#1' }, if: [{ absent: true }] } as const;

  test('returns its failed conditions and the existing items', async () => {
    const Item = { pk: { S: 'PAY#1' }, sk: { S: 'HIST#1' } };
    engine.on(TransactWriteCommand).rejects(
      new TransactionCanceledException({
        ...said,
        CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }],
      }),
    );
    const found = [undefined, { pk: 'PAY#1', sk: 'HIST#1' }];
    expect(await table.transact([step, step])).toEqual({ ok: false, failed: [1], found });
  });

  test('is retried if it conflicts with another transaction', async () => {
    engine.on(TransactWriteCommand).rejectsOnce(conflict()).resolves({});
    expect(await table.transact([step])).toEqual({ ok: true });
    expect(engine.commandCalls(TransactWriteCommand)).toHaveLength(2);
  });

  test('is not retried if a condition failed, even if another step had a conflict', async () => {
    const reasons = [{ Code: 'TransactionConflict' }, { Code: 'ConditionalCheckFailed' }];
    engine
      .on(TransactWriteCommand)
      .rejects(new TransactionCanceledException({ ...said, CancellationReasons: reasons }));
    expect(await table.transact([step, step])).toMatchObject({ ok: false, failed: [1] });
    expect(engine.commandCalls(TransactWriteCommand)).toHaveLength(1);
  });

  test('ends in a version conflict if it always conflicts', async () => {
    engine.on(TransactWriteCommand).rejects(conflict());
    expect((await refusalIn(table.transact([step]))).code).toBe('VERSION_CONFLICT');
    expect(engine.commandCalls(TransactWriteCommand).length).toBeLessThanOrEqual(10);
  });

  test('throws if it fails for another reason', async () => {
    const reasons = [{ Code: 'ThrottlingError' }];
    engine
      .on(TransactWriteCommand)
      .rejects(new TransactionCanceledException({ ...said, CancellationReasons: reasons }));
    await expect(table.transact([step])).rejects.toThrow(TransactionCanceledException);
  });

  const canceled = (...codes: readonly string[]) =>
    new TransactionCanceledException({ ...said, CancellationReasons: codes.map((Code) => ({ Code })) });
  const tokens = () => engine.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input.ClientRequestToken);

  test.each([
    ['one step', ['None', 'ThrottlingError']],
    ['all steps', ['ProvisionedThroughputExceeded', 'ThrottlingError']],
  ])('is retried with the same token if throttling of %s canceled it', async (_, codes) => {
    engine
      .on(TransactWriteCommand)
      .rejectsOnce(canceled(...codes))
      .resolves({});
    expect(await table.transact([step, step])).toEqual({ ok: true });
    await table.transact([step]);
    const [first, retried, next] = tokens();
    expect(first).toMatch(/^[\da-f-]{36}$/);
    expect(retried).toBe(first);
    expect(next).not.toBe(first);
  });

  test('is not retried if a condition failed, even if another step was throttled', async () => {
    engine.on(TransactWriteCommand).rejects(canceled('ThrottlingError', 'ConditionalCheckFailed'));
    expect(await table.transact([step, step])).toMatchObject({ ok: false, failed: [1] });
    expect(tokens()).toHaveLength(1);
  });

  test('is not retried if the table refuses a step', async () => {
    engine.on(TransactWriteCommand).rejects(canceled('ThrottlingError', 'ValidationError'));
    await expect(table.transact([step, step])).rejects.toThrow(TransactionCanceledException);
    expect(tokens()).toHaveLength(1);
  });

  test('is retried after growing delays, within the function’s timeout', async () => {
    engine.on(TransactWriteCommand).rejects(canceled('ThrottlingError'));
    const transact = () => table.transact([step]).catch(() => undefined);
    expect(await waitsOf(transact)).toEqual([25, 50, 100, 200, 400, 800, 1_600, 2_500, 2_500]);
    expect(await waitsOf(() => inTime(1_000, transact))).toEqual([25, 50, 100, 200]);
  });

  test('checks conditions without a write', async () => {
    engine.on(TransactWriteCommand).resolves({});
    await table.transact([{ check: { pk: 'ORG#1', sk: 'ORG' }, if: [{ exists: true }] }]);
    const [sent] = engine.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? [];
    expect(Object.keys(sent ?? {})).toEqual(['ConditionCheck']);
    expect(sent?.ConditionCheck?.ConditionExpression).toContain('attribute_exists');
  });
});
