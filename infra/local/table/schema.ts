import { TABLE } from '../../../shared/platform/keys.ts';

/** The SQLite tables, derived from the declared table. An attribute that is part of an index has a column. */
export const ALL_INDEXES = TABLE.indexes;
export type TableIndex = (typeof ALL_INDEXES)[number];

/** The attributes that an index orders by, each once. */
export const INDEX_KEYS: readonly string[] = [
  ...new Set(TABLE.indexes.flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey])),
];
/** The further attributes that an index returns, each once. */
export const INCLUDED: readonly string[] = [...new Set(TABLE.indexes.flatMap(({ include }) => include))];

/** Quoted, because an attribute may be named like an SQL keyword. */
export const column = (attribute: string): string => `"${attribute}"`;

/** Changes with every change of the tables below and of the declared indexes. */
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

/** `expires` is the ttl; `value` comes last, so that a read of the other columns does not read it. */
export const DEFINITION = [
  `CREATE TABLE item (pk TEXT NOT NULL, sk TEXT NOT NULL, size INTEGER NOT NULL, expires REAL, ${columns},
    value TEXT NOT NULL, UNIQUE (pk, sk))`,
  ...indexes,
  'CREATE INDEX by_expiry ON item (expires) WHERE expires IS NOT NULL',
  'CREATE TABLE change (sequence INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, before TEXT, after TEXT)',
  'CREATE TABLE shape (text TEXT NOT NULL)',
].join(';\n');
