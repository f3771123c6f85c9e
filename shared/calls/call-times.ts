/** @module The times of a claimed call: its looks at the provider, its resends, and when it counts as stuck. Pure. */

import { DAY_MS, type Instant, MINUTE_MS, SECOND_MS } from '../core/time.ts';

/** The lease of a claimed call for one function; at least the timeout of a function that sends calls for requests. */
export const CALL_LEASE_MS = 25 * SECOND_MS;

/** The wait before the first look at a call, in case its function stopped before the provider responded. */
export const FIRST_LOOK_MS = MINUTE_MS;

/** The wait before a retry of failed work, for example after the provider was unavailable. */
export const RETRY_MS = 5 * MINUTE_MS;

/** How long an undelivered call is sent again under its key. After that, the call ends as not done. */
export const RESEND_WITHIN_MS = 30 * MINUTE_MS;

/** The result of a look at an open call. `still_under_way` if the provider reports that it has not decided yet. */
export type LookResult = 'outcome_unknown' | 'still_under_way';

/** How long a call may stay open before every further look warns an operator. */
const STUCK_AFTER_MS: Readonly<Record<LookResult, number>> = {
  outcome_unknown: 30 * MINUTE_MS,
  still_under_way: 7 * DAY_MS,
};

export const isStuckSince = (claimedAt: Instant, looked: LookResult, now: Instant): boolean =>
  now - claimedAt >= STUCK_AFTER_MS[looked];

/** The times of looks at a call, counted from its claim. Further looks are daily until the outcome is known. */
export const LOOKS_AFTER_MS: readonly number[] = [1, 5, 30, 120, 720, 1440].map((minutes) => minutes * MINUTE_MS);

/** @param step 0 for the first look */
export const lookTime = (since: Instant, step: number): Instant => {
  const listed = LOOKS_AFTER_MS[step];
  return since + (listed ?? DAY_MS * (step - LOOKS_AFTER_MS.length + 2));
};

/** The next look at a call, after look `step`. Look times in the past are skipped. */
export const nextLook = (
  since: Instant,
  step: number,
  now: Instant,
): { readonly at: Instant; readonly step: number } => {
  let next = step + 1;
  while (lookTime(since, next) <= now) next += 1;
  return { at: lookTime(since, next), step: next };
};
