import type { DatabaseSync } from 'node:sqlite';
import type { OnFailedWrite } from '../machine/full-disk.ts';

/**
 * Group commit. All work in one turn of the event loop is one SQLite transaction. No caller gets the result of a read
 * or a write before the transaction is on disk, so no confirmed read or write is lost. Results arrive in a later turn,
 * so concurrent requests can overtake each other as over a network.
 *
 * A commit does not wait for the disk, because that would block the whole process. The file is synced in the
 * background, and turns committed during a sync share the next sync.
 */
export interface Turns {
  /** @throws the error of `work`, or of SQLite or the disk if the turn could not be committed */
  run<T>(work: () => T): Promise<T>;
  /** Runs the writes of one operation. If one fails, the whole turn fails, and nothing of the turn is stored. */
  write(writes: () => void): void;
  /** Commits the open turn. */
  flush(): void;
  /** Resolves once no sync is running. */
  synced(): Promise<void>;
}

/** Syncs all commits to the disk. */
export type Sync = () => Promise<void>;

interface Waiting {
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

interface TurnOptions {
  /** If undefined, the table is in memory only. */
  readonly sync?: Sync | undefined;
  readonly onFailedWrite?: OnFailedWrite | undefined;
}

export const createTurns = (database: DatabaseSync, { sync, onFailedWrite }: TurnOptions = {}): Turns => {
  const [begin, commit, rollback] = ['BEGIN', 'COMMIT', 'ROLLBACK'].map((sql) => database.prepare(sql));
  let waiting: Waiting[] = [];
  let isOpen = false;
  /** The error of this turn's failed write. */
  let broken: { readonly error: unknown } | undefined;

  /** @returns the error if the turn was not stored */
  const end = (): { readonly error: unknown } | undefined => {
    if (!isOpen) return undefined;
    isOpen = false;
    const failure = broken ?? failureOf(() => commit?.run());
    broken = undefined;
    if (failure) onFailedWrite?.(failure.error);
    // SQLite rolls back on its own after some errors.
    if (failure && database.isTransaction) rollback?.run();
    return failure;
  };
  const durable = openDurability(sync, onFailedWrite);
  const flush = (): void => {
    const [callers, hasWritten, failure] = [waiting, isOpen, end()];
    waiting = [];
    if (failure) for (const { fail } of callers) fail(failure.error);
    else durable.answer(callers, hasWritten);
  };
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push(outcomeOf(work, resolve, reject));
      }),
    write: (writes) => {
      if (!isOpen) begin?.run();
      isOpen = true;
      broken ??= failureOf(writes);
      if (broken) throw broken.error;
    },
    flush,
    synced: durable.ended,
  };
};

/** Resolves callers once all earlier commits are on disk. */
const openDurability = (sync: Sync | undefined, onFailedWrite: OnFailedWrite | undefined) => {
  /** Callers covered by the running sync. */
  let covered: Waiting[] = [];
  /** Callers with turns committed after the start of the running sync, and later readers. */
  let next: Waiting[] = [];
  let running: Promise<void> | undefined;
  /** A failed sync leaves the disk's content unknown, so no later sync counts. */
  let lost: { readonly error: unknown } | undefined;

  const conclude = (callers: readonly Waiting[]): void => {
    for (const { answer, fail } of callers) {
      if (lost) fail(lost.error);
      else answer();
    }
  };
  const syncAll = async (run: Sync): Promise<void> => {
    while (next.length > 0) {
      covered = next;
      next = [];
      try {
        await run();
      } catch (error) {
        lost ??= { error };
        onFailedWrite?.(error);
      }
      conclude(covered);
    }
    running = undefined;
  };
  return {
    answer: (callers: readonly Waiting[], hasWritten: boolean): void => {
      if (!sync || !(hasWritten || running)) {
        conclude(callers);
        return;
      }
      // A read waits for the sync of all writes that it may have seen.
      if (!hasWritten && next.length === 0) covered.push(...callers);
      else next.push(...callers);
      running ??= syncAll(sync);
    },
    ended: async (): Promise<void> => {
      await running;
    },
  };
};

const failureOf = (work: () => unknown): { readonly error: unknown } | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return { error };
  }
};

const outcomeOf = <T>(work: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): Waiting => {
  try {
    const result = work();
    return { answer: () => resolve(result), fail: reject };
  } catch (error) {
    return { answer: () => reject(error), fail: reject };
  }
};
