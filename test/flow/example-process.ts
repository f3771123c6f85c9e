import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';

/** A program of docs/examples in its own process, until the test ends. */
export interface ExampleProcess {
  readonly url: string;
  /** Everything printed so far. */
  readonly printed: () => string;
}

const EXAMPLES = resolve(import.meta.dirname, '../../docs/examples');

/** Starts an example on a free port, and waits until it listens. */
export const startExample = (
  program: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<ExampleProcess> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [`${EXAMPLES}/${file}`], {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill());
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, url] = /listens on (http:\S+?)\/?\n/.exec(printed) ?? [];
        if (url !== undefined) resolve({ url, printed: () => printed });
      });
    }
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${file} ended with ${code}: ${printed}`)));
  });
