/**
 * @module The local host's only clock. It follows real time unless frozen, and can be moved forward. A move runs all
 * work that becomes due, in time order, and waits until each step is quiet. The clock never goes backward, even after a
 * restart.
 */

export interface TimedWork {
  readonly name: string;
  /** Epoch ms of the earliest due work, or undefined. */
  nextDueAt(): Promise<number | undefined> | number | undefined;
  /** Starts all due work. It may return before the work ends; `idle` reports the end. */
  runDue(): Promise<void>;
  /** True if no work is running or due. */
  idle(): boolean | Promise<boolean>;
}

export interface Clock {
  /** Epoch ms; follows real time unless frozen. */
  now(): number;
  frozen(): boolean;
  freeze(frozen: boolean): void;
  register(work: TimedWork): void;
  /**
   * Moves forward to `target` and runs the work that becomes due, in time order. Resolves when all is quiet.
   * @throws RangeError for a past target, NotQuietError if work does not end in time.
   */
  moveTo(target: number): Promise<void>;
  settle(timeoutMs: number): Promise<{ quiet: boolean; waitedMs: number }>;
  /** Wakes the real-time loop to check for new due work. */
  wake(): void;
}

/** The clock with the controls for its host. */
export interface HostClock extends Clock {
  /** Like `moveTo`, but relative to the time after earlier moves. */
  moveBy(ms: number): Promise<void>;
  /** True during a move. `nextDueAt` must then return the exact time, even if that is expensive. */
  moving(): boolean;
  start(): void;
  stop(): Promise<void>;
}

export interface KeptTime {
  /** The clock minus real time. */
  readonly offsetMs: number;
  /** The latest known time of the clock. */
  readonly reached: number;
  readonly frozenAt: number | null;
}

export interface ClockOptions {
  readonly kept: KeptTime | undefined;
  readonly keep: (time: KeptTime) => void;
  readonly log: (line: string) => void;
}

/** Work did not end in time. */
export class NotQuietError extends Error {
  constructor(names: readonly string[]) {
    super(`not quiet after ${QUIET_TIMEOUT_MS / 1000} s: ${names.join(', ')}`);
    this.name = 'NotQuietError';
  }
}

const QUIET_TIMEOUT_MS = 30_000;
/** The maximum interval between two polls for due work. */
const HEARTBEAT_MS = 1_000;
const SAME_MOMENT_LIMIT = 100;

export const createClock = (options: ClockOptions): HostClock => {
  const time = keepTime(options);
  const works: TimedWork[] = [];
  const quiet = watchQuiet(works);
  const loop = runInRealTime({ works, now: time.now, log: options.log });
  let moves: Promise<unknown> = Promise.resolve();
  let isStarted = false;
  const goOn = (): void => {
    if (isStarted) loop.resume();
  };

  const travel = async (targetFrom: (now: number) => number): Promise<void> => {
    await loop.pause();
    time.pin();
    try {
      const target = targetFrom(time.now());
      if (target < time.now()) throw new RangeError('the clock moves forward only');
      await quiet.reach(QUIET_TIMEOUT_MS);
      for (let repeats = 0; ; ) {
        const due = await earliestOf(works);
        if (due === undefined || due > target) break;
        repeats = due <= time.now() ? repeats + 1 : 0;
        if (repeats > SAME_MOMENT_LIMIT) throw new NotQuietError(works.map((work) => work.name));
        time.stepTo(due);
        await quiet.reach(QUIET_TIMEOUT_MS);
      }
      time.stepTo(target);
      await quiet.reach(QUIET_TIMEOUT_MS);
    } finally {
      time.unpin();
      goOn();
    }
  };

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const move = moves.then(work);
    moves = move.catch(() => undefined);
    return move;
  };

  return {
    now: time.now,
    frozen: time.frozen,
    moving: time.pinned,
    freeze: (frozen) => {
      time.freeze(frozen);
      loop.wake();
    },
    register: (work) => {
      works.push(work);
      loop.wake();
    },
    moveTo: (target) => inTurn(() => travel(() => target)),
    moveBy: (ms) => inTurn(() => travel((now) => now + ms)),
    settle: async (timeoutMs) => {
      const startedAt = performance.now();
      const noisy = await quiet.wait(timeoutMs);
      return { quiet: noisy.length === 0, waitedMs: Math.round(performance.now() - startedAt) };
    },
    wake: () => {
      quiet.stir();
      loop.wake();
    },
    start: () => {
      isStarted = true;
      goOn();
    },
    stop: () => {
      isStarted = false;
      return loop.pause();
    },
  };
};

const earliestOf = async (works: readonly TimedWork[]): Promise<number | undefined> => {
  const dues = await Promise.all(works.map((work) => work.nextDueAt()));
  const known = dues.filter((due) => due !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** A move to real time takes a moment, so the clock ends slightly behind. A gap below this counts as real time. */
const JOINING_MS = 1_000;
const offsetOf = (at: number): number => {
  const offsetMs = at - Date.now();
  return offsetMs < 0 && offsetMs > -JOINING_MS ? 0 : offsetMs;
};

/** Keeps real time plus an offset, or a fixed time while the clock is frozen or moving. */
const keepTime = ({ kept, keep }: ClockOptions) => {
  let offsetMs = kept ? Math.max(kept.offsetMs, kept.reached - Date.now()) : 0;
  let frozenAt = kept?.frozenAt ?? undefined;
  let pinnedAt: number | undefined;
  let latest = kept?.reached ?? 0;

  const now = (): number => {
    latest = Math.max(latest, pinnedAt ?? frozenAt ?? Date.now() + offsetMs);
    return latest;
  };
  const save = (): void => keep({ offsetMs, reached: now(), frozenAt: frozenAt ?? null });

  return {
    now,
    frozen: () => frozenAt !== undefined,
    pinned: () => pinnedAt !== undefined,
    freeze: (frozen: boolean): void => {
      const at = now();
      if (!frozen && frozenAt !== undefined) offsetMs = offsetOf(at);
      frozenAt = frozen ? at : undefined;
      save();
    },
    pin: (): void => {
      pinnedAt = now();
    },
    stepTo: (at: number): void => {
      pinnedAt = Math.max(at, now());
      save();
    },
    unpin: (): void => {
      const at = now();
      pinnedAt = undefined;
      if (frozenAt === undefined) offsetMs = offsetOf(at);
      else frozenAt = at;
      save();
    },
  };
};

/**
 * Waits for one whole pass in which every source is idle and none reports new work. Checking idle sources alone is not
 * enough, because a later source may pass work to an earlier one during the pass.
 */
const watchQuiet = (works: readonly TimedWork[]) => {
  let stirs = 0;
  let waiting: (() => void)[] = [];

  const stir = (): void => {
    stirs += 1;
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  const nextStir = (atMostMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, atMostMs);
      waiting.push(() => {
        clearTimeout(timer);
        setImmediate(resolve);
      });
    });
  /** Starts all due work once. @returns the names of the sources still working. */
  const pass = async (): Promise<readonly string[]> => {
    const noisy: string[] = [];
    for (const work of works) await work.runDue();
    for (const work of works) if (!(await work.idle())) noisy.push(work.name);
    return noisy;
  };
  /** @returns the sources still working at the deadline; empty when all is quiet. */
  const wait = async (timeoutMs: number): Promise<readonly string[]> => {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const before = stirs;
      const noisy = await pass();
      if (noisy.length === 0 && stirs === before) return noisy;
      if (performance.now() > deadline) return namesOf(noisy);
      if (stirs === before) await nextStir(5);
    }
  };
  const namesOf = (noisy: readonly string[]): readonly string[] =>
    noisy.length > 0 ? noisy : ['new work keeps coming'];
  const reach = async (timeoutMs: number): Promise<void> => {
    const noisy = await wait(timeoutMs);
    if (noisy.length > 0) throw new NotQuietError(noisy);
  };
  return { stir, wait, reach };
};

/** Runs due work in real time. Polls all sources on wake-ups and when the earliest work becomes due. */
const runInRealTime = (options: {
  readonly works: readonly TimedWork[];
  readonly now: () => number;
  readonly log: (line: string) => void;
}) => {
  let paused = true;
  let again = false;
  let round: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const runOnce = async (): Promise<number> => {
    let delayMs = HEARTBEAT_MS;
    for (const work of options.works) {
      let due = await work.nextDueAt();
      if (due !== undefined && due <= options.now()) {
        await work.runDue();
        due = await work.nextDueAt();
      }
      // Due work has been started and sets no delay, because its end wakes the loop.
      const inMs = due === undefined ? 0 : due - options.now();
      if (inMs > 0) delayMs = Math.min(delayMs, inMs);
    }
    return delayMs;
  };
  const rounds = async (): Promise<void> => {
    let delayMs = HEARTBEAT_MS;
    do {
      again = false;
      try {
        delayMs = await runOnce();
      } catch (error) {
        options.log(`the clock's loop failed and continues: ${String(error)}`);
      }
    } while (again && !paused);
    if (!paused) timer = setTimeout(wake, delayMs);
  };
  const wake = (): void => {
    if (paused) return;
    again = true;
    if (round) return;
    clearTimeout(timer);
    // Wait one turn of the event loop, so a burst of wake-ups causes one round.
    round = new Promise((resolve) => setImmediate(resolve)).then(rounds).finally(() => {
      round = undefined;
      if (again) wake();
    });
  };
  return {
    wake,
    resume: (): void => {
      paused = false;
      wake();
    },
    pause: async (): Promise<void> => {
      paused = true;
      clearTimeout(timer);
      await round;
    },
  };
};
