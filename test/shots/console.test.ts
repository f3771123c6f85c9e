/**
 * @module `npm run console:shots` makes a picture of every page of the console, with the demo data of the local host.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
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

/** Starts the local host, and waits until its demo data exist. */
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
  await send('PUT', '/admin/discounts/SPRING25', { name: 'Spring', percent_bp: 2_500, duration: 'once' });
  await send('PUT', '/admin/discounts/WELCOME5', {
    ...{ name: 'Five euros off the first order', amounts: { EUR: 500 }, duration: 'repeating' },
    ...{ duration_periods: 3, max_redemptions: 100 },
  });
  for (const description of ['Workshop in watercolor, Saturday morning', 'Gift']) {
    await send('POST', '/payment-links', { description, total_cents: 4_500, currency: 'EUR', max_payments: 12 });
  }
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  host?.removeAllListeners('exit').kill();
  rmSync(data, { recursive: true, force: true });
});

/** Creates a record that the demo data do not contain. */
const send = async (method: string, path: string, body: object): Promise<void> => {
  const headers = { 'x-session-id': 'demo-admin', 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const answer = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) });
  expect(answer.ok, await answer.text()).toBe(true);
};

const records = z.array(z.object({ id: z.string() })).min(1);
const found = z.union([records, z.object({ data: records }).transform(({ data: rows }) => rows)]);
/** The id of the first record of a list. */
const firstOf = async (list: string, session = 'demo-admin'): Promise<string> => {
  const answer = await fetch(`${base}${list}`, { headers: { 'x-session-id': session } });
  return found.parse(await answer.json())[0]?.id ?? '';
};

const owned = z.array(z.object({ id: z.string() })).min(1);
/** The id of the first record in a list of the demo organization's owner. */
const firstOfOwner = async (list: string): Promise<string> => {
  const answer = await fetch(`${base}/${list}?organization_id=`, { headers: { 'x-session-id': 'demo-owner' } });
  return owned.parse(await answer.json())[0]?.id ?? '';
};

/** The paths of the pages in the navigation. The pages of a person's own records are not among them. */
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
    ['discount', '/console/discounts/WELCOME5'],
    ['key', `/console/keys/${await firstOf('/admin/keys')}`],
  ] as const) {
    await page.goto(`${base}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await shoot(name);
  }
  await page.goto(`${base}/console/payments?currency=EUR&status=succeeded`);
  await page.getByRole('table').waitFor();
  await shoot('filtered', false);
  await page.getByRole('button', { name: isPhone(page) ? /^Filters/ : 'Add filter' }).click();
  await page.getByRole(isPhone(page) ? 'dialog' : 'menu').waitFor();
  await shoot('filters', false);
  for (const [path, action, name] of [
    ['/console/links', 'Archive', 'archive'],
    ['/console/links', 'Create link', 'create-link'],
    ['/console/discounts/WELCOME5', 'Delete code', 'delete-code'],
  ] as const) {
    await page.goto(`${base}${path}`);
    await page.getByRole('button', { name: action }).first().click();
    await page.getByRole('dialog').waitFor();
    await shoot(name, false);
  }
  if (isPhone(page)) {
    await page.goto(`${base}/console/overview`);
    await openMenu(page);
    await shoot('menu', false);
  }
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
