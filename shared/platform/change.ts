import { DomainError } from '../core/errors.ts';
import { instant, iso } from '../core/time.ts';

export type Committed<T, N extends T = T> =
  | { readonly ok: true; readonly record: N }
  | {
      readonly ok: false;
      /** The record as it is now; undefined where it has been removed. */
      readonly found: T | undefined;
      /** The record has not changed since the decision; another condition of the transaction failed. */
      readonly unmet?: boolean;
    };

/**
 * The next version as it is stored. Clocks differ, and a decision may be stored late; but receivers of events compare the times,
 * so a version whose time would be earlier than that of the one before is later by a millisecond.
 */
export const inOrder = <N extends Timed>(was: Timed, next: N): N =>
  next.updatedAt < was.updatedAt ? { ...next, updatedAt: iso(instant(was.updatedAt) + 1) } : next;

interface Timed {
  /** ISO time. */
  readonly updatedAt: string;
}

/** Replaces `was`, under its version, by what `decide` returned. */
export type Commit<T, N = T> = (was: T, next: N) => Promise<Committed<T>>;

/**
 * Called with the current record, and again with the new record each time another commit was faster.
 * @returns the next record; the same record or undefined where there is nothing to do
 * @throws the refusal
 */
export type Decide<T, N = T> = (current: T) => N | undefined | Promise<N | undefined>;

export interface Changed<T> {
  readonly record: T;
  /** The version that the last decision was made on. */
  readonly was: T;
  /** This call has committed `record`. */
  readonly isOurs: boolean;
  /** Nothing was committed: another condition of the transaction failed. */
  readonly unmet?: true;
}

const COMMIT_TRIES = 10;

/**
 * The only retry loop over a record: decides, commits if the version is unchanged, and decides again if
 * another commit came first.
 * @throws DomainError VERSION_CONFLICT where the record has been removed, or other commits came first ten times
 */
export const changeRecord = async <T, N = T>(
  commit: Commit<T, N>,
  record: T,
  decide: Decide<T, N>,
): Promise<Changed<T>> => {
  let current = record;
  for (let tries = 0; tries < COMMIT_TRIES; tries += 1) {
    const next = await decide(current);
    if (next === undefined || Object.is(next, current)) return { record: current, was: current, isOurs: false };
    const committed = await commit(current, next);
    if (committed.ok) return { record: committed.record, was: current, isOurs: true };
    if (committed.unmet) return { record: current, was: current, isOurs: false, unmet: true };
    if (committed.found === undefined) break;
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};
