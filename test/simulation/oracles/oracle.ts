import type { FinishedRun } from '../world/operation.ts';

/**
 * A sentence that holds at the end of every run. To add one: export an `Oracle` from a file of this folder, and its row in
 * `oracles/oracles.ts`.
 */
export interface Oracle {
  /** `Every acknowledged intent is stored`. */
  readonly sentence: string;
  /** @returns what is wrong, with the ids concerned; undefined: the sentence holds */
  readonly check: (run: FinishedRun) => string | undefined | Promise<string | undefined>;
}
