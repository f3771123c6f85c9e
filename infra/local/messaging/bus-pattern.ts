/**
 * @module EventBridge's event patterns. For every field of the pattern, the event must match one of the listed values.
 * A listed value is an exact value or one of the operators below. An object instead of a list is a pattern for the
 * field's own fields. An array in the event matches if any element does.
 */

import * as z from 'zod';

const operatorSchema = z.union([
  z.strictObject({ prefix: z.string() }),
  z.strictObject({ suffix: z.string() }),
  z.strictObject({ exists: z.boolean() }),
  z.strictObject({
    'anything-but': z.union([
      z.string(),
      z.number(),
      z.array(z.union([z.string(), z.number()])),
      z.strictObject({ prefix: z.string() }),
      z.strictObject({ suffix: z.string() }),
    ]),
  }),
]);
type Operator = z.infer<typeof operatorSchema>;

const valuesSchema = z.array(z.union([z.string(), z.number(), z.boolean(), z.null(), operatorSchema]));
const objectSchema = z.record(z.string(), z.unknown());

/** @throws Error if the pattern is invalid or uses an unsupported operator. */
export const matchesPattern = (pattern: unknown, event: unknown): boolean => {
  const fields = Object.entries(objectSchema.parse(pattern));
  const values = objectSchema.safeParse(event).data ?? {};
  return fields.every(([name, expected]) =>
    Array.isArray(expected)
      ? valuesSchema.parse(expected).some((one) => matchesField(one, values[name]))
      : matchesPattern(expected, values[name]),
  );
};

const matchesField = (expected: z.infer<typeof valuesSchema>[number], found: unknown): boolean => {
  if (typeof expected === 'object' && expected !== null && 'exists' in expected) {
    return (found !== undefined) === expected.exists;
  }
  const elements: readonly unknown[] = Array.isArray(found) ? found : [found];
  return elements.some((element) =>
    typeof expected === 'object' && expected !== null ? matchesOperator(expected, element) : element === expected,
  );
};

const matchesOperator = (operator: Operator, found: unknown): boolean => {
  if ('prefix' in operator) return typeof found === 'string' && found.startsWith(operator.prefix);
  if ('suffix' in operator) return typeof found === 'string' && found.endsWith(operator.suffix);
  if ('exists' in operator) return (found !== undefined) === operator.exists;
  if (found === undefined) return false;
  const but = operator['anything-but'];
  if (Array.isArray(but)) return !but.some((one) => one === found);
  if (typeof but === 'object') return !matchesOperator(but, found);
  return but !== found;
};
