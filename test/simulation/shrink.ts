import { type RunOptions, type RunResult, simulate } from './simulation.ts';

export interface Shrunk {
  /** The smallest history that still breaks the invariant. */
  readonly options: RunOptions;
  readonly result: RunResult;
  /** The number of histories that shrinking has run. */
  readonly tries: number;
}

const MOST_TRIES = 80;

/**
 * Makes a failed history smaller. Switches off halves of the fault kinds, people, operations and single faults, as long
 * as the run breaks the same invariant.
 */
export const shrink = async (
  failed: RunResult,
  options: RunOptions,
  run: (options: RunOptions) => Promise<RunResult> = simulate,
): Promise<Shrunk> => {
  const sentence = sentenceOf(failed);
  let off: ReadonlySet<string> = options.off ?? new Set();
  let smallest = failed;
  let tries = 0;
  const fails = async (more: readonly string[]): Promise<boolean> => {
    if (tries >= MOST_TRIES) return false;
    tries += 1;
    const tried = new Set([...off, ...more]);
    const result = await run({ ...options, off: tried });
    if (sentenceOf(result) !== sentence) return false;
    off = tried;
    smallest = result;
    return true;
  };
  const without = async (names: readonly string[]): Promise<void> => {
    if (names.length === 0 || (await fails(names)) || names.length === 1) return;
    const middle = Math.ceil(names.length / 2);
    await without(names.slice(middle));
    await without(names.slice(0, middle));
  };
  await without(kindsOf(smallest));
  await without(smallest.happened.people);
  await without(smallest.happened.operations);
  await without(smallest.happened.events);
  return { options: { ...options, off }, result: smallest, tries };
};

/** `answer lost 12` is of the kind `answer lost`. */
const kindsOf = ({ happened }: RunResult): readonly string[] => [
  ...new Set(happened.events.map((name) => name.replace(/ \d+$/, ''))),
];

const sentenceOf = ({ problems }: RunResult): string | undefined => problems[0]?.split(':')[0];
