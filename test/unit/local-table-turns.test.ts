import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createTurns } from '../../infra/local/table/turns.ts';

const open = () => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE note (text TEXT PRIMARY KEY)');
  const insert = database.prepare('INSERT INTO note VALUES (?)');
  const turns = createTurns(database);
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

test('the work of one turn is one transaction, whose callers are answered after its commit', async () => {
  const { note, notes, isOpen } = open();
  const answers = [note('a'), note('b', 'c')];
  expect(isOpen()).toBe(true);
  expect(await Promise.all(answers)).toEqual([1, 2]);
  expect(isOpen()).toBe(false);
  expect(notes()).toEqual(['a', 'b', 'c']);
});

test('a write that fails stores nothing of its turn and fails all its callers, and the next turn works', async () => {
  const { turns, note, notes } = open();
  await note('a');
  const answers = [note('b'), note('c', 'a'), turns.run(notes)];
  for (const outcome of await Promise.allSettled(answers)) expect(outcome.status).toBe('rejected');
  expect(notes()).toEqual(['a']);
  expect(await note('d')).toBe(1);
  expect(notes()).toEqual(['a', 'd']);
});

test('work that refuses its request before it writes leaves the others of its turn alone', async () => {
  const { turns, note, notes } = open();
  const refused = turns.run(() => {
    throw new Error('no');
  });
  const noted = note('a');
  await expect(refused).rejects.toThrow('no');
  expect(await noted).toBe(1);
  expect(notes()).toEqual(['a']);
});
