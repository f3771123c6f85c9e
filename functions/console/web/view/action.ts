import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { asProblem } from './load.ts';

/** A button's command. It never runs twice at the same time, and keeps the problem of its last run. */
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

/** Refusals that prove nothing about an earlier request under the same key. */
const BEFORE_THE_KEY: readonly number[] = [401, 403, 429];

/** True if the response proves that no request under this key has taken effect. */
const isDefinite = ({ status, code }: Problem): boolean =>
  status >= 400 && status < 500 && !BEFORE_THE_KEY.includes(status) && code !== 'IDEMPOTENCY_IN_PROGRESS';

/**
 * An action with an Idempotency-Key in its command. A double click or a retry after a lost response reuses the key.
 * After a definite response, the next click gets a new key.
 * @param of identifies the request if the form can send several
 */
export const useKeyedAction = (command: (key: string) => Promise<unknown>, of = ''): Action => {
  const sent = useRef({ of, key: '' });
  return useAction(async () => {
    if (sent.current.key === '' || sent.current.of !== of) sent.current = { of, key: newKey() };
    try {
      await command(sent.current.key);
    } catch (reason) {
      if (isDefinite(asProblem(reason))) sent.current.key = '';
      throw reason;
    }
    sent.current.key = '';
  });
};

/** Delays of further reads, because events and deliveries arrive shortly after a command. */
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

/** A new idempotency key. A form keeps its key, so that sending the form twice creates one record. */
export const newKey = (): string => crypto.randomUUID();
