/** @module The page's texts, amounts and dates, in the first supported language of the browser. */

import { currencyDigits, majorUnits } from '../../../../shared/core/money.ts';
import { de } from './de.ts';
import { en, type Words } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { pt } from './pt.ts';

const TEXTS: Readonly<Record<string, Words>> = { en, de, fr, es, it, pt };

/** True if Intl accepts the language. A browser with the locale POSIX has an invalid language. */
const isTaken = (language: string): boolean => {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
};

const codeOf = (language: string): string => language.slice(0, 2).toLowerCase();

/** The language of the page, with its region, because the region decides the format of amounts and dates. */
export const language = navigator.languages.find((one) => isTaken(one) && Object.hasOwn(TEXTS, codeOf(one))) ?? 'en';

const words: Words = TEXTS[codeOf(language)] ?? en;

/** The text in the page's language, with its placeholders filled in. */
export const say = (key: keyof Words, values: Readonly<Record<string, string>> = {}): string =>
  words[key].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

/** The text for a name from the API; the name itself if the page has no text for it. */
export const sayName = (name: string, values?: Readonly<Record<string, string>>): string =>
  name in words ? say(name as keyof Words, values) : name;

/**
 * Formats an amount without its currency. Intl differs from ISO 4217 for some currencies (0 digits for HUF), so both
 * limits are set.
 */
export const numberOf = (cents: number, currency: string): string => {
  const digits = currencyDigits(currency);
  return new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    majorUnits(cents, currency),
  );
};

/** Formats `25.00 USD`, with the number in the page's language. */
export const money = (cents: number, currency: string): string => `${numberOf(cents, currency)} ${currency}`;

export const dateText = (iso: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(iso));

/** The unit of an interval, and the number of units per interval. */
const UNITS: Readonly<Record<string, readonly [unit: string, count: number]>> = {
  daily: ['day', 1],
  weekly: ['week', 1],
  monthly: ['month', 1],
  quarterly: ['month', 3],
  yearly: ['year', 1],
};

interface Interval {
  readonly billing_interval: string;
  readonly interval_multiplier: number;
}

/** `19.00 USD per month`, or `19.00 USD / 6 months`. */
export const perInterval = (
  amount: string,
  { billing_interval: name, interval_multiplier: times }: Interval,
): string => {
  const [unit, count] = UNITS[name] ?? [];
  if (times === 1 || unit === undefined || count === undefined) return sayName(name, { amount });
  const length = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(times * count);
  return `${amount} / ${length}`;
};
