import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import type { Bug } from './bug.ts';

/** The invariant that found a planted bug, and the seed; both undefined if no seed found it. */
export interface FoundBug {
  readonly bug: Bug;
  readonly seed: number | undefined;
  readonly sentence: string | undefined;
}

export interface HuntOptions {
  /** The last tried seed; the first seed is 1. */
  readonly seeds: number;
  /** Concurrent processes. */
  readonly atOnce: number;
  readonly report: (found: FoundBug) => void;
}

const COMMAND = 'test/simulation/run.ts';

/** Looks for every bug, each in its own process, because a bug is planted while the service is loaded. */
export const huntAll = async (
  bugs: readonly Bug[],
  { seeds, atOnce, report }: HuntOptions,
): Promise<readonly FoundBug[]> => {
  const waiting = [...bugs];
  const all: FoundBug[] = [];
  const work = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const found = await hunt(bug, seeds);
      report(found);
      all.push(found);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return bugs.flatMap((bug) => all.find((found) => found.bug === bug) ?? []);
};

const hunt = async (bug: Bug, last: number): Promise<FoundBug> => {
  for (let from = 1; from <= last; ) {
    const failure = await firstFailure(['--bug', bug.name, '--from', String(from), '--seeds', String(last - from + 1)]);
    if (!failure) break;
    // Skips a seed that also fails without the bug, because its failure proves nothing.
    if (!(await failsWithout(failure.seed))) return { bug, ...failure };
    from = failure.seed + 1;
  }
  return { bug, seed: undefined, sentence: undefined };
};

const sound = new Map<number, Promise<boolean>>();
const failsWithout = (seed: number): Promise<boolean> => {
  const known = sound.get(seed) ?? firstFailure(['--seed', String(seed)]).then((failure) => failure !== undefined);
  sound.set(seed, known);
  return known;
};

const MOST_OUTPUT = 2 ** 26;

const firstFailure = async (
  options: readonly string[],
): Promise<(Pick<FoundBug, 'seed' | 'sentence'> & { readonly seed: number }) | undefined> => {
  const out = await outputOf([...options, '--brief', '--jobs', '1']);
  const [, seed, sentence] = /^seed (\d+) failed:\n {2}([^:\n]*)/m.exec(out) ?? [];
  if (seed !== undefined) return { seed: Number(seed), sentence };
  if (/^\d+ histories in /m.test(out)) return undefined;
  throw new Error(`the simulation ended without a result: ${out.slice(-500)}`);
};

/** The output of the command, also if it ends with code 1, because a seed failed. */
const outputOf = async (options: readonly string[]): Promise<string> => {
  try {
    const { stdout } = await promisify(execFile)(execPath, [COMMAND, ...options], { maxBuffer: MOST_OUTPUT });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    return `${stdout}${stderr}`;
  }
};

/** A table in Markdown. */
export const tableOf = (all: readonly FoundBug[]): string =>
  [
    '| Planted bug | The mistake | The broken invariant | Seeds |',
    '|---|---|---|---|',
    ...all.map(
      ({ bug, seed, sentence }) => `| \`${bug.name}\` | ${bug.what} | ${sentence ?? 'none'} | ${seed ?? 'not found'} |`,
    ),
  ].join('\n');
