import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * Zod writes and compiles a parser for each schema of an object when the schema first parses, which takes as long as hundreds
 * of parses without it. In bundles it does so at the 20th parse: a first answer waits for no compilation, and a warm function
 * is as fast.
 */
export const lateParsers: Plugin = {
  name: 'late-parsers',
  setup: ({ onLoad }) => {
    onLoad({ filter: /zod[/\\]v4[/\\]core[/\\]schemas\.js$/ }, async ({ path }) => ({
      contents: withLateParsers(await readFile(path, 'utf8')),
    }));
  },
};

export const LATE_PARSE = 20;

/** @throws where zod's source is not the one that these changes are for */
export const withLateParsers = (source: string): string =>
  CHANGES.reduce((text, [old, changed]) => {
    if (text.split(old).length !== 2) throw new Error(`zod's source does not hold this once: ${old}`);
    return text.replace(old, changed);
  }, source);

const CHANGES = [
  ['let fastpass;', 'let fastpass; let parses = 0;'],
  ['ctx.jitless !== true', `ctx.jitless !== true && ++parses >= ${LATE_PARSE}`],
] as const;
