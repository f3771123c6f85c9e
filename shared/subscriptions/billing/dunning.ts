import { DAY_MS, type Instant, MINUTE_MS } from '../../core/time.ts';

/** The retries of a failed renewal, and the action after the last retry. */
export interface DunningPolicy {
  /** Days after the first failure, ascending. */
  readonly days: readonly number[];
  readonly finalAction: 'cancel' | 'pause';
}

/** Allowance for clock differences. Without it, the retry that has just failed could be planned again. */
const CLOCKS_MS = MINUTE_MS;

/** The next retry after `now`. Undefined if the retries are exhausted. */
export const nextRetry = ({ days }: DunningPolicy, firstFailure: Instant, now: Instant): Instant | undefined =>
  days.map((day) => firstFailure + day * DAY_MS).find((at) => at > now + CLOCKS_MS);

export const lastRetry = ({ days }: DunningPolicy, firstFailure: Instant): Instant =>
  firstFailure + Math.max(0, ...days) * DAY_MS;
