/**
 * @module Retries partly throttled calls (a batch with unprocessed keys, or a canceled transaction). The AWS SDK
 * retries only calls throttled as a whole.
 */

import { randomUUID } from 'node:crypto';
import type { Connection, Item, Transacted, TransactionStep } from './connection.ts';
import type { Key } from './keys.ts';
import { type Waits, waitForAttempt } from './waits.ts';

/** The waits last at most sixteen seconds in total; a function's time-out is usually earlier. */
const WAITS: Waits = { attempts: 10, firstMs: 50 };

/** @throws Error if keys remain unprocessed when the time is up */
export const readBatch = async (
  connection: Connection,
  keys: readonly Key[],
  consistent: boolean,
): Promise<readonly Item[]> => {
  const found: Item[] = [];
  let pending = keys;
  for (let made = 1; ; made += 1) {
    const { items, unprocessed } = await connection.getBatch(pending, consistent);
    found.push(...items);
    if (unprocessed.length === 0) return found;
    if (!(await waitForAttempt(made, WAITS))) throw new Error('BatchGetItem left keys unprocessed');
    pending = unprocessed;
  }
};

/**
 * Runs a transaction, and retries it while only throttling has failed it. Every attempt has the same token, so the
 * table runs the steps once. A transaction with a failed condition is not retried, even if other steps were throttled,
 * because its result is certain.
 * @throws the table's error if the throttling lasts until the time is up
 */
export const transactInTime = async (
  connection: Connection,
  steps: readonly TransactionStep[],
): Promise<Transacted> => {
  const token = randomUUID();
  for (let made = 1; ; made += 1) {
    try {
      return await connection.transact(steps, token);
    } catch (error) {
      if (!isThrottled(error) || !(await waitForAttempt(made, WAITS))) throw error;
    }
  }
};

const THROTTLED: ReadonlySet<string> = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

interface Canceled extends Error {
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

const isCanceled = (error: unknown): error is Canceled =>
  error instanceof Error && error.name === 'TransactionCanceledException';

const isThrottled = (error: unknown): boolean => {
  if (!isCanceled(error)) return false;
  const codes = error.CancellationReasons?.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None') ?? [];
  return codes.length > 0 && codes.every((code) => THROTTLED.has(code));
};
