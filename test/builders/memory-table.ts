import type { Changes, Clause } from '../../shared/platform/expression.ts';
import type { Key } from '../../shared/platform/keys.ts';
import type { Item, Table, TransactionStep, Written } from '../../shared/platform/table.ts';

type Stored = Record<string, unknown>;
type Clock = { readonly now: () => number };

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

const at = (item: Item | undefined, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) => (typeof value === 'object' && value ? Reflect.get(value, name) : undefined),
      item,
    );

type Comparable = string | number;
const below = (one: unknown, other: unknown): boolean =>
  typeof one === typeof other && (one as Comparable) < (other as Comparable);

/** Evaluates one clause as the engine does. An absent attribute is neither below nor above a value. */
const holds = (clause: Clause, item: Item | undefined): boolean => {
  if ('absent' in clause) return item === undefined;
  if ('exists' in clause) return item !== undefined;
  if ('any' in clause) return clause.any.some((inner) => holds(inner, item));
  if ('every' in clause) return clause.every.every((inner) => holds(inner, item));
  if ('lacks' in clause) return at(item, clause.lacks) === undefined;
  if ('has' in clause) return at(item, clause.has) !== undefined;
  if ('equals' in clause) return at(item, clause.equals[0]) === clause.equals[1];
  if ('oneOf' in clause) return clause.oneOf[1].some((value) => value === at(item, clause.oneOf[0]));
  if ('contains' in clause) return String(at(item, clause.contains[0]) ?? '').includes(clause.contains[1]);
  if ('differs' in clause) return at(item, clause.differs[0]) !== clause.differs[1];
  if ('below' in clause) return below(at(item, clause.below[0]), clause.below[1]);
  if ('atMost' in clause) {
    const value = at(item, clause.atMost[0]);
    return below(value, clause.atMost[1]) || value === clause.atMost[1];
  }
  const value = at(item, clause.atLeast[0]);
  return below(clause.atLeast[1], value) || value === clause.atLeast[1];
};

const keyOf = (step: TransactionStep): Key => {
  if ('put' in step) return { pk: String(step.put['pk']), sk: String(step.put['sk']) };
  if ('update' in step) return step.update;
  return 'delete' in step ? step.delete : step.check;
};

const changed = (item: Stored, { set = {}, remove = [], add = {} }: Changes): Stored => {
  const next: Stored = { ...item, ...set };
  for (const [name, by] of Object.entries(add)) next[name] = Number(next[name] ?? 0) + by;
  for (const name of remove) delete next[name];
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
};

/**
 * An in-memory table for unit tests of rules that guard their writes with conditions. Tests of stores and flows use the
 * real engine. As in the service's own table access, an item past its ttl is absent.
 */
export const memoryTable = ({ now }: Clock) => {
  const items = new Map<string, Stored>();
  const live = (key: Key): Stored | undefined => {
    const item = items.get(nameOf(key));
    const ttl = item?.['ttl'];
    return typeof ttl === 'number' && ttl <= Math.floor(now() / 1_000) ? undefined : item;
  };
  const write = (key: Key, clauses: readonly Clause[], next: (was: Stored) => Stored | undefined): Written => {
    const was = live(key);
    if (!clauses.every((clause) => holds(clause, was))) return { ok: false, found: was };
    const item = next(was ?? {});
    if (item) items.set(nameOf(key), item);
    else items.delete(nameOf(key));
    return { ok: true, item: item ?? {} };
  };
  const table: Table = {
    get: async (key) => live(key),
    getMany: async (keys) => keys.map(live),
    put: async (item, clauses = []) => {
      const key = { pk: String(item['pk']), sk: String(item['sk']) };
      return write(key, clauses, () => changed({}, { set: item }));
    },
    update: async (key, changes, clauses = []) =>
      write(key, clauses, (was) => changed({ ...was, pk: key.pk, sk: key.sk }, changes)),
    remove: async (key, clauses = []) => write(key, clauses, () => undefined),
    expire: async (key, clauses) =>
      write(key, clauses, (was) => changed(was, { set: { ttl: Math.floor(now() / 1_000) } })),
    transact: async (steps) => {
      const failed = steps.flatMap((step, index) =>
        (step.if ?? []).every((clause) => holds(clause, live(keyOf(step)))) ? [] : [index],
      );
      if (failed.length > 0) return { ok: false, failed, found: steps.map((step) => live(keyOf(step))) };
      for (const step of steps) {
        if ('put' in step) write(keyOf(step), [], () => changed({}, { set: step.put }));
        if ('update' in step) write(step.update, [], (was) => changed({ ...was, ...step.update }, step.changes));
        if ('delete' in step) write(step.delete, [], () => undefined);
      }
      return { ok: true };
    },
    queryIndex: async ({ index, partition, from = '', to = '~', descending = false, filter = [] }) => {
      const found = [...items.values()]
        .filter((item) => item[index] === partition && from <= `${item['sort']}` && `${item['sort']}` <= to)
        .filter((item) => filter.every((clause) => holds(clause, item)))
        .sort((one, other) => (`${one['sort']}` < `${other['sort']}` ? -1 : 1));
      return { items: descending ? found.reverse() : found, next: undefined };
    },
    countIndex: async (query) => {
      const { items: found } = await table.queryIndex(query);
      return { matching: found.length, evaluated: found.length, next: undefined };
    },
    queryItems: async ({ partition, from = '', to = '~' }) => {
      const found = [...items.values()].filter(({ pk, sk }) => pk === partition && from <= `${sk}` && `${sk}` <= to);
      return { items: found.sort((one, other) => (`${one['sk']}` < `${other['sk']}` ? -1 : 1)), next: undefined };
    },
    eachInIndex: async function* (query) {
      yield* (await table.queryIndex(query)).items;
    },
    eachItem: async function* (query) {
      yield* (await table.queryItems(query)).items;
    },
    scanItems: () => Promise.reject(new Error('not in memory')),
  };
  return { table, items: (): readonly Item[] => [...items.values()] };
};
