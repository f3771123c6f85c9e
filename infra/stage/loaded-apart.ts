import { basename, dirname, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { ADAPTERS } from '../../shared/core/settings.ts';

/**
 * What a function loads only when it needs it stands beside the function instead of in it: the provider adapters, of which
 * a slot is bound to one, and the libraries of tokens. So a function carries none of them at its start. They answer outcomes
 * and throw no error of ours, whose class would be another one here.
 */
export const ADAPTER_FOLDER = 'adapters';
const TOKEN_FOLDER = 'tokens';

/** Files that stand beside functions, by their source: `adapters/stripe`, without extension. */
export const LOADED_APART: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ADAPTERS.map((name) => [`shared/providers/${name}/${name}.ts`, `${ADAPTER_FOLDER}/${name}`])),
  'shared/access/guest-signature.ts': `${TOKEN_FOLDER}/guest-signature`,
  'shared/access/bearer-token.ts': `${TOKEN_FOLDER}/bearer-token`,
};

/** The folders of these files. */
export const APART_FOLDERS: readonly string[] = [...new Set(Object.values(LOADED_APART).map(dirname))];

export const loadedApart: Plugin = {
  name: 'loaded-apart',
  setup: ({ onResolve, initialOptions }) => {
    const root = resolve(initialOptions.absWorkingDir ?? '.');
    const apart = new Map(Object.entries(LOADED_APART).map(([source, file]) => [resolve(root, source), file]));
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      const file = apart.get(resolve(resolveDir, path));
      if (file === undefined) throw new Error(`${basename(path)} is loaded apart: add it to LOADED_APART`);
      return { path: `./${file}.mjs`, external: true };
    });
  },
};
