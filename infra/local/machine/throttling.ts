/**
 * @module Throttles a part of the next calls of functions to the table, the bus and the queues, on request, as AWS does
 * under load: the last key of a batch stays unprocessed, throttling cancels a transaction, and the last entry of a
 * batch is refused.
 */

import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Connection } from '../../../shared/platform/connection.ts';

/** The calls that AWS may carry out in part. */
export const PARTIAL_CALLS = ['BatchGetItem', 'TransactWriteItems', 'PutEvents', 'SendMessageBatch'] as const;
type PartialCall = (typeof PARTIAL_CALLS)[number];

export interface Throttling {
  /** Throttles so many of the next calls in part, instead of those requested earlier. */
  throttle(call: PartialCall, times: number): void;
  /** True if this call is throttled in part. */
  strikes(call: PartialCall): boolean;
  /** The calls that are still to be throttled. */
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

/** The table as functions reach it. */
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
