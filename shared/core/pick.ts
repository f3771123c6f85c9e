/**
 * @module Allow-lists of fields. A view names the fields that it shows, so that a new field of its source stays hidden
 * until it is named.
 */

export const pick = <T extends object, Name extends keyof T>(source: T, names: readonly Name[]): Pick<T, Name> =>
  // Sound: the entries are those of the names.
  Object.fromEntries(names.map((name) => [name, source[name]])) as Pick<T, Name>;
