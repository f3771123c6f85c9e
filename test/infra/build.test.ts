/**
 * @module Checks that a function runs the source exactly as it is written. The build changes no source, and adds
 * nothing that a function needs.
 */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build as esbuild, type PluginBuild } from 'esbuild';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { build, OPTIONS, PROJECT_ROOT } from '../../infra/deploy/build.ts';
import { gatewayRequest } from '../bench/gateway-request.ts';
import { withHost } from '../flow/host.ts';
import { temporaryFolder } from './synthesized.ts';

const SOURCES = [
  '{functions,shared}/**/*.{ts,tsx,json}',
  'node_modules/{zod,stripe,braintree,@middy,ipaddr.js,standardwebhooks,jose,aws-jwt-verify}/**/*.{js,mjs,cjs}',
  'node_modules/{@aws-sdk,@smithy}/*/{dist-es,dist-cjs}/**/*.js',
];

type Hook = (file: string) => Promise<unknown>;

/** These modules contain data that the build computes. */
const DATA = [
  'functions/api/catalogue.ts',
  'functions/api/document.ts',
  'functions/console/bundle.ts',
  'functions/pay-page/bundle.ts',
];

/** The functions of the build's plugins that load a generated file or replace an imported file. */
const hooksOfPlugins = async (): Promise<{ readonly loads: readonly Hook[]; readonly resolves: readonly Hook[] }> => {
  const [loads, resolves]: [Hook[], Hook[]] = [[], []];
  const recorded: Partial<PluginBuild> = {
    initialOptions: {},
    onLoad: ({ filter, namespace = 'file' }, load) => {
      if (namespace !== 'file') return;
      loads.push(async (path) =>
        filter.test(path) ? load({ path, namespace, suffix: '', pluginData: undefined, with: {} }) : undefined,
      );
    },
    onResolve: ({ filter }, resolveImport) => {
      const args = {
        importer: '',
        namespace: 'file',
        kind: 'import-statement',
        pluginData: undefined,
        with: {},
      } as const;
      resolves.push(async (file) => {
        const path = `./${basename(file)}`;
        return filter.test(path) ? resolveImport({ ...args, path, resolveDir: dirname(file) }) : undefined;
      });
    },
  };
  for (const plugin of OPTIONS.plugins) await plugin.setup(recorded as PluginBuild);
  return { loads, resolves };
};

const statementsOf = (file: string): readonly ts.Statement[] =>
  ts.createSourceFile(file, readFileSync(join(PROJECT_ROOT, file), 'utf8'), ts.ScriptTarget.Latest).statements;

const isDefinition = (statement: ts.Statement): boolean =>
  ts.isImportDeclaration(statement)
    ? statement.importClause !== undefined
    : ts.isExportDeclaration(statement) || ts.isVariableStatement(statement) || ts.isDeclarationStatement(statement);

describe('the build', () => {
  test('loads every source file unchanged, except for the modules with computed data', async () => {
    const { loads, resolves } = await hooksOfPlugins();
    const files = globSync(SOURCES, { cwd: PROJECT_ROOT }).map((file) => resolve(PROJECT_ROOT, file));
    const touchedBy = async (hooks: readonly Hook[]): Promise<readonly string[]> => {
      const touched: string[] = [];
      for (const file of files)
        for (const hook of hooks) if ((await hook(file)) !== undefined) touched.push(relative(PROJECT_ROOT, file));
      return touched.toSorted();
    };
    expect(files.length).toBeGreaterThan(2_000);
    expect(await touchedBy(loads)).toEqual([]);
    expect(await touchedBy(resolves)).toEqual(DATA);
  });

  test('may omit unused files, because loading a file only makes definitions', () => {
    const files = globSync('{functions,shared}/**/*.ts', {
      cwd: PROJECT_ROOT,
      exclude: ['functions/{console,pay-page}/web/**'],
    });
    const doing = files.filter((file) => !statementsOf(file).every(isDefinition));
    expect({ doing, isComplete: files.length > 300 }).toEqual({ doing: [], isComplete: true });
  });

  test('uses only the plugins that are tested here', () => {
    const files = globSync('infra/**/*.ts', { cwd: PROJECT_ROOT });
    const plugins = files.filter((file) => /\bonLoad\b|\bonEnd\b/.test(readFileSync(join(PROJECT_ROOT, file), 'utf8')));
    expect(plugins).toEqual([join('infra', 'deploy', 'stage', 'made-modules.ts')]);
    expect(OPTIONS.plugins.map(({ name }) => name)).toEqual(['made-modules']);
  });

  test('injects no code, drops none, and excludes only the clients of credential services', () => {
    expect(OPTIONS.external).toEqual(['@aws-sdk/nested-clients']);
    for (const option of ['inject', 'pure', 'drop']) expect(OPTIONS).not.toHaveProperty(option);
    expect(Object.keys(OPTIONS.alias)).toEqual(['http', 'node:http']);
  });
});

describe('a function that esbuild bundles without our build’s options', () => {
  const host = withHost();
  const folder = temporaryFolder();
  const ID = 'payments.create-intent';
  const BODY = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa', description: 'Two tickets' };
  const REQUESTS = [
    gatewayRequest('POST /payments/intents', { body: BODY }),
    gatewayRequest('POST /payments/intents', { body: { ...BODY, currency: 'nowhere', total_cents: -1 } }),
    gatewayRequest('POST /payments/intents', { body: 'no object' }),
    { ...gatewayRequest('POST /payments/intents', { body: BODY }), headers: { 'content-type': 'application/json' } },
  ];

  const answeredBy = async (file: string): Promise<readonly unknown[]> => {
    const script = `
      const { handler } = await import(${JSON.stringify(pathToFileURL(file).href)});
      const answers = [];
      for (const request of ${JSON.stringify(REQUESTS)})
        answers.push(await handler(request, { awsRequestId: 'r', getRemainingTimeInMillis: () => 10_000 }));
      process.stdout.write('\\n' + JSON.stringify(answers), () => process.exit());`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      env: host.host().env,
    });
    const answers = z.array(z.object({ statusCode: z.number(), body: z.string() }));
    return answers
      .parse(JSON.parse(stdout.split('\n').at(-1) ?? ''))
      .map(({ statusCode, body }) => shown(statusCode, JSON.parse(body)));
  };

  const answeredByHost = (): Promise<readonly unknown[]> =>
    Promise.all(
      REQUESTS.map(async ({ headers, body }) => {
        const response = await fetch(`${host.host().baseUrl}/payments/intents`, {
          method: 'POST',
          headers: new Headers(Object.entries(headers)),
          body: body ?? '',
        });
        return shown(response.status, await response.json());
      }),
    );

  /** A response without its ids and times, which differ from request to request. */
  const shown = (status: number, body: unknown): unknown => ({
    status,
    body: JSON.parse(
      JSON.stringify(body)
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
        .replaceAll(/"(\w{2,4})_[\w-]{8,}"/g, '"$1_…"')
        .replaceAll(/"request_id":"[^"]*"/g, '"request_id":"…"'),
    ),
  });

  test('responds like the deployed function and the local host', async () => {
    const plain = join(folder, 'plain', 'index.mjs');
    const entry = join(PROJECT_ROOT, 'functions', 'payments', 'create-intent.ts');
    await esbuild({
      entryPoints: [entry],
      outfile: plain,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // Needed because packages that are not ES modules call `require`.
      banner: OPTIONS.banner,
    });
    await build(join(folder, 'stage'), [ID]);
    const expected = await answeredByHost();
    expect(expected.map((answer) => z.object({ status: z.number() }).parse(answer).status)).toEqual([
      201, 400, 400, 401,
    ]);
    expect(await answeredBy(join(folder, 'stage', ID, 'index.mjs'))).toEqual(expected);
    expect(await answeredBy(plain)).toEqual(expected);
  });
});
