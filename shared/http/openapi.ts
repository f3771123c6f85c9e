import * as z from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import type { Auth, Endpoint } from './endpoint.ts';

/** The API document (OpenAPI 3.1), made of the catalogue: nothing in it is written twice. */
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
  .meta({ id: 'Error' });

/** Whatever the route, these can be answered. */
const ALWAYS: readonly ErrorCode[] = ['INTERNAL_ERROR'];

export const apiDocument = (endpoints: readonly Endpoint[], serverUrl: string) =>
  createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Payments',
        version: '2026-11-01',
        description:
          'Payments, subscriptions, customers, methods, addresses, organizations and webhooks. Amounts are integers in minor units.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: serverUrl }],
      tags: [...new Set(endpoints.map(tagOf))].map((name) => ({ name, description: `Routes of ${name}` })),
      paths: pathsOf(endpoints),
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'header', name: 'X-Session-ID' },
          bearer: { type: 'http', scheme: 'bearer' },
          guestToken: { type: 'apiKey', in: 'header', name: 'X-Guest-Token' },
        },
      },
    },
    { allowEmptySchema: { custom: true, undefined: true, transform: true, unknown: true } },
  );

const tagOf = ({ id }: Endpoint): string => id.split('.')[0] ?? id;

const pathsOf = (endpoints: readonly Endpoint[]): ZodOpenApiPathsObject => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operationOf(endpoint) };
  }
  return paths;
};

const operationOf = (endpoint: Endpoint): ZodOpenApiOperationObject => ({
  operationId: endpoint.id,
  summary: endpoint.summary,
  tags: [tagOf(endpoint)],
  security: [...SECURITY[endpoint.auth]],
  requestParams: {
    ...(endpoint.params instanceof z.ZodObject && { path: endpoint.params }),
    ...(endpoint.query instanceof z.ZodObject && { query: endpoint.query }),
    ...(endpoint.method === 'POST' && endpoint.idempotent !== 'natural' && { header: idempotencyHeader }),
  },
  ...(endpoint.body !== null && {
    requestBody: { content: { 'application/json': { schema: endpoint.body } } },
  }),
  responses: { ...successOf(endpoint), ...errorsOf(endpoint) },
});

const idempotencyHeader = z.object({ 'Idempotency-Key': z.string().min(1).max(255).optional() });

const successOf = (endpoint: Endpoint) => {
  const { status, response, form, summary } = endpoint;
  if (response === null) return { '204': { description: 'Done' } };
  const schema = form === 'envelope' ? z.looseObject({ success: z.literal(true), data: response }) : response;
  return { [String(status)]: { description: summary, content: { 'application/json': { schema } } } };
};

const errorsOf = (endpoint: Endpoint) => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...endpoint.errors, ...callerErrors(endpoint), ...ALWAYS]) {
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
