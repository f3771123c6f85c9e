import type { DatabaseSync } from 'node:sqlite';

/**
 * Group commit: all work of one turn of the event loop is one transaction of SQLite. No caller gets an answer before the
 * transaction is on disk, so that nothing is lost that was answered, read or written. Answers come in a later turn than
 * requests, as over a network: requests that run at once overtake each other between their calls.
 */
export interface Turns {
  /** @throws what `work` throws; the error of SQLite where the turn could not be committed */
  run<T>(work: () => T): Promise<T>;
  /** Called by work that writes, before its first write. */
  begin(): void;
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

  /** @returns why nothing of the turn is stored */
  const end = (): { readonly error: unknown } | undefined => {
    if (!isOpen) return undefined;
    isOpen = false;
    try {
      commit?.run();
      return undefined;
    } catch (error) {
      rollback?.run();
      return { error };
    }
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
    begin: () => {
      if (!isOpen) begin?.run();
      isOpen = true;
    },
    flush,
  };
};

const outcomeOf = <T>(work: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): Waiting => {
  try {
    const result = work();
    return { answer: () => resolve(result), fail: reject };
  } catch (error) {
    return { answer: () => reject(error), fail: reject };
  }
};
