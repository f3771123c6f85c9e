import type { Stop } from './stops.ts';

/** One way to stop: at a call of the function, before or after it is carried out. */
export interface Way extends Stop {
  readonly name: string;
  /** Everything was carried out; only the answer is missing. */
  readonly done: boolean;
}

export const waysToStop = (calls: readonly string[]): Way[] =>
  calls.flatMap((name, index) =>
    [false, true].map((executed) => ({
      call: index + 1,
      executed,
      name: `${executed ? 'after' : 'before'} ${index + 1} ${name} of ${calls.join(', ')}`,
      done: executed && index + 1 === calls.length,
    })),
  );
