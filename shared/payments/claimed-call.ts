import type { Arrived, NotDone, Outcome } from '../core/outcome.ts';
import type { Instant, Now } from '../core/time.ts';
import { RESEND_WITHIN_MS } from './payment-due.ts';

/**
 * A call that moves money at a provider, for a record that has claimed it: a charge, a refund. Its key is derived from
 * the claim, so every send of it is the same call to the provider.
 */
export interface ClaimedCall<Report, Result> {
  /** Sends the call under its key. */
  readonly send: () => Promise<Outcome<Report>>;
  /** Stores the outcome of a call that may have reached the provider. */
  readonly record: (outcome: Arrived<Report>) => Promise<Result>;
}

/** Makes the call for the first time. A call that certainly did not happen takes the claim back. */
export const makeClaimedCall = async <Report, Result>(
  call: ClaimedCall<Report, Result> & { readonly takeBack: (outcome: NotDone) => Promise<Result> },
): Promise<Result> => {
  const outcome = await call.send();
  return outcome.kind === 'not_done' ? call.takeBack(outcome) : call.record(outcome);
};

/** The provider knows nothing of the call. */
export const NOT_REACHED = 'not reached';

export interface LookUp<Found, Report> extends ClaimedCall<Report, string> {
  readonly claimedAt: Instant;
  /** An authoritative read of the provider. */
  readonly find: () => Promise<Outcome<Found>>;
  /** Stores what was read. @returns the result for the log, or NOT_REACHED */
  readonly store: (found: Found) => Promise<string>;
  /** May the call be sent again, by the rules that held when it was claimed? */
  readonly maySend: () => Promise<boolean>;
  /** Records that the call never reached the provider. */
  readonly fail: () => Promise<string>;
  /** Sets the time of the next look, where the outcome stays unknown. */
  readonly lookAgain: () => Promise<void>;
}

/**
 * Looks up a call with an unknown outcome: reads the provider before anything is sent again. A call that never reached the
 * provider is sent again, under its own key, for half an hour after its claim; then it fails.
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
  // This call did nothing, but an earlier one may have reached the provider since: the claim stays.
  if (outcome.kind === 'not_done') {
    await call.lookAgain();
    return 'not sent';
  }
  return call.record(outcome);
};
