import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';

/** Times in seconds, the unit of the local host's clock, of sessions and of the providers. */
export const MINUTE_SECONDS = MINUTE_MS / SECOND_MS;
export const HOUR_SECONDS = HOUR_MS / SECOND_MS;
export const DAY_SECONDS = DAY_MS / SECOND_MS;
/** A leap year, as the length of a session. No test moves the clock further within one session. */
export const YEAR_SECONDS = 366 * DAY_SECONDS;
