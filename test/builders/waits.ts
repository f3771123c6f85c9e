import { vi } from 'vitest';
import { runInSpan } from '../../shared/core/trace.ts';

/** Half of the longest wait is drawn each time, so the waits are known. */
const DRAWN = 0.5;

/** Runs the call without its waits. @returns the waits, ms */
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

/** Runs the call as the work of a function that is stopped after this time, of which only waits take any. */
export const inTime = <T>(timeMs: number, call: () => Promise<T>): Promise<T> => {
  left = timeMs;
  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
  return runInSpan(span, call, () => left);
};
