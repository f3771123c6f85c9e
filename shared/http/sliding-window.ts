/**
 * @module The arithmetic of a sliding window, on whole numbers. Counts stand per window of fixed length. The previous
 * window counts by the share of it that still lies within the length before now, so no boundary allows a burst.
 */

export interface WindowCounts {
  readonly previous: number;
  readonly current: number;
}

/** A window of fixed length in milliseconds, how far it has passed, and its maximum. */
export interface WindowSpan {
  readonly max: number;
  readonly lengthMs: number;
  readonly elapsedMs: number;
}

/** True if one more request fits. */
export const hasRoom = ({ previous, current }: WindowCounts, { max, lengthMs, elapsedMs }: WindowSpan): boolean =>
  previous * (lengthMs - elapsedMs) + (current + 1) * lengthMs <= max * lengthMs;

/** Milliseconds until one more request fits, if no other request counts until then. 0 if it fits now. */
export const untilRoomMs = (counts: WindowCounts, span: WindowSpan): number => {
  if (hasRoom(counts, span)) return 0;
  const { max, lengthMs, elapsedMs } = span;
  const { previous, current } = counts;
  if (current < max) return fits(previous, max - 1 - current, lengthMs) - elapsedMs;
  return lengthMs - elapsedMs + fits(current, max - 1, lengthMs);
};

/** Milliseconds of a window after which at most `room` of the previous window's count still counts. */
const fits = (count: number, room: number, lengthMs: number): number =>
  Math.max(0, Math.ceil(lengthMs - (room * lengthMs) / count));

/** One more request fits if the counts of both windows are within these. */
export interface Bounds {
  readonly previousAtMost: number;
  readonly currentBelow: number;
}

/** Exact for this count of the previous window. */
export const boundsAfter = (previous: number, { max, lengthMs, elapsedMs }: WindowSpan): Bounds => ({
  previousAtMost: previous,
  currentBelow: Math.floor((max * lengthMs - previous * (lengthMs - elapsedMs)) / lengthMs),
});

/** A condition has at most this many pairs of bounds. */
const MOST_BOUNDS = 16;

/**
 * Bounds that a condition on the stored counts can compare, because a condition computes nothing. Every pair is right;
 * together they are complete up to a maximum of 16, and above it they leave out some counts that fit.
 */
export const boundsOfRoom = ({ max, lengthMs, elapsedMs }: WindowSpan): readonly Bounds[] => {
  const pairs = Math.min(max, MOST_BOUNDS);
  return Array.from({ length: pairs }, (_, at) => {
    const currentBelow = Math.ceil((max * (at + 1)) / pairs);
    return {
      previousAtMost: Math.floor(((max - currentBelow) * lengthMs) / (lengthMs - elapsedMs)),
      currentBelow,
    };
  });
};
