import type { Oracle } from '../model/history.ts';

/** @module Invariants about retried work. */
export const nothingGivenUp: Oracle = {
  sentence: 'In calm weather no work is given up',
  atRestOnly: true,
  violations: ({ isCalm, givenUp }) => (isCalm ? givenUp : []),
};
