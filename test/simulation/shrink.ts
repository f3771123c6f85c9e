import { type RunOptions, type RunResult, simulate } from './simulation.ts';

/**
 * Makes a failed history smaller: switches off operations, then faults, kills and delays, by halves, as long as the run fails
 * with the same sentence.
 */
export const shrink = async (failed: RunResult, options: RunOptions): Promise<RunOptions> => {
  const sentence = sentenceOf(failed);
  let off: ReadonlySet<string> = options.off ?? new Set();
  let smallest = failed;
  const fails = async (more: readonly string[]): Promise<boolean> => {
    const tried = new Set([...off, ...more]);
    const result = await simulate({ ...options, off: tried });
    if (sentenceOf(result) !== sentence) return false;
    off = tried;
    smallest = result;
    return true;
  };
  const without = async (names: readonly string[]): Promise<void> => {
    if (names.length === 0 || (await fails(names)) || names.length === 1) return;
    const middle = Math.ceil(names.length / 2);
    await without(names.slice(0, middle));
    await without(names.slice(middle));
  };
  for (const kind of ['operation', 'event'] as const)
    await without(smallest.happened[kind].filter((name) => !off.has(name)));
  return { ...options, off };
};

const sentenceOf = ({ problems }: RunResult): string | undefined => problems[0]?.split(':')[0];
