/**
 * @module The simulator's file. Each provider call is one transaction over ledger, outbox and idempotency key, so a
 * killed process leaves all changes of a call or none.
 */

import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import * as z from 'zod';
import type { OnFailedWrite } from '../../local/machine/full-disk.ts';
import { unreadable } from '../../local/machine/sqlite.ts';

const TABLES = `
CREATE TABLE IF NOT EXISTS document (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, slot TEXT NOT NULL,
  holder TEXT, reference TEXT, body TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS document_id ON document (kind, slot, id);
CREATE INDEX IF NOT EXISTS document_slot ON document (kind, slot, seq);
CREATE INDEX IF NOT EXISTS document_holder ON document (kind, holder, seq);
CREATE INDEX IF NOT EXISTS document_reference ON document (kind, reference, seq);
CREATE TABLE IF NOT EXISTS work (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, due_at INTEGER NOT NULL, slot TEXT NOT NULL, kind TEXT NOT NULL,
  subject TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS work_due ON work (due_at);
CREATE TABLE IF NOT EXISTS outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, due_at INTEGER NOT NULL, slot TEXT NOT NULL,
  subject TEXT NOT NULL, body TEXT NOT NULL, manner TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
  last_status INTEGER);
CREATE INDEX IF NOT EXISTS outbox_due ON outbox (state, due_at);
CREATE TABLE IF NOT EXISTS journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, slot TEXT NOT NULL, caller TEXT NOT NULL,
  method TEXT NOT NULL, path TEXT NOT NULL, idempotency_key TEXT, status INTEGER);
CREATE TABLE IF NOT EXISTS idempotency (
  slot TEXT NOT NULL, key TEXT NOT NULL, path TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
  body TEXT NOT NULL, request_id TEXT NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (slot, key));
CREATE INDEX IF NOT EXISTS idempotency_expiry ON idempotency (expires_at);
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
`;

export type SqliteRow = Record<string, SQLOutputValue>;

export interface Store {
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly lastId: number };
  row(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined;
  rows(sql: string, ...values: SQLInputValue[]): SqliteRow[];
  /** Counts calls of `run` and rollbacks. */
  writes(): number;
  /** Commits all of the work or nothing. Joins an open transaction. */
  transaction<T>(work: () => T): T;
  /** Returns 1, 2, 3 … per name. */
  next(counter: string): number;
  readSetting<T>(name: string, schema: z.ZodType<T>): T | undefined;
  writeSetting(name: string, value: unknown): void;
  close(): void;
}

const openDatabase = (file: string): DatabaseSync => {
  try {
    const database = new DatabaseSync(file);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;');
    database.exec(TABLES);
    return database;
  } catch (error) {
    throw unreadable(file, error);
  }
};

/** @throws StartError if the file cannot be opened */
export const openStore = (file: string, onFailedWrite?: OnFailedWrite): Store => {
  const database = openDatabase(file);
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const reported = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      onFailedWrite?.(error);
      throw error;
    }
  };
  let writes = 0;
  const run: Store['run'] = (sql, ...values) => {
    writes += 1;
    const result = reported(() => prepared(sql).run(...values));
    return { changes: Number(result.changes), lastId: Number(result.lastInsertRowid) };
  };
  // A query may also insert and return a row.
  const row: Store['row'] = (sql, ...values) => reported(() => prepared(sql).get(...values));
  return {
    run,
    row,
    rows: (sql, ...values) => prepared(sql).all(...values),
    writes: () => writes,
    transaction: (work) => {
      if (database.isTransaction) return work();
      prepared('BEGIN IMMEDIATE').run();
      try {
        const result = work();
        reported(() => prepared('COMMIT').run());
        return result;
      } catch (error) {
        // Count the rollback as a write, because it undoes writes that caches may have read.
        writes += 1;
        // SQLite rolls back on its own after some errors.
        if (database.isTransaction) prepared('ROLLBACK').run();
        throw error;
      }
    },
    next: (counter) =>
      countRow.parse(
        row(
          `INSERT INTO counter (name, value) VALUES (?, 1)
           ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value`,
          counter,
        ),
      ).value,
    readSetting: (name, schema) => {
      const found = row('SELECT value FROM setting WHERE name = ?', name);
      return found === undefined ? undefined : schema.parse(JSON.parse(settingRow.parse(found).value));
    },
    writeSetting: (name, value) => {
      run(
        'INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        JSON.stringify(value),
      );
    },
    close: () => database.close(),
  };
};

const countRow = z.object({ value: z.int() });
const settingRow = z.object({ value: z.string() });
