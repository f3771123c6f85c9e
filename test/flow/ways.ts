import { inject } from 'vitest';

/**
 * A part of the cases in `npm test`, all of them in `npm run test:long`. @param nth takes every nth case, from case `from`
 * on, so that files with several groups of the same cases can ask each case in one group
 */
export const everyNth = <T>(nth: number, cases: readonly T[], from = 0): readonly T[] =>
  inject('scale') > 1 ? cases : cases.filter((_, index) => index % nth === from % nth);
