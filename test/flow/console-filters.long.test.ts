import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, filterShown, isPhone, searchFor } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { createIntent, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, signInAdmin } from './refunders.ts';
import { subscriber } from './subscribers.ts';

const DAY_MS = 86_400_000;

describe('the filters and the search of the console', () => {
  const service = withHost();
  let browser: Browser;
  let session: string;
  let customer: string;

  beforeAll(async () => {
    browser = await startBrowser();
    ({ session } = await signInAdmin(service));
    const payer = await signIn(service, { expires_in: YEAR_SECONDS });
    await paidPayment(service, payer);
    await createIntent(service, payer, { total_cents: 1_300, currency: 'EUR' });
    const named = { email: 'olivia.brown@example.com', name: 'Olivia Brown' };
    customer = (await subscriber(service, 'pm_card_visa', named)).names.customer_id;
    await service.settle();
  });
  afterAll(() => browser?.close());

  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const rows = (page: Page) => page.getByRole('table', { name: 'Payments' }).locator('tbody tr');

  describe.each(WIDTHS)('at %i pixels', (width) => {
    let visit: ConsoleVisit;
    let page: Page;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      page = visit.page;
      await enterSession(visit, session);
    });
    beforeEach(async () => {
      await visit.open('/payments');
      await soon(() => rows(page).count()).toBe(2);
    });

    test('a filter appears as a removable chip and in the URL', async () => {
      await chooseFilter(page, 'Currency', 'EUR');
      await soon(() => rows(page).count()).toBe(1);
      expect(new URL(page.url()).search).toBe('?currency=EUR');
      await page.getByRole('heading', { level: 1 }).click();
      expect(await filterShown(page, 'Currency')).toBe('EUR');
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await page.getByRole('button', { name: 'Remove filter Currency' }).click();
      await soon(() => rows(page).count()).toBe(2);
      expect(new URL(page.url()).search).toBe('');
    });

    test('a preset range sets both days in the URL, and days in the URL select the range', async () => {
      const now = service.now();
      await chooseFilter(page, 'Date', '7-days');
      await soon(() => new URL(page.url()).search).toBe(`?from=${dayOf(now - 6 * DAY_MS)}&to=${dayOf(now)}`);
      expect(await filterShown(page, 'Date')).toBe('7 days');
      await chooseFilter(page, 'Date', '');
      await soon(() => new URL(page.url()).search).toBe('');
      await visit.open('/payments?from=2020-01-01');
      expect(await filterShown(page, 'Date')).toBe(isPhone(page) ? 'from 2020-01-01' : 'Custom');
    });

    test.each(['Oli', 'brow', 'OLIVIA.BROWN@ex'])('the search finds a customer by the prefix %s', async (text) => {
      await searchFor(page, text);
      await atRecord(page, customer);
    });

    test('the search states its scope if nothing begins with the text', async () => {
      await searchFor(page, 'xyl');
      await page.getByText('Nothing found for “xyl”').waitFor();
      expect(await page.locator('.empty').innerText()).toContain('newest 300 customers by the beginning of a name');
    });
  });

  test('the keyboard adds and cancels filters, and moves within the menu only', async () => {
    const visit = await visitConsole(browser, service, WIDTHS[0]);
    const { page } = visit;
    const { keyboard } = page;
    await enterSession(visit, session);
    await visit.open('/payments');
    await soon(() => rows(page).count()).toBe(2);
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.innerText.split("\\n")[0]');
    await page.getByRole('button', { name: 'Add filter' }).focus();
    await keyboard.press('ArrowDown');
    await soon(focused).toBe('Provider');
    await keyboard.press('ArrowDown');
    expect(await focused()).toBe('Currency');
    await expectNoViolation(page);
    await keyboard.press('m');
    expect(await focused()).toBe('Minimum amount');
    await keyboard.press('Enter');
    await soon(() => page.evaluate('document.activeElement.tagName')).toBe('INPUT');
    await keyboard.type('20');
    await keyboard.press('Enter');
    await soon(() => rows(page).count()).toBe(1);
    await soon(focused).toBe('Add filter');
    expect(await filterShown(page, 'Minimum amount')).toBe('20');
    await keyboard.press('Enter');
    await soon(focused).toBe('Provider');
    await keyboard.press('Escape');
    await soon(focused).toBe('Add filter');
    await page.getByRole('button', { name: 'Minimum amount: 20' }).click();
    await soon(() => page.evaluate('document.activeElement.value')).toBe('20');
    await keyboard.press('Escape');
    await soon(focused).toBe('Add filter');
    expect(new URL(page.url()).search).toBe('?min=20');
  });
});
