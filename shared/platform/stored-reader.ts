/**
 * @module Reads the fields of our own writes. Their values were checked when they were written, so only their presence
 * is checked again; a whole check costs more than the read of the item.
 */

import * as z from 'zod';
import type { Item } from './table.ts';

interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  /** The value of an absent field. */
  readonly fallback: unknown;
}

const fieldsOf = (shape: z.ZodRawShape): readonly Field[] =>
  Object.entries(shape).map(([name, type]) => ({
    name,
    isRequired: !(type instanceof z.ZodOptional || type instanceof z.ZodDefault),
    fallback: type instanceof z.ZodDefault ? type.def.defaultValue : undefined,
  }));

/**
 * A reader of items with these fields. Other attributes are left out, so that no write repeats them.
 * @throws ZodError for an item that lacks a required field
 */
export const storedReader = <S extends z.ZodObject>(schema: z.ZodLazy<S>): ((item: Item) => z.output<S>) => {
  let fields: readonly Field[] | undefined;
  return (item) => {
    fields ??= fieldsOf(schema.unwrap().shape);
    const record: Record<string, unknown> = {};
    for (const { name, isRequired, fallback } of fields) {
      const value = item[name] ?? fallback;
      if (value !== undefined) record[name] = value;
      else if (isRequired) return schema.parse(item);
    }
    // Sound, because only this service writes such items, and each write has the schema's type.
    return record as z.output<S>;
  };
};
