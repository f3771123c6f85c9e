/** @module The only code that writes DynamoDB expressions. All names and values are placeholders. */

export type Scalar = string | number | boolean | null;

/** A condition on the stored item. In a list, every clause must hold. */
export type Clause =
  | { readonly absent: true }
  | { readonly exists: true }
  | { readonly lacks: string }
  | { readonly has: string }
  | { readonly any: readonly Clause[] }
  | { readonly every: readonly Clause[] }
  | Comparison;

type Comparison =
  | { readonly equals: readonly [attribute: string, value: Scalar] }
  | { readonly differs: readonly [attribute: string, value: Scalar] }
  | { readonly oneOf: readonly [attribute: string, values: readonly Scalar[]] }
  | { readonly atMost: readonly [attribute: string, value: Scalar] }
  | { readonly atLeast: readonly [attribute: string, value: Scalar] }
  | { readonly below: readonly [attribute: string, value: Scalar] }
  | { readonly contains: readonly [attribute: string, value: string] };

export interface Changes {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
  readonly add?: Readonly<Record<string, number>>;
}

export interface ExpressionParts {
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

export type Expression = ReturnType<typeof expression>;

/**
 * Builds an expression and its placeholders. A dotted attribute is a path into a map. @param nowSeconds an item with
 * this or an earlier `ttl` counts as absent
 */
export const expression = (nowSeconds: number) => {
  const names = new Map<string, string>();
  const values: unknown[] = [];

  const nameOf = (segment: string): string => {
    const known = names.get(segment);
    if (known) return known;
    const placeholder = `#n${names.size}`;
    names.set(segment, placeholder);
    return placeholder;
  };
  const name = (path: string): string => path.split('.').map(nameOf).join('.');
  const value = (given: unknown): string => {
    values.push(given);
    return `:v${values.length - 1}`;
  };

  /** DynamoDB refuses a second pair of parentheses around a single condition. */
  const group = (clauses: readonly Clause[], operator: ' OR ' | ' AND '): string => {
    const [first, ...rest] = clauses;
    if (first && rest.length === 0) return write(first);
    return `(${clauses.map(write).join(operator)})`;
  };

  const compare = ([path, given]: readonly [attribute: string, value: Scalar], operator: string): string =>
    `${name(path)} ${operator} ${value(given)}`;

  const write = (clause: Clause): string => {
    if ('absent' in clause) return `(attribute_not_exists(${name('pk')}) OR ${name('ttl')} <= ${value(nowSeconds)})`;
    if ('exists' in clause) {
      return `(attribute_exists(${name('pk')}) AND (attribute_not_exists(${name('ttl')}) OR ${name('ttl')} > ${value(nowSeconds)}))`;
    }
    if ('any' in clause) return group(clause.any, ' OR ');
    if ('every' in clause) return group(clause.every, ' AND ');
    if ('lacks' in clause) return `attribute_not_exists(${name(clause.lacks)})`;
    if ('has' in clause) return `attribute_exists(${name(clause.has)})`;
    return writeComparison(clause);
  };

  const writeComparison = (clause: Comparison): string => {
    if ('contains' in clause) return `contains(${name(clause.contains[0])}, ${value(clause.contains[1])})`;
    if ('oneOf' in clause) return `${name(clause.oneOf[0])} IN (${clause.oneOf[1].map(value).join(', ')})`;
    if ('equals' in clause) return compare(clause.equals, '=');
    if ('differs' in clause) return compare(clause.differs, '<>');
    if ('atMost' in clause) return compare(clause.atMost, '<=');
    if ('below' in clause) return compare(clause.below, '<');
    return compare(clause.atLeast, '>=');
  };

  /** The clauses joined by AND; undefined for an empty list. */
  const all = (clauses: readonly Clause[]): string | undefined =>
    clauses.length === 0 ? undefined : clauses.map(write).join(' AND ');

  /** An update expression; a `set` value of undefined removes the attribute. */
  const update = (changes: Changes): string => {
    const set = Object.entries(changes.set ?? {});
    const assigned = set.filter(([, given]) => given !== undefined);
    const removed = [
      ...(changes.remove ?? []),
      ...set.filter(([, given]) => given === undefined).map(([path]) => path),
    ];
    const added = Object.entries(changes.add ?? {});
    const parts = [
      assigned.length > 0 && `SET ${assigned.map(([path, given]) => `${name(path)} = ${value(given)}`).join(', ')}`,
      removed.length > 0 && `REMOVE ${removed.map(name).join(', ')}`,
      added.length > 0 && `ADD ${added.map(([path, given]) => `${name(path)} ${value(given)}`).join(', ')}`,
    ];
    return parts.filter((part) => part !== false).join(' ');
  };

  /** The placeholders used so far; call it last. */
  const parts = (): ExpressionParts => ({
    ...(names.size > 0 && {
      ExpressionAttributeNames: Object.fromEntries(
        [...names].map(([attribute, placeholder]) => [placeholder, attribute]),
      ),
    }),
    ...(values.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(values.map((given, index) => [`:v${index}`, given])),
    }),
  });

  return { name, value, all, update, parts };
};
