import type { Plugin } from 'esbuild';
import { endpoints } from '../../functions/api/catalogue.ts';

/**
 * functions/api/catalogue.ts as it is deployed: the table of routes is made here, so that `$default`, the only function that
 * reads the catalogue, does not hold every schema for it.
 */
export const catalogueMade: Plugin = {
  name: 'catalogue-made',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[/\\]functions[/\\]api[/\\]catalogue\.ts$/ }, () => ({
      contents: `export const endpoints = ${JSON.stringify(endpoints.map(({ method, path, serves }) => ({ method, path, serves })))};`,
    }));
  },
};
