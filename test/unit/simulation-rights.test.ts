import { describe, expect, test } from 'vitest';
import { RIGHTS_EXAMPLES } from '../builders/rights-cases.ts';
import { ORACLES } from '../simulation/oracles/oracles.ts';

const EXAMPLES = RIGHTS_EXAMPLES.map(([beginning, what, isBroken, history]) => ({
  beginning,
  what,
  isBroken,
  history,
}));

describe('the invariants about access rights', () => {
  test.each(EXAMPLES)('$beginning: $what', ({ beginning, isBroken, history }) => {
    const [oracle] = ORACLES.filter(({ sentence }) => sentence.startsWith(beginning));
    expect(oracle?.violations(history)).toHaveLength(isBroken ? 1 : 0);
  });
});
