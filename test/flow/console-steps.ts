import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import * as z from 'zod';
import type { TestHost } from './host.ts';

/** A browser page at the console that records its requests and errors. */
export interface ConsoleVisit {
  readonly page: Page;
  /** Addresses of all requests. */
  readonly asked: readonly string[];
  /** Errors of scripts, and violations of the page's policy. */
  readonly complaints: readonly string[];
  /** Opens a page of the console. */
  readonly open: (path: string) => Promise<void>;
}

const STEP_MS = 60_000;
/** The widths of a desktop and of a phone. */
export const WIDTHS = [1_280, 390] as const;
const HEIGHT = 900;

const VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;

/** The browser's message for a failed request. Some requests fail on purpose. */
const FAILED_REQUEST = /^Failed to load resource/;

/** The settings of a visit's browser. Each missing field has a default value. */
export interface Screen {
  readonly width: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly timezoneId?: string;
  /** `en-GB` by default. */
  readonly locale?: string;
}

export const visitConsole = async (
  browser: Browser,
  service: TestHost,
  screen: number | Screen,
): Promise<ConsoleVisit> => {
  const { width, height = HEIGHT, ...rest }: Screen = typeof screen === 'number' ? { width: screen } : screen;
  const context = await browser.newContext({
    locale: 'en-GB',
    ...rest,
    viewport: { width, height },
    acceptDownloads: true,
  });
  await context.addInitScript(VIOLATIONS);
  // Chromium loses a request that is under way when the last route of a page is removed, so one route always stays.
  await context.route(/^no-address:/, (route) => route.continue());
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS);
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !FAILED_REQUEST.test(message.text())) complaints.push(message.text());
  });
  const open = async (path: string): Promise<void> => {
    await page.goto(`${service.host().baseUrl}/console${path}`);
  };
  return { page, asked, complaints, open };
};

/** Signs in by typing a session ID into the form. */
export const enterSession = async ({ page, open }: ConsoleVisit, session: string): Promise<void> => {
  await open('');
  await page.getByLabel('Session ID or token').fill(session);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').waitFor();
};

const findings = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/** Expects that axe-core finds nothing on the page as it is now. */
export const expectAccessible = async (page: Page): Promise<void> => {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(`if (!window.axe) { ${source} }`);
  const found = findings.parse(await page.evaluate('axe.run(document).then(({ violations }) => violations)'));
  expect(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
};

/** Expects no axe-core findings in light and in dark colors. */
export const expectNoViolation = async (page: Page): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await page.emulateMedia({ colorScheme: null });
};

/** Expects that the page is not wider than the screen, so it scrolls down only. */
export const expectNoSidewaysScroll = async (page: Page): Promise<void> => {
  const [width, shown] = z
    .tuple([z.number(), z.number()])
    .parse(await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]'));
  expect(width).toBeLessThanOrEqual(shown);
};

/** Expects that each table cell is as wide as its content. Otherwise the content would overlap the next cell. */
export const expectCellsWideEnough = async (page: Page): Promise<void> => {
  const tooNarrow = `[...document.querySelectorAll('td')]
    .filter((cell) => cell.scrollWidth > cell.clientWidth + 1)
    .map((cell) => cell.innerText)`;
  expect(z.array(z.string()).parse(await page.evaluate(tooNarrow))).toEqual([]);
};

export const expectQuiet = ({ asked, complaints }: ConsoleVisit, service: TestHost): void => {
  const own = service.host().baseUrl;
  const outside = asked.filter((url) => !url.startsWith(`${own}/`) && !/^(data|blob):/.test(url));
  expect({ outside, complaints }).toEqual({ outside: [], complaints: [] });
  expect(asked.length).toBeGreaterThan(2);
};

/** Polls until the page shows the expected value, with time for a busy machine. */
export const soon = <Shown>(read: () => Shown) => expect.poll(read, { timeout: STEP_MS });

export const downloadCsv = async (page: Page): Promise<{ readonly name: string; readonly rows: readonly string[] }> => {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  const file = await download;
  const rows = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  return { name: file.suggestedFilename(), rows };
};

/** The middle of a control, in pixels of the page. */
export const centerOf = async (control: Locator): Promise<{ readonly x: number; readonly y: number }> => {
  const box = await control.boundingBox();
  if (box === null) throw new Error('the control is not visible');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/** Expects that the control is not under the pointer, so another click there misses it. */
export const expectAwayFrom = async (
  control: Locator,
  pointer: { readonly x: number; readonly y: number },
): Promise<void> => {
  const box = await control.boundingBox();
  const isUnder =
    box !== null &&
    pointer.x >= box.x &&
    pointer.x <= box.x + box.width &&
    pointer.y >= box.y &&
    pointer.y <= box.y + box.height;
  expect(isUnder).toBe(false);
};
