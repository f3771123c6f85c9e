import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const VALUE_IMPORT = /^(?:import|export)\s+(?!type\b)[^;]*?from '(\.[^']+)'/gm;

/** All files of the service that an entry loads at its start. Type imports do not count. */
const filesLoadedBy = (entry: string): readonly string[] => {
  const loaded = new Set<string>();
  const pending = [resolve(ROOT, entry)];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(VALUE_IMPORT)) {
      pending.push(resolve(dirname(file), path));
    }
  }
  return [...loaded].map((file) => relative(ROOT, file)).sort();
};

test('the sweep of due work loads no record, provider adapter or use case', () => {
  const files = filesLoadedBy('functions/workers/sweep-due.ts');
  expect(files).toContain('shared/workers/sweep-due.ts');
  expect(files.length).toBeLessThanOrEqual(30);
  const useCases = /^shared\/(payments|subscriptions|customers|payment-methods|memberships|organizations|removal)\//;
  expect(files.filter((file) => useCases.test(file))).toEqual([]);
});
