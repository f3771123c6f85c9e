import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import {
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { putCode, signInForYears } from './discounts.ts';
import { withHost } from './host.ts';

describe('a discount code in the console', () => {
  const service = withHost();
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test.each(WIDTHS)('is deleted only after a question, %i pixels wide', async (width) => {
    const code = `SPRING${width}`;
    await putCode(service, code);
    const admin = await signInForYears(service, { is_admin: true });
    const statusOfCode = async () => (await service.get(`/admin/discounts/${code}`, admin.options)).status;
    const visit = await visitConsole(browser, service, width);
    const { page, open } = visit;
    await enterSession(visit, admin.session);
    await open('/discounts');
    await page.getByRole('link', { name: code }).click();
    await page.getByRole('button', { name: 'Delete code' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this code?' });
    await dialog.waitFor();
    await expectNoViolation(page);
    await expectNoSidewaysScroll(page);
    await dialog.getByRole('button', { name: 'Keep code' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await statusOfCode()).toBe(200);
    await page.getByRole('button', { name: 'Delete code' }).click();
    await dialog.getByRole('button', { name: 'Delete code' }).click();
    await page.getByText('No codes yet').waitFor();
    expect(await statusOfCode()).toBe(404);
    expectQuiet(visit, service);
  });
});
