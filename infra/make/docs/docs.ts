/**
 * @module `npm run docs` writes the generated parts of the documentation between the markers `<!-- generated: name -->`
 * and `<!-- end -->`. A test compares the committed pages with the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, stdout } from 'node:process';
import { checksTable } from './checks-table.ts';
import { floorParts } from './floors.ts';
import { routeParts } from './routes.ts';
import { envExample, settingsTables } from './settings-table.ts';
import { simulatorOperations } from './simulator-operations.ts';
import { stateDiagrams } from './state-diagrams.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

export const PAGES: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'docs/architecture.md': floorParts,
  'docs/deployment.md': checksTable,
  'docs/settings.md': settingsTables,
  'docs/states.md': stateDiagrams,
  'docs/local.md': simulatorOperations,
  'docs/routes.md': routeParts,
};

/** Completely generated files. */
export const FILES: Readonly<Record<string, () => string>> = { '.env.example': envExample };

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** @throws Error if a part has no marker in the page, or a marker has no generated part. */
export const withParts = (text: string, parts: Readonly<Record<string, string>>): string => {
  const left = new Set(Object.keys(parts));
  const made = text.replaceAll(/(?<=<!-- generated: (\S+) -->\n).*?(?=<!-- end -->)/gs, (_old, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`nothing makes the part ${name}`);
    left.delete(name);
    return `\n${part}\n\n`;
  });
  if (left.size > 0) throw new Error(`no place for ${[...left].join(', ')}`);
  return made;
};

if (import.meta.filename === resolve(argv[1] ?? '')) {
  for (const [page, parts] of Object.entries(PAGES)) {
    writeFileSync(join(ROOT, page), withParts(readPage(page), parts()));
    stdout.write(`${page}\n`);
  }
  for (const [file, made] of Object.entries(FILES)) {
    writeFileSync(join(ROOT, file), made());
    stdout.write(`${file}\n`);
  }
}
