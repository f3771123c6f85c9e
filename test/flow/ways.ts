import { inject } from 'vitest';
import type { Stop } from './stops.ts';

/** One way to stop: at a call of the function, before or after it is carried out. */
export interface Way extends Stop {
  readonly name: string;
  /** Everything was carried out; only the answer is missing. */
  readonly done: boolean;
}

/** Every call, before and after it is carried out: for a function that goes on after the lost call. */
export const waysToLose = (calls: readonly string[]): Way[] =>
  calls.flatMap((name, index) =>
    [false, true].map((executed) => ({
      call: index + 1,
      executed,
      name: `${executed ? 'after' : 'before'} ${index + 1} ${name} of ${calls.join(', ')}`,
      done: executed && index + 1 === calls.length,
    })),
  );

/**
 * The ways to stop a function for good. A stop after a call leaves table and provider as a stop before the next call does,
 * so the usual run takes one of the two; `npm run test:long` takes both.
 */
export const waysToStop = (calls: readonly string[]): Way[] => waysToLose(calls).filter(isTaken);

export const isTaken = ({ executed, done }: Pick<Way, 'executed' | 'done'>): boolean =>
  inject('scale') > 1 || !executed || done;

/**
 * A part of the cases in `npm test`, all of them in `npm run test:long`. @param nth takes every nth case, from case `from`
 * on, so that files with several groups of the same cases can ask each case in one group
 */
export const everyNth = <T>(nth: number, cases: readonly T[], from = 0): readonly T[] =>
  inject('scale') > 1 ? cases : cases.filter((_, index) => index % nth === from % nth);
