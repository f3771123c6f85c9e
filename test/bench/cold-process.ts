import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';

/** A new process that imports a function as it is deployed, and may answer one request. */
export interface ColdProcess {
  /** Imported in this order; the last one exports the handler. */
  readonly files: readonly string[];
  readonly call?: {
    readonly env: Readonly<Record<string, string>>;
    readonly event: unknown;
    /** The status of the answer; another one fails the benchmark. */
    readonly status: number;
  };
}

/** @returns processor milliseconds of the whole process, from its birth */
export const coldProcess = ({ files, call }: ColdProcess): number => {
  const { status, stdout, stderr } = spawnSync(execPath, ['--input-type=module', '-e', scriptOf(files, call)], {
    encoding: 'utf8',
    // Nothing of this process: a setting would open the table or load an adapter.
    env: { ...call?.env },
  });
  if (status !== 0) throw new Error(stderr);
  return z.coerce.number().parse(stdout.split('\n').at(-1));
};

const scriptOf = (files: readonly string[], call: ColdProcess['call']): string => `
  let entry;
  for (const url of ${JSON.stringify(files.map((file) => pathToFileURL(file).href))}) entry = await import(url);
  ${call ? answerOf(call.event, call.status) : ''}
  const { user, system } = process.cpuUsage();
  process.stdout.write('\\n' + (user + system) / 1_000, () => process.exit());`;

const answerOf = (event: unknown, status: number): string => `
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 10_000 };
  const answer = await entry.handler(${JSON.stringify(event)}, context);
  if (answer.statusCode !== ${status}) throw new Error(answer.statusCode + ' ' + answer.body);`;
