import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { matchesShown, type TourStep } from './tour.ts';

/** The addresses in the docs for the local host and for the reader's own program. */
const LOCAL = 'http://127.0.0.1:3000';
const OWN_PORT = '4001';
const BREAK = '=== the next step';
const PATH = '/usr/local/bin:/usr/bin:/bin';

export const canRunTours =
  spawnSync('bash', ['-c', 'command -v curl && command -v grep'], { env: { PATH } }).status === 0;

/** Runs a page's commands in a folder, and compares each output with the block below the command. */
export const runTour = async (steps: readonly TourStep[], baseUrl: string, folder: string): Promise<void> => {
  const port = await freePort();
  const script = steps.map(({ commands }) => {
    const own = commands.replaceAll(LOCAL, baseUrl).replaceAll(OWN_PORT, port);
    return `${own}\necho '${BREAK}'\n`;
  });
  const temporary = await mkdtemp(join(tmpdir(), 'payments-tour-'));
  const printed = (await inBash(script.join(''), folder, temporary)).split(BREAK);
  await rm(temporary, { recursive: true });
  for (const [index, { commands, shown }] of steps.entries()) {
    const answer = printed[index] ?? '';
    expect(matchesShown(shown ?? '', answer), `${commands}printed\n${answer}`).toBe(true);
  }
};

const freePort = (): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(String(port)));
    });
  });

/** Programs started by the script end with the script. */
const END = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n`;

const inBash = async (script: string, folder: string, temporary: string): Promise<string> => {
  // Without this setting, a failed `curl -s` in a guide prints nothing.
  await writeFile(join(temporary, '.curlrc'), 'show-error\n');
  return new Promise((resolve, reject) => {
    const bash = spawn('bash', ['-eu', '-o', 'pipefail'], {
      cwd: folder,
      env: { PATH, TMPDIR: temporary, CURL_HOME: temporary },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let out = '';
    bash.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    bash.on('error', reject);
    bash.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`bash ended with ${code}: ${out}`))));
    bash.stdin.end(END + script);
  });
};
