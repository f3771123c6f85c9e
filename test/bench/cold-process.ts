import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';

/** A new process that imports a deployed function. With `call`, the function also responds to one request. */
export interface ColdProcess {
  /** The files to import, in this order. The last file exports the handler. */
  readonly files: readonly string[];
  readonly call?: {
    readonly env: Readonly<Record<string, string>>;
    readonly event: unknown;
    /** The expected status; any other status fails the benchmark. */
    readonly status: number;
  };
}

/** Processor milliseconds of the whole process from its start, and of the response alone. */
export interface ColdTimes {
  readonly whole: number;
  readonly answer: number;
  /** The body of the response. */
  readonly body: string;
}

export const coldProcess = ({ files, call }: ColdProcess): ColdTimes => {
  const { status, stdout, stderr } = spawnSync(execPath, ['--input-type=module', '-e', scriptOf(files, call)], {
    encoding: 'utf8',
    // Passes none of this process's settings, because a setting would open the table or load an adapter.
    env: { ...call?.env },
  });
  if (status !== 0) throw new Error(stderr);
  return timesSchema.parse(JSON.parse(stdout.split('\n').at(-1) ?? ''));
};

const timesSchema = z.object({ whole: z.number(), answer: z.number(), body: z.string().default('') });

const scriptOf = (files: readonly string[], call: ColdProcess['call']): string => `
  let entry, body;
  for (const url of ${JSON.stringify(files.map((file) => pathToFileURL(file).href))}) entry = await import(url);
  const used = () => (({ user, system }) => (user + system) / 1_000)(process.cpuUsage());
  const started = used();
  ${call ? answerOf(call.event, call.status) : ''}
  const whole = used();
  process.stdout.write('\\n' + JSON.stringify({ whole, answer: whole - started, body }), () => process.exit());`;

const answerOf = (event: unknown, status: number): string => `
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 10_000 };
  const answer = await entry.handler(${JSON.stringify(event)}, context);
  if (answer.statusCode !== ${status}) throw new Error(answer.statusCode + ' ' + answer.body);
  body = answer.body;`;
