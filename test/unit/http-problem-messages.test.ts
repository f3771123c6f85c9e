import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import type { Problem } from '../../shared/core/errors.ts';
import { checkAll } from '../../shared/http/parse.ts';
import { refusalOf } from '../builders/refusal.ts';

/** Words of the schema library and of TypeScript. */
const JARGON = /undefined|received|expected|invalid|too big|too small|unrecognized|nan\b|zod|discriminator|safeint/i;

const WRONG: readonly unknown[] = [
  undefined,
  null,
  '',
  'x',
  'x'.repeat(20_000),
  -1,
  1.5,
  2 ** 60,
  true,
  [],
  [1],
  {},
  { x: 1 },
  { [`${'k'.repeat(100)}`]: 'v' },
  { '': { deep: 'v' } },
];

const problemsOf = (schema: z.ZodType, value: unknown): readonly Problem[] => {
  const none = z.unknown();
  try {
    checkAll({ params: none, query: none, body: schema }, { params: {}, query: {}, body: value });
    return [];
  } catch {
    const { details } = refusalOf(() =>
      checkAll({ params: none, query: none, body: schema }, { params: {}, query: {}, body: value }),
    );
    return z.array(z.object({ path: z.string(), rule: z.string(), message: z.string() })).parse(details);
  }
};

const jsonSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
});
/** The paths of all fields in a JSON schema, also of the fields in inner objects. */
const fieldsOf = (schema: unknown): readonly (readonly string[])[] => {
  const { properties = {}, anyOf = [] } = jsonSchema.parse(schema);
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    [name],
    ...fieldsOf(inner).map((path) => [name, ...path]),
  ]);
  return [...own, ...anyOf.flatMap(fieldsOf)];
};
const placed = ([name, ...rest]: readonly string[], value: unknown): unknown =>
  name === undefined ? value : { [name]: placed(rest, value) };

const SCHEMAS = endpoints.flatMap(({ id, params, query, body }) =>
  Object.entries({ params, query, body }).flatMap(([part, schema]) =>
    schema === null ? [] : [{ name: `${part} of ${id}`, schema }],
  ),
);

describe('a problem of a request', () => {
  test.each(SCHEMAS)('has a plain message for $name', ({ schema }) => {
    const paths = fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
    const inputs = [...WRONG, ...paths.flatMap((path) => WRONG.map((value) => placed(path, value)))];
    const messages = new Set(inputs.flatMap((input) => problemsOf(schema, input).map(({ message }) => message)));
    expect([...messages].filter((message) => JARGON.test(message))).toEqual([]);
  });

  test('names each missing field within an object by its path', () => {
    const create = endpoints.find(({ id }) => id === 'payments.create-intent');
    if (!create?.body) throw new Error('no such body');
    const problems = problemsOf(create.body, { total_cents: 100, currency: 'USD', guest_data: {} });
    expect(problems).toEqual([
      { path: 'guest_data.email', rule: 'required', message: 'is required' },
      { path: 'guest_data.name', rule: 'required', message: 'is required' },
    ]);
  });

  test.each([
    [z.string(), 1, 'must be a string'],
    [z.int(), 1.5, 'must be an integer'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
    [z.string().max(3), 'long', 'must be at most 3 characters long'],
    [z.string().min(1), '', 'must not be empty'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 items'],
    [z.never({ error: 'use alias' }), 'x', 'use alias'],
  ])('has the message of its rule (case %#)', (schema, value, message) => {
    expect(problemsOf(z.object({ field: schema }), { field: value })).toMatchObject([{ path: 'field', message }]);
  });
});
