/**
 * @module Redacts a payload for storage. Fields with names of secrets or card data lose their values, at any depth.
 * E-mail addresses keep their first letter and domain. A number that a table item cannot hold becomes text.
 */

import { cardNumbersIn } from './card-number.ts';
import { cutText } from './text.ts';

const SECRET_NAME =
  /secret|token|password|authorization|signature|cvc|cvv|api_?key|private|credential|^number$|card_?number|^pan$|client_key/i;
/** Words that may contain an e-mail address. An excluded character ends an address. */
const WORD = /[^\s"<>()[\],;:\\]+/gu;
/** 13 to 19 digits, possibly grouped. The check digit separates card numbers from times and amounts. */
const CARD_NUMBER = /\b(?:\d[ -]?){12,18}\d\b/g;
/**
 * Matches the text before a secret: Stripe's `_secret_` or a URL parameter. `SECRET_PARAMETER` decides about the
 * parameter's name.
 */
const SECRET_START = /(?:[?&][\w-]+=|_secret_)(?=[^&\s"])/gi;
const SECRET_PARAMETER = /secret|token|key|password/i;
/** The secret of a service key, anywhere in a text. */
const SERVICE_KEY = /psk_[0-9a-f]{24}_[\w-]{43}/g;
const END_OF_VALUE = /[&\s"]|$/g;
export const REDACTED = '[redacted]';
const MAX_TEXT = 2_048;
/**
 * The number of characters that are read and redacted. `MAX_TEXT` cuts the text only afterwards, because a cut address
 * no longer matches the pattern.
 */
const MAX_READ = 256 * 1_024;
/** The SDK mistakes an object with this field for a class instance. */
const UNSTORABLE_NAME = 'constructor';

/** DynamoDB allows 32 levels in an item; the item itself uses some of them. */
const MAX_DEPTH = 24;

export const redact = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'number') return redactedNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return REDACTED;
  if (Array.isArray(value)) return value.map((inner) => redact(inner, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== UNSTORABLE_NAME)
      .map(([name, inner]) => [
        redactedText(name),
        SECRET_NAME.test(name) && inner !== null && typeof inner !== 'boolean' ? REDACTED : redact(inner, depth + 1),
      ]),
  );
};

/** Runs in linear time, because providers and senders of test events choose the text. */
const redactedText = (text: string): string =>
  cutText(
    withoutCardNumbers(withoutSecrets(cutText(text, MAX_READ)))
      .replace(SERVICE_KEY, REDACTED)
      .replace(WORD, (word) => (word.includes('@') ? withoutAddresses(word) : word))
      .replace(CARD_NUMBER, (digits) => (isCardNumber(digits) ? REDACTED : digits)),
    MAX_TEXT,
  );

/**
 * Redacts card numbers of known brands in any spacing. The caller then redacts other card numbers of 13 to 19 digits.
 */
const withoutCardNumbers = (text: string): string => {
  const kept: string[] = [];
  let end = 0;
  for (const { from, to } of cardNumbersIn(text)) {
    kept.push(text.slice(end, from), REDACTED);
    end = to;
  }
  return [...kept, text.slice(end)].join('');
};

/** Removes secrets from the text. Reads each character once, because it skips matches inside a redacted secret. */
export const withoutSecrets = (text: string): string => {
  const kept: string[] = [];
  let from = 0;
  for (const { 0: start, index } of text.matchAll(SECRET_START)) {
    if (index < from || !SECRET_PARAMETER.test(start)) continue;
    kept.push(text.slice(from, index), start, REDACTED);
    from = endOfValue(text, index + start.length);
  }
  return [...kept, text.slice(from)].join('');
};

const endOfValue = (text: string, start: number): number => {
  END_OF_VALUE.lastIndex = start;
  return END_OF_VALUE.exec(text)?.index ?? text.length;
};

/**
 * Shortens each `local@domain` to its first letter and the domain. A domain has a dot inside, and an apostrophe ends
 * the domain.
 */
const withoutAddresses = (word: string): string => {
  const [first = '', ...parts] = word.split('@');
  const kept: string[] = [];
  let local = first;
  for (const part of parts) {
    const apostrophe = part.indexOf("'");
    const domain = apostrophe < 0 ? part : part.slice(0, apostrophe);
    const isAddress = local !== '' && isDomain(domain);
    kept.push(isAddress ? `${String.fromCodePoint(local.codePointAt(0) ?? 0)}***@${domain}` : `${local}@`);
    local = isAddress ? part.slice(domain.length) : part;
  }
  return [...kept, local].join('');
};
/** True if the text contains a dot between its first and last character. */
const isDomain = (text: string): boolean => {
  const dot = text.indexOf('.', 1);
  return dot > 0 && dot < text.length - 1;
};

/** True if 13 or more digits in a row pass the Luhn check. Each candidate costs one subtraction. */
const isCardNumber = (text: string): boolean => {
  const digits = text.replaceAll(/\D/g, '');
  const [evenDoubled, oddDoubled] = [luhnSums(digits, 0), luhnSums(digits, 1)];
  for (let to = MIN_CARD; to <= digits.length; to += 1) {
    // The Luhn check doubles every second digit, beginning with the second-to-last.
    const sums = to % 2 === 0 ? evenDoubled : oddDoubled;
    for (let from = 0; from + MIN_CARD <= to; from += 1) {
      if (((sums[to] ?? 0) - (sums[from] ?? 0)) % 10 === 0) return true;
    }
  }
  return false;
};
const MIN_CARD = 13;

/** The Luhn sum of each leading part of the digits, with the digits at even or at odd positions doubled. */
const luhnSums = (digits: string, doubledPlace: 0 | 1): readonly number[] => {
  const sums = [0];
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const value = Number(digits[at]) * (at % 2 === doubledPlace ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
    sums.push(sum);
  }
  return sums;
};

/**
 * Keeps a storable number that is not a card number. An unsafe integer is redacted, because it may have been a card
 * number.
 */
const redactedNumber = (value: number): number | string => {
  const size = Math.abs(value);
  if (Number.isSafeInteger(value) ? !isCardNumber(String(size)) : size >= 1e-130 && size < 1e12) return value;
  return Number.isInteger(value) && size < 1e21 ? REDACTED : redactedText(String(value));
};
