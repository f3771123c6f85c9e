import type { DeclineCode } from '../core/outcome.ts';
import { DAY, type Instant, MINUTE } from '../core/time.ts';

/** The retries of a failed renewal, and what follows them. */
export interface DunningPolicy {
  /** Days after the first failure, ascending. */
  readonly days: readonly number[];
  readonly finalAction: 'cancel' | 'pause';
}

/** These cards never work again: the subscription waits for another method. */
const HARD_DECLINES: readonly DeclineCode[] = ['lost_card', 'stolen_card'];

export const isHardDecline = (code: DeclineCode): boolean => HARD_DECLINES.includes(code);

/** A clock that is behind must not plan the retry once more that has just failed. */
const CLOCKS_MS = MINUTE;

/** The next retry after `now`; undefined: the retries are exhausted. */
export const nextRetry = ({ days }: DunningPolicy, firstFailure: Instant, now: Instant): Instant | undefined =>
  days.map((day) => firstFailure + day * DAY).find((at) => at > now + CLOCKS_MS);

export const lastRetry = ({ days }: DunningPolicy, firstFailure: Instant): Instant =>
  firstFailure + Math.max(0, ...days) * DAY;
