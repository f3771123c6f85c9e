import { DomainError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';

/** What the provider answered, or the error that its refusal is to a caller. For calls that move no money. */
export const done = <T>(outcome: Outcome<T>, field: string): T => {
  switch (outcome.kind) {
    case 'done':
      return outcome.value;
    case 'declined':
      throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
    case 'refused':
      throw new DomainError('VALIDATION_ERROR', {
        details: [{ path: field, rule: outcome.reason, message: 'was refused by the provider' }],
      });
    case 'unknown':
      throw unclear(outcome.reason);
  }
};

const CODES = {
  timeout: 'PROVIDER_TIMEOUT',
  unreachable: 'PROVIDER_UNAVAILABLE',
  error: 'PROVIDER_ERROR',
  in_progress: 'PAYMENT_IN_PROGRESS',
} as const;

/** The error of a call whose outcome nobody knows. */
export const unclear = (
  reason: Extract<Outcome<never>, { kind: 'unknown' }>['reason'],
  details?: Readonly<Record<string, unknown>>,
): DomainError => new DomainError(CODES[reason], details ? { details } : {});
