import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';

/** `npm start` in its own process, as an operator runs it. */
const ROOT = join(import.meta.dirname, '../..');
const START = join(ROOT, 'infra/local/start.ts');

interface Command {
  readonly child: ChildProcess;
  /** Its output so far. */
  output(): string;
  errors(): string;
}

const start = (env: Record<string, string>, ...options: readonly string[]): Command =>
  spawned(process.execPath, [START, ...options], { PORT: '0', DEMO_DATA: 'none', ...env });

const spawned = (program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Command => {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
const ready = async (command: Command): Promise<string> => {
  await vi.waitFor(() => expect(command.output() + command.errors()).toMatch(/^curl/m), {
    timeout: 10_000,
    interval: 10,
  });
  return /http:\/\/127\.0\.0\.1:\d+/.exec(command.output())?.[0] ?? '';
};

const ends = async ({ child }: Command): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};

/** @returns why the command ended with 1. */
const refusalOf = async (command: Command): Promise<string> => {
  expect(await ends(command)).toBe(1);
  expect(command.output()).toBe('');
  return command.errors();
};

const inShell = async (line: string): Promise<string> => {
  const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  shell.stdout.on('data', (text: Buffer) => {
    out += text.toString('utf8');
  });
  await once(shell, 'close');
  return out;
};

const folder = async (): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), 'local-start-test-'));
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 3 }));
  return made;
};

/** A port that another program listens on. */
const usedPort = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return String(typeof address === 'object' ? address?.port : '');
};

/** The process that npm starts, which is the host itself. */
const onlyChildOf = async (pid: number): Promise<number> => {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
  expect(children).toHaveLength(1);
  const [child = 0] = children;
  expect(await readFile(`/proc/${child}/cmdline`, 'utf8')).toMatch(/^node\0/);
  return child;
};

/** Processes that name this text in their command line. */
const processesOf = async (text: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes(text)) found.push(pid);
  }
  return found;
};

/** True if a user namespace may mount a small disk. */
const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /tmp']).status === 0;

const session = { 'x-session-id': 'demo-owner', 'content-type': 'application/json' };

/** Sends the printed curl line by other means. */
const createAsPrinted = async (output: string): Promise<{ status: number; body: { id: string; status: string } }> => {
  const line = output.split('\n').find((one) => one.includes('/payments/intents')) ?? '';
  const [, url = '', body = ''] = /POST (\S+) .* -d '([^']+)'/.exec(line) ?? [];
  const response = await fetch(url, { method: 'POST', headers: session, body });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

describe('npm start', () => {
  test('prints the essentials, and stops on SIGTERM with all its processes', async () => {
    const dataDir = await folder();
    const command = start({ DATA_DIR: dataDir });
    const baseUrl = await ready(command);
    for (const text of [baseUrl, '/docs', 'demo-owner', 'demo-member', 'demo-admin', 'whsec_local_provider_a']) {
      expect(command.output()).toContain(text);
    }
    expect(command.output()).toMatch(/^Stage +local; no request is limited .*; raw cards are accepted$/m);
    expect(command.output()).toMatch(
      new RegExp(
        `^Outbound webhooks +to ${baseUrl}/_local/sink/default, for which npm start sets\\n +EXTERNAL_WEBHOOKS_ENABLED=true and WEBHOOK_1_ENABLED=true;`,
        'm',
      ),
    );
    expect((await fetch(`${baseUrl}/health`)).status).toBe(200);
    expect(await createAsPrinted(command.output())).toMatchObject({ status: 201, body: { status: 'created' } });
    const lastLine = () => command.output().trimEnd().split('\n').at(-1);
    await vi.waitFor(() => expect(lastLine()).toMatch(new RegExp(`^Console +${baseUrl}/console$`)));
    expect(command.output()).not.toContain('Clock');
    command.child.kill('SIGTERM');
    expect(await ends(command)).toBe(0);
    expect(await processesOf(dataDir)).toEqual([]);
    expect(command.errors()).toBe('');
  });

  test('ends with the command npm start, whichever of their processes is killed', async () => {
    const dataDir = await folder();
    for (const pidOf of [async (npm: number) => npm, onlyChildOf]) {
      const command = spawned('sh', ['-c', `PORT=0 DEMO_DATA=none DATA_DIR=${dataDir} exec npm start`]);
      const baseUrl = await ready(command);
      process.kill(await pidOf(command.child.pid ?? 0), 'SIGTERM');
      // The pipes close when the last process that holds them ends.
      await once(command.child, 'close');
      await expect(fetch(`${baseUrl}/health`)).rejects.toThrow();
      expect(command.errors()).not.toMatch(/^ +at /m);
    }
  });

  test.skipIf(!canMount).each(['100k', '400k', '1m', '3m'])(
    'ends with one line on a full disk of %s (skipped without the right to mount)',
    async (size) => {
      const dataDir = await folder();
      const within = `mount -t tmpfs -o size=${size} tmpfs ${dataDir} && exec "$@"`;
      const command = spawned('unshare', ['-rm', 'sh', '-c', within, 'sh', process.execPath, START], {
        ...{ PORT: '0', DATA_DIR: dataDir, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      });
      expect(await ends(command)).toBe(1);
      expect(command.errors()).toBe(
        `DATA_DIR: the disk of ${dataDir} is full; free some space and start again, or set another DATA_DIR\n`,
      );
    },
  );

  test('is installed without checks against the Node that runs npm, also for a strict user', async () => {
    const strict = join(await folder(), 'npmrc');
    await writeFile(strict, 'engine-strict=true\nloglevel=warn\n');
    const settings = await inShell(`cd ${ROOT} && npm config get engine-strict loglevel --userconfig ${strict}`);
    expect(settings).toContain('engine-strict=false');
    expect(settings).toContain('loglevel=error');
  });

  test('says in one line that the Node of the machine is too old', async () => {
    const older = join(await folder(), 'older.cjs');
    await writeFile(older, "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });");
    const { start: script } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).scripts;
    const command = spawned('sh', ['-c', script.replace('node ', `"${process.execPath}" --require ${older} `)], {});
    expect(await refusalOf(command)).toMatch(
      /^This project needs Node 24 or newer, and this is Node 20\.20\.2\. [^\n]+\n$/,
    );
  });

  test('has the defaults of dev when started as dev, and names the variables that enable a target', async () => {
    const dataDir = await folder();
    const target = { WEBHOOK_2_URL: 'http://127.0.0.1:9/' };
    const command = start({ DATA_DIR: dataDir, STAGE: 'dev', ...target });
    await ready(command);
    expect(command.output()).toMatch(/^Stage +dev; requests are limited; raw cards are refused$/m);
    await vi.waitFor(() =>
      expect(command.output()).toContain(
        'outbound webhooks are closed: EXTERNAL_WEBHOOKS_ENABLED and WEBHOOK_2_ENABLED are not true',
      ),
    );
    expect(command.output()).not.toContain('/_local/sink/default');
    command.child.kill('SIGTERM');
    expect(await ends(command)).toBe(0);
  });

  test('creates the demo data at the first start, and accepts a payment with the printed values', async () => {
    const dataDir = await folder();
    const command = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    const baseUrl = await ready(command);
    expect((await fetch(`${baseUrl}/health`)).status).toBe(200);
    const printed = command.output().match(/^(?:PAYMENT=\$\()?curl .*$/gm) ?? [];
    expect(printed).toHaveLength(2);
    const { id, status } = JSON.parse(await inShell(printed.join('\n')));
    expect({ id, status }).toEqual({ id: expect.stringMatching(/^pay_/), status: 'succeeded' });
    expect(command.output()).toMatch(/^Demo data +made in [\d.]+ s\n\nConsole .*\/console\n$/m);
    expect(command.errors()).toBe('');
    command.child.kill('SIGTERM');
    expect(await ends(command)).toBe(0);

    const again = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    const payments = await fetch(`${await ready(again)}/payments?limit=1`, { headers: session });
    expect(await payments.json()).toMatchObject({ data: [{ id }] });
    expect(again.output()).not.toContain('demo data');
    expect(again.output()).not.toContain('Clock');
  });

  test('recreates the demo data if the previous start was stopped while creating it', async () => {
    const dataDir = await folder();
    const stopped = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    await vi.waitFor(() => expect(stopped.output()).toContain('Making demo data'), { timeout: 20_000 });
    stopped.child.kill('SIGKILL');
    await ends(stopped);
    await vi.waitFor(async () => expect(await processesOf(dataDir)).toEqual([]), { timeout: 5_000 });
    const again = start({ DATA_DIR: dataDir });
    const payments = await fetch(`${await ready(again)}/payments`, { headers: session });
    expect(await payments.json()).toMatchObject({ data: [] });
    expect(again.output()).not.toContain('Clock');
    expect(again.output()).toMatch(/^Unfinished demo data of an earlier start were cleared\.$/m);
    const { body } = await createAsPrinted(again.output());
    again.child.kill('SIGKILL');
    await ends(again);

    const last = start({ DATA_DIR: dataDir });
    const kept = await fetch(`${await ready(last)}/payments`, { headers: session });
    expect(await kept.json()).toMatchObject({ data: [{ id: body.id }] });
    expect(last.output()).not.toContain('cleared');
  });

  test('prints nothing but its output if it is stopped while it creates the demo data', async () => {
    const dataDir = await folder();
    const stopped = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    await vi.waitFor(() => expect(stopped.output()).toContain('Making demo data'), { timeout: 20_000 });
    // A terminal sends Ctrl-C to the whole group, and npm passes its own on.
    stopped.child.kill('SIGINT');
    stopped.child.kill('SIGINT');
    expect(await ends(stopped)).toBe(0);
    expect(stopped.errors()).toBe('');
    expect(stopped.output()).not.toContain('Demo data  ');
  });

  test('keeps data created after a failed start on a new folder', async () => {
    const dataDir = await folder();
    const port = await usedPort();
    expect(await refusalOf(start({ DATA_DIR: dataDir, DEMO_DATA: 'demo', PORT: port }))).toContain('in use');
    const first = start({ DATA_DIR: dataDir });
    await ready(first);
    const { body } = await createAsPrinted(first.output());
    first.child.kill('SIGINT');
    await ends(first);

    const again = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    const kept = await fetch(`${await ready(again)}/payments`, { headers: session });
    expect(await kept.json()).toMatchObject({ data: [{ id: body.id }] });
    expect(again.output()).not.toContain('cleared');
  });

  test('creates the demo data after a failed start on a new folder', async () => {
    const dataDir = await folder();
    await refusalOf(start({ DATA_DIR: dataDir, DEMO_DATA: 'demo', PORT: await usedPort() }));
    const again = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    await vi.waitFor(() => expect(again.output()).toContain('Making demo data'), { timeout: 20_000 });
  });

  test('exits with one line if the demo data cannot be created, and the next start clears the partial data', async () => {
    const dataDir = await folder();
    const failed = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo', IDENTITY_URL: 'http://127.0.0.1:9' });
    expect(await ends(failed)).toBe(1);
    expect(failed.errors()).toMatch(/^The demo data could not be made: [^\n]+\n$/);
    const again = start({ DATA_DIR: dataDir });
    await ready(again);
    expect(again.output()).toMatch(/^Unfinished demo data of an earlier start were cleared\.$/m);
  });

  test('empties a folder without its state file with --fresh', async () => {
    const dataDir = await folder();
    const first = start({ DATA_DIR: dataDir });
    await ready(first);
    await createAsPrinted(first.output());
    first.child.kill('SIGTERM');
    await ends(first);
    await rm(join(dataDir, 'host.db'));

    const fresh = start({ DATA_DIR: dataDir }, '--fresh');
    const payments = await fetch(`${await ready(fresh)}/payments`, { headers: session });
    expect(await payments.json()).toMatchObject({ data: [] });
  });

  test('deletes no file of another program with --fresh', async () => {
    const dataDir = await folder();
    const table = join(dataDir, 'table.db');
    await writeFile(table, 'these are the notes of another program, in a file of the same name');
    expect(await refusalOf(start({ DATA_DIR: dataDir }, '--fresh'))).toMatch(
      /^DATA_DIR: [^\n]+ nothing was deleted[^\n]+\n$/,
    );
    expect(await readFile(table, 'utf8')).toContain('these are the notes');
    await rm(table);
    const database = new DatabaseSync(table);
    database.exec('CREATE TABLE notes (text TEXT)');
    database.close();
    expect(await refusalOf(start({ DATA_DIR: dataDir }, '--fresh'))).toMatch(
      /^DATA_DIR: [^\n]+ has no table [^\n]+\n$/,
    );
    expect(await readdir(dataDir)).toEqual(['table.db']);
    await rm(table);
    await mkdir(join(dataDir, 'failures'));
    await writeFile(join(dataDir, 'failures', 'notes.txt'), 'kept');
    await writeFile(join(dataDir, 'failures', 'ledger.jsonl'), '');
    await ready(start({ DATA_DIR: dataDir }, '--fresh'));
    expect(await readdir(join(dataDir, 'failures'))).toEqual(['notes.txt']);
  });

  test('empties the folder of a killed host with --fresh', async () => {
    const dataDir = await folder();
    const killed = start({ DATA_DIR: dataDir });
    await ready(killed);
    await createAsPrinted(killed.output());
    killed.child.kill('SIGKILL');
    await ends(killed);
    const fresh = start({ DATA_DIR: dataDir }, '--fresh');
    const payments = await fetch(`${await ready(fresh)}/payments`, { headers: session });
    expect(await payments.json()).toMatchObject({ data: [] });
  });

  test('prints its clock’s offset from real time, and starts with an empty folder with --fresh', async () => {
    const dataDir = await folder();
    await writeFile(join(dataDir, 'unrelated.txt'), 'kept');
    const first = start({ DATA_DIR: dataDir });
    const baseUrl = await ready(first);
    await createAsPrinted(first.output());
    await fetch(`${baseUrl}/_local/clock`, { method: 'POST', body: JSON.stringify({ advance: 2 * DAY_SECONDS + 60 }) });
    expect(await refusalOf(start({ DATA_DIR: dataDir }, '--fresh'))).toMatch(
      /^another local host uses this DATA_DIR; [^\n]+\n$/,
    );
    first.child.kill('SIGTERM');
    await ends(first);

    const moved = start({ DATA_DIR: dataDir });
    await ready(moved);
    expect(moved.output()).toMatch(/^Clock +\S+Z, 2 days ahead of real time; npm start -- --fresh resets it$/m);
    moved.child.kill('SIGTERM');
    await ends(moved);

    const fresh = start({ DATA_DIR: dataDir }, '--fresh');
    const payments = await fetch(`${await ready(fresh)}/payments`, { headers: session });
    expect(await payments.json()).toMatchObject({ data: [] });
    expect(fresh.output()).not.toContain('Clock');
    expect(await readFile(join(dataDir, 'unrelated.txt'), 'utf8')).toBe('kept');
  });

  test('prints the functions’ logs only with --logs or a LOG_LEVEL', async () => {
    const logsOf = async (env: Record<string, string>, ...options: readonly string[]): Promise<boolean> => {
      const command = start({ DATA_DIR: ':memory:', ...env }, ...options);
      const baseUrl = await ready(command);
      await createAsPrinted(command.output());
      await fetch(`${baseUrl}/_local/settle`, { method: 'POST' });
      command.child.kill('SIGTERM');
      await ends(command);
      return command.output().includes('"level":"INFO"');
    };
    expect(await logsOf({})).toBe(false);
    expect(await logsOf({}, '--logs')).toBe(true);
    expect(await logsOf({ LOG_LEVEL: 'info' })).toBe(true);
  });

  test('loses nothing when killed, and leaves no process behind', async () => {
    const dataDir = await folder();
    const killed = start({ DATA_DIR: dataDir });
    await ready(killed);
    const { body } = await createAsPrinted(killed.output());
    killed.child.kill('SIGKILL');
    await ends(killed);
    await vi.waitFor(async () => expect(await processesOf(dataDir)).toEqual([]), { timeout: 5_000 });

    const again = start({ DATA_DIR: dataDir });
    const baseUrl = await ready(again);
    const confirmed = await fetch(`${baseUrl}/payments/confirm/${body.id}`, {
      method: 'POST',
      headers: session,
      body: '{}',
    });
    expect(confirmed.status).toBe(200);
    expect(await confirmed.json()).toMatchObject({ id: body.id, status: 'succeeded' });
    again.child.kill('SIGINT');
    expect(await ends(again)).toBe(0);
  });

  test.each([
    ['embedded', 0],
    ['dynoxide', 1],
  ])('keeps no data of :memory: with the engine %s, however it exits', async (engine, folders) => {
    const temporary = await folder();
    const command = start({ DATA_DIR: ':memory:', TMPDIR: temporary, DYNAMODB_ENGINE: engine });
    await ready(command);
    expect(await readdir(temporary)).toHaveLength(folders);
    command.child.kill('SIGKILL');
    await vi.waitFor(async () => expect(await readdir(temporary)).toEqual([]), { timeout: 5_000 });
  });

  test('prints in one line, immediately, why it cannot use its data folder', async () => {
    const damaged = async (file: string): Promise<string> => {
      const made = await folder();
      await writeFile(join(made, file), 'this is no database, but long enough to be taken for one');
      return made;
    };
    const file = join(await folder(), 'file');
    await writeFile(file, '');
    for (const dataDir of [file, join(file, 'below'), '/proc/payments', '/proc', await damaged('host.db')]) {
      expect(await refusalOf(start({ DATA_DIR: dataDir }))).toMatch(/^DATA_DIR: [^\n]+\n$/);
    }
    for (const damagedFile of ['simulator.db', 'table.db']) {
      expect(await refusalOf(start({ DATA_DIR: await damaged(damagedFile) }))).toMatch(/^DATA_DIR: [^\n]+\n$/);
    }
    const dynoxide = { DYNAMODB_ENGINE: 'dynoxide', DATA_DIR: await damaged('dynamodb.db') };
    expect(await refusalOf(start(dynoxide))).toMatch(
      /^the DynamoDB engine does not start with [^\n]+dynamodb\.db: [^\n]+\n$/,
    );
  });

  test('prints in one line why it cannot start, and exits with 1', async () => {
    const port = await usedPort();
    const cases: [Record<string, string>, RegExp][] = [
      [{ PORT: port }, new RegExp(`^port ${port} is in use; [^\\n]+\\n$`)],
      [{ PORT: 'abc' }, /^PORT: [^\n]+\n$/],
      [{ PROVIDER_TIMEOUT_MS: 'soon' }, /^PROVIDER_TIMEOUT_MS: [^\n]+\n$/],
      [{ PROVIDER_A_API_KEY: 'sk_live_1234567890' }, /^[^\n]*live[^\n]*\n$/],
      [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' }, /^the endpoint http:\/\/127\.0\.0\.1:9[^\n]*\n$/],
    ];
    for (const [env, line] of cases) {
      expect(await refusalOf(start({ DATA_DIR: ':memory:', ...env }))).toMatch(line);
    }
  });
});
