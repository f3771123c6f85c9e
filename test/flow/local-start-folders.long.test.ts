import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test, vi } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import {
  createAsPrinted,
  DEMO_HEADERS,
  ends,
  folder,
  listening,
  processesOf,
  start,
  startRefusal,
  usedPort,
} from './local-start.ts';

describe('npm start with a data folder', () => {
  test('clears the unfinished demo data of a previous start that was stopped', async () => {
    const dataDir = await folder();
    const stopped = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    await vi.waitFor(() => expect(stopped.output()).toContain('Making demo data'), { timeout: 60_000 });
    stopped.child.kill('SIGKILL');
    await ends(stopped);
    await vi.waitFor(async () => expect(await processesOf(dataDir)).toEqual([]), { timeout: 5_000 });
    const again = start({ DATA_DIR: dataDir });
    const payments = await fetch(`${await listening(again)}/payments`, { headers: DEMO_HEADERS });
    expect(await payments.json()).toMatchObject({ data: [] });
    expect(again.output()).not.toContain('Clock');
    expect(again.output()).toMatch(/^Unfinished demo data of an earlier start were cleared\.$/m);
    const { body } = await createAsPrinted(again.output());
    again.child.kill('SIGKILL');
    await ends(again);

    const last = start({ DATA_DIR: dataDir });
    const kept = await fetch(`${await listening(last)}/payments`, { headers: DEMO_HEADERS });
    expect(await kept.json()).toMatchObject({ data: [{ id: body.id }] });
    expect(last.output()).not.toContain('cleared');
  });

  test('prints no error and no demo data if it is stopped while it creates the demo data', async () => {
    const dataDir = await folder();
    const stopped = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    await vi.waitFor(() => expect(stopped.output()).toContain('Making demo data'), { timeout: 60_000 });
    // A terminal sends Ctrl-C to the whole process group, and npm forwards its own signal.
    stopped.child.kill('SIGINT');
    stopped.child.kill('SIGINT');
    expect(await ends(stopped)).toBe(0);
    expect(stopped.errors()).toBe('');
    expect(stopped.output()).not.toContain('Demo data  ');
  });

  test('keeps data created after a failed start on a new folder', async () => {
    const dataDir = await folder();
    const port = await usedPort();
    expect(await startRefusal(start({ DATA_DIR: dataDir, DEMO_DATA: 'demo', PORT: port }))).toContain('in use');
    const first = start({ DATA_DIR: dataDir });
    await listening(first);
    const { body } = await createAsPrinted(first.output());
    first.child.kill('SIGINT');
    await ends(first);

    const again = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    const kept = await fetch(`${await listening(again)}/payments`, { headers: DEMO_HEADERS });
    expect(await kept.json()).toMatchObject({ data: [{ id: body.id }] });
    expect(again.output()).not.toContain('cleared');
  });

  test('creates the demo data after a failed start on a new folder', async () => {
    const dataDir = await folder();
    await startRefusal(start({ DATA_DIR: dataDir, DEMO_DATA: 'demo', PORT: await usedPort() }));
    const again = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo' });
    await vi.waitFor(() => expect(again.output()).toContain('Making demo data'), { timeout: 60_000 });
  });

  test('exits with one line if the demo data cannot be created, and the next start clears the partial data', async () => {
    const dataDir = await folder();
    const failed = start({ DATA_DIR: dataDir, DEMO_DATA: 'demo', IDENTITY_URL: 'http://127.0.0.1:9' });
    expect(await ends(failed)).toBe(1);
    expect(failed.errors()).toMatch(/^The demo data could not be made: [^\n]+\n$/);
    const again = start({ DATA_DIR: dataDir });
    await listening(again);
    expect(again.output()).toMatch(/^Unfinished demo data of an earlier start were cleared\.$/m);
  });

  test('empties a folder with --fresh, even if the folder’s state file is missing', async () => {
    const dataDir = await folder();
    const first = start({ DATA_DIR: dataDir });
    await listening(first);
    await createAsPrinted(first.output());
    first.child.kill('SIGTERM');
    await ends(first);
    await rm(join(dataDir, 'host.db'));

    const fresh = start({ DATA_DIR: dataDir }, '--fresh');
    const payments = await fetch(`${await listening(fresh)}/payments`, { headers: DEMO_HEADERS });
    expect(await payments.json()).toMatchObject({ data: [] });
  });

  test('deletes no file of another program with --fresh', async () => {
    const dataDir = await folder();
    const table = join(dataDir, 'table.db');
    await writeFile(table, 'these are the notes of another program, in a file of the same name');
    expect(await startRefusal(start({ DATA_DIR: dataDir }, '--fresh'))).toMatch(
      /^DATA_DIR: [^\n]+ nothing was deleted[^\n]+\n$/,
    );
    expect(await readFile(table, 'utf8')).toContain('these are the notes');
    await rm(table);
    const database = new DatabaseSync(table);
    database.exec('CREATE TABLE notes (text TEXT)');
    database.close();
    expect(await startRefusal(start({ DATA_DIR: dataDir }, '--fresh'))).toMatch(
      /^DATA_DIR: [^\n]+ has no table [^\n]+\n$/,
    );
    expect(await readdir(dataDir)).toEqual(['table.db']);
    await rm(table);
    await mkdir(join(dataDir, 'failures'));
    await writeFile(join(dataDir, 'failures', 'notes.txt'), 'kept');
    await writeFile(join(dataDir, 'failures', 'ledger.jsonl'), '');
    await listening(start({ DATA_DIR: dataDir }, '--fresh'));
    expect(await readdir(join(dataDir, 'failures'))).toEqual(['notes.txt']);
  });

  test('empties the folder of a killed host with --fresh', async () => {
    const dataDir = await folder();
    const killed = start({ DATA_DIR: dataDir });
    await listening(killed);
    await createAsPrinted(killed.output());
    killed.child.kill('SIGKILL');
    await ends(killed);
    const fresh = start({ DATA_DIR: dataDir }, '--fresh');
    const payments = await fetch(`${await listening(fresh)}/payments`, { headers: DEMO_HEADERS });
    expect(await payments.json()).toMatchObject({ data: [] });
  });

  test('prints its clock’s offset from real time, and starts with an empty folder with --fresh', async () => {
    const dataDir = await folder();
    await writeFile(join(dataDir, 'unrelated.txt'), 'kept');
    const first = start({ DATA_DIR: dataDir });
    const baseUrl = await listening(first);
    await createAsPrinted(first.output());
    await fetch(`${baseUrl}/_local/clock`, { method: 'POST', body: JSON.stringify({ advance: 2 * DAY_SECONDS + 60 }) });
    expect(await startRefusal(start({ DATA_DIR: dataDir }, '--fresh'))).toMatch(
      /^another local host uses this DATA_DIR; [^\n]+\n$/,
    );
    first.child.kill('SIGTERM');
    await ends(first);

    const moved = start({ DATA_DIR: dataDir });
    await listening(moved);
    expect(moved.output()).toMatch(/^Clock +\S+Z, 2 days ahead of real time; npm start -- --fresh resets it$/m);
    moved.child.kill('SIGTERM');
    await ends(moved);

    const fresh = start({ DATA_DIR: dataDir }, '--fresh');
    const payments = await fetch(`${await listening(fresh)}/payments`, { headers: DEMO_HEADERS });
    expect(await payments.json()).toMatchObject({ data: [] });
    expect(fresh.output()).not.toContain('Clock');
    expect(await readFile(join(dataDir, 'unrelated.txt'), 'utf8')).toBe('kept');
  });

  test('prints the functions’ logs only with --logs or a LOG_LEVEL', async () => {
    const logsOf = async (env: Record<string, string>, ...options: readonly string[]): Promise<boolean> => {
      const command = start({ DATA_DIR: ':memory:', ...env }, ...options);
      const baseUrl = await listening(command);
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

  test('leaves no temporary files with :memory:, even after a kill', async () => {
    const temporary = await folder();
    const command = start({ DATA_DIR: ':memory:', TMPDIR: temporary });
    await listening(command);
    expect(await readdir(temporary)).toEqual([]);
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
      expect(await startRefusal(start({ DATA_DIR: dataDir }))).toMatch(/^DATA_DIR: [^\n]+\n$/);
    }
    for (const damagedFile of ['simulator.db', 'table.db']) {
      expect(await startRefusal(start({ DATA_DIR: await damaged(damagedFile) }))).toMatch(/^DATA_DIR: [^\n]+\n$/);
    }
  });
});
