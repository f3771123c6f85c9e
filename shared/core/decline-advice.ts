/**
 * @module Advice after a decline, and whether a retry with the same method can succeed. The provider's advice takes
 * precedence over the advice for our decline code.
 */

import type { DeclineWord } from './fact-words.ts';
import type { DeclineCode } from './outcome.ts';
import type { ProviderDecline } from './payment-facts.ts';

export const ADVICE = ['retry_later', 'another_method', 'authenticate', 'correct_data', 'contact_bank'] as const;

interface DeclineAdvice {
  readonly advice: (typeof ADVICE)[number];
  /** True if no retry with this method can succeed. */
  readonly hard: boolean;
}

const BY_CODE: Readonly<Record<DeclineCode, DeclineAdvice>> = {
  authentication_required: { advice: 'authenticate', hard: false },
  incorrect_cvc: { advice: 'correct_data', hard: false },
  expired_card: { advice: 'correct_data', hard: false },
  processing_error: { advice: 'retry_later', hard: false },
  insufficient_funds: { advice: 'retry_later', hard: false },
  do_not_honor: { advice: 'contact_bank', hard: false },
  lost_card: { advice: 'another_method', hard: true },
  stolen_card: { advice: 'another_method', hard: true },
};

const BY_WORD: Readonly<Record<DeclineWord, DeclineAdvice>> = {
  do_not_try_again: { advice: 'another_method', hard: true },
  try_again_later: { advice: 'retry_later', hard: false },
  confirm_card_data: { advice: 'correct_data', hard: false },
};

export const adviceOn = (code: DeclineCode, { advised }: ProviderDecline = {}): DeclineAdvice =>
  advised === undefined ? BY_CODE[code] : BY_WORD[advised];

export const isHardDecline = (code: DeclineCode, decline?: ProviderDecline): boolean => adviceOn(code, decline).hard;
