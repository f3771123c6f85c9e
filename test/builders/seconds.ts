import { DAY, HOUR, MINUTE, SECOND } from '../../shared/core/time.ts';

/** Times in whole seconds: the unit of the local host's clock, of sessions and of the providers. */
export const MINUTE_SECONDS = MINUTE / SECOND;
export const HOUR_SECONDS = HOUR / SECOND;
export const DAY_SECONDS = DAY / SECOND;
/** A leap year: longer than any test moves the clock in a session of a year. */
export const YEAR_SECONDS = 366 * DAY_SECONDS;
