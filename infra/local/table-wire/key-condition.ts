import { TABLE } from '../../../shared/platform/keys.ts';
import { invalidRequest } from '../table/refusals.ts';
import type { TableIndex } from '../table/schema.ts';
import type { Node, Operand } from './expression-nodes.ts';

/** The partition and bounds of a key condition. */
export interface KeyRange {
  readonly partition: string;
  readonly from?: string;
  readonly to?: string;
}

const LAST = '\u{10FFFF}';

/** @throws AwsError for conditions on non-key attributes, and for exclusive bounds */
export const keyRange = (node: Node, index: TableIndex | undefined): KeyRange => {
  const { partitionKey, sortKey } = index ?? TABLE;
  const parts = ('all' in node ? node.all : [node]).map(comparisonOf);
  const partition = parts.find(({ name, operator }) => name === partitionKey && operator === '=')?.values[0];
  const sort = parts.filter(({ name }) => name === sortKey);
  if (partition === undefined || sort.length > 1 || sort.length + 1 !== parts.length) {
    throw invalidRequest('Query key condition not supported');
  }
  return { partition, ...(sort[0] && boundsOf(sort[0])) };
};

interface Comparison {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const comparisonOf = (node: Node): Comparison => {
  if (!('operator' in node)) throw invalidRequest('Query key condition not supported');
  const [first, ...others] = node.operands;
  return {
    name: first && 'path' in first ? first.path.join('.') : '',
    operator: node.operator,
    values: others.map(textOf),
  };
};

const textOf = (operand: Operand): string => {
  if ('value' in operand && typeof operand.value === 'string') return operand.value;
  throw invalidRequest('One or more parameter values were invalid: a key is a text');
};

const boundsOf = ({ operator, values: [first = '', second = ''] }: Comparison): Omit<KeyRange, 'partition'> => {
  switch (operator) {
    case '=':
      return { from: first, to: first };
    case '>=':
      return { from: first };
    case '<=':
      return { to: first };
    case 'BETWEEN':
      return { from: first, to: second };
    case 'begins_with':
      return { from: first, to: `${first}${LAST}` };
    default:
      throw invalidRequest(`Query key condition not supported: ${operator}`);
  }
};
