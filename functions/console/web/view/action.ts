import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { asProblem } from './load.ts';

/** A command that a button sends: one at a time, with its problem. */
export interface Action {
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  /** Does nothing while an earlier run is under way. */
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

/** Events and deliveries follow a command by moments: reads now, and again while they arrive. */
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

/** One key per form: sending the form twice makes one record. */
export const newKey = (): string => crypto.randomUUID();
