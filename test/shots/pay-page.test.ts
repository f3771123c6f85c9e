/** @module `npm run console:shots` also makes a picture of the hosted page in each of its states. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { startBrowser } from '../flow/browser.ts';
import { signIn } from '../flow/flow.ts';
import { withHost } from '../flow/host.ts';
import { PAGE_STATES } from '../flow/pay-page-states.ts';
import { enterCard, pageAddress, payableAt } from '../flow/pay-page-steps.ts';

const SHOTS = join(resolve(import.meta.dirname, '../..'), 'dist', 'pay-page-shots');
const VIEWS = [
  { width: 1_280, height: 900, colorScheme: 'light' },
  { width: 1_280, height: 900, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const;

const service = withHost({ env: { PAGE_NAME: 'Corner Shop', PAGE_COLOR: '#0b6e4f' } });
let browser: Browser;
beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const openPage = async ({ width, height, colorScheme }: (typeof VIEWS)[number]): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, locale: 'en-GB' });
  page.setDefaultTimeout(30_000);
  return page;
};

test.each(VIEWS)('the hosted page is photographed at $width pixels, $colorScheme', async (view) => {
  const shoot = async (page: Page, name: string): Promise<void> => {
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(SHOTS, `${name}-${view.width}-${view.colorScheme}.png`), fullPage: true });
  };
  const user = await signIn(service);
  const { token } = await payableAt(service, user, 'stripe');
  const page = await openPage(view);
  await page.goto(pageAddress(service, token));
  await page.getByLabel('Test card').waitFor();
  await shoot(page, 'pay');
  await enterCard(page, '4000 0027 6000 3184');
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.frameLocator('iframe').getByRole('button', { name: 'Approve' }).waitFor();
  await shoot(page, 'bank');
  await page.close();
  for (const { name, state, status = 200, show } of PAGE_STATES) {
    const mocked = await openPage(view);
    await mocked.route(/\/pay\/state$/, (route) => route.fulfill({ status, json: state }));
    await mocked.goto(pageAddress(service, token));
    await show(mocked);
    await shoot(mocked, name);
    await mocked.close();
  }
});
