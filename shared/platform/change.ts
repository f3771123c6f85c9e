/** @module Optimistic locking. A decision is stored only if its version of the record is still current. */

import { DomainError } from '../core/errors.ts';
import { instant, iso } from '../core/time.ts';

export type Committed<T, N extends T = T> =
  | { readonly ok: true; readonly record: N }
  | {
      readonly ok: false;
      /** The current record; undefined if it was removed. */
      readonly found: T | undefined;
      /** True if the record is unchanged but another condition of the transaction failed. */
      readonly unmet?: boolean;
    };

/**
 * Ensures that no version has an earlier time than the previous version, because receivers of events compare the times.
 * Clocks differ, and a decision may be stored late. An earlier time becomes the previous version's time plus 1 ms.
 */
export const inOrder = <N extends Timed>(was: Timed, next: N): N =>
  next.updatedAt < was.updatedAt ? { ...next, updatedAt: iso(instant(was.updatedAt) + 1) } : next;

interface Timed {
  /** ISO time. */
  readonly updatedAt: string;
}

/** Replaces `was` with `next` if the stored version is still that of `was`. */
export type Commit<T, N = T> = (was: T, next: N) => Promise<Committed<T>>;

/**
 * Decides the next record. If another commit comes first, decides again with the newer record. @throws the refusal
 * @returns the next record; the same record or undefined if nothing needs to change
 */
export type Decide<T, N = T> = (current: T) => N | undefined | Promise<N | undefined>;

export interface Changed<T> {
  readonly record: T;
  /** The base version of the last decision. */
  readonly was: T;
  /** True if this call has committed `record`. */
  readonly isOurs: boolean;
  /** True if nothing was committed because a condition other than the record's version failed. */
  readonly unmet?: true;
}

const COMMIT_TRIES = 10;

/**
 * The only retry loop over a record. Commits if the version is unchanged; decides again after another commit.
 * @throws DomainError VERSION_CONFLICT if the record has been removed, or if another commit comes first ten times
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
