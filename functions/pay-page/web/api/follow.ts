/** @module Reads the state again and again while a payment is on its way. The service, not the address, says what became of it. */

const EVERY_MS = 2_000;
const LONGEST_MS = 60_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Followed<State> {
  readonly read: () => Promise<State | undefined>;
  readonly isOver: (state: State) => boolean;
  /** False once nothing shows the state any more. */
  readonly isAwaited: () => boolean;
  readonly longestMs?: number;
}

/** @returns the state that ended the wait; undefined after a minute without one */
export const follow = async <State>(of: Followed<State>): Promise<State | undefined> => {
  const ends = Date.now() + (of.longestMs ?? LONGEST_MS);
  while (of.isAwaited() && Date.now() < ends) {
    const state = await of.read();
    if (state && of.isOver(state)) return state;
    await pause(EVERY_MS);
  }
  return undefined;
};
