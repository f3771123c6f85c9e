/**
 * @module A claimed call at a provider. A write to the record claims the call. Every send of the call has the claim's
 * key, so the provider carries out the call at most once. A call is in one of five states. A kind of call declares only
 * its differences. `run-call.ts` and `look-up.ts` do the rest for every kind.
 *
 * | State | Meaning |
 * |---|---|
 * | claimed | The provider may or may not have carried out the call. Due work looks it up. |
 * | applied | The provider has carried out the call, and the record shows it. |
 * | refused | The provider has declined the call, or has refused it and a read has shown that it did nothing. |
 * | taken back | The call certainly never reached the provider. A call that must succeed keeps its claim. |
 * | ended | The call did not reach the provider within the time of resends, or its object, such as a hold, is over. |
 */

import type { LogFields, LogMessage } from '../core/log-line.ts';
import type { Log } from '../core/logger.ts';
import type { Arrived, NotDone, Outcome, Unknown } from '../core/outcome.ts';
import type { Instant, Now } from '../core/time.ts';
import type { LookResult } from './call-times.ts';

export interface CallParts {
  readonly deps: { readonly now: Now; readonly log: Log };
}

/** A refusal. The provider did nothing, or the call cannot succeed any more. */
export type RefusedCall = Extract<Arrived<never>, { readonly kind: 'declined' | 'refused' }>;

/** The refusal of a call whose object, such as a hold, is over. A refusal by the provider takes precedence. */
export const OVER: RefusedCall = { kind: 'refused', reason: 'over' };

export interface CallResult<R> {
  readonly record: R;
  /** The provider has refused or declined the call. */
  readonly refusal?: RefusedCall | undefined;
  /** The call certainly did not happen. */
  readonly notDone?: NotDone | undefined;
  /** True if it is unknown whether the provider has carried out the call. */
  readonly isUnclear?: boolean;
  readonly unanswered?: Unanswered | undefined;
}

/**
 * Why the effect of a call is unknown: because of its own outcome, or because a read failed after a refusal or in a
 * later look.
 */
export type Unanswered =
  | { readonly by: 'response'; readonly outcome: NotDone | Unknown }
  | { readonly by: 'refusal' | 'look'; readonly outcome: Exclude<Outcome<never>, { readonly kind: 'done' }> };

/** `open` is the claim if a later look must decide. */
export type MadeCall<R, Claim extends R> = CallResult<R> & { readonly open?: Claim };

/** `text` is the result for the log. */
export type LookedUpCall<R> = CallResult<R> & { readonly text: string };

/** The provider's report about a claimed call, from its response, from a read after a refusal, or from a later look. */
export type Said<Report, Found> =
  | { readonly by: 'response'; readonly report: Report }
  | { readonly by: 'refusal' | 'look'; readonly report: Found };

/**
 * The record after a report. `open` if the provider has not decided yet, `absent` if the provider has no trace of the
 * call. `over` if the call's object is over, so the call can never be carried out.
 */
export type Applied<Claim extends R, R> =
  | {
      readonly state: 'settled';
      readonly record: R;
      readonly refusal?: RefusedCall | undefined;
      /** The result of the look, for the log; by default the record's status. */
      readonly says?: string;
    }
  | {
      readonly state: 'open';
      readonly record: Claim;
      /** `still_under_way` if absent. */
      readonly looked?: LookResult;
    }
  | { readonly state: 'absent' | 'over'; readonly record: Claim };

/** The known facts when a claim ends without its effect. */
export interface EndedCall<Found> {
  readonly cause: 'refused' | 'ended';
  readonly refusal?: RefusedCall | undefined;
  /** The provider's state, if it was read before the end. */
  readonly found?: Found | undefined;
  /** True if the API request is already over, so an event reports the end. */
  readonly isLate: boolean;
}

/**
 * One kind of call. A kind has no clock, no retry and no lease of its own.
 * @typeParam R the record; `Claim` is a record with the claimed call
 */
export interface CallKind<Parts extends CallParts, R, Claim extends R, Report, Found = Report> {
  /** Makes the call with the claim's own key. The claim may change, such as when the provider's object is replaced. */
  send(parts: Parts, claim: Claim): Promise<{ readonly claim: Claim; readonly outcome: Outcome<Report> }>;
  /** An authoritative read of the provider. */
  find(parts: Parts, claim: Claim): Promise<Outcome<Found>>;
  /** Stores the provider's report. */
  apply(parts: Parts, claim: Claim, said: Said<Report, Found>): Promise<Applied<Claim, R>>;
  /**
   * True if a refusal ends the call without a read.
   * @param isResend true if an earlier call may have reached the provider
   */
  endsUnread?(refusal: RefusedCall, isResend: boolean): boolean;
  /** Ends the claim without its effect, unless a report came first. */
  end(parts: Parts, claim: Claim, end: EndedCall<Found>): Promise<CallResult<R>>;
  /** Takes back a claim whose call certainly did not happen. */
  takeBack(parts: Parts, claim: Claim, notDone: NotDone): Promise<CallResult<R>>;
}

export interface NextLook {
  readonly at: Instant;
  readonly step: number;
  readonly looked: LookResult;
}

/** The parts of a kind of call that only due work needs. */
export interface LookedUp<Parts extends CallParts, R, Claim extends R> {
  readonly claimedAt: (claim: Claim) => Instant;
  /** The number of looks so far. */
  readonly step: (claim: Claim) => number;
  /** How long after its claim an undelivered call is sent again; RESEND_WITHIN_MS if absent. */
  readonly resendWithinMs?: number;
  /** True if the conditions of the claim still hold, so the call may be sent again. */
  readonly maySend: (parts: Parts, claim: Claim) => Promise<boolean>;
  /** Stores the time of the next look, without a new version. @returns the new record, if its lock has changed */
  readonly setLook: (parts: Parts, claim: Claim, next: NextLook) => Promise<R | undefined>;
  /** The log line for a stuck call; undefined if the call may stay open for long. */
  readonly stuck: (claim: Claim) => readonly [message: LogMessage, ids: LogFields] | undefined;
  /** The result for the log. */
  readonly statusOf: (record: R) => string;
}
