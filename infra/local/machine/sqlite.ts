/**
 * @module The host's state outside the table: queued messages, stream positions, sessions and the clock. It is in one
 * SQLite file, and every write is stored immediately, so the state survives `kill -9`.
 */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import * as z from 'zod';
import { fullDiskLine, isFullDisk, type OnFailedWrite } from './full-disk.ts';
import { StartError } from './start-error.ts';

export interface Rows<Row> {
  all(...values: SQLInputValue[]): Row[];
  first(...values: SQLInputValue[]): Row | undefined;
}

export interface State {
  /** Prepares a statement without result rows. @returns a function that runs it and counts the changed rows. */
  write(sql: string): (...values: SQLInputValue[]) => number;
  read<Row>(sql: string, row: z.ZodType<Row>): Rows<Row>;
  /** Runs `work` in one transaction. */
  together<Result>(work: () => Result): Result;
  define(schema: string): void;
  /** Reads a stored JSON value by name. */
  get<Value>(name: string, schema: z.ZodType<Value>): Value | undefined;
  set(name: string, value: unknown): void;
  close(): void;
}

/** @throws StartError if another host has locked the file, or it cannot be opened. */
export const openState = (file: string, onFailedWrite?: OnFailedWrite): State => {
  const database = openExclusively(file);
  const reported = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      onFailedWrite?.(error);
      throw error;
    }
  };
  const read = <Row>(sql: string, row: z.ZodType<Row>): Rows<Row> => {
    const statement = database.prepare(sql);
    return {
      all: (...values) => statement.all(...values).map((found) => row.parse(found)),
      first: (...values) => {
        const found = statement.get(...values);
        return found === undefined ? undefined : row.parse(found);
      },
    };
  };
  const write = (sql: string) => {
    const statement = database.prepare(sql);
    return (...values: SQLInputValue[]): number => Number(reported(() => statement.run(...values)).changes);
  };
  const define = (schema: string): void => reported(() => database.exec(schema));
  define('CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');
  const find = read('SELECT value FROM kept WHERE name = ?', z.object({ value: z.string() }));
  const put = write('INSERT INTO kept (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value');
  const begin = write('BEGIN');
  const commit = write('COMMIT');
  const rollback = write('ROLLBACK');
  return {
    read,
    write,
    define,
    together: (work) => {
      begin();
      try {
        const result = work();
        commit();
        return result;
      } catch (error) {
        // SQLite rolls back on its own after some errors.
        if (database.isTransaction) rollback();
        throw error;
      }
    },
    get: (name, schema) => {
      const found = find.first(name);
      return found && schema.parse(JSON.parse(found.value));
    },
    set: (name, value) => {
      put(name, JSON.stringify(value));
    },
    close: () => database.close(),
  };
};

/** True if another host has locked the file. */
export const isHeld = (file: string): boolean => {
  try {
    lock(file).close();
    return false;
  } catch (error) {
    return isLocked(error);
  }
};

/** @throws StartError unless the file is an SQLite database with this table, or without any table. */
export const checkOwn = (file: string, table: string): void => {
  const tables = tablesOf(file);
  if (tables.length > 0 && !tables.includes(table)) throw foreign(file, `it has no table ${table}`);
};

const tablesOf = (file: string): readonly unknown[] => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    return database
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map(({ name }) => name);
  } catch (error) {
    throw isLocked(error) ? new StartError(HELD, error) : foreign(file, reasonOf(error));
  } finally {
    database?.close();
  }
};

const foreign = (file: string, reason: string): StartError =>
  new StartError(
    `DATA_DIR: ${file} is not a file of the local host (${reason}), so nothing was deleted; move it away, or set another DATA_DIR`,
  );

const lock = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  database.exec('BEGIN EXCLUSIVE; COMMIT');
  return database;
};

const isLocked = (error: unknown): boolean => error instanceof Error && error.message.includes('locked');

const openExclusively = (file: string): DatabaseSync => {
  try {
    return lock(file);
  } catch (error) {
    throw isLocked(error) ? new StartError(HELD, error) : unreadable(file, error);
  }
};

export const HELD = 'another local host uses this DATA_DIR; stop that host, or set another DATA_DIR';

/** The reason why a host cannot use this file of its data folder. */
export const unreadable = (file: string, error: unknown): StartError =>
  new StartError(
    isFullDisk(error)
      ? fullDiskLine(file)
      : `DATA_DIR: ${file} cannot be opened (${reasonOf(error)}); move it away, or set another DATA_DIR`,
    error,
  );

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
