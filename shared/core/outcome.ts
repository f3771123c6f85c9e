/**
 * What calling a provider comes to. `unknown` (time-out, reset, 5xx) means that money may have moved: it is looked up,
 * never resent under a new key. `refused` means that the provider said no and certainly did nothing.
 */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** `attemptRef` names the attempt at the provider. */
  | { readonly kind: 'declined'; readonly code: DeclineCode; readonly attemptRef: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string; readonly parameter?: string | undefined }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

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
