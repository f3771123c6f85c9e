import type { DatabaseSync } from 'node:sqlite';

/**
 * Group commit: all work of one turn of the event loop is one transaction of SQLite. No caller gets an answer before the
 * transaction is on disk, so that nothing is lost that was answered, read or written. Answers come in a later turn than
 * requests, as over a network: requests that run at once overtake each other between their calls.
 *
 * The commit itself does not wait for the disk, which would stop the whole process: the file is synced beside it, and the
 * turns that are committed meanwhile share the next sync.
 */
export interface Turns {
  /** @throws what `work` throws; the error of SQLite or of the disk where the turn could not be committed */
  run<T>(work: () => T): Promise<T>;
  /** Does the writes of a piece of work. If one of them fails, the whole turn fails, and nothing of it is stored. */
  write(writes: () => void): void;
  /** Commits the open turn. */
  flush(): void;
  /** Resolves once no sync is under way. */
  synced(): Promise<void>;
}

/** Brings everything that is committed to the disk. */
export type Sync = () => Promise<void>;

interface Waiting {
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

/** @param sync undefined: nothing is kept on a disk */
export const createTurns = (database: DatabaseSync, sync?: Sync): Turns => {
  const [begin, commit, rollback] = ['BEGIN', 'COMMIT', 'ROLLBACK'].map((sql) => database.prepare(sql));
  let waiting: Waiting[] = [];
  let isOpen = false;
  /** The write that has failed in this turn. */
  let broken: { readonly error: unknown } | undefined;

  /** @returns why nothing of the turn is stored */
  const end = (): { readonly error: unknown } | undefined => {
    if (!isOpen) return undefined;
    isOpen = false;
    const failure = broken ?? failureOf(() => commit?.run());
    broken = undefined;
    // SQLite itself rolls back after some errors.
    if (failure && database.isTransaction) rollback?.run();
    return failure;
  };
  const durable = openDurability(sync);
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

/** Answers callers once all that was committed before is on the disk. */
const openDurability = (sync: Sync | undefined) => {
  /** Callers that the running sync covers. */
  let covered: Waiting[] = [];
  /** Callers of turns that were committed since the running sync began, and those that read after them. */
  let next: Waiting[] = [];
  let running: Promise<void> | undefined;
  /** After a failed sync it is unknown what is on the disk, so no later sync counts. */
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
      // A read waits for the writes that it may have seen.
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
