/**
 * @module Every schema of the catalogue checks a bound before any work whose cost depends on the input's length.
 * raw-bounds.long.test.ts sends oversized texts to every route.
 */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { REFERENCES } from '../../shared/catalog/catalog-kinds.ts';

type Schema = z.core.$ZodType;

const checksOf = (schema: z.ZodString): readonly string[] =>
  (schema.def.checks ?? []).map((check) => check._zod.def.check);

/** The kinds of schemas whose work does not depend on the length of the input. */
const PLAIN = [z.ZodEnum, z.ZodLiteral, z.ZodNumber, z.ZodBoolean, z.ZodNever, z.ZodUnknown];

/** The paths of the strings, lists and records that do not have a bound as their first check. */
const unboundedIn = (schema: Schema, path: string): readonly string[] => {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, field]) => unboundedIn(field, `${path}.${name}`));
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return unboundedIn(schema._zod.def.innerType, path);
  }
  if (schema instanceof z.ZodPipe) return unboundedInPipe(schema, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => unboundedIn(option, path));
  if (schema instanceof z.ZodString) {
    const [first = 'no bound'] = checksOf(schema);
    return first === 'max_length' ? [] : [`${path}: ${first}`];
  }
  return PLAIN.some((kind) => schema instanceof kind) ? [] : [`${path}: ${schema._zod.def.type} without a bound`];
};

/** Lists and records must be bounded before they are read. The members of a record are any JSON of the caller. */
const unboundedInPipe = (pipe: z.ZodPipe, path: string): readonly string[] => {
  const { in: first, out } = pipe._zod.def;
  if (!(first instanceof z.ZodTransform)) return unboundedIn(first, path);
  if (!isBound(pipe)) return [`${path}: a transform before the bound`];
  if (out instanceof z.ZodRecord) return unboundedIn(out._zod.def.keyType, `${path}.name`);
  return out instanceof z.ZodArray ? unboundedIn(out._zod.def.element, `${path}[]`) : unboundedIn(out, path);
};

/** `boundedObject` and `boundedList` refuse an oversized value before they hand on any member. */
const isBound = ({ _zod }: z.ZodPipe): boolean => {
  const large = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, 'x']));
  const list = Array.from({ length: 1_000 }, () => 'x');
  return [large, list].some((value) => {
    const payload: z.core.ParsePayload = { value, issues: [] };
    _zod.def.in._zod.run(payload, { async: false });
    return payload.issues.length > 0;
  });
};

describe('the schema of a request', () => {
  const schemas = [
    ...endpoints.flatMap(({ id, params, query, body }) =>
      Object.entries({ params, query, body }).map(([part, schema]) => ({ name: `${id} ${part}`, schema })),
    ),
    ...Object.entries(REFERENCES).map(([kind, { body }]) => ({ name: `admin ${kind}`, schema: body })),
  ];

  test('bounds each string, list and record before any other check', () => {
    expect(schemas.flatMap(({ name, schema }) => (schema === null ? [] : unboundedIn(schema, name)))).toEqual([]);
  });

  test.each([
    ['a string without a bound', z.string()],
    ['a transform before the bound', z.string().trim().max(5)],
    ['a pattern before the bound', z.string().regex(/^a$/).max(5)],
    ['a format without a bound', z.iso.date()],
    ['a list without a bound', z.array(z.enum(['a']))],
    ['a record without a bound', z.record(z.string().max(5), z.number())],
    ['a value that is converted before the bound', z.preprocess(String, z.string().max(5))],
  ])('is rejected by this test for %s', (_, field) => {
    expect(unboundedIn(z.object({ field }), 'body')).toHaveLength(1);
  });
});
