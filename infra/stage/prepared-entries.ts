import { resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Entries as they are deployed: where Lambda starts one, its handler prepares itself before the start ends. Lambda alone sets
 * the variable.
 */
const PREPARED = 'prepared:';

export const preparedEntry = (file: string): string => `${PREPARED}${file}`;

/** @param root of the project */
export const preparedEntries = (root: string): Plugin => ({
  name: 'prepared-entries',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: new RegExp(`^${PREPARED}`) }, ({ path }) => ({
      path: path.slice(PREPARED.length),
      namespace: PREPARED,
    }));
    onLoad({ filter: /./, namespace: PREPARED }, ({ path }) => ({
      contents: `import { handler } from ${JSON.stringify(resolve(root, path))};
        if (process.env.AWS_LAMBDA_INITIALIZATION_TYPE) await handler.prepare?.();
        export { handler };`,
      resolveDir: root,
    }));
  },
});
