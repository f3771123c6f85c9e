/**
 * @module Measures how processor time grows with the length of a text, for each function reading external text:
 * requests, providers' webhooks and signatures, and redaction.
 */
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { handler as unmatched } from '../../functions/api/default.ts';
import { compileRoutes } from '../../infra/local/gateway/gateway-routes.ts';
import { parseForm } from '../../infra/simulator/stripe/wire/form.ts';
import { holdsCardNumber } from '../../shared/core/card-number.ts';
import { errorFields } from '../../shared/core/logger.ts';
import { redact } from '../../shared/core/redaction.ts';
import { TAX_ID_TYPES } from '../../shared/customers/address.ts';
import { isTaxIdValid } from '../../shared/customers/tax-id.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import { metadataSchema } from '../../shared/http/fields.ts';
import { canonicalJson, checkKey } from '../../shared/http/idempotency.ts';
import { jsonBodyOf } from '../../shared/http/json-body.ts';
import { apiVersion, queryOf } from '../../shared/http/parse.ts';
import { decodeCursor } from '../../shared/platform/cursor.ts';
import { readPayPalEvent } from '../../shared/providers/paypal/events.ts';
import { webhookVerifier } from '../../shared/providers/paypal/verify.ts';
import { readSquareEvent } from '../../shared/providers/square/events.ts';
import { verifySquareSignature } from '../../shared/providers/square/verify.ts';
import { readStripeEvent } from '../../shared/providers/stripe/events.ts';
import { chatMessage } from '../../shared/webhooks/chat.ts';
import { matchesFilter, urlProblem } from '../../shared/webhooks/webhook-targets.ts';
import { apiEvent } from '../builders/api-event.ts';
import { NOON } from '../builders/payment.ts';
import { answers, stripeThatAnswers } from '../builders/stripe.ts';
import { growthOf, repeated, type Text } from './growth-of-time.ts';
import { say } from './sheet.ts';

const quietly =
  (run: (text: string) => unknown) =>
  async (text: string): Promise<void> => {
    try {
      await run(text);
    } catch {
      // A refusal counts as a read.
    }
  };

const { receiver: stripe } = stripeThatAnswers(answers(200, {}));
const paypalSays = webhookVerifier({
  exchange: async () => ({ kind: 'unknown', reason: 'error' }),
  webhookId: 'WEBHOOK',
  baseUrl: '',
});
const route = compileRoutes(
  endpoints.map(({ id, method, path, timeoutSeconds }) => ({ id, method, path, timeoutSeconds })),
);
const readBody = (raw: Buffer, headers: Readonly<Record<string, string>> = {}) =>
  jsonBodyOf({ raw, isDecoded: true, headers });
const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const signedBy = (header: string, text: string) => ({ raw: Buffer.from('{}'), headers: { [header]: text }, now: NOON });
const wordsOf = (text: string): readonly string[] => text.match(/.{1,10}/gs) ?? [];
const PAYPAL_HEADERS = ['cert-url', 'transmission-id', 'transmission-sig', 'transmission-time'] as const;

const squareEvent = (type: string, object: object) => ({
  event_id: 'e1',
  type,
  created_at: '2030-01-01T12:00:00Z',
  data: { type: 'x', id: 'x', object },
});
const SQUARE_MONEY = { amount: 100, currency: 'USD' };
const squareRefundEvent = (reason: string) =>
  squareEvent('refund.updated', {
    refund: { id: 'R1', amount_money: SQUARE_MONEY, payment_id: 'P1', reason, created_at: '2030-01-01T12:00:00Z' },
  });
const squareDisputeEvent = (state: string) =>
  squareEvent('dispute.created', {
    dispute: {
      id: 'D1',
      amount_money: SQUARE_MONEY,
      state,
      due_at: state,
      reason: state,
      created_at: '2030-01-01T12:00:00Z',
    },
  });

const READERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['redaction of a text', redact],
  ['the search for card numbers', holdsCardNumber],
  ['redaction of a value', (text) => redact({ data: { object: { note: text } } })],
  ['redaction of a name', (text) => redact({ [text]: 1 })],
  ['redaction of many texts', (text) => redact(wordsOf(text))],
  ['a chat message', (text) => chatMessage('payment.succeeded', { data: { note: text, [text]: 'x', email: text } })],
  ['the title of a chat message', (text) => chatMessage(text, {})],
  ['a JSON body that holds it', (text) => readBody(jsonOf({ a: text, [text]: 1 }))],
  ['a body that is it', (text) => readBody(Buffer.from(text))],
  ['a body of many values', (text) => readBody(jsonOf(wordsOf(text)))],
  ['a content type', (text) => readBody(Buffer.from('{}'), { 'content-type': `application/${text}` })],
  ['a query', (text) => queryOf(apiEvent({ query: text }), z.object({}))],
  [
    'a query of one name many times',
    (text) => queryOf(apiEvent({ query: 'a=1&'.repeat(text.length / 4) }), z.object({})),
  ],
  ['an Idempotency-Key', checkKey],
  ['the form that requests are compared in', (text) => canonicalJson({ [text]: wordsOf(text) })],
  ['an API version', apiVersion],
  ['a cursor', (text) => decodeCursor(text, { list: 'list' })],
  ['the cursor of a CSV page', csvRenderer.csvPageAt],
  ['the Accept header', csvRenderer.prefersCsv],
  ['metadata', (text) => metadataSchema.safeParse({ [text]: text, a: wordsOf(text) })],
  ['a filter of events', (text) => matchesFilter('*a*.*a*@*b', text)],
  ['a filter that is it', (text) => matchesFilter(text, 'payment.succeeded')],
  ['the URL of a target', (text) => urlProblem(`https://${text}`, false)],
  ['the path that no route matches', (text) => unmatched(apiEvent({ path: `/${text}` }))],
  ['the path of a route', (text) => route('GET', `/${text}`)],
  ['a form of Stripe’s', (text) => parseForm(new URLSearchParams(`a[${text}=1&${text}`))],
  ['a signature of Stripe', (text) => stripe?.verifyWebhook(signedBy('stripe-signature', text))],
  ['many signatures of Stripe', (text) => stripe?.verifyWebhook(signedBy('stripe-signature', `t=1,v1=${text},v1=a`))],
  [
    'a signature of Square',
    (text) => verifySquareSignature(signedBy('x-square-hmacsha256-signature', text), ['key'], ['https://a.example/']),
  ],
  ...PAYPAL_HEADERS.map(
    (name) => [`PayPal’s ${name}`, (text: string) => paypalSays(signedBy(`paypal-${name}`, text))] as const,
  ),
  [
    'an event of Stripe',
    (text) => readStripeEvent({ id: text, type: text, created: 1, data: { object: { id: text } } }),
  ],
  [
    'an event of PayPal',
    (text) => readPayPalEvent({ id: text, event_type: text, create_time: text, resource: { id: text } }),
  ],
  [
    'an event of Square',
    (text) => readSquareEvent({ event_id: text, type: text, created_at: text, data: { id: text } }),
  ],
  ['the text of a refund of Square', (text) => readSquareEvent(squareRefundEvent(text))],
  ['the state of a dispute of Square', (text) => readSquareEvent(squareDisputeEvent(text))],
  ['an error', (text) => errorFields(new Error(text))],
  ['a tax id', (text) => TAX_ID_TYPES.map((taxIdType) => isTaxIdValid({ taxId: text, taxIdType, country: 'FR' }))],
];

/** JSON nested as deeply as the length allows. */
const nested = (open: string, close: string): Text => ({
  name: `levels of ${open}${close}`,
  of: (length) => {
    const depth = Math.floor(length / (open.length + close.length));
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  },
});
const NESTED = [nested('[', ']'), nested('{"a":', '}')];
/** No part of these digits passes the Luhn check, so every part is tried. */
const DIGITS = [repeated('4 2 '), repeated('1783999999999999981, ')];

/** @returns whether each reader's time is linear in the length of the text */
export const benchReaders = async (): Promise<boolean> => {
  const found: string[] = [];
  const measure = async (name: string, read: (text: string) => unknown, texts?: readonly Text[]): Promise<void> => {
    const growth = await growthOf(quietly(read), texts);
    found.push(...growth.map((input) => `${name}: ${input}`));
  };
  for (const [name, read] of READERS) await measure(name, read);
  await measure('a body of many levels', (text) => readBody(Buffer.from(text)), NESTED);
  await measure('redaction of many levels', (text) => redact(JSON.parse(text)), NESTED);
  for (const search of [holdsCardNumber, redact]) await measure(`${search.name} of digits`, search, DIGITS);
  say(`${READERS.length} readers, texts of up to 250,000 characters`);
  say(found.length === 0 ? 'Each takes linear time.' : `NOT linear:\n${found.join('\n')}`);
  return found.length === 0;
};
