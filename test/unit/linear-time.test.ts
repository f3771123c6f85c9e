import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { handler as unmatched } from '../../functions/api/default.ts';
import { compileRoutes } from '../../infra/local/gateway/gateway-routes.ts';
import { parseForm } from '../../infra/local/simulator/stripe/wire/form.ts';
import { errorFields } from '../../shared/core/logger.ts';
import { redact } from '../../shared/core/redaction.ts';
import { TAX_ID_TYPES } from '../../shared/customers/address.ts';
import { isTaxIdValid } from '../../shared/customers/tax-id.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import { metadataSchema } from '../../shared/http/fields.ts';
import { canonicalJson, checkKey } from '../../shared/http/idempotency.ts';
import { apiVersion, jsonBodyOf, queryOf } from '../../shared/http/parse.ts';
import { decodeCursor } from '../../shared/platform/cursor.ts';
import { readPayPalEvent } from '../../shared/providers/paypal/events.ts';
import { webhookVerifier } from '../../shared/providers/paypal/verify.ts';
import { readSquareEvent } from '../../shared/providers/square/events.ts';
import { verifySquareSignature } from '../../shared/providers/square/verify.ts';
import { readStripeEvent } from '../../shared/providers/stripe/events.ts';
import { chatMessage } from '../../shared/webhooks/chat.ts';
import { matchesFilter, urlProblem } from '../../shared/webhooks/webhook-targets.ts';
import { apiEvent } from '../builders/api-event.ts';
import { growthOf, LONGEST, TEXTS, type Text } from '../builders/growth.ts';
import { NOON } from '../builders/payment.ts';
import { answers, stripeThatAnswers } from '../builders/stripe.ts';

/**
 * Text from a caller or a provider is read in time linear in its length, so that a long word cannot stop the service.
 */
const ROOT = resolve(import.meta.dirname, '../..');

interface Literal {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

const nodesOf = (node: ts.Node): readonly ts.Node[] => {
  const inner: ts.Node[] = [];
  node.forEachChild((child) => {
    inner.push(child, ...nodesOf(child));
  });
  return inner;
};

const files = ['shared', 'functions', 'infra/local'].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: ROOT }).map((name) => ({
    name,
    nodes: nodesOf(ts.createSourceFile(name, readFileSync(join(ROOT, name), 'utf8'), ts.ScriptTarget.Latest, true)),
  })),
);

const literals: readonly Literal[] = files.flatMap(({ name, nodes }) =>
  nodes.filter(ts.isRegularExpressionLiteral).map(({ text }): Literal => {
    const end = text.lastIndexOf('/');
    return { where: name, source: text.slice(1, end), flags: text.slice(end + 1) };
  }),
);

/** Expressions that read only text of the project itself. */
const OWN_TEXT: Readonly<Record<string, readonly string[]>> = { 'functions/api/default.ts': ['\\{[^}]+\\}'] };

/** Files that build expressions at run time, only from the form of an id and the routes, which are our own text. */
const MADE_LATER = ['shared/core/ids.ts', 'functions/api/default.ts'];

const makesExpression = (node: ts.Node): boolean =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';

describe('the measure of growth', () => {
  const work = (steps: number): number => {
    let sum = 0;
    for (let step = 0; step < steps; step += 1) sum += Math.imul(step, sum + 1);
    return sum;
  };

  test('detects work that grows with the square of the length', async () => {
    expect(await growthOf((text) => work((text.length / 5) ** 2), TEXTS.slice(0, 1))).not.toEqual([]);
  });

  test('accepts work that grows with the length', async () => {
    expect(await growthOf((text) => work(text.length * 100))).toEqual([]);
  });
});

describe('every regular expression', () => {
  test('is a literal, so that this test can read it', () => {
    expect(literals.length).toBeGreaterThan(80);
    const makers = files.filter(({ nodes }) => nodes.some(makesExpression)).map(({ name }) => name);
    expect(makers.filter((name) => !MADE_LATER.includes(name))).toEqual([]);
  });

  const read = literals.filter(({ where, source }) => !OWN_TEXT[where]?.includes(source));
  const byFile = Object.entries(Object.groupBy(read, ({ where }) => where));

  test.each(byFile)('takes linear time in %s', async (_, found = []) => {
    const slow: string[] = [];
    for (const { source, flags } of found) {
      // Matches at each place of the text, as a replacement does; no use needs more.
      const expression = new RegExp(source, [...new Set(`${flags.replace('y', '')}g`)].join(''));
      const growth = await growthOf((text) => text.replaceAll(expression, ''), TEXTS);
      slow.push(...growth.map((input) => `${source} at ${input}`));
    }
    expect(slow).toEqual([]);
  });
});

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
  ['redaction of a value', (text) => redact({ data: { object: { note: text } } })],
  ['redaction of a name', (text) => redact({ [text]: 1 })],
  ['redaction of many texts', (text) => redact(wordsOf(text))],
  ['a chat message', (text) => chatMessage('payment.succeeded', { data: { note: text, [text]: 'x', email: text } })],
  ['the title of a chat message', (text) => chatMessage(text, {})],
  ['a JSON body that holds it', (text) => jsonBodyOf(jsonOf({ a: text, [text]: 1 }), undefined)],
  ['a body that is it', (text) => jsonBodyOf(Buffer.from(text), undefined)],
  ['a body of many values', (text) => jsonBodyOf(jsonOf(wordsOf(text)), undefined)],
  ['a content type', (text) => jsonBodyOf(Buffer.from('{}'), `application/${text}`)],
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

describe('the reader of a text', () => {
  test.each(READERS)('takes linear time in %s', async (_, read) => {
    expect(await growthOf(quietly(read))).toEqual([]);
  });

  test('takes linear time for JSON of many levels', async () => {
    const nested: readonly Text[] = ['[]', '{}'].map((pair) => ({
      name: pair,
      of: (length) => {
        const open = pair === '[]' ? '[' : '{"a":';
        const depth = Math.floor(length / (open.length + 1));
        return `${open.repeat(depth)}1${pair.slice(1).repeat(depth)}`;
      },
    }));
    expect(
      await growthOf(
        quietly((text) => jsonBodyOf(Buffer.from(text), undefined)),
        nested,
      ),
    ).toEqual([]);
    expect(
      await growthOf(
        quietly((text) => redact(JSON.parse(text))),
        nested,
      ),
    ).toEqual([]);
  });
});

/** Schemas of single fields, without their wrappers. */
const fieldsOf = (schema: unknown): readonly z.ZodType[] => {
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).flatMap(fieldsOf);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return fieldsOf(schema.unwrap());
  }
  return schema instanceof z.ZodType ? [schema] : [];
};

describe('every field of a request', () => {
  const fields = new Set(endpoints.flatMap(({ params, query, body }) => [params, query, body].flatMap(fieldsOf)));

  test('takes linear time', async () => {
    expect(fields.size).toBeGreaterThan(50);
    const slow: unknown[] = [];
    for (const field of fields) {
      const growth = await growthOf((text) => field.safeParse(text));
      if (growth.length > 0) slow.push([field.def, growth]);
    }
    expect(slow).toEqual([]);
  });
});

/** The former expressions. On a text of any length they agree with today's redaction. */
const FORMER: readonly (readonly [RegExp, string])[] = [
  [/(_secret_|[?&][\w-]*(?:secret|token|key|password)[\w-]*=)[^&\s"]+/gi, '$1[redacted]'],
  [/([^\s@"<>()[\],;:\\])[^\s@"<>()[\],;:\\]*@([^\s@"'<>()[\],;:\\]+\.[^\s@"'<>()[\],;:\\]+)/gu, '$1***@$2'],
];

test('the linear-time redaction has the same results as before', () => {
  const pieces = fc.constantFrom(
    ...[
      'a',
      '.',
      '@',
      "'",
      ' ',
      '?',
      '&',
      '=',
      '_secret_',
      'token',
      'key',
      'secret',
      '-',
      '"',
      ':',
      '😀',
      'b.c',
      'x@y.z',
    ],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      expect(redact(text)).toBe(FORMER.reduce((redacted, [found, put]) => redacted.replace(found, put), text));
    }),
    { numRuns: 5_000 },
  );
});

/** Passes Luhn's check nowhere, so each of its parts is tried. */
const NO_CARD = '1783999999999999981, ';

test('the redaction of 250 KB of digits without a card number takes less than 50 ms of CPU time', () => {
  const text = NO_CARD.repeat(Math.ceil((250 * 1_024) / NO_CARD.length));
  expect(redact(NO_CARD)).toBe(NO_CARD);
  const took = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  expect(Math.min(...took)).toBeLessThan(50);
});

test('the redaction covers the maximum size of a body', () => {
  const address = 'ada.lovelace@example.com';
  const text = JSON.stringify(redact({ note: `${'x'.repeat(2_000)} ${address}`, long: 'x'.repeat(LONGEST) }));
  expect(text).not.toContain('lovelace');
});
