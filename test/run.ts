import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, execPath, exit, stdout } from 'node:process';
import * as z from 'zod';
import { CLIENT_FOLDER, writeClient } from '../infra/make/client/package.ts';
import { installOwnPackages } from '../infra/make/own-packages.ts';

/**
 * `node test/run.ts` runs every check, then every test, and prints `N passed, N failed` as the last line; a check
 * counts as one test. `node test/run.ts checks` runs the checks alone.
 */
const main = async (): Promise<void> => {
  const total = await runChecks();
  if (argv[2] !== 'checks') {
    const tests = await runTests();
    total.passed += tests.passed;
    total.failed += tests.failed;
  }
  say(`\n${total.passed} passed, ${total.failed} failed`);
  exit(total.failed === 0 ? 0 : 1);
};

interface Count {
  passed: number;
  failed: number;
}

interface Finding {
  readonly ok: boolean;
  readonly text: string;
}

const say = (line: string): void => {
  stdout.write(`${line}\n`);
};

/** Runs a tool of the project with the Node of this process, not with the machine's Node. */
const tool = (name: string, ...args: readonly string[]): Promise<{ code: number; out: string }> =>
  program(`node_modules/.bin/${name}`, ...args);

const program = (file: string, ...args: readonly string[]): Promise<{ code: number; out: string }> =>
  new Promise((done, fail) => {
    const child = spawn(execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (out += text));
    child.on('error', fail);
    child.on('close', (code) => done({ code: code ?? 1, out }));
  });

const plain = async (name: string, ...args: readonly string[]): Promise<Finding> =>
  findingOf(await tool(name, ...args));

const findingOf = ({ code, out }: { readonly code: number; readonly out: string }): Finding => ({
  ok: code === 0,
  text: out,
});

const FOLDERS = ['functions', 'infra', 'shared', 'test'] as const;

const cruised = z.object({
  modules: z.array(z.object({ source: z.string() })),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/**
 * Checks the boundaries between folders. dependency-cruiser also succeeds without any file, so this check requires that
 * the tool has read every file.
 */
const boundaries = async (): Promise<Finding> => {
  const { out } = await tool('depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...FOLDERS);
  let answer: unknown;
  try {
    answer = JSON.parse(out);
  } catch {
    return { ok: false, text: out };
  }
  const { modules, summary } = cruised.parse(answer);
  const seen = new Set(modules.map(({ source }) => source));
  const files = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { exclude: ['**/node_modules'] }));
  const unseen = files.filter((file) => !seen.has(file));
  const problems = [
    ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
    ...unseen.map((file) => `not seen: ${file}`),
  ];
  return { ok: problems.length === 0 && seen.size > 0, text: problems.join('\n') };
};

/** The native compiler, by its path: TypeScript 6 has the same command name, and some tools load it as a library. */
const TSC = 'node_modules/typescript7/bin/tsc';
const PROGRAMS = ['.', 'functions/console/web', 'functions/pay-page/web'] as const;

/** Checks all programs. The console and the hosted page are separate programs, for browsers. */
const types = async (): Promise<Finding> => {
  const found = await Promise.all(PROGRAMS.map((folder) => program(TSC, '--noEmit', '-p', folder)));
  return { ok: found.every(({ code }) => code === 0), text: found.map(({ out }) => out).join('\n') };
};

const KNIP = join(import.meta.dirname, 'dead-code');

const deadCode = async (): Promise<Finding> => {
  installOwnPackages(KNIP);
  return findingOf(await program(join(KNIP, 'node_modules/knip/bin/knip.js'), '--no-progress'));
};

const CHECKS: Readonly<Record<string, () => Promise<Finding>>> = {
  types,
  lint: () => plain('biome', 'check', '--error-on-warnings', '.'),
  boundaries,
  'dead code': deadCode,
  prose: () => plain('cspell', '--no-progress', '--show-context'),
};

const runChecks = async (): Promise<Count> => {
  const count = { passed: 0, failed: 0 };
  // Writes the generated client first, because the console uses its types.
  await writeClient(CLIENT_FOLDER);
  await Promise.all(
    Object.entries(CHECKS).map(async ([name, check]) => {
      const { ok, text } = await check();
      count[ok ? 'passed' : 'failed'] += 1;
      say(ok ? `ok      ${name}` : `\nFAILED  ${name}\n${text}`);
    }),
  );
  return count;
};

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

/** Vitest prints its progress and failures itself; its JSON report gives the totals. */
const runTests = async (): Promise<Count> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-test-'));
  try {
    const file = join(folder, 'report.json');
    const code = await vitest('--reporter=default', '--reporter=json', `--outputFile.json=${file}`);
    return countOf(code, readReport(file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const vitest = (...args: readonly string[]): Promise<number> =>
  new Promise((done, fail) => {
    const child = spawn(execPath, ['node_modules/.bin/vitest', 'run', '--project=!long', '--project=!shots', ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', fail);
    child.on('close', (code) => done(code ?? 1));
  });

const readReport = (file: string): z.infer<typeof report> | undefined => {
  try {
    return report.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
};

/** Counts the tests. A file that cannot be loaded is a failure, and so is an error outside of any test. */
const countOf = (code: number, found: z.infer<typeof report> | undefined): Count => {
  if (!found) return { passed: 0, failed: 1 };
  const unloaded = found.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = found.numFailedTests + unloaded;
  return { passed: found.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
};

await main();
