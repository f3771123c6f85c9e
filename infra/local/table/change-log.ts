import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../../../shared/platform/connection.ts';
import type { Key } from '../../../shared/platform/keys.ts';
import { itemOfText } from './item-text.ts';

/** The table's stream of all wanted item changes in order, each with the item before and after. */
export interface ChangeLog {
  append(key: Key, before: string | undefined, after: string | undefined): void;
  /** @returns the changes after this number, oldest first; 0 returns all */
  after(sequence: number, limit: number): readonly ItemChanged[];
  /** The number of the newest change; 0 if there was none. */
  newest(): number;
  /** Deletes the changes up to and including this number. */
  forget(sequence: number): void;
  /** Number of item writes, including unrecorded writes. */
  writes(): number;
  /** Calls `listener` after each write. */
  watch(listener: () => void): void;
}

export interface ItemChanged {
  readonly sequence: number;
  readonly key: Key;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** @param isWanted true to record changes of items with this sort key */
export const openChangeLog = (database: DatabaseSync, isWanted: (sortKey: string) => boolean): ChangeLog => {
  const insert = database.prepare('INSERT INTO change (sequence, pk, sk, before, after) VALUES (?, ?, ?, ?, ?)');
  const select = database.prepare(
    'SELECT sequence, pk, sk, before, after FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?',
  );
  // Keeps the newest change, so no number is reused.
  const forget = database.prepare(
    'DELETE FROM change WHERE sequence <= ? AND sequence < (SELECT max(sequence) FROM change)',
  );
  const listeners: (() => void)[] = [];
  let sequence = Number(database.prepare('SELECT max(sequence) AS newest FROM change').get()?.['newest'] ?? 0);
  let writes = 0;
  return {
    append: (key, before, after) => {
      writes += 1;
      if (isWanted(key.sk) && !isSame(before, after)) {
        sequence += 1;
        insert.run(sequence, key.pk, key.sk, before ?? null, after ?? null);
      }
      for (const listener of listeners) listener();
    },
    after: (position, limit) =>
      // Skip the query if there is nothing new. Consumers check after each write.
      position >= sequence ? [] : select.all(position, limit).map(changeOf),
    newest: () => sequence,
    forget: (position) => {
      forget.run(position);
    },
    writes: () => writes,
    watch: (listener) => {
      listeners.push(listener);
    },
  };
};

/** As in DynamoDB, a write without a difference is no change. */
const isSame = (before: string | undefined, after: string | undefined): boolean => {
  if (before === after) return true;
  if (before === undefined || after === undefined || before.length !== after.length) return false;
  return isDeepStrictEqual(itemOfText(before), itemOfText(after));
};

const changeOf = (row: Readonly<Record<string, unknown>>): ItemChanged => ({
  sequence: Number(row['sequence']),
  key: { pk: String(row['pk']), sk: String(row['sk']) },
  before: imageOf(row['before']),
  after: imageOf(row['after']),
});

const imageOf = (text: unknown): Item | undefined => (typeof text === 'string' ? itemOfText(text) : undefined);
