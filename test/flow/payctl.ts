/** @module Runs payctl in a separate process against the local host. */

import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { expect } from 'vitest';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PAYCTL = new URL('../../infra/payctl/payctl.ts', import.meta.url).pathname;

/** @param url if undefined, payctl finds the local host itself */
export const spawned = (
  url: string | undefined,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    execFile(
      execPath,
      [PAYCTL, ...(url === undefined ? [] : ['--url', url]), ...args],
      { env },
      (error, stdout, stderr) => {
        resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr });
      },
    );
  });

export const payctlOf =
  (service: TestHost) =>
  async (
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<{ exitCode: number; json: ParsedJson }> => {
    const { exitCode, stdout, stderr } = await spawned(service.host().baseUrl, ['--json', ...args], env);
    expect({ args, stderr }).toEqual({ args, stderr: '' });
    return { exitCode, json: JSON.parse(stdout) };
  };
