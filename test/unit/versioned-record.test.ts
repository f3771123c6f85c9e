import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { iso, MINUTE_MS } from '../../shared/core/time.ts';
import { dueShard, recordKey } from '../../shared/platform/keys.ts';
import { asVersion, type VersionedShape, versionedRecord } from '../../shared/platform/versioned-record.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

type Call = {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lookAt?: string | undefined;
  readonly remindAt?: string | undefined;
};

const shape: VersionedShape<Call> = {
  key: (id) => recordKey('REF', id),
  parse: (item) => item as unknown as Call,
  attributes: (call) => call,
  asRead: asVersion,
  dueAt: ({ lookAt, remindAt }) => [lookAt, remindAt].filter((at) => at !== undefined).toSorted()[0],
};

const minute = (minutes: number): string => iso(NOON + minutes * MINUTE_MS);
const call: Call = { id: 'ref_1', version: 1, createdAt: iso(NOON), updatedAt: iso(NOON) };
const wait = { now: NOON, until: minute(5) };

let { table } = memoryTable({ now: () => NOON });
let store = versionedRecord({ table }, shape);
const stored = () => table.get(shape.key(call.id));
const insert = async (times: Partial<Call>): Promise<Call> => {
  const record = { ...call, ...times };
  expect(await store.insertOrFind(record)).toBeUndefined();
  return record;
};

beforeEach(() => {
  ({ table } = memoryTable({ now: () => NOON }));
  store = versionedRecord({ table }, shape);
});

describe('a change of times', () => {
  test.each([
    ['the new time, if it is the earliest', { lookAt: minute(1) }, minute(1)],
    ['another time, if the other time is earlier', { lookAt: minute(9) }, minute(3)],
    ['the time that is left', { lookAt: undefined }, minute(3)],
  ])('makes the record due at %s', async (_, patch, dueAt) => {
    const record = await insert({ lookAt: minute(2), remindAt: minute(3) });
    expect(await store.setTimes(record, patch)).toEqual({ ...record, ...patch });
    expect(await stored()).toMatchObject({ due: dueShard(call.id), due_at: dueAt, version: 1 });
  });

  test('removes the due time with the last time', async () => {
    const record = await insert({ lookAt: minute(2) });
    await store.setTimes(record, { lookAt: undefined });
    const names = Object.keys((await stored()) ?? {});
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(due|due_at|lookAt)$/)]));
  });

  test('writes nothing to a later version, or if a further condition fails', async () => {
    const record = await insert({ lookAt: minute(2) });
    const onlyIf = [{ equals: ['lookAt', minute(1)] }] as const;
    expect(await store.setTimes(record, { lookAt: minute(9) }, { onlyIf })).toBeUndefined();
    await store.commit(record, { ...record, version: 2 });
    expect(await store.setTimes(record, { lookAt: minute(9) })).toBeUndefined();
    expect(await store.putOff(record, minute(9))).toBe(false);
    expect(await stored()).toMatchObject({ lookAt: minute(2), due_at: minute(2), version: 2 });
  });

  test.each([
    ['postpones work that is already due', { remindAt: minute(-1) }, minute(5)],
    ['does not delay work that is due before the end of the wait', { remindAt: minute(3) }, minute(3)],
    ['makes a record without other work due at the end of the wait', {}, minute(5)],
  ])('that includes a wait %s', async (_, times, dueAt) => {
    const record = await insert(times);
    await store.setTimes(record, { lookAt: minute(5) }, { wait });
    expect(await stored()).toMatchObject({ lookAt: minute(5), due_at: dueAt });
  });

  test('can postpone only the due time, which any later change of times resets', async () => {
    const record = await insert({ lookAt: minute(2) });
    expect(await store.putOff(record, minute(9))).toBe(true);
    expect(await stored()).toMatchObject({ lookAt: minute(2), due_at: minute(9) });
    await store.setTimes(record, {});
    expect(await stored()).toMatchObject({ lookAt: minute(2), due_at: minute(2) });
  });
});

test('only the versioned store and the sweep with its lease write a due time', () => {
  const root = join(import.meta.dirname, '../..');
  const writers = globSync('shared/**/*.ts', { cwd: root }).filter((file) =>
    /[{,] due_at: (?!z\.|at\b)/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(writers.toSorted()).toEqual([
    'shared/platform/versioned-record.ts',
    'shared/workers/run-due.ts',
    'shared/workers/sweep-due.ts',
  ]);
});
