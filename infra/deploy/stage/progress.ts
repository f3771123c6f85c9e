/** @module Lines that say how long a step has taken, so that no step is silent for long. */

/** The time between two lines of a step that still runs. */
const PROGRESS_MS = 15_000;

/** `42 s`, or `3 min 5 s`. */
const inWords = (ms: number): string => {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** Starts a watch. @returns the time since then, as words. */
export const startWatch = (): (() => string) => {
  const startedAt = Date.now();
  return () => inWords(Date.now() - startedAt);
};

/** Says at regular times that the work goes on. @param doing the step in words, which may change */
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
