import type { Item } from '../../../shared/platform/connection.ts';
import type { Clause, Scalar } from '../../../shared/platform/expression.ts';
import { TABLE } from '../../../shared/platform/keys.ts';
import { invalidRequest } from './refusals.ts';

/** Evaluates conditions on a stored item like DynamoDB. Values of different types are unequal and have no order. */
export type Test = (item: Item | undefined) => boolean;

/** @returns undefined if there are no clauses to test. */
export const testOf = (clauses: readonly Clause[], nowSeconds: number): Test | undefined => {
  if (clauses.length === 0) return undefined;
  for (const clause of clauses) checkClause(clause);
  return (item) => clauses.every((clause) => holds(clause, item, nowSeconds));
};

const valueAt = (item: Item | undefined, path: string): unknown => {
  if (item === undefined) return undefined;
  if (!path.includes('.')) return Object.hasOwn(item, path) ? item[path] : undefined;
  return path.split('.').reduce<unknown>(memberOf, item);
};

/** @returns undefined unless the value is a map with this name. */
export const memberOf = (value: unknown, name: string): unknown =>
  isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;

export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array) &&
  !(value instanceof Set);

const holds = (clause: Clause, item: Item | undefined, nowSeconds: number): boolean => {
  if ('absent' in clause) return item === undefined || isExpired(item['ttl'], nowSeconds);
  if ('exists' in clause) return item !== undefined && (item['ttl'] === undefined || isLive(item['ttl'], nowSeconds));
  if ('any' in clause) return clause.any.some((one) => holds(one, item, nowSeconds));
  if ('every' in clause) return clause.every.every((one) => holds(one, item, nowSeconds));
  if ('lacks' in clause) return valueAt(item, clause.lacks) === undefined;
  if ('has' in clause) return valueAt(item, clause.has) !== undefined;
  return compares(clause, item);
};

type Comparison = Exclude<
  Clause,
  { absent: true } | { exists: true } | { lacks: string } | { has: string } | { any: unknown } | { every: unknown }
>;

const compares = (clause: Comparison, item: Item | undefined): boolean => {
  if ('contains' in clause) return contains(valueAt(item, clause.contains[0]), clause.contains[1]);
  if ('oneOf' in clause) {
    const value = valueAt(item, clause.oneOf[0]);
    return value !== undefined && clause.oneOf[1].some((one) => one === value);
  }
  if ('equals' in clause) return valueAt(item, clause.equals[0]) === clause.equals[1];
  if ('differs' in clause) return valueAt(item, clause.differs[0]) !== clause.differs[1];
  if ('atMost' in clause) return ordered(valueAt(item, clause.atMost[0]), clause.atMost[1], (order) => order <= 0);
  if ('below' in clause) return ordered(valueAt(item, clause.below[0]), clause.below[1], (order) => order < 0);
  return ordered(valueAt(item, clause.atLeast[0]), clause.atLeast[1], (order) => order >= 0);
};

/** A non-numeric ttl is neither expired nor live. */
const isExpired = (ttl: unknown, nowSeconds: number): boolean => typeof ttl === 'number' && ttl <= nowSeconds;
const isLive = (ttl: unknown, nowSeconds: number): boolean => typeof ttl === 'number' && ttl > nowSeconds;

export const contains = (value: unknown, sought: unknown): boolean => {
  if (typeof value === 'string') return typeof sought === 'string' && value.includes(sought);
  if (value instanceof Set) return value.has(sought);
  return Array.isArray(value) && value.includes(sought);
};

/** False if the two values have no order. */
export const ordered = (value: unknown, other: unknown, accepts: (order: number) => boolean): boolean => {
  if (typeof value === 'number' && typeof other === 'number') return accepts(value - other);
  if (typeof value === 'string' && typeof other === 'string') return accepts(compareText(value, other));
  return false;
};

/** Compares UTF-8 bytes, as keys are ordered. UTF-16 order differs above U+FFFF. */
const compareText = (one: string, other: string): number => {
  if (one === other) return 0;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
};

/** The attributes in the clauses; for a path, its first name. */
export const namesIn = (clauses: readonly Clause[]): readonly string[] =>
  clauses.flatMap((clause) => {
    if ('any' in clause) return namesIn(clause.any);
    if ('every' in clause) return namesIn(clause.every);
    if ('absent' in clause || 'exists' in clause) return [TABLE.partitionKey, TABLE.ttl];
    const [named] = Object.values(clause).flat();
    return String(named).split('.').slice(0, 1);
  });

/** @throws AwsError if DynamoDB refuses the clause for every item */
const checkClause = (clause: Clause): void => {
  if ('any' in clause) for (const one of clause.any) checkClause(one);
  if ('every' in clause) for (const one of clause.every) checkClause(one);
  if ('atMost' in clause) checkOrdered(clause.atMost[1], '<=');
  if ('below' in clause) checkOrdered(clause.below[1], '<');
  if ('atLeast' in clause) checkOrdered(clause.atLeast[1], '>=');
};

const checkOrdered = (value: Scalar, operator: string): void => {
  if (typeof value === 'string' || typeof value === 'number') return;
  const type = value === null ? 'NULL' : 'BOOL';
  throw invalidRequest(`Incorrect operand type for operator or function; operator: ${operator}, operand type: ${type}`);
};
