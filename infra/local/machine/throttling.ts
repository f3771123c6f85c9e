/**
 * @module Throttles parts of upcoming calls to the table, the bus and the queues on request, as AWS does under load.
 * The last key or entry of a batch is not processed, and a transaction is canceled.
 */

import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Connection } from '../../../shared/platform/connection.ts';

/** The calls that AWS may execute partially. */
export const PARTIAL_CALLS = ['BatchGetItem', 'TransactWriteItems', 'PutEvents', 'SendMessageBatch'] as const;
type PartialCall = (typeof PARTIAL_CALLS)[number];

export interface Throttling {
  /** Throttles this many of the next calls partially, replacing earlier requests. */
  throttle(call: PartialCall, times: number): void;
  /** True if this call is throttled partially. */
  strikes(call: PartialCall): boolean;
  /** Number of calls that remain to be throttled. */
  left(): Readonly<Partial<Record<PartialCall, number>>>;
  clear(): void;
}

export const createThrottling = (): Throttling => {
  const left = new Map<PartialCall, number>();
  return {
    throttle: (call, times) => void left.set(call, times),
    strikes: (call) => {
      const times = left.get(call) ?? 0;
      if (times > 1) left.set(call, times - 1);
      else left.delete(call);
      return times > 0;
    },
    left: () => Object.fromEntries(left),
    clear: () => left.clear(),
  };
};

/** The table's connection for functions, with throttling. */
export const throttledConnection = (connection: Connection, throttling: Throttling): Connection => ({
  ...connection,
  getBatch: async (keys, consistent) => {
    if (!throttling.strikes('BatchGetItem')) return connection.getBatch(keys, consistent);
    const [processed, unprocessed] = [keys.slice(0, -1), keys.slice(-1)];
    const { items } = processed.length === 0 ? { items: [] } : await connection.getBatch(processed, consistent);
    return { items, unprocessed };
  },
  transact: async (steps, token) => {
    if (!throttling.strikes('TransactWriteItems')) return connection.transact(steps, token);
    const CancellationReasons = steps.map((_, index) => ({ Code: index === 0 ? 'ThrottlingError' : 'None' }));
    throw new TransactionCanceledException({ message: 'Transaction cancelled', CancellationReasons, $metadata: {} });
  },
});
