import { resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { apiDocumentAt } from '../../functions/api/document.ts';

/**
 * functions/api/document.ts as it is deployed: the document is made here, so that no function carries every schema for it.
 * It is kept compressed (a tenth of its size) and unpacked at the first request.
 */
export const documentMade: Plugin = {
  name: 'document-made',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[/\\]functions[/\\]api[/\\]document\.ts$/ }, ({ path }) => ({
      contents: [
        `import { brotliDecompressSync } from 'node:zlib';`,
        `const packed = '${brotliCompressSync(JSON.stringify(apiDocumentAt(''))).toString('base64')}';`,
        'let made;',
        'export const apiDocumentAt = (baseUrl) => {',
        `  made ??= JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString('utf8'));`,
        '  return { ...made, servers: [{ url: baseUrl }] };',
        '};',
      ].join('\n'),
      resolveDir: resolve(path, '..'),
    }));
  },
};
