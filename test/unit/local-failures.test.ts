import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { triggers } from '../../functions/api/catalogue.ts';
import { type Failures, openFailures } from '../../infra/local/dynamodb/failures.ts';
import type { LambdaRecord } from '../../infra/local/dynamodb/stream-records.ts';
import { triggersOf } from '../../infra/local/host/assemble.ts';
import type { Invoke } from '../../infra/local/machine/invoke.ts';

const PUBLISH = 'workers.publish-changes';
const lineOf = (sequence: string, trigger = PUBLISH) => ({
  trigger,
  failed_at: '2026-11-21T03:47:47.036Z',
  tries: 10,
  error: 'no',
  record: { dynamodb: { SequenceNumber: sequence, Keys: { pk: { S: `PAY#${sequence}` } } } } as unknown as LambdaRecord,
});

describe('a failed batch of the local host', () => {
  let folder = '';
  let invoke: Invoke = async () => undefined;
  let failures: Failures;
  const kept = async () => (await failures.list()).map(({ id }) => id);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'failures-'));
    failures = openFailures({
      folder: join(folder, 'failures'),
      triggers: triggersOf({ triggers }, 'stream'),
      invoke: (...call) => invoke(...call),
    });
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is listed by consumer, and the list is empty without failures', async () => {
    expect(await kept()).toEqual([]);
    for (const line of [lineOf('1', 'workers.project-changes'), lineOf('1'), lineOf('2')]) await failures.keep(line);
    expect(await kept()).toEqual([`${PUBLISH}:1`, `${PUBLISH}:2`, 'workers.project-changes:1']);
  });

  test('is removed after its consumer has processed it, without removing newer failed batches', async () => {
    for (const sequence of ['1', '2', '1']) await failures.keep(lineOf(sequence));
    const given: unknown[] = [];
    invoke = async (...call) => {
      given.push(call);
      await failures.keep(lineOf('3'));
      return { batchItemFailures: [] };
    };
    expect(await failures.redo(`${PUBLISH}:1`)).toBeUndefined();
    expect(given).toEqual([[PUBLISH, { Records: [lineOf('1').record] }, 60]]);
    expect(await kept()).toEqual([`${PUBLISH}:2`, `${PUBLISH}:3`]);
  });

  test.each<[string, Invoke, string]>([
    ['throws', () => Promise.reject(new Error('no')), 'Error: no'],
    ['says so', async () => ({ batchItemFailures: [{ itemIdentifier: '1' }] }), 'reported as failed'],
  ])('stays in its place if its consumer fails again and %s', async (_how, failing, reason) => {
    await failures.keep(lineOf('1'));
    invoke = failing;
    expect(await failures.redo(`${PUBLISH}:1`)).toBe(reason);
    expect(await failures.redo(`${PUBLISH}:9`)).toBe('no such failure');
    expect(await kept()).toEqual([`${PUBLISH}:1`]);
  });
});
