import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execPath } from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { operatorEnvironment } from '../../infra/local/machine/environment.ts';
import { freePort } from '../builders/free-port.ts';
import { startBrowser } from '../flow/browser.ts';
import { isPhone, openMenu } from '../flow/console-controls.ts';

/** `npm run console:shots` makes a picture of every page of the console, with the demo data of the local host. */
const ROOT = resolve(import.meta.dirname, '../..');
const SHOTS = join(ROOT, 'dist', 'console-shots');
const VIEWS = [
  { width: 1_280, colorScheme: 'light' },
  { width: 1_280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;
const HEIGHT = 800;
const STEP_MS = 30_000;

const data = mkdtempSync(join(tmpdir(), 'console-shots-'));
let host: ChildProcess;
let base: string;
let browser: Browser;

/** The host, once its demo data are made. */
const startLocalHost = async (): Promise<void> => {
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  const env = operatorEnvironment({ PORT: String(port), DATA_DIR: data, DEMO_DATA: 'demo', LOG_LEVEL: 'silent' });
  host = spawn(execPath, ['infra/local/start.ts'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  await new Promise<void>((ready, fail) => {
    host.once('exit', (code) => fail(new Error(`the local host ended with ${code}`)));
    host.stdout?.on('data', (text) => {
      printed += text;
      if (/^Demo data {2}/m.test(printed)) ready();
    });
  });
};

beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  await startLocalHost();
  await fetch(`${base}/_local/settle`, { method: 'POST' });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  host?.removeAllListeners('exit').kill();
  rmSync(data, { recursive: true, force: true });
});

const records = z.array(z.object({ id: z.string() })).min(1);
const found = z.union([records, z.object({ data: records }).transform(({ data: rows }) => rows)]);
/** The id of the first record of a list. */
const firstOf = async (list: string, session = 'demo-admin'): Promise<string> => {
  const answer = await fetch(`${base}${list}`, { headers: { 'x-session-id': session } });
  return found.parse(await answer.json())[0]?.id ?? '';
};

const owned = z.array(z.object({ id: z.string() })).min(1);
/** The first record in a list of the demo organization's owner. */
const firstOfOwner = async (list: string): Promise<string> => {
  const answer = await fetch(`${base}/${list}?organization_id=`, { headers: { 'x-session-id': 'demo-owner' } });
  return owned.parse(await answer.json())[0]?.id ?? '';
};

/** The pages of the navigation, without a person's own records. */
const pagesIn = async (page: Page): Promise<string[]> => {
  await openMenu(page);
  return page
    .getByRole('navigation')
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
};

test.each(VIEWS)('the console is photographed at $width pixels, $colorScheme', async ({ width, colorScheme }) => {
  const page = await browser.newPage({ viewport: { width, height: HEIGHT }, colorScheme, locale: 'en-GB' });
  page.setDefaultTimeout(STEP_MS);
  const shoot = async (name: string, fullPage = true): Promise<void> => {
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage });
  };
  await page.goto(`${base}/console`);
  await page.getByLabel('Session ID or token').waitFor();
  await shoot('sign-in');
  await page.getByRole('button', { name: 'demo-admin' }).click();
  await page.getByRole('banner').waitFor();
  const paths = await pagesIn(page);
  expect(paths).toContain('/console/payments');
  for (const path of paths) {
    await page.goto(`${base}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await shoot(path.split('/').at(-1) ?? '');
  }
  const subscription = await firstOf('/subscriptions', 'demo-owner');
  const delivery = await firstOf('/webhooks/logs?event_type=payment.succeeded');
  for (const [name, path] of [
    ['subscription', `/console/subscriptions/${subscription}`],
    ['delivery', `/console/webhooks/${delivery}`],
    ['search', '/console/search?q=4242'],
  ] as const) {
    await page.goto(`${base}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await shoot(name);
  }
  await page.goto(`${base}/console/payments?currency=EUR&status=succeeded`);
  await page.getByRole('table').waitFor();
  await shoot('filtered', false);
  await page.getByRole('button', { name: isPhone(page) ? /^Filters/ : 'Add filter' }).click();
  await shoot('filters', false);
  const refunded = await firstOf('/admin/payments?refund_status=partial');
  await page.goto(`${base}/console/payments/${refunded}`);
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await shoot('payment');
  await shoot('payment-top', false);
  await page.getByRole('button', { name: 'Refund' }).click();
  await page.getByLabel('Amount').waitFor();
  await shoot('refund', false);
  for (const [list, name] of [
    ['customers', 'customer'],
    ['subscriptions', 'subscription'],
  ] as const) {
    await page.goto(`${base}/console/${list}/${await firstOfOwner(list)}`);
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    await shoot(name);
  }
  await page.close();
});
