/** @module The seller's time limit for completing a payment, as an RFC 3339 duration. */

import { invalidSquareRequest } from './errors.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** The maximum and the default if the card is not present. */
const LONGEST_MS = 7 * DAY_MS;

const DURATION = /^P(?=\d|T\d)(?:(\d{1,3})D)?(?:T(?=\d)(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,6})S)?)?$/;

/** @throws Refused unless the text is a duration from a minute to seven days */
export const delayMs = (duration: string | undefined): number => {
  if (duration === undefined) return LONGEST_MS;
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = DURATION.exec(duration) ?? [];
  const ms =
    Number(days) * DAY_MS + Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS;
  if (ms >= MINUTE_MS && ms <= LONGEST_MS) return ms;
  throw invalidSquareRequest('INVALID_VALUE', 'The delay must be from one minute to seven days.', 'delay_duration');
};
