import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { consoleEntry, consoleFiles } from '../../functions/console/bundle.ts';

/** functions/console/bundle.ts as it is deployed: with the files of the console instead of the code that bundles them. */
export const consoleMade: Plugin = {
  name: 'console-made',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[/\\]functions[/\\]console[/\\]bundle\.ts$/ }, ({ path }) => ({
      contents: [
        `export const consoleEntry = ${JSON.stringify(consoleEntry)};`,
        `export const consoleFiles = ${JSON.stringify(consoleFiles)};`,
      ].join('\n'),
      resolveDir: resolve(path, '..'),
    }));
  },
};
