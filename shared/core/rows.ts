/** @module Tables whose keys are a union of names, so that a forgotten row does not compile. */

/** The row for a key that comes from outside, such as a stored item's; undefined if the table has no such row. */
export const rowOf = <Row>(table: Readonly<Record<string, Row>>, key: unknown): Row | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

/** A field of a value that may be no object. */
export const fieldAt = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** A text field of a value that may be no object. */
export const textAt = (value: unknown, name: string): string | undefined => {
  const text = fieldAt(value, name);
  return typeof text === 'string' ? text : undefined;
};

/** The keys of a table with their type, in the table's order. */
export const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] =>
  // Sound, because a table that is a constant has no other keys.
  Object.keys(table) as Key[];
