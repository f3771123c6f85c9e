import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFloors } from '../../infra/make/docs/floors.ts';

/**
 * Files outside the floors (the layers of imports) of floors.json. They are the files that build the dependencies of
 * functions, the entry points of commands and pages, and the files that start these entry points.
 */
const TOPS = [
  'shared/host.ts',
  'shared/runtime.ts',
  'infra/local/command.ts',
  'infra/local/start.ts',
  'infra/payctl/command.ts',
  'infra/payctl/payctl.ts',
  'functions/console/web/main.tsx',
  'functions/pay-page/web/main.tsx',
];
const AREAS = Object.keys(readFloors());
/** A subfolder of a room is named after a vendor or after a noun of the service's users. */
const SUBFOLDERS = [
  'providers/stripe',
  'providers/paypal',
  'providers/square',
  'providers/braintree',
  'payments/refunds',
  'payments/holds',
];

/** A nested folder of floors.json has its own floor, so its files do not belong to the outer folder's floor. */
const filesOf = (area: string): readonly string[] => {
  const within = AREAS.filter((other) => other.startsWith(`${area}/`));
  return globSync(`${area}/**/*.{ts,tsx}`).filter(
    (file) => !TOPS.includes(file) && !within.some((other) => file.startsWith(`${other}/`)),
  );
};

describe.each(Object.entries(readFloors()))('the floors of %s', (area, rows) => {
  test('list every folder with code, and no other folder', () => {
    const subfolders = area === 'shared' ? SUBFOLDERS : [];
    const floors = [...rows.flat(), ...subfolders]
      .map((floor) => `${area}/${floor}`)
      .filter((floor) => !AREAS.includes(floor));
    expect([...new Set(filesOf(area).map(dirname))].sort()).toEqual([...floors].sort());
  });
});

describe('the rooms of shared', () => {
  test('are twenty-four rooms on eighteen floors', () => {
    const rows = readFloors()['shared'] ?? [];
    expect([rows.length, rows.flat().length]).toEqual([18, 24]);
  });

  test('have unique file names, except in the adapters', () => {
    const names = filesOf('shared')
      .filter((file) => !/^shared\/providers\/[a-z]+\//.test(file))
      .map((file) => basename(file));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
