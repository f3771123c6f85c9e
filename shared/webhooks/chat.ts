/**
 * @module Turns an event into a chat message with one line of text, and with markdown sections that contain the same
 * line and the event's facts. The message is redacted like the webhook log, because its readers need no secrets and no
 * full e-mail addresses.
 */

import * as z from 'zod';
import { amountWithCurrency } from '../core/money.ts';
import { REDACTED, redact } from '../core/redaction.ts';
import { cutText } from '../core/text.ts';

export interface ChatMessage {
  readonly text: string;
  readonly blocks: readonly Section[];
}

interface Section {
  readonly type: 'section';
  readonly text: { readonly type: 'mrkdwn'; readonly text: string };
}

type Facts = readonly (readonly [name: string, value: string])[];

const MOST_FACTS = 20;
/** Maximum number of code points of a title, name or value before escaping. */
const LONGEST_TEXT = 200;
/** The chat services' limit. */
const LONGEST_SECTION = 3_000;

export const chatMessage = (event: string, body: unknown): ChatMessage => {
  const object = objectOf(redact(body));
  const kind = fieldsOf(body)?.['test'] === true ? `Test: ${titleOf(event)}` : titleOf(event);
  const title = plain([kind, amountOf(object)].filter(Boolean).join(': '));
  const facts = factsOf(withoutOrder(event, object)).slice(0, MOST_FACTS);
  const lines = facts.map(([name, value]) => `*${plain(name)}*: ${plain(value)}`);
  const sections = [`*${title}*`, fittingLines(lines), `\`${plain(event)}\``].filter(Boolean);
  return { text: title, blocks: sections.map(section) };
};

const section = (text: string): Section => ({ type: 'section', text: { type: 'mrkdwn', text } });

/** As many lines as fit into a section. Lines stay whole, because a cut line could end within an escaped character. */
const fittingLines = (lines: readonly string[]): string =>
  lines.reduce((text, line) => {
    const longer = text === '' ? line : `${text}\n${line}`;
    return longer.length <= LONGEST_SECTION ? longer : text;
  }, '');

/**
 * `payment.succeeded` becomes "Payment succeeded", and `provider_a:payment_intent.succeeded` becomes "Payment intent
 * succeeded (provider_a)".
 */
const titleOf = (event: string): string => {
  const [, provider, type = event] = /^([^:]+):(.*)$/s.exec(event) ?? [];
  const words = type.toLowerCase().replaceAll(/[._]+/g, ' ').trim();
  const title = words.replace(/^./u, (first) => first.toUpperCase());
  return provider === undefined ? title : `${title} (${provider})`;
};

const objectSchema = z.record(z.string(), z.unknown());
type Fields = z.infer<typeof objectSchema>;
const fieldsOf = (value: unknown): Fields | undefined => objectSchema.safeParse(value).data;

/** The event's object, at `data` of a canonical event, and at `data.object` or `resource` of a provider's event. */
const objectOf = (body: unknown): Fields => {
  const event = fieldsOf(body) ?? {};
  const data = fieldsOf(event['data']);
  return fieldsOf(data?.['object']) ?? data ?? fieldsOf(event['resource']) ?? event;
};

/** The amount in major units, such as 25.00 USD for 2500. A refund or dispute shows its own amount. */
const amountOf = ({ refund, dispute, amount: paid, currency }: Fields): string => {
  const { amount = paid } = fieldsOf(refund) ?? fieldsOf(dispute) ?? {};
  if (typeof amount !== 'number' || typeof currency !== 'string') return '';
  return amountWithCurrency(amount, currency.toUpperCase());
};

/** Hides order data and addresses of a canonical event. A subscription's message keeps its product and quantity. */
const withoutOrder = (event: string, object: Fields): Fields => {
  const hidden = event.startsWith('payment.') ? [...ORDER_FIELDS, 'product_id', 'quantity'] : ORDER_FIELDS;
  if (event.includes(':')) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !hidden.includes(name)));
};

const ORDER_FIELDS = ['reference_code', 'metadata', 'subtotal', 'tax', 'discount', 'billing_address'];

const factsOf = (object: Fields): Facts =>
  Object.entries(object).flatMap(([name, value]) => {
    if (name === 'amount' || name === 'currency') return [];
    const text = valueText(value);
    return text === '' || text === REDACTED ? [] : [[name.replaceAll('_', ' '), text]];
  });

const valueText = (value: unknown): string => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  // An object is shown by its e-mail, name or id.
  const { email, name, id } = fieldsOf(value) ?? {};
  const shown = [email, name, id].find((one) => typeof one === 'string');
  return typeof shown === 'string' ? shown : '';
};

/**
 * Text on one line and without markup, so a name cannot imitate a fact of the event. Chat services cannot escape the
 * marks of bold, italic, strikethrough and code, so similar characters replace them. Underscores within a word and the
 * asterisks of a shortened address such as `a***@example.com` stay.
 */
const plain = (text: string): string =>
  cutText(text, LONGEST_TEXT)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(DIRECTION_MARKS, '')
    .replaceAll(
      /(?<=[^\s*])\*{3}(?=@)|[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu,
      (mark) => SIMILAR_MARKS[mark] ?? mark,
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

/** Characters that change the reading direction. */
const DIRECTION_MARKS = /[\u202A-\u202E\u2066-\u2069]/gu;

const SIMILAR_MARKS: Readonly<Record<string, string>> = { '*': '∗', _: '＿', '~': '∼', '`': 'ˋ' };
