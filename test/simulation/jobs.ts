import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RunResult } from './simulation.ts';

/** A process's report about a seed. */
export interface SeedResult extends Pick<RunResult, 'seed' | 'digest' | 'problems' | 'operations' | 'counts'> {
  /** User and system time of the process, ms. */
  readonly processorMs: number;
  /** True if the process was killed because the history took too long. */
  readonly isEndless: boolean;
}

/** The settings that the processes of one command share. */
export interface JobSettings {
  readonly bug: string | undefined;
  readonly off: readonly string[];
}

/** One history of a command. */
export interface AskedHistory {
  readonly seed: number;
  /** Call sites. The function is killed after the first call at each site. */
  readonly killAfter: readonly string[];
}

export interface JobsOptions extends JobSettings {
  readonly histories: readonly AskedHistory[];
  /** Concurrent processes. */
  readonly jobs: number;
}

/**
 * A history that runs for longer counts as endless. A history takes at most a few seconds of processor time, but the
 * machine may be busy with other work.
 */
const LONGEST_HISTORY_MS = 900_000;
/**
 * More memory for new objects, so that garbage is collected more rarely. A history creates much short-lived garbage.
 */
const FLAGS = ['--max-semi-space-size=32'];

/**
 * Runs the histories in separate processes, and yields their results in the order of the list. The outcome therefore
 * does not depend on the number of processes.
 */
export async function* resultsOf(options: JobsOptions): AsyncGenerator<SeedResult, void, undefined> {
  const results = new Map<number, PromiseWithResolvers<SeedResult>>();
  const resultAt = (index: number): PromiseWithResolvers<SeedResult> => {
    const known = results.get(index) ?? Promise.withResolvers<SeedResult>();
    results.set(index, known);
    return known;
  };
  const children = new Set<ChildProcess>();
  const { histories } = options;
  let next = 0;
  const work = async (): Promise<void> => {
    let child: ChildProcess | undefined;
    for (let asked = histories[next]; asked; asked = histories[next]) {
      const index = next;
      next += 1;
      child ??= startChild(options);
      children.add(child);
      const result = await resultFrom(child, asked);
      resultAt(index).resolve(result);
      if (!result.isEndless) continue;
      children.delete(child);
      child = undefined;
    }
    child?.kill();
  };
  const broken = Promise.withResolvers<never>();
  // Nothing awaits the failure of a process that is killed early, so it must not count as unhandled.
  broken.promise.catch(() => undefined);
  try {
    for (let job = 0; job < options.jobs; job += 1) work().catch(broken.reject);
    for (const index of histories.keys()) {
      yield await Promise.race([resultAt(index).promise, broken.promise]);
      results.delete(index);
    }
  } finally {
    next = histories.length;
    // Waits for the end of the children. Afterwards the caller may replace the clock of this process, and no time-out
    // of a child must run on that clock.
    await Promise.all([...children].map(end));
  }
}

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill();
  await promise;
};

const startChild = ({ bug, off }: JobSettings): ChildProcess => {
  const settings: JobSettings = { bug, off };
  return fork(fileURLToPath(new URL('job.ts', import.meta.url)), [JSON.stringify(settings)], { execArgv: FLAGS });
};

const resultFrom = async (child: ChildProcess, asked: AskedHistory): Promise<SeedResult> => {
  const { seed } = asked;
  const { promise, resolve, reject } = Promise.withResolvers<SeedResult>();
  const ended = (code: number | null): void => reject(new Error(`the process of seed ${seed} ended with ${code}`));
  const isTooLong = setTimeout(() => {
    child.off('exit', ended).kill('SIGKILL');
    resolve(endless(seed));
  }, LONGEST_HISTORY_MS);
  child.once('exit', ended).once('message', (message) => resolve(message as SeedResult));
  isTooLong.unref();
  child.send(asked);
  try {
    return await promise;
  } finally {
    clearTimeout(isTooLong);
    child.removeAllListeners('message').off('exit', ended);
  }
};

const endless = (seed: number): SeedResult => ({
  seed,
  digest: '',
  problems: [`the history never comes to rest: it runs for more than ${LONGEST_HISTORY_MS / 1_000} s`],
  operations: 0,
  counts: { steps: 0, kills: 0, delays: 0, faults: {}, reached: [], killedAfter: [] },
  processorMs: 0,
  isEndless: true,
});
