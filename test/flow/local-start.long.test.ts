import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  canMount,
  createAsPrinted,
  DEMO_HEADERS,
  ends,
  folder,
  inShell,
  listening,
  onlyChildOf,
  PROJECT_FOLDER,
  processesOf,
  START,
  spawnedCommand,
  start,
  startRefusal,
  usedPort,
} from './local-start.ts';

describe('npm start', () => {
  test('prints the essentials, and stops on SIGTERM with all its processes', async () => {
    const dataDir = await folder();
    const command = start({ DATA_DIR: dataDir });
    const baseUrl = await listening(command);
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

  test('prints a payment command with a service key if IDENTITY_LOOKUP is off', async () => {
    const command = start({ DATA_DIR: await folder(), IDENTITY_LOOKUP: 'off', IDENTITY_URL: '' });
    await listening(command);
    expect(command.output()).toMatch(/^Sessions +none, because IDENTITY_LOOKUP is off$/m);
    expect(command.output()).not.toContain('demo-owner');
    expect(await createAsPrinted(command.output())).toMatchObject({ status: 201, body: { status: 'created' } });
    command.child.kill('SIGTERM');
    expect(await ends(command)).toBe(0);
  });

  test('ends with all its processes if either npm or the host is killed', async () => {
    const dataDir = await folder();
    for (const pidOf of [async (npm: number) => npm, onlyChildOf]) {
      const command = spawnedCommand('sh', ['-c', `PORT=0 DEMO_DATA=none DATA_DIR=${dataDir} exec npm start`]);
      const baseUrl = await listening(command);
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
      const command = spawnedCommand('unshare', ['-rm', 'sh', '-c', within, 'sh', process.execPath, START], {
        ...{ PORT: '0', DATA_DIR: dataDir, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      });
      expect(await ends(command)).toBe(1);
      expect(command.errors()).toBe(
        `DATA_DIR: the disk of ${dataDir} is full; free some space and start again, or set another DATA_DIR\n`,
      );
    },
  );

  test('turns off npm’s engine check, even if the user’s settings turn it on', async () => {
    const strict = join(await folder(), 'npmrc');
    await writeFile(strict, 'engine-strict=true\nloglevel=warn\n');
    const settings = await inShell(
      `cd ${PROJECT_FOLDER} && npm config get engine-strict loglevel --userconfig ${strict}`,
    );
    expect(settings).toContain('engine-strict=false');
    expect(settings).toContain('loglevel=error');
  });

  test('says in one line that the machine’s version of Node is too old', async () => {
    const older = join(await folder(), 'older.cjs');
    await writeFile(older, "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });");
    const { start: script } = JSON.parse(await readFile(join(PROJECT_FOLDER, 'package.json'), 'utf8')).scripts;
    const command = spawnedCommand(
      'sh',
      ['-c', script.replace('node ', `"${process.execPath}" --require ${older} `)],
      {},
    );
    expect(await startRefusal(command)).toMatch(
      /^This project needs Node 24 or newer, and this is Node 20\.20\.2\. [^\n]+\n$/,
    );
  });

  test('has the defaults of dev with STAGE=dev, and names the variables that enable a target', async () => {
    const dataDir = await folder();
    const target = { WEBHOOK_2_URL: 'http://127.0.0.1:9/' };
    const command = start({ DATA_DIR: dataDir, STAGE: 'dev', ...target });
    await listening(command);
    expect(command.output()).toMatch(/^Stage +dev; requests are limited; raw cards are refused$/m);
    const closed = 'outbound webhooks are closed: EXTERNAL_WEBHOOKS_ENABLED and WEBHOOK_2_ENABLED are not true';
    await vi.waitFor(() => expect(command.output()).toContain(closed), { timeout: 10_000 });
    expect(command.output()).not.toContain('/_local/sink/default');
    command.child.kill('SIGTERM');
    expect(await ends(command)).toBe(0);
  });

  test('creates the demo data at the first start, and accepts a payment with the printed values', async () => {
    const dataDir = await folder();
    const command = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    const baseUrl = await listening(command);
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
    const payments = await fetch(`${await listening(again)}/payments?limit=1`, { headers: DEMO_HEADERS });
    expect(await payments.json()).toMatchObject({ data: [{ id }] });
    expect(again.output()).not.toContain('demo data');
    expect(again.output()).not.toContain('Clock');
  });

  test('loses nothing when killed, and leaves no process behind', async () => {
    const dataDir = await folder();
    const killed = start({ DATA_DIR: dataDir });
    await listening(killed);
    const { body } = await createAsPrinted(killed.output());
    killed.child.kill('SIGKILL');
    await ends(killed);
    await vi.waitFor(async () => expect(await processesOf(dataDir)).toEqual([]), { timeout: 5_000 });

    const again = start({ DATA_DIR: dataDir });
    const baseUrl = await listening(again);
    const confirmed = await fetch(`${baseUrl}/payments/confirm/${body.id}`, {
      method: 'POST',
      headers: DEMO_HEADERS,
      body: '{}',
    });
    expect(confirmed.status).toBe(200);
    expect(await confirmed.json()).toMatchObject({ id: body.id, status: 'succeeded' });
    again.child.kill('SIGINT');
    expect(await ends(again)).toBe(0);
  });

  test('prints in one line why it cannot start, and exits with 1', async () => {
    const port = await usedPort();
    const cases: [Record<string, string>, RegExp][] = [
      [{ PORT: port }, new RegExp(`^port ${port} is in use; [^\\n]+\\n$`)],
      [{ PORT: 'abc' }, /^PORT: [^\n]+\n$/],
      [{ PROVIDER_TIMEOUT_MS: 'soon' }, /^PROVIDER_TIMEOUT_MS: [^\n]+\n$/],
      [{ PROVIDER_A_API_KEY: 'sk_live_1234567890' }, /^[^\n]*live[^\n]*\n$/],
    ];
    for (const [env, line] of cases) {
      expect(await startRefusal(start({ DATA_DIR: ':memory:', ...env }))).toMatch(line);
    }
  });
});
