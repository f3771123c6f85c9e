import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { vi } from 'vitest';
import * as z from 'zod';

const WITHOUT_NOISE = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Starts a headless Chromium. `test/browser/install.ts` installs it, and the caller closes it. */
export const startBrowser = async (): Promise<Browser> => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-browser-'));
  const executablePath = await unpack(folder);
  await tellFonts(folder);
  const browser = await chromium.launch({ executablePath, args: WITHOUT_NOISE });
  browser.on('disconnected', () => rm(folder, { recursive: true, force: true }));
  return browser;
};

const IN_PACKAGES = createRequire(join(import.meta.dirname, '../browser/package.json'));
const packageSchema = z.object({
  default: z.custom<{ readonly executablePath: () => Promise<string> }>((value) => value !== undefined),
});

/** Unpacks Chromium. The package unpacks the libraries only in a Lambda function, so the environment imitates one. */
const unpack = async (folder: string): Promise<string> => {
  vi.stubEnv('TMPDIR', folder);
  vi.stubEnv('AWS_EXECUTION_ENV', 'AWS_Lambda_nodejs24.x');
  try {
    const { default: packed } = packageSchema.parse(await import(IN_PACKAGES.resolve('@sparticuz/chromium')));
    return await packed.executablePath();
  } finally {
    vi.unstubAllEnvs();
  }
};

/**
 * Sets the folder of the fonts, because the package expects them in `/tmp`. Without fonts, the browser crashes on a
 * page with text.
 */
const tellFonts = async (folder: string): Promise<void> => {
  const file = join(folder, 'fonts', 'fonts.conf');
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('<dir>/tmp/', `<dir>${folder}/`));
};
