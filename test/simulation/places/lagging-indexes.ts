import { testOf } from '../../../infra/local/table/conditions.ts';
import { epochSeconds } from '../../../shared/core/time.ts';
import type { Connection, Item, Page, PartitionPage, TransactionStep } from '../../../shared/platform/connection.ts';
import { type Key, TABLE } from '../../../shared/platform/keys.ts';
import type { Kernel } from '../kernel/kernel.ts';

/**
 * Makes the indexes lag. As on DynamoDB, a read of an index sees the table of a moment ago. Reads of the table itself
 * see every write.
 */
export const laggingIndexes = (kernel: Kernel, connection: Connection): Connection => {
  const { indexLagMs } = kernel.weather();
  if (indexLagMs === 0) return connection;
  const prng = kernel.prng('index lag');
  let changes: Change[] = [];

  const writing = async <T>(keys: readonly Key[], write: () => Promise<T>): Promise<T> => {
    const at = kernel.now();
    changes = changes.filter((change) => change.at > at - indexLagMs);
    for (const key of keys) changes.push({ key, at, before: await connection.getItem(key, true) });
    return write();
  };
  const query = async (asked: PartitionPage): Promise<Page> => {
    const page = await connection.query(asked);
    const lagMs = Math.round(prng.next() * Math.min(indexLagMs, kernel.weather().indexLagMs));
    const since = kernel.now() - lagMs;
    const recent = changes.filter(({ at }) => at > since);
    // Only a first page lags, because the older state may not contain the place of a cursor.
    if (asked.index === undefined || asked.after !== undefined || recent.length === 0) return page;
    kernel.count('index behind the table');
    return asItWas(page, recent, { asked, nowSeconds: epochSeconds(kernel.now()) });
  };
  return {
    ...connection,
    putItem: (item, clauses) => writing([keyOf(item)], () => connection.putItem(item, clauses)),
    updateItem: (update) => writing([update.key], () => connection.updateItem(update)),
    deleteItem: (key, clauses) => writing([key], () => connection.deleteItem(key, clauses)),
    transact: (steps) => writing(steps.map(keyOfStep), () => connection.transact(steps)),
    query,
    count: async (asked) => {
      const { items, next } = await query(asked);
      return { matching: items.length, evaluated: items.length, next };
    },
  };
};

interface Change {
  readonly key: Key;
  readonly at: number;
  readonly before: Item | undefined;
}

const nameOf = ({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): string => `${pk}\n${sk}`;
const keyOf = ({ pk, sk }: Item): Key => ({ pk: String(pk), sk: String(sk) });
const keyOfStep = (step: TransactionStep): Key => {
  if ('put' in step) return keyOf(step.put);
  if ('update' in step) return step.update;
  return 'delete' in step ? step.delete : step.check;
};

interface Asked {
  readonly asked: PartitionPage;
  readonly nowSeconds: number;
}

const asItWas = (page: Page, recent: readonly Change[], { asked, nowSeconds }: Asked): Page => {
  const index = TABLE.indexes.find(({ name }) => name === asked.index);
  if (!index) return page;
  const { partitionKey, sortKey } = index;
  /** Each recently changed item as it was before the oldest of its recent changes. */
  const before = new Map<string, Item | undefined>();
  for (const change of recent) {
    if (!before.has(nameOf(change.key))) before.set(nameOf(change.key), change.before);
  }
  const test = testOf(asked.filter ?? [], nowSeconds);
  const position = (item: Item): string => `${item[sortKey]}\n${nameOf(item)}`;
  const end = page.next && position(page.next);
  const isBeforeEnd = (item: Item): boolean => {
    if (end === undefined) return true;
    return asked.descending ? position(item) >= end : position(item) <= end;
  };
  const isInside = (item: Item): boolean => {
    const sort = item[sortKey];
    if (item[partitionKey] !== asked.partition || typeof sort !== 'string') return false;
    return (asked.from === undefined || sort >= asked.from) && (asked.to === undefined || sort <= asked.to);
  };
  const shown = ['pk', 'sk', partitionKey, sortKey, ...index.include];
  const projected = (item: Item): Item =>
    Object.fromEntries(shown.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
  const old = [...before.values()]
    .filter((item) => item !== undefined)
    .filter((item) => isInside(item) && isBeforeEnd(item))
    .map(projected)
    .filter((item) => test === undefined || test(item));
  const items = [...page.items.filter((item) => !before.has(nameOf(item))), ...old];
  const order = asked.descending ? -1 : 1;
  items.sort((one, other) => (position(one) < position(other) ? -order : order));
  return { items: asked.limit === undefined ? items : items.slice(0, asked.limit), next: page.next };
};
