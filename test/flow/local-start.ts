import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';

/** `npm start` in its own process, as an operator runs it. */
export const PROJECT_FOLDER = join(import.meta.dirname, '../..');
export const START = join(PROJECT_FOLDER, 'infra/local/start.ts');

interface Command {
  readonly child: ChildProcess;
  /** The command's standard output so far. */
  output(): string;
  errors(): string;
}

export const start = (env: Record<string, string>, ...options: readonly string[]): Command =>
  spawnedCommand(process.execPath, [START, ...options], { PORT: '0', DEMO_DATA: 'none', ...env });

export const spawnedCommand = (program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Command => {
  const child = spawn(program, args, { cwd: PROJECT_FOLDER, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString('utf8');
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString('utf8');
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: () => output, errors: () => errors };
};

/** @returns the base URL, once the command says that it is ready. */
export const listening = async (command: Command): Promise<string> => {
  await vi.waitFor(() => expect(command.output() + command.errors()).toMatch(/^curl/m), {
    timeout: 60_000,
    interval: 10,
  });
  return /http:\/\/127\.0\.0\.1:\d+/.exec(command.output())?.[0] ?? '';
};

export const ends = async ({ child }: Command): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};

/** @returns why the command ended with 1. */
export const startRefusal = async (command: Command): Promise<string> => {
  expect(await ends(command)).toBe(1);
  expect(command.output()).toBe('');
  return command.errors();
};

export const inShell = async (line: string): Promise<string> => {
  const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  shell.stdout.on('data', (text: Buffer) => {
    out += text.toString('utf8');
  });
  await once(shell, 'close');
  return out;
};

export const folder = async (): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), 'local-start-test-'));
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 3 }));
  return made;
};

/** A port that another program listens on. */
export const usedPort = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return String(typeof address === 'object' ? address?.port : '');
};

/** The process that npm starts, which is the host itself. */
export const onlyChildOf = async (pid: number): Promise<number> => {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
  expect(children).toHaveLength(1);
  const [child = 0] = children;
  expect(await readFile(`/proc/${child}/cmdline`, 'utf8')).toMatch(/^node\0/);
  return child;
};

/** Processes that name this text in their command line. */
export const processesOf = async (text: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes(text)) found.push(pid);
  }
  return found;
};

/** True if a user namespace may mount a small disk. */
export const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /tmp']).status === 0;

export const DEMO_HEADERS = { 'x-session-id': 'demo-owner', 'content-type': 'application/json' };

/** Sends the request of the printed curl line without curl. */
export const createAsPrinted = async (
  output: string,
): Promise<{ status: number; body: { id: string; status: string } }> => {
  const line = output.split('\n').find((one) => one.includes('/payments/intents')) ?? '';
  const [, url = '', body = ''] = /POST (\S+) .* -d '([^']+)'/.exec(line) ?? [];
  const headers = [...line.matchAll(/-H '([^:']+): ([^']+)'/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(headers), body });
  return { status: response.status, body: JSON.parse(await response.text()) };
};
