import * as z from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import type { Auth, Endpoint } from './endpoint.ts';

/** The API document (OpenAPI 3.1), generated from the catalogue. */
const SECURITY: Readonly<Record<Auth, readonly Record<string, string[]>[]>> = {
  session: [{ session: [] }, { bearer: [] }],
  'session-or-guest': [{ session: [] }, { bearer: [] }, { guestToken: [] }, {}],
  'session-or-token': [{ session: [] }, { bearer: [] }, { guestToken: [] }],
  public: [],
  'platform-admin': [{ session: [] }, { bearer: [] }],
  'provider-signature': [],
};

const problem = z
  .object({
    success: z.literal(false),
    error: z.string(),
    code: z.string(),
    details: z.unknown().optional(),
    request_id: z.string(),
  })
  .meta({
    id: 'Error',
    examples: [
      {
        success: false,
        error: ERRORS.RESOURCE_NOT_FOUND[1],
        code: 'RESOURCE_NOT_FOUND',
        request_id: 'JKJaXmPLvHcESHA=',
      },
    ],
  });

/** Every route can answer these: X-API-Version is a header of every route. */
const ALWAYS: readonly ErrorCode[] = ['VALIDATION_ERROR', 'INTERNAL_ERROR'];
const WITH_A_BODY: readonly ErrorCode[] = ['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** One success of a route: the request and the whole answer. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly response?: unknown;
}
export type Examples = Readonly<Record<string, Example>>;

/** @param examples by the id of their endpoint. */
export const apiDocument = (endpoints: readonly Endpoint[], serverUrl: string, examples: Examples) =>
  createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Payments',
        version: '2026-11-01',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: serverUrl }],
      tags: [...new Set(endpoints.map(tagOf))].map((name) => ({ name, description: `Routes of ${name}` })),
      paths: pathsOf(endpoints, examples),
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'header', name: 'X-Session-ID' },
          bearer: { type: 'http', scheme: 'bearer' },
          guestToken: { type: 'apiKey', in: 'header', name: 'X-Guest-Token' },
        },
      },
    },
    {
      allowEmptySchema: { custom: true, undefined: true, transform: true, unknown: true, lazy: true },
      override: correctSchema,
    },
  );

/** Shows the text of a whole number in the query as an integer, and any JSON as any value. */
const correctSchema = ({ jsonSchema, zodSchema }: Parameters<ZodOpenApiOverride>[0]): void => {
  if (jsonSchema.pattern === WHOLE_NUMBER) {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', minimum: 0 });
  }
  if (zodSchema._zod.def.type === 'lazy') for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
};

const WHOLE_NUMBER = '^\\d{1,9}$';

const DESCRIPTION = `Payments, subscriptions, customers, methods, addresses, organizations and webhooks.

Amounts are integers in minor units (cents), times are ISO 8601 in UTC. Every route answers in the form shown here: the
bare data, or an envelope \`{success, data}\`. The header \`X-Response-Form\` (\`bare\` or \`envelope\`) chooses the other
form. All errors have the same form: decide by \`code\`, and quote \`request_id\` to support.`;

const tagOf = ({ id }: Endpoint): string => id.split('.')[0] ?? id;

const pathsOf = (endpoints: readonly Endpoint[], examples: Examples): ZodOpenApiPathsObject => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const endpoint of endpoints) {
    const operation = operationOf(endpoint, examples[endpoint.id] ?? {});
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
  }
  return paths;
};

const operationOf = (endpoint: Endpoint, example: Example): ZodOpenApiOperationObject => ({
  operationId: endpoint.id,
  summary: endpoint.summary,
  tags: [tagOf(endpoint)],
  security: [...SECURITY[endpoint.auth]],
  requestParams: {
    ...(endpoint.params instanceof z.ZodObject && { path: withExamples(endpoint.params, example.params) }),
    ...(endpoint.query instanceof z.ZodObject && { query: withExamples(endpoint.query, example.query) }),
    ...(endpoint.method === 'POST' && endpoint.idempotent !== 'natural' && { header: idempotencyHeader }),
  },
  ...(endpoint.body !== null && {
    requestBody: {
      required: needsBody(endpoint.body, endpoint.bodyForm),
      content: { 'application/json': { schema: endpoint.body, ...withExample(example.body) } },
    },
  }),
  responses: { ...successOf(endpoint, example), ...errorsOf(endpoint) },
});

const exampleOf = (text = ''): string | number => (/^\d{1,9}$/.test(text) ? Number(text) : text);

const needsBody = (body: z.ZodType, form: Endpoint['bodyForm']): boolean =>
  form === 'raw' || !body.safeParse({}).success;

const withExample = (example: unknown) => (example === undefined ? {} : { example });

const withExamples = (schema: z.ZodObject, examples: Readonly<Record<string, string>> = {}): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, field]) => [
        name,
        Object.hasOwn(examples, name) && field instanceof z.ZodType
          ? field.meta({ ...field.meta(), param: { example: exampleOf(examples[name]) } })
          : field,
      ]),
    ),
  );

const idempotencyHeader = z.object({ 'Idempotency-Key': z.string().min(1).max(255).optional() });

const successOf = (endpoint: Endpoint, example: Example) => {
  const { status, response, form, summary, accepted } = endpoint;
  if (response === null) return { '204': { description: 'Done' } };
  const schema = form === 'envelope' ? envelopeOf(response) : response;
  const content = {
    'application/json': { schema, ...withExample(example.response) },
    ...(endpoint.csv && { 'text/csv': { schema: csvText } }),
  };
  const answers = { [String(status)]: { description: summary, content } };
  if (accepted === undefined) return answers;
  // The example is the one of `status`.
  const bare = { 'application/json': { schema } };
  return { ...answers, '202': { description: accepted, content: status === 202 ? content : bare } };
};

const csvText = z.string().meta({ description: 'A header row, then up to 1,000 rows; the next page is behind Link' });

const envelopeOf = (data: z.ZodType) =>
  z.looseObject({
    success: z.literal(true),
    ...(!(data instanceof z.ZodUndefined) && { data }),
    meta: z.record(z.string(), z.unknown()).optional(),
    message: z.string().optional(),
  });

const errorsOf = (endpoint: Endpoint) => {
  const byStatus = new Map<number, ErrorCode[]>();
  const ofBody = endpoint.body === null ? [] : WITH_A_BODY;
  for (const code of [...endpoint.errors, ...callerErrors(endpoint), ...ofBody, ...ALWAYS]) {
    const [status] = ERRORS[code];
    byStatus.set(status, [...new Set([...(byStatus.get(status) ?? []), code])]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      { description: codes.join(', '), content: { 'application/json': { schema: problem } } },
    ]),
  );
};

const callerErrors = ({ auth }: Endpoint): readonly ErrorCode[] => {
  if (auth === 'public' || auth === 'provider-signature') return [];
  const session: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'SESSION_INVALID', 'IDENTITY_UNAVAILABLE'];
  return auth === 'platform-admin' ? [...session, 'ADMIN_REQUIRED'] : session;
};
