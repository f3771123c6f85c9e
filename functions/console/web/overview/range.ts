import { serviceNow } from '../api/local.ts';
import { place } from '../view/route.tsx';

/** The first and last day of the overview from the address bar, both included, in UTC. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;
export const USUAL_DAYS = 30;
/** The longest range, in days, that is shown by day. Longer ranges are shown by week. */
const MOST_DAILY = 92;
const DAYS_OF_WEEK = 7;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
const daysBefore = (day: string, days: number): string => dayOf(Date.parse(day) - days * DAY_MS);

const DATE = /^\d{4}-\d{2}-\d{2}$/;

const dayInAddress = (name: string): string | undefined => {
  const day = place.value.query.get(name) ?? '';
  return DATE.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined;
};

const today = (): string => dayOf(serviceNow());

export const lastDays = (days: number): Range => ({ from: daysBefore(today(), days - 1), to: today() });

export const rangeInAddress = (): Range => {
  const to = dayInAddress('to') ?? today();
  return { from: dayInAddress('from') ?? daysBefore(to, USUAL_DAYS - 1), to };
};

const lengthOf = ({ from, to }: Range): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

/** The preceding range of the same length. */
export const rangeBefore = (range: Range): Range => ({
  from: daysBefore(range.from, lengthOf(range)),
  to: daysBefore(range.from, 1),
});

/** The range in words, such as `30 days`. */
export const lengthInWords = (range: Range): string => {
  const days = lengthOf(range);
  return days === 1 ? 'day' : `${days} days`;
};

export const intervalOf = (range: Range): 'day' | 'week' => (lengthOf(range) <= MOST_DAILY ? 'day' : 'week');

/** The Monday of a day's week. */
const mondayOf = (day: string): string =>
  daysBefore(day, (new Date(day).getUTCDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK);

/** The first day of every period of the range; empty for an empty range. */
export const periodsOf = (range: Range): readonly string[] => {
  const isDaily = intervalOf(range) === 'day';
  const step = isDaily ? 1 : DAYS_OF_WEEK;
  const periods: string[] = [];
  const first = isDaily ? range.from : mondayOf(range.from);
  for (let day = first; day <= range.to; day = daysBefore(day, -step)) periods.push(day);
  return periods;
};
