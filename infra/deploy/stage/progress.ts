/** @module Prints the elapsed time of a step, so that no step is silent for long. */

/** Interval between the lines of a running step. */
const PROGRESS_MS = 15_000;

/** `42 s`, or `3 min 5 s`. */
const inWords = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** Starts a stopwatch. @returns a function that gives the elapsed time as text. */
export const startWatch = (): (() => string) => {
  const startedAt = Date.now();
  return () => inWords(Date.now() - startedAt);
};

/** Prints at regular intervals that the step continues. @param doing describes the step; its text may change */
export const whileSaying = async <T>(
  say: (line: string) => void,
  doing: () => string,
  work: () => Promise<T>,
): Promise<T> => {
  const elapsed = startWatch();
  const timer = setInterval(() => say(`${doing()}, ${elapsed()}`), PROGRESS_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
};
