/** @module Bundles the functions for deployment with esbuild's own options. One plugin adds computed modules. */
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { argv, stdout } from 'node:process';
import { type BuildOptions, build as esbuild, type Metafile, type Plugin } from 'esbuild';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { ADAPTERS } from '../../shared/core/settings.ts';
import { CLIENT_FOLDER, writeClient } from '../make/client/package.ts';
import { madeModules } from './stage/made-modules.ts';

/** Id of the default route's function, the only entry outside the catalogue. */
export const DEFAULT_ID = 'api.default';

export const entryIds: readonly string[] = [...endpoints, ...triggers].map(({ id }) => id).concat(DEFAULT_ID);

export const PROJECT_ROOT = resolve(import.meta.dirname, '../..');

/** The folder of the bundles. It must contain nothing else, because each build empties it. */
export const FUNCTIONS_FOLDER = join(PROJECT_ROOT, 'dist', 'functions');

export interface Bundle {
  readonly id: string;
  /** Size of the code loaded at start. */
  readonly bytes: number;
  /** Size of each provider adapter by name. An adapter loads when a slot bound to it is first used. */
  readonly adapters: ReadonlyMap<string, number>;
  /** Bytes per source, largest first, such as `shared/payments` (our folder) or `stripe` (a package). */
  readonly parts: ReadonlyMap<string, number>;
}

/**
 * Defines `require` in each bundle, because CommonJS packages load Node's modules with it. An ES module has no
 * `require` of its own.
 */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const NODE_HTTP = join(import.meta.dirname, 'stage', 'node-http.cjs');

/** This plugin adds modules and changes none. */
const PLUGINS: Plugin[] = [madeModules];

/** The esbuild options of every function. */
export const OPTIONS = {
  absWorkingDir: PROJECT_ROOT,
  bundle: true,
  minify: true,
  metafile: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  banner: { js: REQUIRE },
  // Each dynamic import (an adapter, a token library) becomes a separate file, loaded on first use.
  splitting: true,
  chunkNames: '[name]-[hash]',
  // Prefer ES modules, because esbuild leaves out their unused parts.
  mainFields: ['module', 'main'],
  alias: { http: NODE_HTTP, 'node:http': NODE_HTTP },
  // Leave out the SDK's clients of credential services. Only developers' machines use them, because Lambda gives
  // credentials in the environment.
  external: ['@aws-sdk/nested-clients'],
  sourcemap: 'external',
  sourcesContent: false,
  plugins: PLUGINS,
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Bundles every function into `<outDir>/<id>/index.mjs`, with its dynamic imports and source maps in the same folder.
 * Empties `outDir` first.
 * @param ids the functions to bundle; all by default
 * @throws if an entry of the catalogue has no file, or does not build.
 */
export const build = async (outDir: string, ids = entryIds): Promise<readonly Bundle[]> => {
  const missing = ids.filter((id) => !existsSync(join(PROJECT_ROOT, entryFile(id))));
  if (missing.length > 0) throw new Error(`no file for the entries of ${missing.join(', ')}`);
  rmSync(outDir, { recursive: true, force: true });
  const bundles: Bundle[] = [];
  const waiting = [...ids];
  // Builds each function separately, because esbuild would share files between functions of one build.
  const buildNext = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const { metafile } = await esbuild({
        ...OPTIONS,
        stdin: { contents: startOf(id), resolveDir: PROJECT_ROOT },
        entryNames: 'index',
        outdir: join(resolve(outDir), id),
      });
      removeUnused(metafile);
      bundles.push(bundleOf(id, metafile));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, buildNext));
  return bundles.sort((one, other) => other.bytes - one.bytes);
};

const entryFile = (id: string): string => `functions/${id.replaceAll('.', '/')}.ts`;

/**
 * The code of a bundle's entry. On Lambda, it prepares the handler during initialization. Only Lambda sets the
 * variable.
 */
const startOf = (id: string): string => `
  import { handler } from './${entryFile(id)}';
  if (process.env.AWS_LAMBDA_INITIALIZATION_TYPE) await handler.prepare?.();
  export { handler };`;

/** Removes files never loaded by the function. esbuild writes a file even for an import in dropped code. */
const removeUnused = ({ outputs }: Metafile): void => {
  const used = loaded(outputs, indexOf(outputs), EVER);
  for (const file of Object.keys(outputs)) if (!used.has(file.replace(/\.map$/, ''))) rmSync(join(PROJECT_ROOT, file));
};

const bundleOf = (id: string, { outputs }: Metafile): Bundle => {
  const atStart = loaded(outputs, indexOf(outputs), AT_START);
  const used = loaded(outputs, indexOf(outputs), EVER);
  const adapters = ADAPTERS.flatMap((name) => {
    const file = [...used].find((path) => outputs[path]?.entryPoint === `shared/providers/${name}/${name}.ts`);
    if (file === undefined) return [];
    const beside = [...loaded(outputs, file, AT_START)].filter((one) => !atStart.has(one));
    return [[name, bytesOf(outputs, beside)] as const];
  });
  const inputs = [...atStart].flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}));
  return {
    id,
    bytes: bytesOf(outputs, [...atStart]),
    adapters: new Map(adapters),
    parts: partsOf(inputs.map(([path, { bytesInOutput }]) => [path, bytesInOutput])),
  };
};

const AT_START = ['import-statement'];
const EVER = ['import-statement', 'dynamic-import'];

type Outputs = Metafile['outputs'];

const indexOf = (outputs: Outputs): string => Object.keys(outputs).find((file) => file.endsWith('/index.mjs')) ?? '';

/** The file and everything it imports, directly or indirectly, by these kinds of import. */
const loaded = (outputs: Outputs, file: string, kinds: readonly string[]): ReadonlySet<string> => {
  const found = new Set([file]);
  // The loop also visits the added files.
  for (const one of found)
    for (const { path, kind, external } of outputs[one]?.imports ?? [])
      if (kinds.includes(kind) && !external) found.add(path);
  return found;
};

const bytesOf = (outputs: Outputs, files: readonly string[]): number =>
  files.reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);

const partsOf = (inputs: readonly (readonly [path: string, bytes: number])[]): ReadonlyMap<string, number> => {
  const parts = new Map<string, number>();
  for (const [path, bytes] of inputs.filter(([, size]) => size > 0)) {
    const part = partName(path);
    parts.set(part, (parts.get(part) ?? 0) + bytes);
  }
  return new Map([...parts].sort(([, one], [, other]) => other - one));
};

/** The package's name, or the first two folders of the path. */
const partName = (path: string): string => {
  const [, inPackage] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return inPackage ?? dirname(path).split('/').slice(0, 2).join('/');
};

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;

const printSizes = (bundles: readonly Bundle[]): void => {
  for (const { id, bytes, parts, adapters } of bundles) {
    const largest = [...parts].slice(0, 4).map(([part, size]) => `${part} ${kilobytes(size)}`);
    const beside =
      adapters.size > 0
        ? `; beside it ${[...adapters].map(([name, size]) => `${name} ${kilobytes(size)}`).join(', ')}`
        : '';
    stdout.write(`${kilobytes(bytes).padStart(10)}  ${id.padEnd(34)} ${largest.join(', ')}${beside}\n`);
  }
};

if (import.meta.filename === resolve(argv[1] ?? '')) {
  const startedAt = performance.now();
  const bundles = await build(FUNCTIONS_FOLDER);
  await writeClient(CLIENT_FOLDER);
  printSizes(bundles);
  stdout.write(
    `${bundles.length} functions and the client in dist/ after ${Math.round(performance.now() - startedAt)} ms\n`,
  );
}
