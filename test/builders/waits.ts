import { vi } from 'vitest';
import { runInSpan } from '../../shared/core/trace.ts';

/** Every random wait is half of its maximum, so tests know the waits. */
const DRAWN = 0.5;

/** Runs the call and skips its waits. @returns the waits, ms */
export const waitsOf = async (call: () => Promise<unknown>): Promise<readonly number[]> => {
  const waits: number[] = [];
  vi.spyOn(Math, 'random').mockReturnValue(DRAWN);
  const timer = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms = 0) => {
    waits.push(ms);
    left -= ms;
    queueMicrotask(run);
  }) as never);
  try {
    await call();
    return waits;
  } finally {
    timer.mockRestore();
  }
};

let left = 0;

/** Runs the call as a function that has this much time left. Only the waits inside `waitsOf` use up this time. */
export const inTime = <T>(timeMs: number, call: () => Promise<T>): Promise<T> => {
  left = timeMs;
  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
  return runInSpan(span, call, () => left);
};
