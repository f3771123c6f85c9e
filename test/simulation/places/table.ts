import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { DomainError } from '../../../shared/core/errors.ts';
import type {
  Batch,
  Connection,
  PartitionPage,
  Transacted,
  TransactionStep,
  Written,
} from '../../../shared/platform/connection.ts';
import type { Key } from '../../../shared/platform/keys.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { type Fault, lostWith, refusedWith } from '../kernel/step.ts';
import type { Claims } from './claims.ts';
import { NetworkError } from './network.ts';

/**
 * The table as steps. The service sees failures that remain after the AWS SDK's retries, such as throttling of every
 * attempt, a lost response of the last attempt, or a conflict with a transaction. The service itself retries after
 * partial throttling, such as unprocessed keys of a batch or a throttled transaction. A write may be executed twice,
 * because the SDK repeats a write with a lost response. The second write then finds the first write's effect.
 */
export const tableAsSteps = (kernel: Kernel, connection: Connection, claims: Claims): Connection => {
  const prng = kernel.prng('fan-outs');
  const read = <T>(call: string, about: string, run: () => Promise<T>): Promise<T> =>
    kernel.step({ place: 'table', call, about, run, faults: failures<T>() });
  const write = (call: string, about: string, run: () => Promise<Written>): Promise<Written> =>
    kernel.step({
      place: 'table',
      call,
      about,
      run,
      faults: [...failures<Written>(), conflict<Written>(), repeatedBySdk],
      outcome: ({ ok }) => (ok ? 'written' : 'condition failed'),
    });
  return {
    getItem: (key, consistent) =>
      read(`GetItem ${kindOf(key.sk)}`, nameOf(key), () => connection.getItem(key, consistent)),
    getBatch: (keys, consistent) =>
      kernel.step<Batch>({
        place: 'table',
        call: `BatchGetItem ${kindsOf(keys.map(({ sk }) => sk))}`,
        about: keys.map(nameOf).join(' '),
        run: () => connection.getBatch(keys, consistent),
        faults: [...failures<Batch>(), lastKeyUnprocessed(keys, (some) => connection.getBatch(some, consistent))],
      }),
    putItem: (item, clauses) =>
      write(
        `PutItem ${kindOf(item['sk'])}`,
        nameOf(item),
        claims.noting([{ put: item }], () => connection.putItem(item, clauses)),
      ),
    updateItem: (update) =>
      write(
        `UpdateItem ${kindOf(update.key.sk)}`,
        nameOf(update.key),
        claims.noting([{ update: update.key, changes: update.changes }], () => connection.updateItem(update)),
      ),
    deleteItem: (key, clauses) =>
      write(`DeleteItem ${kindOf(key.sk)}`, nameOf(key), () => connection.deleteItem(key, clauses)),
    transact: (steps) => {
      const keys = steps.map(keyOf);
      return kernel.step<Transacted>({
        place: 'table',
        call: `TransactWriteItems ${kindsOf(keys.map(({ sk }) => sk))}`,
        about: keys.map(nameOf).join(' '),
        run: claims.noting(steps, () => connection.transact(steps)),
        // Never executed twice, because the table recognizes a repeated transaction by the SDK's token.
        faults: [...failures<Transacted>(), conflict<Transacted>(), canceledByThrottling(steps)],
        outcome: ({ ok }) => (ok ? 'written' : 'condition failed'),
      });
    },
    query: (query) =>
      isFanOut(query) && prng.chance(READ_AT_ONCE)
        ? connection.query(query)
        : read(`Query ${query.index ?? kindOf(query.partition)}`, query.partition, () => connection.query(query)),
    count: (query) =>
      read(`Query ${query.index ?? kindOf(query.partition)}`, query.partition, () => connection.count(query)),
    scan: (slice) => read('Scan', '', () => connection.scan(slice)),
  };
};

/**
 * A read of many partitions, for due work (26), all payments or all subscriptions. Most of these reads are not steps.
 * They would be a third of all steps, and a function that can be killed after each of them would rarely finish.
 */
const isFanOut = ({ index, partition }: PartitionPage): boolean => index === 'due' || /^ALL(PAY|SUB)#/.test(partition);
const READ_AT_ONCE = 0.85;

const keyOf = (step: TransactionStep): { readonly pk?: unknown; readonly sk?: unknown } => {
  if ('put' in step) return step.put;
  if ('update' in step) return step.update;
  return 'delete' in step ? step.delete : step.check;
};

const nameOf = ({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): string => `${pk}/${sk}`;
/** The kind of an item by its sort key. List entries have a time as their sort key. */
const kindOf = (sk: unknown): string => {
  const [first = ''] = String(sk).split('#');
  return /^\d/.test(first) ? 'entry' : first;
};
const kindsOf = (sortKeys: readonly unknown[]): string => [...new Set(sortKeys.map(kindOf))].join('+');

const metadata = { $metadata: {} };

const failures = <T>(): readonly Fault<T>[] => [
  refusedWith(
    'table throttled',
    () => new ProvisionedThroughputExceededException({ message: 'Throughput exceeds the limit', ...metadata }),
  ),
  refusedWith('table fails', () => new InternalServerError({ message: 'Internal server error', ...metadata })),
  lostWith('table answer lost', () => new NetworkError('ECONNRESET'), 2),
];

const conflict = <T>(): Fault<T> =>
  refusedWith('transaction conflict', () => {
    const cause = new TransactionConflictException({ message: 'Transaction is ongoing for the item', ...metadata });
    return new DomainError('VERSION_CONFLICT', { cause });
  });

const repeatedBySdk: Fault<Written> = {
  kind: 'write repeated by the SDK',
  weight: 2,
  carryOut: async (run) => {
    await run();
    return run();
  },
};

const canceledByThrottling = (steps: readonly TransactionStep[]): Fault<Transacted> =>
  refusedWith('transaction throttled', () => {
    const CancellationReasons = steps.map((_, index) => ({ Code: index === 0 ? 'ThrottlingError' : 'None' }));
    return new TransactionCanceledException({ message: 'Transaction cancelled', CancellationReasons, ...metadata });
  });

const lastKeyUnprocessed = (
  keys: readonly Key[],
  getBatch: (some: readonly Key[]) => Promise<Batch>,
): Fault<Batch> => ({
  kind: 'batch left keys unprocessed',
  weight: 1,
  carryOut: async () => {
    const some = keys.slice(0, -1);
    const { items } = some.length === 0 ? { items: [] } : await getBatch(some);
    return { items, unprocessed: keys.slice(-1) };
  },
});
