import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { argv, stdout } from 'node:process';
import { build as esbuild, type Metafile } from 'esbuild';
import { endpoints, triggers } from '../functions/api/catalogue.ts';
import { CLIENT_FOLDER, writeClient } from './client/package.ts';
import { builtinModules } from './stage/builtin-modules.ts';
import { catalogueMade } from './stage/catalogue-made.ts';
import { consoleMade } from './stage/console-made.ts';
import { documentMade } from './stage/document-made.ts';
import { lateParsers } from './stage/late-parsers.ts';
import { leftOut } from './stage/left-out.ts';
import { ADAPTER_FOLDER, APART_FOLDERS, LOADED_APART, loadedApart } from './stage/loaded-apart.ts';
import { ownSources } from './stage/own-sources.ts';
import { preparedEntries, preparedEntry } from './stage/prepared-entries.ts';

/** The default route's function: the only entry that the catalogue does not list. */
export const DEFAULT_ID = 'api.default';

export const entryIds: readonly string[] = [...endpoints, ...triggers].map(({ id }) => id).concat(DEFAULT_ID);

const ROOT = resolve(import.meta.dirname, '..');

/** Separate folders, so that each can be rewritten without touching the other. */
export const FUNCTIONS_FOLDER = join(ROOT, 'dist', 'functions');

export interface Bundle {
  readonly id: string;
  /** The code loaded at start. */
  readonly bytes: number;
  /** Provider adapters beside it, loaded when a slot bound to them is first used: bytes by name. */
  readonly adapters: ReadonlyMap<string, number>;
  /** Its contents, in bytes: `shared/payments` (a folder of ours), `stripe` (a package), largest first. */
  readonly parts: ReadonlyMap<string, number>;
}

/**
 * Bundles every function into `<outDir>/<id>/index.mjs`, its source map beside it. The old content of `outDir` is removed.
 * @param ids the functions to bundle; all by default
 * @throws where an entry of the catalogue has no file, or does not build.
 */
export const build = async (outDir: string, ids = entryIds): Promise<readonly Bundle[]> => {
  const missing = ids.filter((id) => !existsSync(join(ROOT, entryFile(id))));
  if (missing.length > 0) throw new Error(`no file for the entries of ${missing.join(', ')}`);
  rmSync(outDir, { recursive: true, force: true });
  const { metafile } = await esbuild({
    absWorkingDir: ROOT,
    entryPoints: {
      ...Object.fromEntries(ids.map((id) => [`${id}/index`, preparedEntry(entryFile(id))])),
      ...Object.fromEntries(Object.entries(LOADED_APART).map(([source, file]) => [file, source])),
    },
    outdir: resolve(outDir),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Prefer ES modules: they load in a third of the time of esbuild's default for Node.
    mainFields: ['module', 'main'],
    conditions: ['module'],
    sourcemap: 'external',
    plugins: [
      preparedEntries(ROOT),
      ...[builtinModules, catalogueMade, consoleMade, documentMade, lateParsers, leftOut, loadedApart, ownSources],
    ],
    logLevel: 'warning',
  });
  for (const [id, files] of apartOf(metafile)) putBeside(outDir, id, files);
  for (const folder of APART_FOLDERS) rmSync(join(outDir, folder), { recursive: true, force: true });
  return bundlesOf(metafile);
};

/** The files that stand beside each function. */
const apartOf = ({ outputs }: Metafile): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(outputs)
      .filter(([file]) => file.endsWith('/index.mjs'))
      .map(([file, { imports }]) => [idOf(file), filesApart(imports)]),
  );

const idOf = (indexFile: string): string => dirname(indexFile).split('/').at(-1) ?? '';

const filesApart = (imports: readonly { readonly path: string }[]): readonly string[] =>
  Object.values(LOADED_APART).filter((file) => imports.some(({ path }) => path === `./${file}.mjs`));

const putBeside = (outDir: string, id: string, files: readonly string[]): void => {
  for (const file of files) {
    mkdirSync(join(outDir, id, dirname(file)), { recursive: true });
    for (const kind of ['mjs', 'mjs.map'])
      copyFileSync(join(outDir, `${file}.${kind}`), join(outDir, id, `${file}.${kind}`));
  }
};

const entryFile = (id: string): string => `functions/${id.replaceAll('.', '/')}.ts`;

const bundlesOf = ({ outputs }: Metafile): readonly Bundle[] =>
  Object.entries(outputs)
    .filter(([file]) => file.endsWith('/index.mjs'))
    .map(([file, { bytes, inputs, imports }]) => ({
      id: idOf(file),
      bytes,
      adapters: adaptersOf(outputs, imports),
      parts: partsOf(Object.entries(inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput])),
    }))
    .sort((one, other) => other.bytes - one.bytes);

const adaptersOf = (
  outputs: Metafile['outputs'],
  imports: readonly { readonly path: string }[],
): ReadonlyMap<string, number> =>
  new Map(
    filesApart(imports)
      .filter((file) => dirname(file) === ADAPTER_FOLDER)
      .map((file) => {
        const [, output] = Object.entries(outputs).find(([path]) => path.endsWith(`/${file}.mjs`)) ?? [];
        return [basename(file), output?.bytes ?? 0];
      }),
  );

const partsOf = (inputs: readonly (readonly [path: string, bytes: number])[]): ReadonlyMap<string, number> => {
  const parts = new Map<string, number>();
  for (const [path, bytes] of inputs.filter(([, size]) => size > 0)) {
    const part = partName(path);
    parts.set(part, (parts.get(part) ?? 0) + bytes);
  }
  return new Map([...parts].sort(([, one], [, other]) => other - one));
};

/** The package's name, or the first two folders. */
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
