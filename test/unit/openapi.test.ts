import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints } from '../../functions/catalogue.ts';
import { apiDocument } from '../../shared/http/openapi.ts';

/** The document as a client reads it: JSON. */
const operationSchema = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(1),
  tags: z.array(z.string()).min(1),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional() }))
    .default([]),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1) })),
});
const documentSchema = z.looseObject({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
});
const json: unknown = JSON.parse(JSON.stringify(apiDocument(endpoints, 'https://api.example/pay')));
const document = documentSchema.parse(json);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

const referencesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
};
const resolves = (reference: string): boolean => {
  let at: unknown = json;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    at = z.record(z.string(), z.unknown()).safeParse(at).data?.[step];
  }
  return at !== undefined;
};

describe('the API document', () => {
  test('has one operation a route, each under its own id', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(endpoints.map(({ id }) => id).sort());
  });

  test('declares every parameter of a path, as required, and no other', () => {
    for (const { path, parameters } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = parameters.filter((parameter) => parameter.in === 'path');
      expect({ path, declared: declared.map(({ name }) => name).sort() }).toEqual({ path, declared: named.sort() });
      expect(declared.every(({ required }) => required === true)).toBe(true);
    }
  });

  test('says what a success and each failure looks like', () => {
    for (const { operationId, responses } of operations) {
      const statuses = Object.keys(responses);
      expect({ operationId, successes: statuses.filter((status) => status.startsWith('2')).length }).toEqual({
        operationId,
        successes: 1,
      });
      expect(statuses).toContain('500');
    }
  });

  test('refers to nothing that it does not hold', () => {
    expect(referencesIn(json).filter((reference) => !resolves(reference))).toEqual([]);
  });
});
