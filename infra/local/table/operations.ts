import type { Item, PartitionPage, Slice } from '../../../shared/platform/connection.ts';
import { type Key, TABLE } from '../../../shared/platform/keys.ts';
import type { ChangeLog } from './change-log.ts';
import type { Test } from './conditions.ts';
import { itemOfText, type StoredItem, storedItem, valueOfText } from './item-text.ts';
import { invalidRequest } from './refusals.ts';
import { checkIndexKeys, type ItemRows, indexCalled, type Position, type Range, type Row } from './rows.ts';
import type { TableIndex } from './schema.ts';

/** DynamoDB's operations on the rows. Each operation is synchronous and sees all earlier writes. */
export interface TableOperations {
  find(key: Key): Version | undefined;
  /** Writes all steps or none. @throws AwsError for a request that DynamoDB refuses */
  write(steps: readonly WriteStep[]): WriteResult;
  query(query: Omit<PartitionPage, 'filter'>, filter: Test | undefined): Evaluated;
  scan(slice: Partial<Slice>, filter: Test | undefined): Evaluated;
}

/** A stored item. Its text is parsed on first use. */
export interface Version extends StoredItem {
  readonly item: Item;
}

export interface WriteStep {
  readonly key: Key;
  readonly test: Test | undefined;
  /** @returns the item to store, or undefined to delete. A step without `next` is only a condition check. */
  readonly next?: (old: Item | undefined) => Item | undefined;
}

export interface Replaced {
  readonly before: Version | undefined;
  readonly after: Version | undefined;
}

export type WriteResult =
  | { readonly ok: true; readonly replaced: readonly Replaced[] }
  | { readonly ok: false; readonly failed: readonly number[]; readonly found: readonly (Item | undefined)[] };

export interface Evaluated {
  readonly items: readonly Item[];
  readonly next: Item | undefined;
  /** Bytes and items read before filtering. */
  readonly bytes: number;
  readonly count: number;
}

const MAX_ITEM_BYTES = 400 * 1_024;
const MAX_PAGE_BYTES = 1_048_576;
const MAX_PARTITION_KEY_BYTES = 2_048;
const MAX_SORT_KEY_BYTES = 1_024;
const MAX_STEPS = 100;

export interface TableOperationsOptions {
  readonly rows: ItemRows;
  readonly log: ChangeLog;
  /** Runs the writes as one unit. */
  readonly together: (writes: () => void) => void;
}

export const createOperations = ({ rows, log, together }: TableOperationsOptions): TableOperations => {
  const find = (key: Key): Version | undefined => {
    checkKey(key);
    const stored = rows.find(key);
    return stored && versionOf(stored);
  };

  const store = (key: Key, { before, after }: Replaced): void => {
    if (after) rows.put(after.item, after);
    else if (before) rows.remove(key);
    log.append(key, before?.text, after?.text);
  };

  const write = (steps: readonly WriteStep[]): WriteResult => {
    checkSteps(steps);
    const previous = steps.map(({ key }) => find(key));
    const failed = steps.flatMap(({ test }, index) =>
      test === undefined || test(previous[index]?.item) ? [] : [index],
    );
    if (failed.length > 0) {
      const found = previous.map((before, index) => (failed.includes(index) ? before?.item : undefined));
      return { ok: false, failed, found };
    }
    const replaced = steps.map((step, index) => ({
      before: previous[index],
      after: versionAfter(step, previous[index]),
    }));
    together(() => {
      for (const [index, { key, next }] of steps.entries()) {
        const versions = replaced[index];
        if (next && versions) store(key, versions);
      }
    });
    return { ok: true, replaced };
  };

  return {
    find,
    write,
    query: ({ index, partition, from, to, descending, limit, after }, filter) => {
      const within = index === undefined ? undefined : indexCalled(index);
      if (from !== undefined && to !== undefined && from > to) {
        throw invalidRequest('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
      }
      const range = { index: within, partition, from, to, descending, after: after && positionOf(after, within) };
      return evaluate(rows, range, { limit, filter });
    },
    scan: ({ after, limit }, filter) => evaluate(rows, { after: after && positionOf(after) }, { limit, filter }),
  };
};

/** @throws AwsError if a filter names a key of the queried table or index */
export const checkFilter = (index: string | undefined, names: readonly string[]): void => {
  const { partitionKey, sortKey } = index === undefined ? TABLE : indexCalled(index);
  const key = names.find((name) => name === partitionKey || name === sortKey);
  if (key) throw invalidRequest(`Filter Expression can only contain non-primary key attributes: ${key}`);
};

const versionOf = (stored: StoredItem): Version => {
  let item: Item | undefined;
  return {
    ...stored,
    get item() {
      item ??= itemOfText(stored.text);
      return item;
    },
  };
};

const versionAfter = ({ key, next }: WriteStep, before: Version | undefined): Version | undefined => {
  if (!next) return before;
  const item = next(before?.item);
  if (item === undefined) return undefined;
  if (item['pk'] !== key.pk || item['sk'] !== key.sk) throw invalidRequest('The provided key does not match the item');
  checkIndexKeys(item);
  const stored = storedItem(item);
  if (stored.size > MAX_ITEM_BYTES) throw invalidRequest('Item size has exceeded the maximum allowed size');
  return { ...stored, item };
};

const checkSteps = (steps: readonly WriteStep[]): void => {
  if (steps.length === 0 || steps.length > MAX_STEPS) {
    throw invalidRequest(`a transaction has 1 to ${MAX_STEPS} operations, not ${steps.length}`);
  }
  if (steps.length === 1) return;
  const targets = new Set(steps.map(({ key }) => `${key.pk}\n${key.sk}`));
  if (targets.size === steps.length) return;
  throw invalidRequest('Transaction request cannot include multiple operations on one item');
};

const checkKey = ({ pk, sk }: Key): void => {
  checkKeyPart(pk, MAX_PARTITION_KEY_BYTES);
  checkKeyPart(sk, MAX_SORT_KEY_BYTES);
};

const checkKeyPart = (part: string, maxBytes: number): void => {
  if (part === '') {
    throw invalidRequest('One or more parameter values are not valid: a key must not be empty');
  }
  if (part.length * 3 <= maxBytes || Buffer.byteLength(part) <= maxBytes) return;
  throw invalidRequest(`One or more parameter values were invalid: a key has at most ${maxBytes} bytes`);
};

const positionOf = (after: Item, index?: TableIndex): Position => ({
  pk: String(after['pk']),
  sk: String(after['sk']),
  ...(index && { sort: String(after[index.sortKey]) }),
});

interface Selection {
  readonly limit: number | undefined;
  readonly filter: Test | undefined;
}

const evaluate = (rows: ItemRows, range: Range, { limit = Number.POSITIVE_INFINITY, filter }: Selection): Evaluated => {
  const items: Item[] = [];
  let [bytes, count] = [0, 0];
  let last: Row | undefined;
  for (const row of rows.list(range)) {
    const item = itemOf(row, range);
    const size = range.index ? storedItem(item).size : row.size;
    if (last && bytes + size > MAX_PAGE_BYTES) return { items, next: keyOf(last, range), bytes, count };
    last = row;
    bytes += size;
    count += 1;
    if (!filter || filter(item)) items.push(item);
    // As in DynamoDB, a page that reaches its limit returns its last key, even if no item follows.
    if (count >= limit) return { items, next: keyOf(row, range), bytes, count };
  }
  return { items, next: undefined, bytes, count };
};

const itemOf = ({ pk, sk, sort, texts }: Row, { index, partition }: Range): Item => {
  if (!index) return itemOfText(texts[0] ?? '{}');
  const included = index.include.flatMap((name, at): [string, unknown][] => {
    const text = texts[at];
    return typeof text === 'string' ? [[name, valueOfText(text)]] : [];
  });
  return { pk, sk, [index.partitionKey]: partition, [index.sortKey]: sort, ...Object.fromEntries(included) };
};

const keyOf = ({ pk, sk, sort }: Row, { index, partition }: Range): Item => ({
  pk,
  sk,
  ...(index && { [index.partitionKey]: partition, [index.sortKey]: sort }),
});
