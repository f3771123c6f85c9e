/** @module Parses the wire protocol's expressions, limited to the syntax that this service and its tools use. */

import { isMap } from '../table/conditions.ts';
import { invalidRequest } from '../table/refusals.ts';
import type { PathChange } from '../table/updates.ts';
import { COMPARATORS, FUNCTIONS, type Node, type Operand, type Operator } from './expression-nodes.ts';
import { valueOfWire } from './wire-values.ts';

export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  /** Attribute values in wire format. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** @throws AwsError if the text is not a valid condition */
export const parseCondition = (text: string, placeholders: Placeholders): Node => {
  const reader = openReader(text, placeholders);
  const node = readAny(reader);
  reader.end();
  return node;
};

/** @throws AwsError if the text is not a valid update */
export const parseUpdate = (text: string, placeholders: Placeholders): readonly PathChange[] => {
  const reader = openReader(text, placeholders);
  const changes: PathChange[] = [];
  while (reader.peek() !== undefined) {
    const clause = reader.take();
    const read = CHANGES[clause.toUpperCase()];
    if (!read) throw syntaxError(clause);
    do changes.push(read(reader));
    while (reader.skip(','));
  }
  return changes;
};

const TOKEN = /#\w+|:\w+|\w+|<=|>=|<>|[=<>(),.]|\s+/y;

type Reader = ReturnType<typeof openReader>;

const openReader = (text: string, { names, values }: Placeholders) => {
  const tokens = tokensOf(text);
  let position = 0;
  const peek = (): string | undefined => tokens[position];
  const take = (): string => {
    const token = tokens[position];
    if (token === undefined) throw syntaxError('the end');
    position += 1;
    return token;
  };
  /** Consumes the token if it is next. Words match in any case. */
  const skip = (wanted: string): boolean => {
    const isNext = peek()?.toUpperCase() === wanted.toUpperCase();
    if (isNext) position += 1;
    return isNext;
  };
  return {
    peek,
    take,
    skip,
    expect: (wanted: string): void => {
      if (!skip(wanted)) throw syntaxError(peek() ?? 'the end');
    },
    end: (): void => {
      if (position < tokens.length) throw syntaxError(peek() ?? '');
    },
    name: (token: string): string => {
      if (!token.startsWith('#')) return token;
      const name = names[token];
      if (name === undefined) throw invalidRequest(`An expression attribute name is not defined: ${token}`);
      return name;
    },
    value: (token: string): unknown => {
      if (!Object.hasOwn(values, token)) throw invalidRequest(`An expression attribute value is not defined: ${token}`);
      return valueOfWire(values[token]);
    },
  };
};

const tokensOf = (text: string): readonly string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(text)?.[0];
    if (found === undefined) throw syntaxError(text.slice(from));
    if (found.trim() !== '') tokens.push(found);
  }
  return tokens;
};

const syntaxError = (near: string) => invalidRequest(`Invalid expression: syntax error near ${near}`);

const readAny = (reader: Reader): Node => {
  const nodes = [readAll(reader)];
  while (reader.skip('OR')) nodes.push(readAll(reader));
  return nodes.length === 1 && nodes[0] ? nodes[0] : { any: nodes };
};

const readAll = (reader: Reader): Node => {
  const nodes = [readOne(reader)];
  while (reader.skip('AND')) nodes.push(readOne(reader));
  return nodes.length === 1 && nodes[0] ? nodes[0] : { all: nodes };
};

const readOne = (reader: Reader): Node => {
  if (reader.skip('NOT')) return { not: readOne(reader) };
  if (reader.skip('(')) {
    const node = readAny(reader);
    reader.expect(')');
    return node;
  }
  const called = FUNCTIONS.find((name) => reader.skip(name));
  if (called) {
    reader.expect('(');
    return { operator: called, operands: readList(reader) };
  }
  return readComparison(reader);
};

const readComparison = (reader: Reader): Node => {
  const first = readOperand(reader);
  if (reader.skip('IN')) {
    reader.expect('(');
    return { operator: 'IN', operands: [first, ...readList(reader)] };
  }
  if (reader.skip('BETWEEN')) {
    const from = readOperand(reader);
    reader.expect('AND');
    return { operator: 'BETWEEN', operands: [first, from, readOperand(reader)] };
  }
  const operator: Operator | undefined = COMPARATORS.find((one) => reader.skip(one));
  if (!operator) throw syntaxError(reader.peek() ?? 'the end');
  return { operator, operands: [first, readOperand(reader)] };
};

/** Reads up to the closing parenthesis. */
const readList = (reader: Reader): readonly Operand[] => {
  const operands = [readOperand(reader)];
  while (reader.skip(',')) operands.push(readOperand(reader));
  reader.expect(')');
  return operands;
};

const readOperand = (reader: Reader): Operand =>
  reader.peek()?.startsWith(':') ? { value: reader.value(reader.take()) } : { path: readPath(reader) };

const readPath = (reader: Reader): readonly string[] => {
  const path = [reader.name(reader.take())];
  while (reader.skip('.')) path.push(reader.name(reader.take()));
  return path;
};

const CHANGES: Readonly<Record<string, (reader: Reader) => PathChange>> = {
  SET: (reader) => {
    const path = readPath(reader);
    reader.expect('=');
    return { path, set: reader.value(reader.take()) };
  },
  REMOVE: (reader) => ({ path: readPath(reader), remove: true }),
  ADD: (reader) => {
    const path = readPath(reader);
    const added = reader.value(reader.take());
    if (typeof added === 'number') return { path, add: added };
    throw invalidRequest('Incorrect operand type for operator or function; operator: ADD');
  },
};

/** The placeholders of a request. */
export const placeholdersOf = (input: {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>> | undefined;
}): Placeholders => ({
  names: input.ExpressionAttributeNames ?? {},
  values: isMap(input.ExpressionAttributeValues) ? input.ExpressionAttributeValues : {},
});
