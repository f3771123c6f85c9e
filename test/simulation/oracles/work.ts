/** @module Invariants about retried work. */
import type { Oracle } from '../model/history.ts';

export const nothingGivenUp: Oracle = {
  sentence: 'In calm weather no work is given up',
  atRestOnly: true,
  violations: ({ isCalm, givenUp }) => (isCalm ? givenUp : []),
};
