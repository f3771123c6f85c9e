/** A value of a period, or undefined for a period without data. */
export type Point = number | undefined;
type Parsed = Point | readonly Point[];

const TOKEN = /\s*(>=|<=|==|!=|[A-Za-z]\w*|\d+(?:\.\d+)?|[-+*/()[\],<>])/y;
const LEVELS: readonly (readonly string[])[] = [
  ['OR'],
  ['AND'],
  ['>', '>=', '<', '<=', '==', '!='],
  ['+', '-'],
  ['*', '/'],
];

/** As in CloudWatch, a division by zero has no data. */
const OPERATORS: Readonly<Record<string, (left: number, right: number) => Point>> = {
  OR: (left, right) => Number(left !== 0 || right !== 0),
  AND: (left, right) => Number(left !== 0 && right !== 0),
  '>': (left, right) => Number(left > right),
  '>=': (left, right) => Number(left >= right),
  '<': (left, right) => Number(left < right),
  '<=': (left, right) => Number(left <= right),
  '==': (left, right) => Number(left === right),
  '!=': (left, right) => Number(left !== right),
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => (right === 0 ? undefined : left / right),
};

const FUNCTIONS: Readonly<Record<string, (...given: readonly Parsed[]) => Point>> = {
  IF: (condition, yes, no) => (condition === undefined ? undefined : one(condition === 0 ? no : yes)),
  FILL: (value, otherwise) => one(value) ?? one(otherwise),
  MAX: (values) => {
    const known = (Array.isArray(values) ? values : [values]).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  },
};

const one = (value: Parsed): Point => {
  if (typeof value === 'object') throw new Error('an array is no value of a period');
  return value;
};

const tokensOf = (expression: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const at = TOKEN.lastIndex;
    const [, token] = TOKEN.exec(expression) ?? [];
    if (token === undefined) throw new Error(`CloudWatch does not know ${expression.slice(at)}`);
    tokens.push(token);
  }
  return tokens;
};

/** The value of CloudWatch's metric math for one period, for the operators and functions that the alarms use. */
export const evaluate = (expression: string, metrics: Readonly<Record<string, Point>>): Point => {
  const tokens = tokensOf(expression);
  const take = (wanted?: string): string => {
    const token = tokens.shift();
    if (token === undefined || (wanted !== undefined && token !== wanted)) throw new Error(`${token}, not ${wanted}`);
    return token;
  };
  const listUntil = (end: string): Parsed[] => {
    const values = [level(0)];
    while (tokens[0] === ',') {
      take();
      values.push(level(0));
    }
    take(end);
    return values;
  };
  const atom = (): Parsed => {
    const token = take();
    if (token === '(') {
      const value = level(0);
      take(')');
      return value;
    }
    if (token === '[') return listUntil(']').map(one);
    if (/^\d/.test(token)) return Number(token);
    if (tokens[0] === '(') {
      take();
      const called = FUNCTIONS[token];
      if (!called) throw new Error(`the alarms use no function ${token}`);
      return called(...listUntil(')'));
    }
    if (!(token in metrics)) throw new Error(`there is no metric ${token}`);
    return metrics[token];
  };
  const level = (depth: number): Parsed => {
    const operators = LEVELS[depth];
    if (!operators) return atom();
    let left = level(depth + 1);
    while (operators.includes(tokens[0] ?? '')) {
      const operator = OPERATORS[take()];
      // An operation with a missing operand has no data.
      const [first, second] = [one(left), one(level(depth + 1))];
      left = first === undefined || second === undefined ? undefined : operator?.(first, second);
    }
    return left;
  };
  const value = one(level(0));
  if (tokens.length > 0) throw new Error(`${tokens.join(' ')} follows the expression`);
  return value;
};
