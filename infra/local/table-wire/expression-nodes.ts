import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../../../shared/platform/connection.ts';
import { contains, memberOf, ordered, type Test } from '../table/conditions.ts';

/** A parsed condition of the wire protocol. */
export type Node =
  | { readonly all: readonly Node[] }
  | { readonly any: readonly Node[] }
  | { readonly not: Node }
  | { readonly operator: Operator; readonly operands: readonly Operand[] };

export type Operand = { readonly path: readonly string[] } | { readonly value: unknown };

export const COMPARATORS = ['=', '<>', '<=', '>=', '<', '>'] as const;
export const FUNCTIONS = ['attribute_exists', 'attribute_not_exists', 'contains', 'begins_with'] as const;
export type Operator = (typeof COMPARATORS)[number] | (typeof FUNCTIONS)[number] | 'BETWEEN' | 'IN';

export const nodeTest =
  (node: Node): Test =>
  (item) =>
    holds(node, item);

const holds = (node: Node, item: Item | undefined): boolean => {
  if ('all' in node) return node.all.every((one) => holds(one, item));
  if ('any' in node) return node.any.some((one) => holds(one, item));
  if ('not' in node) return !holds(node.not, item);
  const values = node.operands.map((operand) =>
    'path' in operand ? operand.path.reduce<unknown>(memberOf, item) : operand.value,
  );
  return TESTS[node.operator](values);
};

type Values = readonly unknown[];

const isEqual = (one: unknown, other: unknown): boolean => one !== undefined && isDeepStrictEqual(one, other);

const TESTS: Readonly<Record<Operator, (values: Values) => boolean>> = {
  '=': ([one, other]) => isEqual(one, other),
  '<>': ([one, other]) => !isEqual(one, other),
  '<': ([one, other]) => ordered(one, other, (order) => order < 0),
  '<=': ([one, other]) => ordered(one, other, (order) => order <= 0),
  '>': ([one, other]) => ordered(one, other, (order) => order > 0),
  '>=': ([one, other]) => ordered(one, other, (order) => order >= 0),
  BETWEEN: ([one, from, to]) => ordered(one, from, (order) => order >= 0) && ordered(one, to, (order) => order <= 0),
  IN: ([one, ...others]) => others.some((other) => isEqual(one, other)),
  attribute_exists: ([value]) => value !== undefined,
  attribute_not_exists: ([value]) => value === undefined,
  contains: ([value, sought]) => contains(value, sought),
  begins_with: ([value, start]) => typeof value === 'string' && typeof start === 'string' && value.startsWith(start),
};
