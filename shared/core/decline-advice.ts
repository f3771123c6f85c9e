/** @module What may help after a decline, and which declines no further attempt with the same method can undo. */

import type { DeclineCode } from './outcome.ts';

export const ADVICE = ['retry_later', 'another_method', 'authenticate', 'correct_data', 'contact_bank'] as const;

interface DeclineAdvice {
  readonly advice: (typeof ADVICE)[number];
  /** True if no further attempt with this method can succeed. */
  readonly hard: boolean;
}

export const DECLINE_ADVICE: Readonly<Record<DeclineCode, DeclineAdvice>> = {
  authentication_required: { advice: 'authenticate', hard: false },
  incorrect_cvc: { advice: 'correct_data', hard: false },
  expired_card: { advice: 'correct_data', hard: false },
  processing_error: { advice: 'retry_later', hard: false },
  insufficient_funds: { advice: 'retry_later', hard: false },
  do_not_honor: { advice: 'contact_bank', hard: false },
  lost_card: { advice: 'another_method', hard: true },
  stolen_card: { advice: 'another_method', hard: true },
};

export const isHardDecline = (code: DeclineCode): boolean => DECLINE_ADVICE[code].hard;
