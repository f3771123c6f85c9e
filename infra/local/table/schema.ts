/** @module The SQLite tables, derived from the declared table. Each attribute of an index has its own column. */
import { TABLE } from '../../../shared/platform/keys.ts';

export const ALL_INDEXES = TABLE.indexes;
export type TableIndex = (typeof ALL_INDEXES)[number];

/** The key attributes of all indexes, without duplicates. */
export const INDEX_KEYS: readonly string[] = [
  ...new Set(TABLE.indexes.flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey])),
];
/** The other attributes that indexes return, without duplicates. */
export const INCLUDED: readonly string[] = [...new Set(TABLE.indexes.flatMap(({ include }) => include))];

/** Quoted, because an attribute's name may be an SQL keyword. */
export const column = (attribute: string): string => `"${attribute}"`;

/** The version of the file. It changes with the tables below and the declared indexes. */
export const SHAPE = JSON.stringify([1, TABLE]);

const columns = [
  ...INDEX_KEYS.map((name) => `${column(name)} TEXT`),
  ...INCLUDED.map((name) => `${column(name)} TEXT`),
].join(', ');

const indexes = TABLE.indexes.map(({ name, partitionKey, sortKey }) => {
  const [partition, sort] = [column(partitionKey), column(sortKey)];
  return `CREATE INDEX by_${name} ON item (${partition}, ${sort}, pk, sk)
    WHERE ${partition} IS NOT NULL AND ${sort} IS NOT NULL`;
});

/** `expires` is the ttl. `value` is last, so reading other columns does not load it. */
export const DEFINITION = [
  `CREATE TABLE item (pk TEXT NOT NULL, sk TEXT NOT NULL, size INTEGER NOT NULL, expires REAL, ${columns},
    value TEXT NOT NULL, UNIQUE (pk, sk))`,
  ...indexes,
  'CREATE INDEX by_expiry ON item (expires) WHERE expires IS NOT NULL',
  'CREATE TABLE change (sequence INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, before TEXT, after TEXT)',
  'CREATE TABLE shape (text TEXT NOT NULL)',
].join(';\n');
