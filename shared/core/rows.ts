/** @module Typed tables. The keys are a union of names, so a missing row is a compile error. */

/** The row for an external key, such as a stored item's; undefined if the table has no such row. */
export const rowOf = <Row>(table: Readonly<Record<string, Row>>, key: unknown): Row | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

/** The field of a value; undefined if the value is not an object or lacks the field. */
export const fieldAt = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** The string in a field of a value; undefined if the field has no string. */
export const textAt = (value: unknown, name: string): string | undefined => {
  const text = fieldAt(value, name);
  return typeof text === 'string' ? text : undefined;
};

/** The typed keys of a table, in the table's order. */
export const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] =>
  // Sound, because a constant table has no other keys.
  Object.keys(table) as Key[];
