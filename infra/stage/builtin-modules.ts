import { createRequire, isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Bundles take Node's own modules from `process.getBuiltinModule` instead of importing them. An import reads every export of
 * such a module, and some exports load other parts of Node when they are read: those of `node:http` load its whole fetch,
 * which takes longer than the rest of a function's start.
 */
export const builtinModules: Plugin = {
  name: 'builtin-modules',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[a-z:_/\d]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined;
      const namespace = kind === 'require-call' ? REQUIRED : IMPORTED;
      return { path: path.startsWith('node:') ? path : `node:${path}`, namespace, sideEffects: false };
    });
    onLoad({ filter: /.*/, namespace: REQUIRED }, ({ path }) => ({ contents: `module.exports = ${taken(path)};` }));
    onLoad({ filter: /.*/, namespace: IMPORTED }, ({ path }) => ({ contents: moduleOf(path) }));
  },
};

const REQUIRED = 'required-builtin';
const IMPORTED = 'imported-builtin';

const taken = (path: string): string => `process.getBuiltinModule('${path}')`;

/** Exports of `node:http` that load Node's fetch: a package that imports the whole module would load it, too. */
const LEFT_OUT: ReadonlySet<string> = new Set(['CloseEvent', 'MessageEvent', 'WebSocket']);

/** An ES module with the same exports; the bundle keeps and reads only those that it uses. */
const moduleOf = (path: string): string => {
  const names = Object.getOwnPropertyNames(createRequire(import.meta.url)(path)).filter(
    (name) => IDENTIFIER.test(name) && !LEFT_OUT.has(name),
  );
  return [
    `const whole = /* @__PURE__ */ ${taken(path)};`,
    'export default whole;',
    ...names.map((name, at) => `const e${at} = /* @__PURE__ */ (() => whole.${name})();`),
    `export { ${names.map((name, at) => `e${at} as ${name}`).join(', ')} };`,
  ].join('\n');
};

const IDENTIFIER = /^(?!default$)[A-Za-z_$][\w$]*$/;
