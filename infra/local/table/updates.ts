import type { Item } from '../../../shared/platform/connection.ts';
import { TABLE } from '../../../shared/platform/keys.ts';
import { isMap } from './conditions.ts';
import { invalidRequest } from './refusals.ts';

/** One change of an update expression, at a path of names. */
export type PathChange =
  | { readonly path: readonly string[]; readonly set: unknown }
  | { readonly path: readonly string[]; readonly remove: true }
  | { readonly path: readonly string[]; readonly add: number };

/** @returns a changed copy of the item @throws AwsError if the path is missing or has another type */
export const applyChanges = (item: Item, changes: readonly PathChange[]): Item => {
  const next: Record<string, unknown> = { ...item };
  for (const change of changes) apply(next, change);
  return next;
};

const apply = (item: Record<string, unknown>, change: PathChange): void => {
  const { parent, name } = placeOf(item, change.path);
  if ('remove' in change) {
    delete parent[name];
    return;
  }
  const value = 'set' in change ? change.set : sum(Object.hasOwn(parent, name) ? parent[name] : undefined, change.add);
  // A plain assignment to `__proto__` would change the object's prototype.
  Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
};

/** Copies each map on the path, because the given item may share it. */
const placeOf = (item: Record<string, unknown>, path: readonly string[]) => {
  let parent = item;
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (!isMap(inner)) {
      throw invalidRequest('The document path provided in the update expression is invalid for update');
    }
    const copy = { ...inner };
    Object.defineProperty(parent, name, { value: copy, writable: true, enumerable: true, configurable: true });
    parent = copy;
  }
  return { parent, name: path.at(-1) ?? '' };
};

const sum = (value: unknown, added: number): number => {
  if (value === undefined) return added;
  if (typeof value === 'number') return value + added;
  throw invalidRequest('An operand in the update expression has an incorrect data type');
};

const KEY_NAMES: readonly string[] = [TABLE.partitionKey, TABLE.sortKey];

/** @throws AwsError for changes that DynamoDB refuses for every item */
export const checkPaths = (changes: readonly PathChange[]): void => {
  const paths = changes.map(({ path }) => path);
  const key = paths.find(([first = '']) => KEY_NAMES.includes(first));
  if (key) throw invalidRequest(`Cannot update attribute ${key[0]}. This attribute is part of the key`);
  const overlaps = paths.some((one, index) => paths.slice(index + 1).some((other) => overlap(one, other)));
  if (overlaps) throw invalidRequest('Two document paths overlap with each other; must remove or rewrite one');
};

const overlap = (one: readonly string[], other: readonly string[]): boolean => {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((name, index) => name === other[index]);
};
