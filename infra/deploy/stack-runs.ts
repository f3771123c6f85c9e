/** @module Runs CDK for stacks in sequence or in parallel, and reports the result of each. */

import { startWatch, whileSaying } from './stage/progress.ts';

/** Runs CDK with variables of the deployment. @param onLine gets each line that CDK prints @returns its exit code. */
export type RunCdk = (args: readonly string[], onLine?: (line: string) => void) => Promise<number>;

export interface StackRuns {
  readonly say: (line: string) => void;
  readonly run: RunCdk;
  /** True if CDK's whole output is printed. */
  readonly verbose: boolean;
  /** The word for success, such as `deployed`. */
  readonly done: string;
  /** Called right before CDK starts with a stack. */
  readonly before?: (name: string) => Promise<void>;
}

export interface StackRun {
  readonly name: string;
  /** The exit code of CDK; undefined if an earlier failure kept it from starting. */
  readonly code: number | undefined;
  readonly elapsed: string;
  /** The outputs of the stack, such as `BaseUrl = https://…`. */
  readonly outputs: readonly string[];
}

/** The folder of the approved build, which `cdk deploy` uses. */
export const OUTPUT_FOLDER = 'cdk.out';
const BUILT = ['--exclusively', '--app', OUTPUT_FOLDER, '--require-approval', 'never'];
/** Number of parallel CDK processes. */
const AT_ONCE = 4;
/** Number of CDK's last lines to print after a failure. They contain its error. */
const LAST_LINES = 8;

/**
 * @param options of `cdk deploy` for each stack
 * @param parallel true if no stack depends on another stack's changes. Otherwise, a failure skips the later stacks.
 */
export const runStacks = async (
  runs: StackRuns,
  names: readonly string[],
  { options, parallel }: { readonly options: readonly string[]; readonly parallel: boolean },
): Promise<readonly StackRun[]> => {
  const done = new Map<string, StackRun>();
  const waiting = [...names];
  const isStopped = (): boolean => !parallel && [...done.values()].some(({ code }) => code !== 0);
  const next = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const run = isStopped()
        ? { name, code: undefined, elapsed: '', outputs: [] }
        : await runStack(runs, name, options);
      done.set(name, run);
    }
  };
  await Promise.all(Array.from({ length: parallel ? AT_ONCE : 1 }, next));
  return names.flatMap((name) => done.get(name) ?? []);
};

const runStack = async (runs: StackRuns, name: string, options: readonly string[]): Promise<StackRun> => {
  const { say, run, verbose, done, before } = runs;
  await before?.(name);
  const elapsed = startWatch();
  const lines: string[] = [];
  const onLine = (line: string): void => {
    lines.push(line);
    if (verbose) say(line);
  };
  const args = ['deploy', name, ...BUILT, '--progress', 'events', ...options];
  const doing = (): string => `${name}: ${resourcesDone(lines)}in progress`;
  const code = await whileSaying(say, doing, () => run(args, onLine));
  say(`${name}: ${code === 0 ? done : 'failed'}, ${elapsed()}`);
  if (code !== 0 && !verbose) for (const line of whatFailed(lines)) say(`  ${line}`);
  return { name, code, elapsed: elapsed(), outputs: outputsIn(name, lines) };
};

/** Reads the progress from CDK's events, such as `payments-dev-api | 12/45 | 10:22:33 AM | CREATE_COMPLETE | …`. */
const resourcesDone = (lines: readonly string[]): string => {
  const counted = lines.findLast((line) => COUNT.test(line));
  const [, count = '', all = ''] = COUNT.exec(counted ?? '') ?? [];
  return count === '' ? '' : `${count} of ${all} resources, `;
};
const COUNT = /\|\s*(\d+)\/(\d+)\s*\|/;

const whatFailed = (lines: readonly string[]): readonly string[] => {
  const events = lines.filter((line) => /\|\s*\w+_FAILED\s*\|/.test(line));
  const last = lines.filter((line) => line.trim() !== '').slice(-LAST_LINES);
  return [...new Set([...events, ...last])];
};

/** A stack's outputs from CDK's lines, without exports, which only other stacks read. */
const outputsIn = (name: string, lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.startsWith(`${name}.`) && line.includes(' = '))
    .map((line) => line.slice(name.length + 1))
    .filter((line) => !line.startsWith('ExportsOutput'));

/** Lists the deployed and skipped stacks after a failure. @param statusOf the status of a stack in CloudFormation */
export const describeRuns = async (
  runs: readonly StackRun[],
  statusOf: (name: string) => Promise<string>,
): Promise<readonly string[]> => {
  const deployed = runs.filter(({ code }) => code === 0);
  const failed = runs.filter(({ code }) => code !== undefined && code !== 0);
  const notStarted = runs.filter(({ code }) => code === undefined);
  const names = (of: readonly StackRun[]): string => (of.length === 0 ? 'none' : of.map(({ name }) => name).join(', '));
  const withStatus = await Promise.all(failed.map(async ({ name }) => `${name} (${await statusOf(name)})`));
  return [
    `deployed: ${names(deployed)}`,
    `failed: ${withStatus.join(', ')}`,
    `not deployed, as before: ${names(notStarted)}`,
  ];
};
