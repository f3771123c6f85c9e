/**
 * @module Blanks an erased person's data in a stored payload. Numbers, dates, ids, amounts, currencies and statuses
 * stay. A string stays only if it is a code (one word, no e-mail address, no phone number) outside personal fields. A
 * personal field is named after a person, a place, a card's digits or free text. Everything inside a personal field is
 * blanked. Our own ids and Square's states of orders and disputes always stay.
 */

import { ID_PREFIX } from './ids.ts';
import { comparableText } from './text.ts';

const PERSON_NAME =
  /name|mail|phone|mobile|fax|whatsapp|address|line_?\d|street|city|locality|(?:^|_)state$|region|province|admin_area|postal|(?:^|_)zip|country|birth|gender|(?:^|_)notes?$|comment|description|statement|memo|reference_?code|nickname|(?:^|_)alias|(?:^|_)tax_?id|(?:^|_)vat|(?:^|_)ip(?:_|$)|user_agent|contact|metadata|(?:^|_)tags$|concept|category|url|href|website|iban|holder|buyer|payer_info|shipping|billing_details|custom_fields/i;

/** The parts of a card or an account that identify its holder. Brand and kind are not included. */
const METHOD_NAME =
  /last_?(?:4|four|digits)|(?:^|_)exp(?:_|iry)|expiration|fingerprint|account_number|routing_number|(?:^|_)(?:bin|iin|issuer)$|issuing_bank/i;

const OUR_PREFIXES: ReadonlySet<string> = new Set(Object.values(ID_PREFIX));

const isOurId = (text: string): boolean => {
  const [prefix = '', hex = '', ...rest] = text.split('_');
  return OUR_PREFIXES.has(prefix) && /^[0-9a-f]{24}$/.test(hex) && rest.length === 0;
};

export const withoutPerson = (value: unknown, isPersonal = false): unknown => {
  if (typeof value === 'string') return isKept(value, isPersonal) ? value : null;
  if (typeof value === 'number' || typeof value === 'boolean') return isPersonal ? null : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => withoutPerson(inner, isPersonal));
  return Object.fromEntries(Object.entries(value).flatMap(([name, inner]) => entryOf(name, inner, isPersonal)));
};

/**
 * Square's states of orders and disputes, which webhook targets of raw events need. Any other `state` may be a place.
 */
const MACHINE_STATES: ReadonlySet<unknown> = new Set([
  ...['DRAFT', 'OPEN', 'COMPLETED', 'CANCELED'],
  ...['INQUIRY_EVIDENCE_REQUIRED', 'INQUIRY_PROCESSING', 'INQUIRY_CLOSED'],
  ...['EVIDENCE_REQUIRED', 'PROCESSING', 'WON', 'LOST', 'ACCEPTED'],
]);

/**
 * Field names may hold personal data, too. Drops a field whose name is not a code. Inside a personal field, also drops
 * every blanked field.
 */
const entryOf = (name: string, value: unknown, isPersonal: boolean): readonly [string, unknown][] => {
  if (!isCode(name)) return [];
  if (!isPersonal && name === 'state' && MACHINE_STATES.has(value)) return [[name, value]];
  const kept = withoutPerson(value, isPersonal || PERSON_NAME.test(name) || METHOD_NAME.test(name));
  return isPersonal && kept === null ? [] : [[name, kept]];
};

const isKept = (text: string, isPersonal: boolean): boolean => isOurId(text) || (!isPersonal && isCode(text));

/** True if the text is one machine-readable word (id, code, time, amount), and no e-mail address or phone number. */
export const isCode = (text: string): boolean =>
  /^[\w.:#-]{0,255}$/.test(text) && (!PHONE.test(text) || DATE_OR_AMOUNT.test(text));

const PHONE = /^(?:\d{9,15}|\d{1,5}(?:[.-]\d{2,8}){1,6})$/;
const DATE_OR_AMOUNT = /^(?:\d{4}-\d{2}-\d{2}|\d+\.\d{1,3})$/;

/** The text if it is a code, else undefined, because other text may contain personal data. */
export const codeOnly = (text: string | undefined): string | undefined =>
  text !== undefined && isCode(text) ? text : undefined;

/** Replaces normalized e-mail addresses in every string of a value, in any letter case and Unicode normalization. */
export const withoutEmails = (value: unknown, emails: readonly string[]): unknown => {
  if (typeof value === 'string') return emails.reduce(withoutEmail, value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => withoutEmails(inner, emails));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [String(withoutEmails(name, emails)), withoutEmails(inner, emails)]),
  );
};

export const ERASED = '[erased]';

const withoutEmail = (text: string, email: string): string => {
  const lower = comparableText(text);
  if (!lower.includes(email)) return text;
  // Normalization and lower case may change lengths, so positions in the two strings differ.
  const isAligned = lower === text.toLowerCase() && lower.length === text.length;
  const source = isAligned ? text : lower;
  const kept: string[] = [];
  let from = 0;
  for (let at = lower.indexOf(email); at >= 0; at = lower.indexOf(email, from)) {
    kept.push(source.slice(from, at), ERASED);
    from = at + email.length;
  }
  return [...kept, source.slice(from)].join('');
};

const TOKEN = /[\w-]{6,100}/g;

/** Every possible id in the text. */
export const idsIn = (text: string): ReadonlySet<string> => new Set(text.match(TOKEN) ?? []);
