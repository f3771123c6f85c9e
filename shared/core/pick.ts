/** @module Allow-lists of fields. A new field of a view's source stays hidden until the view lists its name. */

export const pick = <T extends object, Name extends keyof T>(source: T, names: readonly Name[]): Pick<T, Name> =>
  // Sound, because the entries have the listed names.
  Object.fromEntries(names.map((name) => [name, source[name]])) as Pick<T, Name>;
