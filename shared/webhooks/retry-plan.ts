import { SECOND } from '../core/time.ts';

/** When a failed delivery is tried again: after the delay, and twice as long each time. */
export interface RetryPlan {
  readonly retries: number;
  readonly delayMs: number;
}

/**
 * Seconds until the next try after the n-th, counted from 1, in whole seconds as queues count them. After the last one
 * none: the queue finds it received too often, and puts it with its dead letters.
 */
export const secondsUntilNext = ({ retries, delayMs }: RetryPlan, tries: number): number =>
  tries > retries ? 0 : Math.ceil((delayMs * 2 ** (tries - 1)) / SECOND);
