/** @module A call that moves money at a provider for a record that has claimed it. Every send has the claim's key. */

import type { Arrived, NotDone, Outcome } from '../core/outcome.ts';
import type { Instant, Now } from '../core/time.ts';
import { RESEND_WITHIN_MS } from './payment-due.ts';

export interface ClaimedCall<Report, Result> {
  readonly send: () => Promise<Outcome<Report>>;
  /** Stores the outcome of a call that may have reached the provider. */
  readonly record: (outcome: Arrived<Report>) => Promise<Result>;
}

/** Makes the call for the first time. If the call certainly did not happen, the claim is taken back. */
export const makeClaimedCall = async <Report, Result>(
  call: ClaimedCall<Report, Result> & { readonly takeBack: (outcome: NotDone) => Promise<Result> },
): Promise<Result> => {
  const outcome = await call.send();
  return outcome.kind === 'not_done' ? call.takeBack(outcome) : call.record(outcome);
};

/** The provider has no record of the call. */
export const NOT_REACHED = 'not reached';

export interface LookUp<Found, Report> extends ClaimedCall<Report, string> {
  readonly claimedAt: Instant;
  /** An authoritative read of the provider. */
  readonly find: () => Promise<Outcome<Found>>;
  /** Stores the state that was read. @returns the result for the log, or NOT_REACHED */
  readonly store: (found: Found) => Promise<string>;
  /** True if the call may be sent again, by the rules that held when it was claimed. */
  readonly maySend: () => Promise<boolean>;
  /** Records that the call never reached the provider. */
  readonly fail: () => Promise<string>;
  /** Sets the time of the next lookup if the outcome stays unknown. */
  readonly lookAgain: () => Promise<void>;
}

/**
 * Looks up a call with an unknown outcome. The provider is read before anything is sent again. A call that never
 * reached the provider is sent again, under its own key, for half an hour after its claim, and then fails.
 */
export const lookUp = async <Found, Report>(now: Now, call: LookUp<Found, Report>): Promise<string> => {
  const found = await call.find();
  if (found.kind !== 'done') {
    await call.lookAgain();
    return 'provider unclear';
  }
  const stored = await call.store(found.value);
  return stored === NOT_REACHED ? resendOrFail(now, call) : stored;
};

const resendOrFail = async <Found, Report>(now: Now, call: LookUp<Found, Report>): Promise<string> => {
  if (now() > call.claimedAt + RESEND_WITHIN_MS || !(await call.maySend())) return call.fail();
  const outcome = await call.send();
  // This call did nothing, but an earlier call may have reached the provider since, so the claim stays.
  if (outcome.kind === 'not_done') {
    await call.lookAgain();
    return 'not sent';
  }
  return call.record(outcome);
};
