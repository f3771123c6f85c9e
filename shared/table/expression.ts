/**
 * The one place where an expression is written. Names and values reach DynamoDB through placeholders only, so no
 * attribute name or value of a caller is ever part of an expression's text.
 */
export type Scalar = string | number | boolean | null;

/** What must hold of the item as stored; every clause of a list must hold. */
export type Clause =
  | { readonly absent: true }
  | { readonly exists: true }
  | { readonly equals: readonly [attribute: string, value: Scalar] }
  | { readonly differs: readonly [attribute: string, value: Scalar] }
  | { readonly oneOf: readonly [attribute: string, values: readonly Scalar[]] }
  | { readonly atMost: readonly [attribute: string, value: Scalar] }
  | { readonly atLeast: readonly [attribute: string, value: Scalar] }
  | { readonly below: readonly [attribute: string, value: Scalar] }
  | { readonly contains: readonly [attribute: string, value: string] }
  | { readonly lacks: string }
  | { readonly has: string }
  | { readonly any: readonly Clause[] }
  | { readonly every: readonly Clause[] };

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
 * Collects placeholders; a dotted attribute is a path into a map.
 * @param nowSeconds an item whose `ttl` is at or before it counts as absent.
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

  /** DynamoDB refuses parentheses around a single condition that has its own. */
  const group = (clauses: readonly Clause[], operator: ' OR ' | ' AND '): string => {
    const [first, ...rest] = clauses;
    if (first && rest.length === 0) return written(first);
    return `(${clauses.map(written).join(operator)})`;
  };

  const written = (clause: Clause): string => {
    if ('absent' in clause) return `(attribute_not_exists(${name('pk')}) OR ${name('ttl')} <= ${value(nowSeconds)})`;
    if ('exists' in clause) {
      return `(attribute_exists(${name('pk')}) AND (attribute_not_exists(${name('ttl')}) OR ${name('ttl')} > ${value(nowSeconds)}))`;
    }
    if ('any' in clause) return group(clause.any, ' OR ');
    if ('every' in clause) return group(clause.every, ' AND ');
    if ('lacks' in clause) return `attribute_not_exists(${name(clause.lacks)})`;
    if ('has' in clause) return `attribute_exists(${name(clause.has)})`;
    if ('contains' in clause) return `contains(${name(clause.contains[0])}, ${value(clause.contains[1])})`;
    if ('oneOf' in clause) return `${name(clause.oneOf[0])} IN (${clause.oneOf[1].map(value).join(', ')})`;
    if ('equals' in clause) return `${name(clause.equals[0])} = ${value(clause.equals[1])}`;
    if ('differs' in clause) return `${name(clause.differs[0])} <> ${value(clause.differs[1])}`;
    if ('atMost' in clause) return `${name(clause.atMost[0])} <= ${value(clause.atMost[1])}`;
    if ('below' in clause) return `${name(clause.below[0])} < ${value(clause.below[1])}`;
    return `${name(clause.atLeast[0])} >= ${value(clause.atLeast[1])}`;
  };

  /** The clauses joined by AND, or undefined where there are none. */
  const all = (clauses: readonly Clause[]): string | undefined =>
    clauses.length === 0 ? undefined : clauses.map(written).join(' AND ');

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
