/** @module The preset date ranges of a list, and the range in the address bar. Days are UTC days, as in the API. */

import { serviceNow } from '../api/local.ts';
import { filterText } from './filter-values.ts';

/** The first and the last day, both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);

const lastDays = (days: number): Days => {
  const now = serviceNow();
  return { from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now) };
};

export const PRESETS = ['today', '7-days', '30-days', 'month'] as const;
type Preset = (typeof PRESETS)[number];

export const PRESET_NAMES: Readonly<Record<Preset, string>> = {
  today: 'Today',
  '7-days': '7 days',
  '30-days': '30 days',
  month: 'This month',
};

const WEEK = 7;
const MONTH = 30;

export const daysOf = (preset: Preset): Days => {
  switch (preset) {
    case 'today':
      return lastDays(1);
    case '7-days':
      return lastDays(WEEK);
    case '30-days':
      return lastDays(MONTH);
    case 'month': {
      const { to } = lastDays(1);
      return { from: `${to.slice(0, 'YYYY-MM'.length)}-01`, to };
    }
  }
};

/** The preset that equals the range in the address bar; `custom` for any other range, undefined without a range. */
export const presetInAddress = (from: string, to: string): Preset | 'custom' | undefined => {
  const [first, last] = [filterText(from), filterText(to)];
  if (first === undefined && last === undefined) return undefined;
  return PRESETS.find((preset) => daysOf(preset).from === first && daysOf(preset).to === last) ?? 'custom';
};
