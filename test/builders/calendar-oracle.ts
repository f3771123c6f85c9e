/** @module An independent calculation of period starts that counts days and months without a library. */
import { DAY_MS } from '../../shared/core/time.ts';
export type Interval = 'daily' | 'weekly' | 'monthly' | 'quarterly' | 'yearly';

const MONTHS: Readonly<Record<Interval, number>> = { daily: 0, weekly: 0, monthly: 1, quarterly: 3, yearly: 12 };
const DAYS: Readonly<Record<Interval, number>> = { daily: 1, weekly: 7, monthly: 0, quarterly: 0, yearly: 0 };

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const daysIn = (year: number, month: number): number => (month === 1 && isLeap(year) ? 29 : (LENGTHS[month] ?? 0));

/** @param anchor ISO with milliseconds. @returns ISO with milliseconds. */
export const oracleStart = (
  anchor: string,
  { interval, multiplier }: { readonly interval: Interval; readonly multiplier: number },
  period: number,
): string => {
  const days = DAYS[interval] * multiplier * period;
  if (days !== 0 || MONTHS[interval] === 0) return new Date(Date.parse(anchor) + days * DAY_MS).toISOString();
  const [year, month, day] = anchor.slice(0, 10).split('-').map(Number) as [number, number, number];
  const months = year * 12 + (month - 1) + MONTHS[interval] * multiplier * period;
  const [inYear, inMonth] = [Math.floor(months / 12), months % 12];
  const pad = (value: number, length: number): string => String(value).padStart(length, '0');
  const last = Math.min(day, daysIn(inYear, inMonth));
  return `${pad(inYear, 4)}-${pad(inMonth + 1, 2)}-${pad(last, 2)}${anchor.slice(10)}`;
};
