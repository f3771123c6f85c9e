import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { apiDocumentAt } from '../../functions/api/document.ts';

/** functions/api/document.ts as it is deployed: the document is made here, so that no function carries every schema for it. */
export const documentMade: Plugin = {
  name: 'document-made',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[/\\]functions[/\\]api[/\\]document\.ts$/ }, ({ path }) => ({
      contents: [
        `const made = ${JSON.stringify(apiDocumentAt(''))};`,
        'export const apiDocumentAt = (baseUrl) => ({ ...made, servers: [{ url: baseUrl }] });',
      ].join('\n'),
      resolveDir: resolve(path, '..'),
    }));
  },
};
