/** @module One endpoint as an operation of the API document, with request, responses, errors and an example. */

import * as z from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { scopesOfRoute } from '../access/scopes.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { optionalText } from '../http/fields.ts';
import { WHOLE_NUMBER } from '../http/paging.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { keyRequests } from '../http/windows.ts';
import { codesByStatus, errorSchema, meaningOfCode } from './error-responses.ts';
import { groupOf } from './groups.ts';
import { errorHeaders, requestHeaders, successHeaders } from './headers.ts';
import { securityOf, whoMayCall } from './security.ts';

/** A successful call of a route, with the request and the whole response. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly response?: unknown;
  /** The 202 response of a route that uses another status for finished requests. */
  readonly accepted?: unknown;
}

export const operationOf = (endpoint: Endpoint, example: Example): ZodOpenApiOperationObject => ({
  operationId: endpoint.id,
  summary: endpoint.summary,
  ...descriptionOf(endpoint),
  tags: [groupOf(endpoint)],
  security: securityOf(endpoint),
  ...scopesOf(endpoint),
  requestParams: {
    ...(endpoint.params instanceof z.ZodObject && { path: withExamples(endpoint.params, example.params) }),
    ...(endpoint.query instanceof z.ZodObject && {
      query: withExamples(withCursor(endpoint, endpoint.query), example.query),
    }),
    header: requestHeaders(endpoint),
  },
  ...(endpoint.body !== null && {
    requestBody: {
      required: needsBody(endpoint.body, endpoint.bodyForm),
      content: { 'application/json': { schema: endpoint.body, ...withExample(example.body) } },
    },
  }),
  responses: { ...successOf(endpoint, example), ...errorsOf(endpoint) },
});

/** The operation's scopes in a machine-readable extension. */
const scopesOf = ({ id }: Endpoint) => {
  const scopes = scopesOfRoute(id);
  if (!scopes) return {};
  const { payer, merchant, held } = scopes;
  return { 'x-scopes': { ...(payer && { payer }), ...(merchant && { merchant }), ...(held && { held }) } };
};

/** The declared description, the callers and the limits. */
const descriptionOf = (endpoint: Endpoint): { readonly description?: string } => {
  const { description, limits } = endpoint;
  if (description === undefined) return {};
  const ofLimits = limits.length > 0 ? [`Rate limits: ${limits.map(limitText).join('; ')}.`] : [];
  return { description: [description, whoMayCall(endpoint), ...ofLimits].join('\n\n') };
};

const WINDOWS: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour' };

const limitText = (limit: RateLimit): string => {
  const { name, max, windowSeconds, counts } = limit;
  const ofWhom = limit === keyRequests ? ' by a service key without `X-Act-For`' : '';
  const most = typeof max === 'number' ? max : `\`${max}\``;
  return `${most} ${counts === 'declines' ? 'declines' : 'requests'}${ofWhom} per ${WINDOWS[windowSeconds] ?? `${windowSeconds} s`} (\`${name}\`)`;
};

/** A CSV list always pages by cursor, even if its JSON pages by number or offset. */
const withCursor = ({ csv }: Endpoint, query: z.ZodObject): z.ZodObject =>
  csv && !('cursor' in query.shape) ? query.extend({ cursor: csvCursor }) : query;

const csvCursor = z
  .string()
  .optional()
  .describe('With `Accept: text/csv` only: the position of the page, from the header `Link` of the previous page.');

/** The example of a query parameter; a number in the document if the parameter is numeric. */
const exampleOf = (field: z.ZodType, text = ''): string | number => (isNumber(field) ? Number(text) : text);

const isNumber = (field: z.ZodType): boolean => {
  const { type, pattern } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
  return type === 'integer' || type === 'number' || pattern === WHOLE_NUMBER.source;
};

const needsBody = (body: z.ZodType, form: Endpoint['bodyForm']): boolean =>
  form === 'raw' || !body.safeParse({}).success;

const withExample = (example: unknown) => (example === undefined ? {} : { example });

const withExamples = (schema: z.ZodObject, examples: Readonly<Record<string, string>> = {}): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, field]) => [
        name,
        Object.hasOwn(examples, name) && field instanceof z.ZodType
          ? field.meta({ ...field.meta(), param: { example: exampleOf(field, examples[name]) } })
          : field,
      ]),
    ),
  );

const successOf = (endpoint: Endpoint, example: Example) => {
  const { status, response, form, summary, accepted } = endpoint;
  const headers = successHeaders(endpoint);
  if (response === null) return { '204': { description: 'Done. The response has no body.', headers } };
  const schema = form === 'envelope' ? envelopeOf(endpoint, response()) : response();
  const content = {
    'application/json': { schema, ...withExample(example.response) },
    ...(endpoint.csv && { 'text/csv': { schema: csvText } }),
  };
  const answers = { [String(status)]: { description: summary, headers, content } };
  if (accepted === undefined) return answers;
  const unfinished = { 'application/json': { schema, ...withExample(example.accepted) } };
  return { ...answers, '202': { description: accepted, headers, content: status === 202 ? content : unfinished } };
};

const csvText = z
  .string()
  .describe(
    'With `Accept: text/csv`: a header row, then up to 1,000 rows; the header `Link` names the next page. An apostrophe precedes a text that could be a formula.',
  );

const envelopeOf = ({ meta, beside }: Endpoint, data: z.ZodType) =>
  z.looseObject({
    success: z.literal(true).describe('Always `true` in a success.'),
    ...(!(data instanceof z.ZodUndefined) && {
      data: data.describe('The data that the bare form of the response returns alone.'),
    }),
    ...(meta && { meta: meta() }),
    ...beside?.(),
    message: optionalText.describe('A sentence for developers that says what was done; only on some routes.'),
  });

const errorsOf = (endpoint: Endpoint) =>
  Object.fromEntries([...codesByStatus(endpoint)].map(([status, codes]) => [String(status), errorOf(codes)]));

/**
 * The maximum number of codes in a shared error response. Responses with few codes recur on many routes, so the
 * document defines each of them once.
 */
const MOST_SHARED = 5;

type ErrorResponse = ReturnType<typeof makeError>;
const shared = new Map<string, ErrorResponse>();

const errorOf = (codes: readonly ErrorCode[]): ErrorResponse => {
  const name = codes.join('.');
  const made = shared.get(name) ?? makeError(codes);
  shared.set(name, made);
  return made;
};

const makeError = (codes: readonly ErrorCode[]) => ({
  ...(codes.length <= MOST_SHARED && { id: codes.join('.') }),
  description: codes.map((code) => `- \`${code}\`: ${meaningOfCode(code)}`).join('\n'),
  headers: errorHeaders(codes),
  content: {
    'application/json': {
      schema: errorSchema,
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
});
