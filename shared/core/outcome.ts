/**
 * What calling a provider comes to. `unknown` (time-out, reset, 5xx) means that money may have moved: it is looked up,
 * never resent under a new key. `not_done` (connection refused, 429) means that the provider certainly did nothing and a
 * later try is free. `refused` means that the provider said no and certainly did nothing.
 */
export type Outcome<T> = Arrived<T> | NotDone;

/** The outcome of a call that may have reached the provider. */
export type Arrived<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** `attemptRef` names the attempt at the provider. */
  | { readonly kind: 'declined'; readonly code: DeclineCode; readonly attemptRef: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string; readonly parameter?: string | undefined }
  | Unknown;

export interface NotDone {
  readonly kind: 'not_done';
  readonly reason: 'unreachable' | 'rate_limited';
  /** When the provider wants to be asked again, where it says so. */
  readonly retryAfterSeconds?: number | undefined;
}

export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: UnknownReason;
}

/** `in_progress`: the same call, under the same key, is still being carried out. */
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

/** Reads the value of a call that was done; keeps every other outcome. */
export const mapOutcome = <A, T>(outcome: Outcome<A>, read: (value: A) => T): Outcome<T> =>
  outcome.kind === 'done' ? { kind: 'done', value: read(outcome.value) } : outcome;
