/**
 * @module The arithmetic of a sliding window, in integers. Each fixed window has its own count. The previous window's
 * count is weighted by its overlap with the sliding window, which prevents bursts at the boundary.
 */

export interface WindowCounts {
  readonly previous: number;
  readonly current: number;
}

/** A window's length in milliseconds, the elapsed part, and the maximum. */
export interface WindowSpan {
  readonly max: number;
  readonly lengthMs: number;
  readonly elapsedMs: number;
}

/** True if one more request fits. */
export const hasRoom = ({ previous, current }: WindowCounts, { max, lengthMs, elapsedMs }: WindowSpan): boolean =>
  previous * (lengthMs - elapsedMs) + (current + 1) * lengthMs <= max * lengthMs;

/** Milliseconds until one more request fits, if no other request is counted before. 0 if it fits now. */
export const untilRoomMs = (counts: WindowCounts, span: WindowSpan): number => {
  if (hasRoom(counts, span)) return 0;
  const { max, lengthMs, elapsedMs } = span;
  const { previous, current } = counts;
  if (current < max) return fits(previous, max - 1 - current, lengthMs) - elapsedMs;
  return lengthMs - elapsedMs + fits(current, max - 1, lengthMs);
};

/** Milliseconds until at most `room` of the previous window's count still applies. */
const fits = (count: number, room: number, lengthMs: number): number =>
  Math.max(0, Math.ceil(lengthMs - (room * lengthMs) / count));

/** One more request fits if both counts are within these bounds. */
export interface Bounds {
  readonly previousAtMost: number;
  readonly currentBelow: number;
}

/** The exact bound of the current count, given the previous count. */
export const boundsAfter = (previous: number, { max, lengthMs, elapsedMs }: WindowSpan): Bounds => ({
  previousAtMost: previous,
  currentBelow: Math.floor((max * lengthMs - previous * (lengthMs - elapsedMs)) / lengthMs),
});

/** The maximum number of bounds in a condition. */
const MOST_BOUNDS = 16;

/**
 * Bounds for a condition on the stored counts, because a condition cannot compute. No pair admits a request above the
 * maximum. Together the pairs are exact up to a maximum of 16; above that, they refuse some counts that fit.
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
