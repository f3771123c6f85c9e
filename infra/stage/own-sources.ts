import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { withoutDescriptions } from './descriptions-out.ts';
import { LAZILY, lazyExports, withLazyConstants } from './lazy-constants.ts';

/**
 * The service's own sources as bundles hold them: without descriptions, and with constants that are computed at their first
 * use.
 */
export const ownSources: Plugin = {
  name: 'own-sources',
  setup: ({ onLoad, onResolve, initialOptions }) => {
    const root = resolve(initialOptions.absWorkingDir ?? '.');
    const folders = [join(root, 'shared'), join(root, 'functions')];
    const isOwn = (path: string): boolean => folders.some((folder) => path.startsWith(folder));
    const known = new Map<string, ReadonlySet<string>>();
    const exportsOf = (path: string): ReadonlySet<string> => {
      const found = known.get(path) ?? readExports(path);
      known.set(path, found);
      return found;
    };
    const readExports = (path: string): ReadonlySet<string> =>
      isOwn(path) && path.endsWith('.ts') && !MADE_BY_THE_BUILD.test(path)
        ? lazyExports(path, readFileSync(path, 'utf8'))
        : new Set();

    onResolve({ filter: new RegExp(`^${LAZILY.module}$`) }, ({ path }) => ({ path, namespace: LAZILY.module }));
    onLoad({ filter: /.*/, namespace: LAZILY.module }, () => ({ contents: LAZILY.source }));
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!isOwn(path)) return undefined;
      const source = withoutDescriptions(await readFile(path, 'utf8'));
      return { contents: withLazyConstants(path, source, exportsOf), loader: 'ts' };
    });
  },
};

/** Other plugins replace these files; the constants in their place are computed already. */
const MADE_BY_THE_BUILD = /[/\\]functions[/\\](?:console[/\\]bundle|api[/\\](?:catalogue|document))\.ts$/;
