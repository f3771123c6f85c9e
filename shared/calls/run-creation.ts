/**
 * @module Creates an object at a provider once. The caller has claimed the creation, and every try sends the claim's
 * key. Due work or a repeated request retries a kept claim.
 *
 * | Outcome | First try | Later try |
 * |---|---|---|
 * | done | published | published |
 * | declined or refused | removed | removed |
 * | did not happen | removed | kept, because an earlier try may have created the object |
 * | unknown | kept | kept |
 */

import type { NotDone, Outcome, Unknown } from '../core/outcome.ts';
import type { RefusedCall } from './call-kind.ts';

/** @typeParam Result the caller's result; `remove` and `keep` may throw the public error instead */
export interface ClaimedCreation<Report, Result> {
  /** True if no earlier call can have reached the provider. */
  readonly isFirstTry?: boolean | undefined;
  /** Makes the call with the claim's own key. */
  readonly send: () => Promise<Outcome<Report>>;
  /** Stores the created object. */
  readonly publish: (report: Report) => Promise<Result>;
  /** Ends the claim, because the provider has created nothing. */
  readonly remove: (reason: RefusedCall | NotDone) => Promise<Result>;
  /** Leaves the claim to a later try, because the provider may have created the object. */
  readonly keep: (reason: NotDone | Unknown) => Promise<Result>;
}

export const runCreation = async <Report, Result>(creation: ClaimedCreation<Report, Result>): Promise<Result> => {
  const outcome = await creation.send();
  if (outcome.kind === 'done') return creation.publish(outcome.value);
  const mayExist = outcome.kind === 'unknown' || (outcome.kind === 'not_done' && !creation.isFirstTry);
  return mayExist ? creation.keep(outcome) : creation.remove(outcome);
};
