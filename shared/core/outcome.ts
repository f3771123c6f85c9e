/** @module The outcomes of a provider call, as a union. Every caller must handle all cases. */

import type { PaymentFacts } from './payment-facts.ts';

/**
 * If `unknown` (time-out, reset, 5xx), money may have moved, so look up the outcome and never resend under a new key.
 * If `not_done` (connection refused, 429), a retry is safe. If `refused`, the provider rejected the call and did
 * nothing.
 */
export type Outcome<T> = Arrived<T> | NotDone;

/** The outcome of a call that may have reached the provider. */
export type Arrived<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** `attemptRef` names the attempt at the provider. */
  | {
      readonly kind: 'declined';
      readonly code: DeclineCode;
      readonly attemptRef: string | undefined;
      readonly facts?: PaymentFacts | undefined;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly parameter?: string | undefined }
  | Unknown;

export interface NotDone {
  readonly kind: 'not_done';
  readonly reason: 'unreachable' | 'rate_limited';
  /** The provider's Retry-After, if sent. */
  readonly retryAfterSeconds?: number | undefined;
}

export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: UnknownReason;
}

/** `in_progress` means that the provider is still processing the same call under the same key. */
export type UnknownReason = 'timeout' | 'unreachable' | 'error' | 'in_progress';

export type Refusal = Extract<Outcome<never>, { readonly kind: 'refused' }>;

export const DECLINE_CODES = [
  'insufficient_funds',
  'expired_card',
  'incorrect_cvc',
  'lost_card',
  'stolen_card',
  'do_not_honor',
  'processing_error',
  'authentication_required',
] as const;
export type DeclineCode = (typeof DECLINE_CODES)[number];

/** The read value; undefined if the provider refuses the read, because the provider does not know the object. */
export const ifKnown = <T>(read: Outcome<T>): Outcome<T | undefined> =>
  read.kind === 'refused' || read.kind === 'declined' ? { kind: 'done', value: undefined } : read;

/** Reads the value of a successful call; keeps every other outcome. */
export const mapOutcome = <A, T>(outcome: Outcome<A>, read: (value: A) => T): Outcome<T> =>
  outcome.kind === 'done' ? { kind: 'done', value: read(outcome.value) } : outcome;
