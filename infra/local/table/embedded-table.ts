import { closeSync, fdatasync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { epochSeconds, type Now } from '../../../shared/core/time.ts';
import type {
  Connection,
  Item,
  Page,
  PartitionPage,
  TransactionStep,
  Written,
} from '../../../shared/platform/connection.ts';
import type { Changes, Clause } from '../../../shared/platform/expression.ts';
import type { Key } from '../../../shared/platform/keys.ts';
import type { OnFailedWrite } from '../machine/full-disk.ts';
import { unreadable } from '../machine/sqlite.ts';
import { StartError } from '../machine/start-error.ts';
import { type ChangeLog, openChangeLog } from './change-log.ts';
import { namesIn, testOf } from './conditions.ts';
import { itemOfText } from './item-text.ts';
import {
  checkFilter,
  createOperations,
  type Evaluated,
  type TableOperations,
  type Version,
  type WriteStep,
} from './operations.ts';
import { invalidRequest } from './refusals.ts';
import { indexCalled, openRows } from './rows.ts';
import { DEFINITION, SHAPE } from './schema.ts';
import { createTurns, type Turns } from './turns.ts';
import { applyChanges, checkPaths, type PathChange } from './updates.ts';

/**
 * The table in the local host's process, in one SQLite file, with the DynamoDB semantics that this service uses. A
 * confirmed write survives a crash of the process and of the machine.
 */
export interface EmbeddedTable {
  /** @param now the clock that decides which items have expired */
  connect(now: Now): Connection;
  /** Runs operations of the wire protocol in the same turns as those of connections. */
  run<T>(work: (operations: TableOperations) => T): Promise<T>;
  readonly log: ChangeLog;
  /** The first sort key of each partition in an index. */
  firstSortKeys(index: string, partitions: readonly string[]): readonly string[];
  /** Deletes items that expired before this second, without stream records. */
  deleteExpired(untilSeconds: number): void;
  close(): void;
}

export interface EmbeddedTableOptions {
  /** The SQLite file; `:memory:` keeps no data. */
  readonly file: string;
  /** True to record changes of items with this sort key in the stream. */
  readonly isRecorded: (sortKey: string) => boolean;
  readonly onFailedWrite?: OnFailedWrite | undefined;
}

/** @throws StartError if the file cannot be opened or has another version */
export const openEmbeddedTable = ({ file, isRecorded, onFailedWrite }: EmbeddedTableOptions): EmbeddedTable => {
  const database = openFile(file);
  const wal = file === MEMORY ? undefined : openSync(`${file}-wal`, 'r+');
  const turns = createTurns(database, { onFailedWrite, sync: wal === undefined ? undefined : () => datasync(wal) });
  const rows = openRows(database);
  const log = openChangeLog(database, isRecorded);
  const operations = createOperations({ rows, log, together: turns.write });
  return {
    connect: (now) => connection(operations, turns, now),
    run: (work) => turns.run(() => work(operations)),
    log,
    firstSortKeys: (index, partitions) => {
      const within = indexCalled(index);
      return partitions.flatMap((partition) => rows.firstSortKey(within, partition) ?? []);
    },
    deleteExpired: rows.deleteExpired,
    close: () => {
      turns.flush();
      database.close();
      if (wal !== undefined) void turns.synced().then(() => closeSync(wal));
    },
  };
};

const MEMORY = ':memory:';

/** Syncs SQLite's write-ahead file, which exists while the database is open. */
const datasync = promisify(fdatasync);

const openFile = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file);
  let isOfThisVersion: boolean;
  try {
    isOfThisVersion = hasShape(database);
  } catch (error) {
    database.close();
    throw unreadable(file, error);
  }
  if (isOfThisVersion) return database;
  database.close();
  throw new StartError(`the table in ${file} was made by another version of the service; set another DATA_DIR`);
};

/** Creates the tables of a new file. @returns false if another version created the tables */
const hasShape = (database: DatabaseSync): boolean => {
  // The turns sync the commits, so SQLite need not. With NORMAL, it syncs only around checkpoints.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  const isNew = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables'] === 0;
  if (isNew) {
    database.exec(`BEGIN; ${DEFINITION}`);
    database.prepare('INSERT INTO shape (text) VALUES (?)').run(SHAPE);
    database.exec('COMMIT');
  }
  return database.prepare('SELECT text FROM shape').get()?.['text'] === SHAPE;
};

const connection = (operations: TableOperations, turns: Turns, now: Now): Connection => {
  const tested = (clauses: readonly Clause[] = []) => testOf(clauses, epochSeconds(now()));
  const filterOf = (query: PartitionPage, clauses: readonly Clause[] = []) => {
    checkFilter(query.index, namesIn(clauses));
    return tested(clauses);
  };
  const evaluated = ({ filter, ...query }: PartitionPage): Evaluated =>
    operations.query(query, filterOf(query, filter));
  const write = (step: () => WriteStep, answer: (after: Version | undefined) => Item): Promise<Written> =>
    turns.run(() => {
      const result = operations.write([step()]);
      return result.ok ? { ok: true, item: answer(result.replaced[0]?.after) } : { ok: false, found: result.found[0] };
    });
  const stepOf = (step: TransactionStep): WriteStep => {
    const test = tested(step.if);
    if ('put' in step) return { key: keyOf(step.put), test, next: () => step.put };
    if ('update' in step) return updateStep(step.update, step.changes, test);
    if ('delete' in step) return { key: keyOf(step.delete), test, next: () => undefined };
    return { key: keyOf(step.check), test };
  };
  return {
    getItem: (key) => turns.run(() => operations.find(keyOf(key))?.item),
    getBatch: (keys) =>
      turns.run(() => ({
        items: keys.map((key) => operations.find(keyOf(key))?.item).filter((item) => item !== undefined),
        unprocessed: [],
      })),
    putItem: (item, clauses) =>
      write(
        () => ({ key: keyOf(item), test: tested(clauses), next: () => item }),
        () => item,
      ),
    // Parse a copy to return, because the stored item may share values with the caller's changes.
    updateItem: ({ key, changes, clauses }) =>
      write(
        () => updateStep(keyOf(key), changes, tested(clauses)),
        (after) => itemOfText(after?.text ?? '{}'),
      ),
    deleteItem: (key, clauses) =>
      write(
        () => ({ key: keyOf(key), test: tested(clauses), next: () => undefined }),
        () => ({}),
      ),
    transact: (steps) =>
      turns.run(() => {
        const result = operations.write(steps.map(stepOf));
        return result.ok ? { ok: true } : result;
      }),
    query: (query) => turns.run(() => pageOf(evaluated(query))),
    count: (query) =>
      turns.run(() => {
        const { items, count, next } = evaluated(query);
        return { matching: items.length, evaluated: count, next };
      }),
    scan: (slice) => turns.run(() => pageOf(operations.scan(slice, undefined))),
  };
};

const pageOf = ({ items, next }: Evaluated): Page => ({ items, next });

/** Extracts the key from a key or an item. */
const keyOf = ({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): Key => {
  if (typeof pk === 'string' && typeof sk === 'string') return { pk, sk };
  throw invalidRequest('One or more parameter values were invalid: the key has two texts');
};

const updateStep = (key: Key, changes: Changes, test: WriteStep['test']): WriteStep => {
  const list = changesOf(changes);
  checkPaths(list);
  return { key, test, next: (old) => applyChanges(old ?? { ...key }, list) };
};

/** Removes an attribute if its `set` value is undefined. */
const changesOf = ({ set = {}, remove = [], add = {} }: Changes): readonly PathChange[] => [
  ...Object.entries(set).map(([path, value]): PathChange => {
    const names = path.split('.');
    return value === undefined ? { path: names, remove: true } : { path: names, set: value };
  }),
  ...remove.map((path): PathChange => ({ path: path.split('.'), remove: true })),
  ...Object.entries(add).map(([path, added]): PathChange => ({ path: path.split('.'), add: added })),
];
