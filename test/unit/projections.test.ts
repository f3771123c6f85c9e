import type { DynamoDBRecord } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { PAYMENT_STATUSES, type Payment } from '../../shared/payments/payment.ts';
import { projectionOf } from '../../shared/payments/payment-history.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { additionsOf } from '../../shared/payments/summary-sums.ts';
import { recordKey, wordPartition } from '../../shared/platform/keys.ts';
import type { Item, Table, TransactionStep } from '../../shared/platform/table.ts';
import { projectChanges } from '../../shared/workers/project-changes.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON, payment } from '../builders/payment.ts';
import { streamRecord } from '../builders/stream-record.ts';

const PAYMENTS = 5;
const MAX_STEPS = 100;

/** The stream of changing payments in order, with the images before and after each change. */
const streamOf = (changes: readonly { readonly of: number; readonly status: Payment['status'] }[]) => {
  const records = Array.from(
    { length: PAYMENTS },
    (_, index): Payment => ({
      ...payment({
        id: `pay_${index}`,
        createdAt: iso(NOON + (index % 2) * DAY_MS),
        userId: `user_${index % 3}`,
        organizationId: index === 4 ? 'org_1' : undefined,
        projectId: index === 3 ? 'proj_1' : undefined,
        totalCents: 100 * (index + 1),
      }),
      version: 0,
      status: 'creating',
    }),
  );
  const first = new Map<string, string>();
  const stream = changes.map(({ of, status }, sequence) => {
    const before = records[of] ?? payment();
    const version = before.version + 1;
    const completedAt = status === 'succeeded' ? iso(NOON + DAY_MS) : undefined;
    const after: Payment = { ...before, status, completedAt, version };
    records[of] = after;
    const payer = after.organizationId ?? after.userId ?? '';
    if (status === 'succeeded' && !first.has(payer)) first.set(payer, after.id);
    return streamRecord(sequence, paymentItem(before, NOON), paymentItem(after, NOON));
  });
  return { stream, records, first: new Set(first.values()) };
};

/** The history, the counters and the sums, without zeros. The sums of all payments include all shards. */
const projected = (items: readonly Item[]) => {
  const numbers = new Map<string, number>();
  for (const { pk, sk, ...fields } of items) {
    if (!/^(COUNT|SUM)#/.test(String(pk))) continue;
    for (const [name, by] of Object.entries(fields)) {
      const place = `${String(pk).replace(/^SUM#ALL#\d+/, 'SUM#ALL')} ${sk} ${name}`;
      numbers.set(place, (numbers.get(place) ?? 0) + Number(by));
    }
  }
  return {
    numbers: Object.fromEntries([...numbers].filter(([, by]) => by !== 0)),
    history: items.filter(({ sk }) => String(sk).startsWith('HIST#')).length,
    entries: Object.fromEntries(
      items.flatMap(({ pk, sk, v }) => (String(pk).startsWith('ALLPAY#') ? [[String(sk).split('#')[1], v]] : [])),
    ),
  };
};

/** The expected values from the payments themselves. @param first each payer's first successful payment */
const expected = (records: readonly Payment[], first: ReadonlySet<string>) => {
  const seen = records.filter(({ version }) => version > 0);
  const shares = seen.flatMap(
    (record) => projectionOf(undefined, record, 'one shard', first.has(record.id))?.shares ?? [],
  );
  return {
    ...projected(additionsOf(shares).map(({ key, add }) => ({ ...key, ...add }))),
    history: seen.reduce((sum, { version }) => sum + version, 0),
    entries: Object.fromEntries(seen.map(({ id, version }) => [id, version])),
  };
};

/** Stops a batch before or after its n-th write, like a killed function. */
const losing = (table: Table, at: number, isExecuted: boolean): Table => {
  let writes = 0;
  const lost = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (writes < at) return write();
    if (writes === at && isExecuted) await write();
    throw new Error('lost');
  };
  return {
    ...table,
    put: (...given) => lost(() => table.put(...given)),
    transact: (...given) => lost(() => table.transact(...given)),
  };
};

const { log } = logLines();

const batchOf = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  repeats: fc.nat(3),
  lostAt: fc.nat(6),
  isExecuted: fc.boolean(),
});

describe('the projection of a stream', () => {
  test('equals the payments after any batches, repetitions, failures in a batch, and a full replay', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ of: fc.nat(PAYMENTS - 1), status: fc.constantFrom(...PAYMENT_STATUSES) }), {
          maxLength: 40,
        }),
        fc.array(batchOf, { minLength: 1, maxLength: 5 }),
        async (changes, batches) => {
          const { stream, records, first } = streamOf(changes);
          const { table, items } = memoryTable({ now: () => NOON });
          for (let from = 0, turn = 0; from < stream.length; turn += 1) {
            const { size, repeats, lostAt, isExecuted } = batches[turn % batches.length] ?? batches[0] ?? FAILED;
            const batch = [
              ...stream.slice(Math.max(0, from - repeats), from + size),
              ...stream.slice(from, from + repeats),
            ];
            await projectChanges({ table: losing(table, lostAt, isExecuted), log }, batch).catch(() => undefined);
            await projectChanges({ table, log }, batch);
            from += size;
          }
          expect(projected(items())).toEqual(expected(records, first));
          await projectChanges({ table, log }, stream);
          await projectChanges({ table, log }, stream.toReversed());
          expect(projected(items())).toEqual(expected(records, first));
        },
      ),
    );
  });
});
const FAILED = { size: 1, repeats: 0, lostAt: 1, isExecuted: false };

describe('the projection of a batch', () => {
  const paid = (count: number, ownerOf: (index: number) => string): readonly DynamoDBRecord[] =>
    Array.from({ length: count }, (_, index) => {
      const before = payment({ id: `pay_${index}`, userId: ownerOf(index) });
      const after: Payment = { ...before, version: 2, status: 'succeeded', completedAt: iso(NOON) };
      return streamRecord(index, paymentItem(before, NOON), paymentItem(after, NOON));
    });
  const projecting = async (records: readonly DynamoDBRecord[]) => {
    const memory = memoryTable({ now: () => NOON });
    const transactions: (readonly TransactionStep[])[] = [];
    const table: Table = {
      ...memory.table,
      transact: (steps) => {
        transactions.push(steps);
        return memory.table.transact(steps);
      },
    };
    const project = (more: readonly DynamoDBRecord[]) => projectChanges({ table, log }, more);
    await project(records);
    return { transactions, items: memory.items, project };
  };
  const targetOf = (step: TransactionStep): string =>
    'put' in step
      ? `${step.put['pk']} ${step.put['sk']}`
      : 'update' in step
        ? `${step.update.pk} ${step.update.sk}`
        : '';

  test('uses as many transactions as its items need, each within the limit and without an item that occurs twice', async () => {
    for (const [owners, expectedCount] of [
      [1, 2],
      [10, 2],
      [100, 3],
    ] as const) {
      const { transactions } = await projecting(paid(100, (index) => `user_${index % owners}`));
      expect([owners, transactions.length]).toEqual([owners, expectedCount]);
      for (const steps of transactions) {
        expect(steps.length).toBeLessThanOrEqual(MAX_STEPS);
        expect(new Set(steps.map(targetOf)).size).toBe(steps.length);
      }
    }
  });

  test('counts only new versions, in one more transaction, if some versions were already written', async () => {
    const records = paid(30, () => 'user_1');
    const { transactions, items, project } = await projecting(records.slice(0, 10));
    await project(records);
    expect(transactions).toHaveLength(3);
    const [sums] = items().filter(({ pk }) => pk === 'SUM#USER#user_1#PAY');
    expect(sums).toMatchObject({ 'status#succeeded#count': 30, 'status#created#count': -30 });
  });
});

describe('the search words of a payment', () => {
  const CARD = { type: 'card', cardBrand: 'visa', lastFour: '4242', fingerprint: 'fp_1' } as const;
  const versions = (...fields: readonly Partial<Payment>[]): readonly DynamoDBRecord[] => {
    const stored = fields.map((some, index) => paymentItem({ ...payment(), ...some, version: index + 1 }, NOON));
    return stored.flatMap((after, index) => [streamRecord(index, stored[index - 1], after)]);
  };
  const written = async (
    records: readonly DynamoDBRecord[],
    batches: readonly number[],
    stored: readonly Item[] = [],
  ) => {
    const { table, items } = memoryTable({ now: () => NOON });
    for (const item of stored) await table.put(item);
    let from = 0;
    for (const size of batches) {
      await projectChanges({ table, log }, records.slice(from, from + size));
      from += size;
    }
    return Object.fromEntries(
      items().flatMap(({ pk, sk, v, owner, project }) =>
        String(pk).startsWith('WORD#') ? [[sk, { v, owner, project }]] : [],
      ),
    );
  };
  const word = (text: string): string => wordPartition('PAY', text);

  test('are written with the version that changes them, in any batches', async () => {
    const changes = versions(
      { status: 'created', referenceCode: 'ORDER-1' },
      { status: 'processing', referenceCode: 'ORDER-1' },
      { status: 'succeeded', referenceCode: 'ORDER-1', details: CARD },
      { status: 'succeeded', referenceCode: 'ORDER-1', details: CARD, description: 'new' },
    );
    for (const batches of [[4], [1, 1, 1, 1], [2, 2], [1, 3]]) {
      expect(await written(changes, batches)).toMatchObject({
        'PAY#PEOPLE': { owner: word('4242'), project: word('ORDER-1') },
        'PAY#PROVIDER': { owner: word('fp_1'), project: undefined },
      });
    }
    expect(await written(changes, [1, 1])).toMatchObject({ 'PAY#PEOPLE': { v: 1 } });
    expect(await written(changes, [1, 1, 1, 1])).toMatchObject({ 'PAY#PEOPLE': { v: 3 }, 'PAY#PROVIDER': { v: 3 } });
  });

  test('are replaced correctly if they change and change back in repeated batches', async () => {
    const changes = versions({ referenceCode: 'A' }, { referenceCode: 'B' }, { referenceCode: 'A' });
    const [first, second, third] = changes;
    const repeated = [first, second, second, third].filter((change) => change !== undefined);
    expect(await written(repeated, [1, 1, 2])).toMatchObject({ 'PAY#PEOPLE': { project: word('A') } });
  });

  test('are written at each change of a payment with a saved method, because the method’s digits may have changed', async () => {
    const saved = { paymentMethodId: 'pm_1' };
    expect(await written(versions({ ...saved }, { ...saved, description: 'new' }), [1, 1])).toMatchObject({
      'PAY#PEOPLE': { v: 2 },
    });
  });

  test.each([
    ['a wallet', { details: { type: 'wallet', walletType: 'paypal' } }],
    ['no method', { paymentMethodId: undefined }],
  ] as const)('lose the digits of a saved method once the payment is made with %s', async (_, fields) => {
    const method = { ...recordKey('PM', 'pm_1'), lastFour: '4242' };
    const changes = versions({ paymentMethodId: 'pm_1' }, { paymentMethodId: 'pm_1', ...fields });
    expect(await written(changes, [1], [method])).toMatchObject({ 'PAY#PEOPLE': { owner: word('4242') } });
    expect(await written(changes, [1, 1], [method])).toMatchObject({ 'PAY#PEOPLE': { v: 2, owner: undefined } });
  });
});
