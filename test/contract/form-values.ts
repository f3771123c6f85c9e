/** @module Parses a Stripe form to the value described by its schema. A form contains only strings. */

import { check, type OpenApi, optionsOf, type SchemaNode, schemaPartsOf } from './openapi-check.ts';

type Fields = { [name: string]: string | Fields };

/** Parses `items[0][price]=x` to `{ items: { 0: { price: 'x' } } }`. */
const nestedFields = (form: string): Fields => {
  const fields: Fields = {};
  for (const [name, text] of new URLSearchParams(form)) {
    const path = name.replaceAll(']', '').split('[');
    const last = path.pop() ?? '';
    let inner = fields;
    for (const part of path) {
      const found = inner[part];
      const next = typeof found === 'object' ? found : {};
      inner[part] = next;
      inner = next;
    }
    inner[last] = text;
  }
  return fields;
};

export const formValue = (api: OpenApi, schema: SchemaNode, form: string): unknown =>
  typedValue(api, schema, nestedFields(form));

export const typedValue = (api: OpenApi, schema: SchemaNode | undefined, given: string | Fields): unknown => {
  const parts = schemaPartsOf(api, schema);
  const options = optionsOf(parts);
  if (options.length > 0) {
    const values = options.map((option) => typedValue(api, option, given));
    return values.find((value, at) => check(api, options[at] ?? {}, { value, at: '' }).length === 0) ?? values[0];
  }
  if (typeof given === 'string') return typedText(parts.find(({ type }) => type !== undefined)?.type, given);
  if (parts.some(({ type }) => type === 'array')) {
    const items = parts.find((part) => part.items)?.items;
    return Object.values(given).map((item) => typedValue(api, items, item));
  }
  const described: Record<string, SchemaNode> = Object.assign({}, ...parts.map(({ properties }) => properties));
  return Object.fromEntries(
    Object.entries(given).map(([field, inner]) => [field, typedValue(api, described[field], inner)]),
  );
};

const typedText = (type: string | undefined, text: string): unknown => {
  if (type === 'integer' || type === 'number') return text.trim() === '' ? text : Number(text);
  return type === 'boolean' && ['true', 'false'].includes(text) ? text === 'true' : text;
};

/** The parameters of a Stripe query, by name. */
export const queryFields = (search: string): readonly (readonly [name: string, given: string | Fields])[] =>
  Object.entries(nestedFields(search.replace(/^\?/, '')));
