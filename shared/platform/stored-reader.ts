/**
 * @module Reads fields that this service has written. Writes check the values, so reads check only their presence. A
 * full check costs more than reading the item.
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
 * Returns a reader of items with these fields. It omits other attributes, so no later write stores them again.
 * @throws ZodError for an item without a required field
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
    // The cast is sound, because only this service writes such items, and each written item has the schema's type.
    return record as z.output<S>;
  };
};
