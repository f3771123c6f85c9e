import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { documentedEndpoints as endpoints } from '../../functions/api/catalogue.ts';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { examples } from '../../functions/api/examples.ts';
import { scopesOfRoute } from '../../shared/access/scopes.ts';
import { ERROR_CODES } from '../../shared/openapi/error-responses.ts';

const operationSchema = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(1),
  description: z.string().default(''),
  tags: z.array(z.string()).min(1),
  security: z.array(z.record(z.string(), z.unknown())),
  'x-scopes': z.unknown().optional(),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional() }))
    .default([]),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1) })),
});
const contentSchema = z.looseObject({
  content: z.object({ 'application/json': z.looseObject({ example: z.unknown().optional() }) }).optional(),
});
const envelopeSchema = z.looseObject({ success: z.literal(true), data: z.unknown().optional() });
const documentSchema = z.looseObject({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
});
/** The document as a client reads it, in JSON. */
const json: unknown = JSON.parse(JSON.stringify(apiDocumentAt('https://api.example/pay')));
const refersTo = z.object({ $ref: z.string().regex(/^#\/components\/(?:parameters|responses)\//) });

/** The value with resolved references to shared parameters and responses. */
const inlined = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  const reference = refersTo.safeParse(value).data?.$ref;
  if (reference !== undefined) return inlined(targetOf(reference));
  if (Array.isArray(value)) return value.map(inlined);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inlined(inner)]));
};
const targetOf = (reference: string): unknown => {
  let at: unknown = json;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    at = z.record(z.string(), z.unknown()).safeParse(at).data?.[step];
  }
  return at;
};
const document = documentSchema.parse(inlined(json));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

const referencesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
};

const schemaShape = z.looseObject({
  required: z.array(z.string()).optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  allOf: z.array(z.unknown()).default([]),
});

/** The property names of the schema and of its `allOf` parts. */
const definedBy = (schema: unknown): readonly string[] => {
  const reference = z.object({ $ref: z.string() }).safeParse(schema).data?.$ref;
  if (reference !== undefined) return definedBy(targetOf(reference));
  const { properties, allOf } = schemaShape.parse(schema);
  return [...Object.keys(properties), ...allOf.flatMap(definedBy)];
};

/**
 * Lists the required properties that their schema does not define. Skips examples, because an example is data and may
 * contain a field `required`.
 */
const undefinedRequirements = (value: unknown, at: readonly string[] = []): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const required = schemaShape.safeParse(value).data?.required ?? [];
  const defined = required.length > 0 ? definedBy(value) : [];
  const missing = required.filter((name) => !defined.includes(name));
  const inside = Object.entries(value).filter(([name]) => name !== 'example' && name !== 'examples');
  return [
    ...missing.map((name) => `${at.join('.')} requires ${name}`),
    ...inside.flatMap(([name, inner]) => undefinedRequirements(inner, [...at, name])),
  ];
};

const componentsSchema = z.object({
  components: z.object({ examples: z.record(z.string(), z.object({ value: z.object({ code: z.string() }) })) }),
});

describe('the API document', () => {
  test('has one operation per route, each with its own id', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(endpoints.map(({ id }) => id).sort());
  });

  test('declares exactly the parameters in a path as path parameters, and requires each of them', () => {
    for (const { path, parameters } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = parameters.filter((parameter) => parameter.in === 'path');
      expect({ path, declared: declared.map(({ name }) => name).sort() }).toEqual({ path, declared: named.sort() });
      expect(declared.every(({ required }) => required === true)).toBe(true);
    }
  });

  test('requires an Idempotency-Key only for the start of a payment link', () => {
    const requiring = operations.filter(({ parameters }) =>
      parameters.some(({ name, required }) => name === 'Idempotency-Key' && required === true),
    );
    expect(requiring.map(({ path }) => path)).toEqual(['/pay/start']);
  });

  test('shows an example of each parameter in the type of the parameter', () => {
    const typed = z.looseObject({ example: z.unknown(), schema: z.looseObject({ type: z.string() }) });
    const wrong = operations.flatMap(({ operationId, parameters }) =>
      parameters.flatMap((parameter) => {
        const { success, data } = typed.safeParse(parameter);
        if (!success || data.example === undefined) return [];
        const isNumber = ['integer', 'number'].includes(data.schema.type);
        return isNumber === (typeof data.example === 'number') ? [] : [`${operationId} ${parameter.name}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('describes the declared success statuses and the status 500 of each operation', () => {
    for (const { operationId, responses } of operations) {
      const statuses = Object.keys(responses);
      const declared = endpoints.find(({ id }) => id === operationId);
      const successes = [declared?.status, ...(declared?.accepted === undefined ? [] : [202])].map(String);
      expect({ operationId, successes: statuses.filter((status) => status.startsWith('2')) }).toEqual({
        operationId,
        successes: [...new Set(successes)],
      });
      expect(statuses).toContain('500');
    }
  });

  test('documents the meaning of 202 on every route whose work can continue after the response', () => {
    const meanings = operations.flatMap(({ operationId, responses }) =>
      responses['202'] ? [[operationId, responses['202'].description]] : [],
    );
    expect(meanings).toEqual([
      ['payments.cancel-intent', expect.stringContaining('`release_pending` is true')],
      ['payments.confirm', expect.stringContaining('The payment is `processing`')],
      ['payments.capture', expect.stringContaining('`capture_pending` is true')],
      ['refunds.create', expect.stringContaining('The refund is `pending`')],
      ['subscriptions.change', expect.stringContaining('`pending_change.status` is `processing`')],
      ['pay.confirm', expect.stringContaining('The payment is `processing`')],
      ['pay.method', expect.stringContaining('The method is not set yet')],
      ['admin.request-erasure', expect.stringContaining('GET /admin/erasures/{id}')],
    ]);
  });

  test('names the scopes of each operation, and has X-Act-For if a key may act for a payer', () => {
    for (const { operationId, parameters, description, security, responses, 'x-scopes': shown } of operations) {
      const scopes = scopesOfRoute(operationId);
      const { payer, merchant, held } = scopes ?? {};
      const named = [payer, merchant, held].filter((scope) => scope !== undefined);
      expect({ operationId, scopes: shown }).toEqual({
        operationId,
        scopes: scopes && { ...(payer && { payer }), ...(merchant && { merchant }), ...(held && { held }) },
      });
      expect(named.filter((scope) => !description.includes(`\`${scope}\``))).toEqual([]);
      expect({ operationId, key: JSON.stringify(security).includes('serviceKey') }).toEqual({
        operationId,
        key: !!scopes,
      });
      expect({ operationId, header: parameters.some(({ name }) => name === 'X-Act-For') }).toEqual({
        operationId,
        header: payer !== undefined,
      });
      expect(JSON.stringify(responses).includes('USER_NOT_FOUND') || payer === undefined).toBe(true);
    }
  });

  test('refers only to definitions that it contains', () => {
    expect(referencesIn(json).filter((reference) => targetOf(reference) === undefined)).toEqual([]);
  });

  test('requires only properties that it defines', () => {
    expect(undefinedRequirements(json)).toEqual([]);
    const broken = { properties: { a: {} }, allOf: [{ properties: { b: {} } }], required: ['a', 'b', 'c'] };
    expect(undefinedRequirements({ schemas: { broken } })).toEqual(['schemas.broken requires c']);
  });

  test('shows an example of every error code', () => {
    const { components } = componentsSchema.parse(json);
    expect(Object.keys(components.examples).sort()).toEqual([...ERROR_CODES].sort());
    for (const [code, { value }] of Object.entries(components.examples)) expect(value.code).toBe(code);
  });

  test('passes the rules of the linter, except no-ambiguous-paths', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // The rule ignores methods, so it finds GET /payments/{id}/timeline and PUT /payments/intents/{id} ambiguous. The
      // catalogue's own test compares methods, and shows that no request matches two routes.
      rules: { 'no-ambiguous-paths': 'off' },
    });
    const findings = await lintFromString({ source: JSON.stringify(json), absoluteRef: 'openapi.json', config });
    expect(findings.map(({ ruleId, message, location }) => ({ ruleId, message, at: location[0]?.pointer }))).toEqual(
      [],
    );
  });

  test('fails the linter if its version is missing', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const source = JSON.stringify({ ...document, info: { title: 'Payments' } });
    const findings = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(findings.map(({ ruleId }) => ruleId)).toContain('struct');
  });
});

describe('the examples of the API document', () => {
  test.each(endpoints)('match the requests and responses of $id', ({ id, body, params, query, response, form }) => {
    const example = examples[id];
    if (id === 'api.openapi') return expect(example).toBeUndefined();
    expect(params.safeParse(example?.params ?? {}).error).toBeUndefined();
    expect(query.safeParse(example?.query ?? {}).error).toBeUndefined();
    expect(body === null ? example?.body : body.safeParse(example?.body).error).toBeUndefined();
    if (response === null) return expect(example?.response).toBeUndefined();
    const answer = form === 'envelope' ? envelopeSchema.parse(example?.response).data : example?.response;
    expect(response().safeParse(answer).error).toBeUndefined();
  });

  test('include every success with a body, also a 202', () => {
    const successes = operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const { content } = contentSchema.parse(response);
        return status.startsWith('2') && content
          ? [[`${operationId} ${status}`, content['application/json'].example]]
          : [];
      }),
    );
    const without = successes.filter(([, example]) => example === undefined).map(([name]) => name);
    expect(without).toEqual(['api.openapi 200']);
  });

  test.each(endpoints.filter(({ accepted, status }) => accepted !== undefined && status !== 202))(
    'match the 202 response of $id',
    ({ id, response }) => {
      expect(response?.().safeParse(examples[id]?.accepted).error).toBeUndefined();
    },
  );

  test('appear unchanged in the document', () => {
    const shown = operations.map(({ operationId, responses, requestBody }) => {
      const [answer] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const response = contentSchema.parse(answer?.[1]).content?.['application/json'].example;
      const body = contentSchema.parse(requestBody ?? {}).content?.['application/json'].example;
      return [operationId, { body, response }];
    });
    const asked = endpoints.map(({ id }) => [id, { body: examples[id]?.body, response: examples[id]?.response }]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(asked));
  });
});
