/**
 * @module Formats money and times in the browser's language. Amounts are integers in ISO 4217 minor units. Days are UTC
 * days, as in the API. Times are in the chosen zone.
 */

import { currencyDigits, majorUnits } from '../../../../shared/core/money.ts';
import { isLocalZone } from './zone.ts';

const TEN = 10;

/**
 * Formats an amount with its currency. Intl differs from ISO 4217 for some currencies (0 digits for HUF), so both
 * limits are set.
 */
export const money = (cents: number, currency: string): string => {
  const digits = currencyDigits(currency);
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
    .format(majorUnits(cents, currency))
    .replaceAll('\u00a0', ' ');
};

/** Parses `7`, `7.5` or `7,50` to minor units; undefined if the text is not an amount of the currency. */
export const minorUnits = (text: string, currency: string): number | undefined => {
  const [all, whole = '', fraction = ''] = /^(\d{1,16})(?:[.,](\d*))?$/.exec(text.trim()) ?? [];
  const digits = currencyDigits(currency);
  if (all === undefined || fraction.length > digits) return undefined;
  const cents = Number(whole + fraction.padEnd(digits, '0'));
  return Number.isSafeInteger(cents) ? cents : undefined;
};

type TimeStyles = Pick<Intl.DateTimeFormatOptions, 'dateStyle' | 'timeStyle'>;

const formatOfTime = (styles: TimeStyles): ((iso: string) => string) => {
  const inUtc = new Intl.DateTimeFormat(undefined, { ...styles, timeZone: 'UTC' });
  const inBrowserZone = new Intl.DateTimeFormat(undefined, styles);
  return (iso) => (isLocalZone.value ? inBrowserZone : inUtc).format(new Date(iso));
};

/** A time without the zone, for columns with the zone in the title. */
export const timeText = formatOfTime({ dateStyle: 'medium', timeStyle: 'short' });
export const secondsText = formatOfTime({ dateStyle: 'medium', timeStyle: 'medium' });
/** A time with seconds and the zone. */
export const zonedTimeText = formatOfTime({ dateStyle: 'medium', timeStyle: 'long' });

const HOUR_MS = 3_600_000;
const HOUR_STYLE = { day: 'numeric', month: 'short', year: 'numeric', hour: 'numeric' } as const;
const HOUR_IN_UTC = new Intl.DateTimeFormat(undefined, { ...HOUR_STYLE, timeZone: 'UTC' });
const HOUR_IN_BROWSER_ZONE = new Intl.DateTimeFormat(undefined, HOUR_STYLE);

/** The hour that begins at a time, such as `29 Nov 2026, 22 – 23`. */
export const hourText = (iso: string): string => {
  const start = Date.parse(iso);
  return (isLocalZone.value ? HOUR_IN_BROWSER_ZONE : HOUR_IN_UTC).formatRange(start, start + HOUR_MS);
};

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

export const dateInUtc = (iso: string): string => DATE.format(new Date(iso));
export const shortDay = (iso: string): string => DAY.format(new Date(iso));

export const count = (value: number): string => new Intl.NumberFormat().format(value);

/** Displayed words for names that would not be clear to users. */
const WORDS: Readonly<Record<string, string>> = {
  requires_capture: 'Authorized',
  requires_payment_method: 'Needs method',
  needs_response: 'Respond',
};

/** Turns a name such as `requires_payment_method` into words. */
export const inWords = (name: string): string => {
  const known = WORDS[name];
  if (known !== undefined) return known;
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A duration in its two largest units, such as `32 days 4 hours`. */
export const duration = (ms: number): string => {
  const parts: string[] = [];
  let left = Math.abs(ms);
  for (const [unit, size] of UNITS) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole > 0 && parts.length < 2) parts.push(`${count(whole)} ${unit}${whole === 1 ? '' : 's'}`);
  }
  return parts.join(' ') || 'under a minute';
};

/** An axis may show at least this many decimals, for `1.25K` in a currency without decimals. */
const AXIS_DIGITS = 2;

/** A short amount without its currency for an axis, such as `1.2K`. */
export const wholeMoney = (cents: number, currency: string): string =>
  new Intl.NumberFormat(undefined, {
    notation: 'compact',
    maximumFractionDigits: Math.max(AXIS_DIGITS, currencyDigits(currency)),
  }).format(cents / TEN ** currencyDigits(currency));

/** A fraction as a percentage, such as `97.5%`. */
export const percent = (part: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(part);
