import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFloors } from '../../infra/docs/floors.ts';

const MOST_FILES = 14;
/** Files outside all floors: the entry points that combine the floors, and what starts them. */
const TOPS = [
  'shared/host.ts',
  'shared/runtime.ts',
  'infra/local/command.ts',
  'infra/local/start.ts',
  'infra/payctl/command.ts',
  'infra/payctl/payctl.ts',
  'functions/console/web/main.tsx',
];
const AREAS = Object.keys(readFloors());

/** A folder may lie within another folder of floors.json: its files belong to its own floor. */
const filesOf = (area: string): readonly string[] => {
  const within = AREAS.filter((other) => other.startsWith(`${area}/`));
  return globSync(`${area}/**/*.{ts,tsx}`).filter(
    (file) => !TOPS.includes(file) && !within.some((other) => file.startsWith(`${other}/`)),
  );
};

describe.each(Object.entries(readFloors()))('the floors of %s', (area, rows) => {
  const floors = rows.flat().map((floor) => `${area}/${floor}`);
  const folders = new Set(filesOf(area).map(dirname));

  it('name every folder with code once, and no other folder', () => {
    expect([...folders].sort()).toEqual([...floors].sort());
  });

  it('hold no code beside subfolders', () => {
    const parents = [...folders].filter((folder) => [...folders].some((other) => other.startsWith(`${folder}/`)));
    expect(parents).toEqual([]);
  });

  it(`hold at most ${MOST_FILES} files each`, () => {
    const counts = Map.groupBy(filesOf(area), dirname);
    const full = [...counts].filter(([, files]) => files.length > MOST_FILES).map(([folder]) => folder);
    expect(full).toEqual([]);
  });
});
