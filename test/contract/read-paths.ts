/** @module Finds the fields that code reads from an object, with a proxy or from the parsing schema. */
import type * as z from 'zod';

/**
 * Records the paths read from the object, such as `items.data[].quantity`. A path counts only if no longer path below
 * it was read. A parser that copies the object gets only the fields that it names, and all fields of `metadata`.
 */
export const watched = <T extends object>(
  object: T,
): { readonly object: T; readonly paths: () => readonly string[] } => {
  const paths = new Set<string>();
  const watch = <U extends object>(value: U, at: string): U =>
    new Proxy(value, {
      get: (target, key) => {
        const inner: unknown = Reflect.get(target, key);
        if (!isField(target, key) || typeof inner === 'function') return inner;
        const path = Array.isArray(target) ? `${at}[]` : [at, key].filter(Boolean).join('.');
        paths.add(path);
        return typeof inner === 'object' && inner !== null ? watch(inner, path) : inner;
      },
      ownKeys: (target) => (Array.isArray(target) || at.endsWith('metadata') ? Reflect.ownKeys(target) : []),
    });
  return { object: watch(object, ''), paths: () => leavesOf([...paths]) };
};

/** True for a field of the object. `then` is not a field, because a promise reads it from its value. */
const isField = (target: object, key: string | symbol): key is string =>
  typeof key === 'string' && key !== 'then' && !(Array.isArray(target) && key === 'length');

/** The paths of a schema's fields. */
export const pathsOfSchema = (schema: z.ZodType, at = ''): readonly string[] => {
  const { def } = schema._zod as unknown as { readonly def: Definition };
  if (def.innerType) return pathsOfSchema(def.innerType, at);
  if (def.element) return pathsOfSchema(def.element, `${at}[]`);
  const fields = Object.entries(def.shape ?? {});
  if (fields.length === 0) return [at.replace(/\[\]$/, '')];
  return fields.flatMap(([name, inner]) => pathsOfSchema(inner, at === '' ? name : `${at}.${name}`));
};

interface Definition {
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
}

const leavesOf = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => other.startsWith(`${path}.`) || other.startsWith(`${path}[`)));
