import type { Oracle } from '../model/history.ts';

/** Sentences about retried work. */
export const nothingGivenUp: Oracle = {
  sentence: 'In calm weather no work is given up',
  atRestOnly: true,
  violations: ({ isCalm, givenUp }) => (isCalm ? givenUp : []),
};
