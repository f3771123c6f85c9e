import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Item } from '../../../shared/platform/connection.ts';
import { type Key, TABLE } from '../../../shared/platform/keys.ts';
import { type StoredItem, storedValue } from './item-text.ts';
import { invalidRequest } from './refusals.ts';
import { ALL_INDEXES, column, INCLUDED, INDEX_KEYS, type TableIndex } from './schema.ts';

/** The rows of the items, accessed by prepared statements. Every call is synchronous. */
export interface ItemRows {
  find(key: Key): StoredItem | undefined;
  put(item: Item, stored: StoredItem): void;
  remove(key: Key): void;
  /** In key order. */
  list(range: Range): IterableIterator<Row>;
  /** The lowest sort key in a partition of an index. */
  firstSortKey(index: TableIndex, partition: string): string | undefined;
  /** Deletes the items with a ttl at or before this second. */
  deleteExpired(untilSeconds: number): void;
}

/** A range in a partition of the table or of an index; without a partition, the whole table. */
export interface Range {
  readonly index?: TableIndex | undefined;
  readonly partition?: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly after?: Position | undefined;
  readonly descending?: boolean | undefined;
}

export interface Position extends Key {
  /** The item's sort key in the index. */
  readonly sort?: string;
}

export interface Row extends Required<Position> {
  readonly size: number;
  /** The item's text; for an index, the included attributes in declaration order. */
  readonly texts: readonly (string | null)[];
}

const COLUMNS = ['pk', 'sk', 'size', 'expires', ...INDEX_KEYS, ...INCLUDED, 'value'];
const UPSERT = `INSERT INTO item (${COLUMNS.map(column).join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (pk, sk) DO UPDATE SET ${COLUMNS.slice(2)
    .map((name) => `${column(name)} = excluded.${column(name)}`)
    .join(', ')}`;

export const openRows = (database: DatabaseSync): ItemRows => {
  const find = database.prepare('SELECT value, size FROM item WHERE pk = ? AND sk = ?');
  const upsert = database.prepare(UPSERT);
  const remove = database.prepare('DELETE FROM item WHERE pk = ? AND sk = ?');
  const deleteExpired = database.prepare('DELETE FROM item WHERE expires <= ?');
  const firstOf = new Map<TableIndex, StatementSync>();
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    find: (key) => {
      const row = find.get(key.pk, key.sk);
      return row && { text: String(row['value']), size: Number(row['size']) };
    },
    put: (item, stored) => {
      upsert.run(...rowOf(item, stored));
    },
    remove: (key) => {
      remove.run(key.pk, key.sk);
    },
    list: function* (range) {
      const { sql, values } = selection(range);
      const names = range.index?.include ?? ['value'];
      for (const row of prepared(sql).iterate(...values)) {
        const texts = names.map((name) => textOf(row[name]));
        yield { ...keyOf(row), sort: String(row['position']), size: Number(row['size']), texts };
      }
    },
    firstSortKey: (index, partition) => {
      const statement = firstOf.get(index) ?? database.prepare(`${selection({ index, partition }).sql} LIMIT 1`);
      firstOf.set(index, statement);
      return textOf(statement.get(partition)?.['position']) ?? undefined;
    },
    deleteExpired: (untilSeconds) => {
      deleteExpired.run(untilSeconds);
    },
  };
};

const rowOf = (item: Item, stored: StoredItem): SQLInputValue[] => {
  const ttl = item[TABLE.ttl];
  const expires = typeof ttl === 'number' ? ttl : null;
  const keys = INDEX_KEYS.map((name) => textOf(item[name]));
  const included = INCLUDED.map((name) => (item[name] === undefined ? null : storedValue(item[name]).text));
  return [String(item['pk']), String(item['sk']), stored.size, expires, ...keys, ...included, stored.text];
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const keyOf = (row: Readonly<Record<string, unknown>>): Key => ({ pk: String(row['pk']), sk: String(row['sk']) });

/** @throws AwsError if an attribute cannot be the key of an index */
export const checkIndexKeys = (item: Item): void => {
  const wrong = INDEX_KEYS.find((name) => item[name] !== undefined && (typeof item[name] !== 'string' || !item[name]));
  if (wrong === undefined) return;
  throw invalidRequest(`One or more parameter values were invalid: ${wrong} is a key of an index and must be a text`);
};

const selection = (range: Range): { readonly sql: string; readonly values: string[] } => {
  const { index, partition, from, to, after, descending } = range;
  const place = index ?? TABLE;
  const [partitionColumn, sort] = [column(place.partitionKey), column(place.sortKey)];
  const order = index ? [sort, 'pk', 'sk'] : ['pk', 'sk'];
  const conditions = index ? [`${sort} IS NOT NULL`] : [];
  const values: string[] = [];
  const where = (condition: string, ...bound: readonly string[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (partition !== undefined) where(`${partitionColumn} = ?`, partition);
  if (from !== undefined) where(`${sort} >= ?`, from);
  if (to !== undefined) where(`${sort} <= ?`, to);
  if (after) {
    const position = index ? [after.sort ?? '', after.pk, after.sk] : [after.pk, after.sk];
    where(`(${order.join(', ')}) ${descending ? '<' : '>'} (${order.map(() => '?').join(', ')})`, ...position);
  }
  const fetched = index ? index.include.map(column) : ['value'];
  const source = index ? `item INDEXED BY by_${index.name}` : 'item';
  const sql = `SELECT ${['pk', 'sk', `${sort} AS position`, 'size', ...fetched].join(', ')} FROM ${source}
    ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
    ORDER BY ${order.map((name) => `${name} ${descending ? 'DESC' : 'ASC'}`).join(', ')}`;
  return { sql, values };
};

/** The index with this name in the declared table. */
export const indexCalled = (name: string): TableIndex => {
  const found = ALL_INDEXES.find((index) => index.name === name);
  if (!found) throw invalidRequest(`The table does not have the specified index: ${name}`);
  return found;
};
