/**
 * @module Random waits between the attempts of a call, within the remaining time. The maximum doubles with each wait.
 */

import { remainingTimeMs } from '../core/trace.ts';

export interface Waits {
  /** Including the first attempt. */
  readonly attempts: number;
  /** The maximum of the first wait, ms. */
  readonly firstMs: number;
}

const LONGEST_MS = 5_000;
/** The time reserved for the attempt after the wait, and for the response. */
const KEPT_MS = 500;

/**
 * @param made the number of attempts so far
 * @returns true after the wait; false immediately if no attempt or too little time is left
 */
export const waitForAttempt = async (made: number, { attempts, firstMs }: Waits): Promise<boolean> => {
  if (made >= attempts) return false;
  const waitMs = Math.floor(Math.random() * Math.min(LONGEST_MS, firstMs * 2 ** (made - 1)));
  if (waitMs + KEPT_MS > remainingTimeMs()) return false;
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  return true;
};
