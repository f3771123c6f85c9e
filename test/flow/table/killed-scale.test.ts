import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openEmbeddedTable } from '../../../infra/local/table/embedded-table.ts';
import type { Connection, Item } from '../../../shared/platform/connection.ts';
import { STREAMED } from './sort-keys.ts';

const WRITER = join(import.meta.dirname, 'writer.ts');

/** Two runs with `npm test`, twenty with `npm run test:long`. */
const KILLS = 2 * inject('scale');
const LEAST_ANSWERS = 100;

/** @returns the writes confirmed before the writer was killed */
const writeUntilKilled = async (file: string, round: number): Promise<readonly string[]> => {
  const child = spawn(process.execPath, [WRITER, file, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const enough = LEAST_ANSWERS + Math.floor(Math.random() * LEAST_ANSWERS);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > enough) child.kill('SIGKILL');
  });
  await once(child, 'close');
  // The last line may be incomplete.
  return output.split('\n').slice(0, -1);
};

const itemsOf = async (connection: Connection): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: Item | undefined;
  do {
    const page = await connection.scan({ after, limit: 1_000 });
    items.push(...page.items);
    after = page.next;
  } while (after);
  return items;
};

test('a table with its process killed under load keeps all acknowledged writes and no partial write', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'table-killed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const file = join(folder, 'table.db');
  const answered: string[] = [];
  for (let round = 1; round <= KILLS; round += 1) {
    answered.push(...(await writeUntilKilled(file, round)));
    const table = openEmbeddedTable({ file, isRecorded: () => true });
    const items = await itemsOf(table.connect(Date.now));
    const stored = items.filter(({ sk }) => sk === STREAMED).map(({ pk }) => String(pk));
    const recorded = table.log.after(0, Number.MAX_SAFE_INTEGER).map(({ key }) => key.pk);
    const counted = items.filter(({ sk }) => sk === 'COUNT').reduce((sum, { written }) => sum + Number(written), 0);
    table.close();
    expect(answered.length).toBeGreaterThanOrEqual(round * LEAST_ANSWERS);
    expect(answered.filter((id) => !new Set(stored).has(id))).toEqual([]);
    expect(recorded.toSorted()).toEqual(stored.toSorted());
    expect(counted).toBe(stored.length);
  }
});
