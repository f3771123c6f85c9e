/**
 * A value in Stripe's form encoding, `a[b][c]=v`, `a[]=v` or `a[0]=v`, in a body or a query. Every single value is a
 * string. A group is a list if all its keys are numbers or empty.
 */
export type FormValue = string | readonly FormValue[] | StripeForm;
export interface StripeForm {
  readonly [key: string]: FormValue;
}

const MAX_DEPTH = 6;
const MAX_PAIRS = 500;
/** Keys that would change an object's prototype instead of a field. */
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

type Branch = Map<string, string | Branch>;

export const parseForm = (parameters: URLSearchParams): StripeForm => {
  const root: Branch = new Map();
  for (const [name, value] of [...parameters].slice(0, MAX_PAIRS)) {
    const keys = keysOf(name);
    if (keys.length <= MAX_DEPTH && !keys.some((key) => UNSAFE.has(key))) grow(root, keys, value);
  }
  return formOf(root);
};

/** `a[b][]` has the keys a, b and ''. Each search starts after the last bracket, so the time is linear. */
const keysOf = (name: string): string[] => {
  const head = name.indexOf('[');
  if (head <= 0) return [name];
  const keys = [name.slice(0, head)];
  let open = head;
  while (open >= 0) {
    const close = name.indexOf(']', open);
    if (close < 0) break;
    keys.push(name.slice(open + 1, close));
    open = name.indexOf('[', close);
  }
  return keys;
};

const grow = (branch: Branch, keys: readonly string[], value: string): void => {
  const [first = '', ...rest] = keys;
  const key = first === '' ? String(branch.size) : first;
  if (rest.length === 0) {
    branch.set(key, value);
    return;
  }
  const known = branch.get(key);
  const next: Branch = known instanceof Map ? known : new Map();
  branch.set(key, next);
  grow(next, rest, value);
};

const formOf = (branch: Branch): StripeForm =>
  Object.fromEntries([...branch].map(([key, value]) => [key, typeof value === 'string' ? value : branchValue(value)]));

const branchValue = (branch: Branch): FormValue => {
  const keys = [...branch.keys()];
  if (!keys.every((key) => /^\d+$/.test(key))) return formOf(branch);
  return [...branch]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, value]) => (typeof value === 'string' ? value : branchValue(value)));
};
