/** @module Turns a provider's outcome into its value or a public error. Only a call that did nothing is retryable. */

import { DomainError, invalid } from '../core/errors.ts';
import type { DeclineCode, NotDone, Outcome, Refusal, Unknown } from '../core/outcome.ts';
import type { ProviderSlot } from '../core/settings.ts';
import type { PaymentProvider } from './provider.ts';
import { VENDOR_FORMS, vendorOfToken } from './token-forms.ts';

/** @throws DomainError VALIDATION_ERROR if the provider does not accept verification tokens. */
export const requireTakesVerification = (
  { can, slot }: Pick<PaymentProvider, 'can' | 'slot'>,
  token: string | null | undefined,
): void => {
  if (!token || can.verificationTokens) return;
  const message = `${slot} does not accept a verification token; leave it out`;
  throw invalid([{ path: 'verification_token', rule: 'unsupported', message }]);
};

/** Returns the provider's response, or throws the public error of its refusal. For calls that move no money. */
export const requireDone = <T>(outcome: Outcome<T>, field: string): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw failedError(outcome, ({ reason }) => refusedFieldError(field, reason));
};

/** @param refusalOf makes the public error of a refusal @param details error details if no response decided the call */
export const failedError = (
  outcome: Exclude<Outcome<never>, { kind: 'done' }>,
  refusalOf: (refusal: Refusal) => DomainError,
  details?: Readonly<Record<string, unknown>>,
): DomainError => {
  if (outcome.kind === 'refused') return refusalOf(outcome);
  return outcome.kind === 'declined' ? declinedError(outcome) : unansweredError(outcome, details);
};

export const declinedError = ({ code }: { readonly code: DeclineCode | undefined }): DomainError =>
  new DomainError('PAYMENT_DECLINED', { details: { decline_code: code } });

export const refusedFieldError = (path: string, rule: string): DomainError =>
  invalid([{ path, rule, message: 'was refused by the provider' }]);

const CODES = {
  timeout: 'PROVIDER_TIMEOUT',
  unreachable: 'PROVIDER_UNAVAILABLE',
  error: 'PROVIDER_ERROR',
  in_progress: 'PAYMENT_IN_PROGRESS',
} as const;

export const unknownOutcomeError = (
  reason: Unknown['reason'],
  details?: Readonly<Record<string, unknown>>,
): DomainError => new DomainError(CODES[reason], details ? { details } : {});

export const unavailableError = (
  { retryAfterSeconds }: NotDone,
  details?: Readonly<Record<string, unknown>>,
): DomainError =>
  new DomainError('PROVIDER_UNAVAILABLE', {
    ...(details && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

export const unansweredError = (
  outcome: NotDone | Unknown,
  details?: Readonly<Record<string, unknown>>,
): DomainError =>
  outcome.kind === 'not_done' ? unavailableError(outcome, details) : unknownOutcomeError(outcome.reason, details);

/** The provider's report. @throws DomainError PROVIDER_ERROR after a refusal, or a code such as PROVIDER_TIMEOUT */
export const requireReport = <T>(outcome: Outcome<T>, details: Readonly<Record<string, unknown>>): T => {
  if (outcome.kind === 'done') return outcome.value;
  if (outcome.kind === 'unknown' || outcome.kind === 'not_done') throw unansweredError(outcome, details);
  throw new DomainError('PROVIDER_ERROR', { details });
};

/** @throws DomainError PROVIDER_MISMATCH if the record belongs to another provider. */
export const requireProvider = (path: string, expected: ProviderSlot, given: ProviderSlot): void => {
  if (expected === given) return;
  throw new DomainError('PROVIDER_MISMATCH', {
    message: `${path} belongs to ${given}, not ${expected}`,
    details: { path, expected, given },
  });
};

interface GivenToken {
  /** The field of the request. */
  readonly path: string;
  readonly token: string;
  /** The record that the request is about. */
  readonly record: 'payment' | 'payment method';
}

/** @throws DomainError PROVIDER_MISMATCH if the token has the form of another vendor's tokens */
export const requireOwnToken = (
  { adapter, slot }: Pick<PaymentProvider, 'adapter' | 'slot'>,
  { path, token, record }: GivenToken,
): void => {
  const given = vendorOfToken(token);
  if (given === undefined || given === adapter) return;
  const [vendor, expected] = [VENDOR_FORMS[given], VENDOR_FORMS[adapter]];
  throw new DomainError('PROVIDER_MISMATCH', {
    message: `${path} is a ${vendor.name} token; this ${record} is at ${slot} (${expected.name})`,
    details: { path, provider_id: slot, expected: adapter, given },
  });
};
