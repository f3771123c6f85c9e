import type { Plugin } from 'esbuild';

/**
 * Provider adapters stand beside a function instead of in it: a slot is bound to one of them, so a function loads the one
 * that it needs and carries no weight of the others at its start. They answer outcomes and throw no error of ours, whose
 * class would be another one here.
 */
export const ADAPTER_FOLDER = 'adapters';

export const adaptersApart: Plugin = {
  name: 'adapters-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.\/\w+\/\w+\.ts$/ }, ({ path, importer, kind }) => {
      if (kind !== 'dynamic-import' || !importer.endsWith('/shared/providers/registry/registry.ts')) return undefined;
      const [, name] = /^\.\.\/(\w+)\//.exec(path) ?? [];
      return { path: `./${ADAPTER_FOLDER}/${name}.mjs`, external: true };
    });
  },
};
