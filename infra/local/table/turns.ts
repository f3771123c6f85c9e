import type { DatabaseSync } from 'node:sqlite';

/**
 * Group commit: all work of one turn of the event loop is one transaction of SQLite. No caller gets an answer before the
 * transaction is on disk, so that nothing is lost that was answered, read or written. Answers come in a later turn than
 * requests, as over a network: requests that run at once overtake each other between their calls.
 */
export interface Turns {
  /** @throws what `work` throws; the error of SQLite where the turn could not be committed */
  run<T>(work: () => T): Promise<T>;
  /** Does the writes of a piece of work. If one of them fails, the whole turn fails, and nothing of it is stored. */
  write(writes: () => void): void;
  /** Commits the open turn. */
  flush(): void;
}

interface Waiting {
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

export const createTurns = (database: DatabaseSync): Turns => {
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
  const flush = (): void => {
    const [callers, failure] = [waiting, end()];
    waiting = [];
    for (const { answer, fail } of callers) {
      if (failure) fail(failure.error);
      else answer();
    }
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
