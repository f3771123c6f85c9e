import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { isFullDisk } from '../../infra/local/machine/full-disk.ts';
import { createTurns, type Sync } from '../../infra/local/table/turns.ts';

const open = (sync?: Sync) => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE note (text TEXT PRIMARY KEY)');
  const insert = database.prepare('INSERT INTO note VALUES (?)');
  const turns = createTurns(database, { sync });
  return {
    turns,
    note: (...texts: readonly string[]) =>
      turns.run(() => {
        turns.write(() => {
          for (const text of texts) insert.run(text);
        });
        return texts.length;
      }),
    notes: () =>
      database
        .prepare('SELECT text FROM note ORDER BY text')
        .all()
        .map(({ text }) => text),
    isOpen: () => database.isTransaction,
  };
};

test('the work of one turn is one transaction, and its callers get a response after the commit', async () => {
  const { note, notes, isOpen } = open();
  const answers = [note('a'), note('b', 'c')];
  expect(isOpen()).toBe(true);
  expect(await Promise.all(answers)).toEqual([1, 2]);
  expect(isOpen()).toBe(false);
  expect(notes()).toEqual(['a', 'b', 'c']);
});

test('a failed write stores nothing of its turn and fails all of its callers, and the next turn works', async () => {
  const { turns, note, notes } = open();
  await note('a');
  const answers = [note('b'), note('c', 'a'), turns.run(notes)];
  for (const outcome of await Promise.allSettled(answers)) expect(outcome.status).toBe('rejected');
  expect(notes()).toEqual(['a']);
  expect(await note('d')).toBe(1);
  expect(notes()).toEqual(['a', 'd']);
});

test('a failed write reports whether the disk is full', async () => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE note (text TEXT PRIMARY KEY); PRAGMA max_page_count = 3');
  const insert = database.prepare('INSERT INTO note VALUES (?)');
  const reported: boolean[] = [];
  const turns = createTurns(database, { onFailedWrite: (error) => reported.push(isFullDisk(error)) });
  const write = (text: string) => turns.run(() => turns.write(() => insert.run(text)));
  await expect(write('x'.repeat(100_000))).rejects.toThrow('full');
  await write('a');
  await expect(write('a')).rejects.toThrow('UNIQUE');
  expect(reported).toEqual([true, false]);
});

test('refused work that has not written does not affect the other work of its turn', async () => {
  const { turns, note, notes } = open();
  const refused = turns.run(() => {
    throw new Error('no');
  });
  const noted = note('a');
  await expect(refused).rejects.toThrow('no');
  expect(await noted).toBe(1);
  expect(notes()).toEqual(['a']);
});

/** A disk whose syncs end when the test says so. */
const openDisk = () => {
  const syncs: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  const sync: Sync = () => new Promise((done, fail) => syncs.push({ done, fail }));
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const isAnswered = async (answer: Promise<unknown>): Promise<boolean> => {
    await turn();
    return Promise.race([answer.then(() => true), turn().then(() => false)]);
  };
  return { sync, syncs, isAnswered };
};

test('a write returns once it is on disk, and a read once all earlier writes are on disk', async () => {
  const { sync, syncs, isAnswered } = openDisk();
  const { turns, note, notes } = open(sync);
  const written = note('a');
  expect(await isAnswered(written)).toBe(false);
  const read = turns.run(notes);
  expect(await isAnswered(read)).toBe(false);
  const later = note('b');
  expect(await isAnswered(later)).toBe(false);
  const readLater = turns.run(notes);
  expect(await isAnswered(readLater)).toBe(false);
  expect(syncs).toHaveLength(1);
  syncs[0]?.done();
  expect(await Promise.all([written, read])).toEqual([1, ['a']]);
  // Turns that commit during a sync share the next sync.
  expect(await isAnswered(later)).toBe(false);
  expect(syncs).toHaveLength(2);
  syncs[1]?.done();
  expect(await Promise.all([later, readLater])).toEqual([1, ['a', 'b']]);
  await turns.synced();
  expect(await turns.run(notes)).toEqual(['a', 'b']);
  expect(syncs).toHaveLength(2);
});

test('a write fails if its own sync or an earlier sync failed', async () => {
  const { sync, syncs, isAnswered } = openDisk();
  const { note } = open(sync);
  const written = note('a');
  written.catch(() => undefined);
  await isAnswered(Promise.resolve());
  syncs[0]?.fail(new Error('no space'));
  await expect(written).rejects.toThrow('no space');
  const later = note('b');
  later.catch(() => undefined);
  await isAnswered(Promise.resolve());
  syncs[1]?.done();
  await expect(later).rejects.toThrow('no space');
});
