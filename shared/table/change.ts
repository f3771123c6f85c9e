import { DomainError } from '../core/errors.ts';

/**
 * The only retry loop over a record: load, decide, commit under the version that was decided on; where another commit
 * came first, decide again on the record as it is now.
 */
export type Committed<T> =
  | { readonly ok: true; readonly record: T }
  | {
      readonly ok: false;
      /** The record as it is now; undefined where it has been removed. */
      readonly found: T | undefined;
      /** The record is the one that was decided on; a condition beside the write does not hold. */
      readonly unmet?: boolean;
    };

/** Replaces `was` by `next`, under the version of `was`. */
export type Commit<T> = (was: T, next: T) => Promise<Committed<T>>;

/**
 * Called with the record as it is now, again for each version that another commit leads to.
 * @returns the next record; the same record or undefined where there is nothing to do
 * @throws the refusal
 */
export type Decide<T> = (current: T) => T | undefined | Promise<T | undefined>;

export interface Changed<T> {
  readonly record: T;
  /** This call has committed the record. */
  readonly isOurs: boolean;
  /** Nothing is committed: a condition beside the write does not hold. */
  readonly unmet?: true;
}

const COMMIT_TRIES = 10;

/** @throws DomainError VERSION_CONFLICT where the record has been removed, or other commits came first ten times. */
export const changeRecord = async <T>(commit: Commit<T>, record: T, decide: Decide<T>): Promise<Changed<T>> => {
  let current = record;
  for (let tries = 0; tries < COMMIT_TRIES; tries += 1) {
    const next = await decide(current);
    if (next === undefined || next === current) return { record: current, isOurs: false };
    const committed = await commit(current, next);
    if (committed.ok) return { record: committed.record, isOurs: true };
    if (committed.unmet) return { record: current, isOurs: false, unmet: true };
    if (committed.found === undefined) break;
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};
