import { fork } from 'node:child_process';
import { once } from 'node:events';
import { argv } from 'node:process';
import * as z from 'zod';

/**
 * A part of a bench that runs in its own process, so its work is measured separately. The process sends one message
 * when ready.
 */
export interface StartedProcess {
  readonly said: unknown;
  stop(): Promise<void>;
}

/** @throws if the process ends before it is ready */
export const startProcess = async (
  file: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<StartedProcess> => {
  const child = fork(file, [JSON.stringify(settings)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const [said] = await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => {
      throw new Error(`${file} ended with ${code}`);
    }),
  ]);
  return {
    said,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
};

const settingsSchema = z.record(z.string(), z.string());

/** The settings from the arguments of the process. */
export const settingsOfProcess = (): Readonly<Record<string, string>> =>
  settingsSchema.parse(JSON.parse(argv[2] ?? '{}'));

/** Reports that the process is ready, and stops its work on SIGTERM. */
export const ready = (said: unknown, stop: () => Promise<void>): void => {
  process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
  process.send?.(said);
};
