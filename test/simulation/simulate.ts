import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';

/** The simulation replaces the clock of its process, so it runs in separate processes. */
export const runSimulation = async (
  ...options: readonly string[]
): Promise<{ readonly code: number; readonly out: string }> => {
  try {
    const { stdout } = await promisify(execFile)(execPath, ['test/simulation/run.ts', ...options], {
      maxBuffer: 2 ** 28,
    });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: `${stdout}${stderr}` };
  }
};
