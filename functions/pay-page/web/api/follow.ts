/** @module Polls the state while a payment is in progress. The service decides the outcome, not the return URL. */

const EVERY_MS = 2_000;
const LONGEST_MS = 60_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Followed<State> {
  readonly read: () => Promise<State | undefined>;
  readonly isOver: (state: State) => boolean;
  /** False once the page no longer shows the state. */
  readonly isAwaited: () => boolean;
  readonly longestMs?: number;
}

/** @returns the final state; undefined if none arrived in time (one minute by default) */
export const follow = async <State>(of: Followed<State>): Promise<State | undefined> => {
  const ends = Date.now() + (of.longestMs ?? LONGEST_MS);
  while (of.isAwaited() && Date.now() < ends) {
    const state = await of.read();
    if (state && of.isOver(state)) return state;
    await pause(EVERY_MS);
  }
  return undefined;
};
