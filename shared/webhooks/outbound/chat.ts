import * as z from 'zod';
import { currencyDigits } from '../../core/money.ts';
import { REDACTED, redact } from '../../observability/redaction.ts';

/**
 * An event as a message for a chat service: one line of text, and the same line with the event's facts as markdown
 * sections. The message is redacted like the webhook log: its readers need no secrets and no full e-mail addresses.
 */
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
const LONGEST_VALUE = 200;
/** The limit of chat services. */
const LONGEST_SECTION = 3_000;

export const chatMessage = (event: string, body: unknown): ChatMessage => {
  const object = objectOf(redact(body));
  const kind = fieldsOf(body)?.['test'] === true ? `Test: ${titleOf(event)}` : titleOf(event);
  const title = [kind, amountOf(object)].filter(Boolean).join(': ');
  const facts = factsOf(object).slice(0, MOST_FACTS);
  const lines = facts.map(([name, value]) => `*${escaped(name)}*: ${escaped(value)}`);
  const sections = [`*${escaped(title)}*`, lines.join('\n'), `\`${escaped(event)}\``].filter(Boolean);
  return { text: escaped(title), blocks: sections.map(section) };
};

const section = (text: string): Section => ({
  type: 'section',
  text: { type: 'mrkdwn', text: text.slice(0, LONGEST_SECTION) },
});

/**
 * `payment.succeeded` → Payment succeeded; `provider_a:payment_intent.succeeded` → Payment intent succeeded
 * (provider_a).
 */
const titleOf = (event: string): string => {
  const [, provider, type = event] = /^([^:]+):(.*)$/.exec(event) ?? [];
  const words = type.toLowerCase().replaceAll(/[._]+/g, ' ').trim();
  const title = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  return provider === undefined ? title : `${title} (${provider})`;
};

const objectSchema = z.record(z.string(), z.unknown());
type Fields = z.infer<typeof objectSchema>;
const fieldsOf = (value: unknown): Fields | undefined => objectSchema.safeParse(value).data;

/** The event's object: `data` of a canonical event, `data.object` or `resource` of a provider's event. */
const objectOf = (body: unknown): Fields => {
  const event = fieldsOf(body) ?? {};
  const data = fieldsOf(event['data']);
  return fieldsOf(data?.['object']) ?? data ?? fieldsOf(event['resource']) ?? event;
};

/** The amount in the currency's major unit: 2500 minor units of USD are 25.00 USD. Of a refund or dispute: its own. */
const amountOf = ({ refund, dispute, amount: paid, currency }: Fields): string => {
  const { amount = paid } = fieldsOf(refund) ?? fieldsOf(dispute) ?? {};
  if (typeof amount !== 'number' || typeof currency !== 'string') return '';
  const code = currency.toUpperCase();
  const digits = currencyDigits(code);
  return `${(amount / 10 ** digits).toFixed(digits)} ${code}`;
};

const factsOf = (object: Fields): Facts =>
  Object.entries(object).flatMap(([name, value]) => {
    if (name === 'amount' || name === 'currency') return [];
    const text = valueText(value);
    return text === '' || text === REDACTED ? [] : [[name.replaceAll('_', ' '), text.slice(0, LONGEST_VALUE)]];
  });

const valueText = (value: unknown): string => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  // An object is shown by its e-mail, name or id.
  const { email, name, id } = fieldsOf(value) ?? {};
  const shown = [email, name, id].find((one) => typeof one === 'string');
  return typeof shown === 'string' ? shown : '';
};

/** Escapes the characters that chat services read as markup. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').toWellFormed();
