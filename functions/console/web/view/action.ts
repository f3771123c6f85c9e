import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { asProblem } from './load.ts';

/** A command of a button. It never runs twice at the same time, and it keeps the problem of its last run. */
export interface Action {
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  /** Does nothing while an earlier run is in progress. */
  readonly run: () => void;
}

export const useAction = (command: () => Promise<unknown>): Action => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const isRunning = useRef(false);
  const run = async (): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setProblem(undefined);
    try {
      await command();
    } catch (reason) {
      setProblem(asProblem(reason));
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return { isBusy, problem, run: () => void run() };
};

/** Delays of further reads, because events and deliveries follow a command after a moment. */
const LATER_MS = [1_200, 3_500, 8_000];

export const useFollow = (reload: () => void): (() => void) => {
  const timers = useRef<number[]>([]);
  const stop = (): void => {
    for (const timer of timers.current.splice(0)) clearTimeout(timer);
  };
  useEffect(() => stop, []);
  return () => {
    stop();
    reload();
    timers.current = LATER_MS.map((ms) => setTimeout(reload, ms));
  };
};

/** One idempotency key per form, so that sending the form twice creates one record. */
export const newKey = (): string => crypto.randomUUID();
