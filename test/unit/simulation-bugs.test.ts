import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BUGS } from '../simulation/bugs/bugs.ts';
import { tableOf } from '../simulation/bugs/hunt.ts';

describe('the planted bugs of the simulation', () => {
  test('are at least forty, each with a unique name', () => {
    expect(BUGS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  });

  test.each(BUGS)('match exactly one place in the code: $name', ({ file, text, replacement }) => {
    expect(readFileSync(file, 'utf8').split(text)).toHaveLength(2);
    expect(replacement).not.toBe(text);
  });

  test('are counted in docs/simulation.md, which names only existing bugs', () => {
    const page = readFileSync('docs/simulation.md', 'utf8');
    expect(page).toContain(`holds ${BUGS.length} planted mistakes`);
    expect(page).toContain(`of the ${BUGS.length} planted mistakes`);
    const named = [...page.matchAll(/--bug ([a-z-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !BUGS.some((bug) => bug.name === name))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });

  test('are listed with the invariant and the seed that found them', () => {
    const [first, second] = BUGS;
    if (!first || !second) throw new Error('there are no bugs');
    const table = tableOf([
      { bug: first, seed: 3, sentence: 'A payment is charged at most once' },
      { bug: second, seed: undefined, sentence: undefined },
    ]);
    expect(table).toContain(`| \`${first.name}\` | ${first.what} | A payment is charged at most once | 3 |`);
    expect(table).toContain(`| \`${second.name}\` | ${second.what} | none | not found |`);
  });
});
