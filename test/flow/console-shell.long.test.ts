import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { chooseFilter, chooseZone, goTo, isPhone } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectAccessible,
  expectNoSidewaysScroll,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { createIntent, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, signInAdmin } from './refunders.ts';

const BERLIN = 'Europe/Berlin';
/** The screen of a usual phone. */
const PHONE = { width: 390, height: 844 };

describe('the frame of the console', () => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  let browser: Browser;
  let admin: User;
  let user: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    user = await signIn(service, { email: 'payer.at.the.console@example.com', expires_in: YEAR_SECONDS });
    for (let made = 0; made < 7; made += 1) await paidPayment(service, user);
    await createIntent(service, user, { total_cents: 1_300, currency: 'EUR', payment_method_id: 'pm_card_visa' });
    await service.settle();
  });
  afterAll(() => browser?.close());

  const focusedText = (page: Page): Promise<unknown> =>
    page.evaluate(
      'document.activeElement.matches("h1") ? document.activeElement.innerText : document.activeElement.tagName',
    );

  /** Holds back the requests of a route. @returns a function that releases them */
  const hold = async (page: Page, route: RegExp): Promise<() => void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route(route, async (held) => {
      await promise;
      await held.continue();
    });
    return resolve;
  };

  const placeOf = async (page: Page, selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    return box && { y: Math.round(box.y), height: Math.round(box.height) };
  };

  describe.each(WIDTHS)('the frame at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, { width, timezoneId: BERLIN });
      await enterSession(visit, admin.session);
    });

    test('puts the focus on the heading after a link and after Back, but not after a filter', async () => {
      const { page, open } = visit;
      await open('/overview');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await goTo(page, 'Payments');
      await soon(() => focusedText(page)).toBe('Payments');
      await page.locator('tbody a.row-link').first().click();
      await soon(() => focusedText(page)).toMatch(/^[A-Z]{3}\s[\d.]+\s+\w+/);
      await page.goBack();
      await soon(() => focusedText(page)).toBe('Payments');
      if (isPhone(page)) await page.getByRole('button', { name: 'Filters' }).click();
      await page.getByLabel('Status').focus();
      await page.getByLabel('Status').selectOption('succeeded');
      await soon(() => page.url()).toContain('status=succeeded');
      await page.locator('.table-part[aria-busy=false]').waitFor();
      expect(await focusedText(page)).toBe('SELECT');
      if (isPhone(page)) await page.getByRole('button', { name: /^Show/ }).click();
      await page.goBack();
      await soon(() => focusedText(page)).toBe('Overview');
    });

    test('moves the focus to the content by the skip link, and keeps it there', async () => {
      const { page, open } = visit;
      await open('/payments');
      await page.getByRole('table', { name: 'Payments' }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await soon(() => page.evaluate('document.activeElement.id')).toBe('main');
      expect(await focusedText(page)).toBe('MAIN');
    });

    test('shows times in UTC or in the browser’s zone, states the zone, and remembers the choice', async () => {
      const { page, open } = visit;
      const title = (): Promise<string> => page.getByRole('columnheader').first().innerText();
      const time = (): Promise<string> => page.locator('tbody time').first().innerText();
      await open('/payments');
      await soon(title).toContain('Created (UTC)');
      const at = new Date((await page.locator('tbody time').first().getAttribute('datetime')) ?? '');
      const textIn = (timeZone: string): string =>
        new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);
      expect(await time()).toBe(textIn('UTC'));
      await chooseZone(page, { label: `Local time, ${BERLIN}` });
      expect(await title()).toContain(`Created (${BERLIN})`);
      expect(await time()).toBe(textIn(BERLIN));
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.reload();
      await soon(title).toContain(`Created (${BERLIN})`);
      await page.locator('tbody a.row-link').first().click();
      const zoned = page.locator('.record-about time');
      await soon(() => zoned.innerText()).toMatch(/ (CET|CEST)$/);
      await chooseZone(page, 'utc');
      expect(await zoned.innerText()).toMatch(/ UTC$/);
      expect(await page.locator('dd time, .entry-by time').allInnerTexts()).not.toContainEqual(
        expect.stringContaining('UTC'),
      );
    });

    test('reserves space for the rows while a list loads, so nothing moves', async () => {
      const { page, open } = visit;
      const release = await hold(page, /\/admin\/payments/);
      await open('/payments');
      await page.locator('.table-part[aria-busy=true] tbody tr').first().waitFor();
      const before = [await placeOf(page, 'h1'), await placeOf(page, 'thead'), await placeOf(page, 'tbody tr')];
      await expectAccessible(page);
      release();
      await page.getByRole('table', { name: 'Payments' }).waitFor();
      expect([await placeOf(page, 'h1'), await placeOf(page, 'thead'), await placeOf(page, 'tbody tr')]).toEqual(
        before,
      );
    });

    test('keeps the rows of a list until the rows of the next filter arrive', async () => {
      const { page, open } = visit;
      await open('/payments');
      const rows = page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
      await rows.first().waitFor();
      const all = await rows.count();
      const release = await hold(page, /\/admin\/payments\?.*currency=EUR/);
      await chooseFilter(page, 'Currency', 'EUR');
      await page.locator('.table-part[aria-busy=true]').waitFor();
      expect(await rows.count()).toBe(all);
      release();
      await soon(() => rows.count()).toBe(1);
      expect(await rows.innerText()).toContain('EUR 13.00');
    });

    test('reserves space for the overview’s figures while the next range loads', async () => {
      const { page, open } = visit;
      await open('/overview');
      await page.getByRole('figure').waitFor();
      await page.waitForLoadState('networkidle');
      const before = [await placeOf(page, '.tiles'), await placeOf(page, '.card')];
      const release = await hold(page, /\/admin\/summary\?/);
      await page.getByRole('button', { name: '7 days' }).click();
      await page.locator('.chart-loading').waitFor();
      const [tiles, chart] = [await placeOf(page, '.tiles'), await placeOf(page, '.card')];
      expect([tiles?.y, chart?.y]).toEqual(before.map((place) => place?.y));
      release();
      await page.getByRole('figure').waitFor();
    });
  });

  describe('the lists on a phone', () => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, PHONE);
      await enterSession(visit, admin.session);
    });

    test.each(['/payments', '/webhooks'])('show five rows of %s without scrolling', async (path) => {
      const { page, open } = visit;
      await open(path);
      await page.locator('.table-part[aria-busy=false] tbody tr').nth(5).waitFor();
      const fifth = await page.locator('tbody tr').nth(4).boundingBox();
      expect((fifth?.y ?? PHONE.height) + (fifth?.height ?? 0)).toBeLessThanOrEqual(PHONE.height);
    });

    test('show their filters in a sheet, and the number of set filters on its button', async () => {
      const { page, open } = visit;
      await open('/payments?status=succeeded&currency=USD');
      const button = page.getByRole('button', { name: 'Filters (2)' });
      await button.waitFor();
      expect(await page.getByRole('combobox', { name: 'Status' }).isVisible()).toBe(false);
      await button.click();
      expect(await page.getByRole('combobox', { name: 'Status' }).inputValue()).toBe('succeeded');
      const sheet = page.getByRole('dialog', { name: 'Filters' });
      await sheet.getByRole('button', { name: 'Show 7 payments' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('combobox', { name: 'Status' }).selectOption('');
      await sheet.getByRole('button', { name: 'Show 7 payments' }).click();
      await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
      await soon(() => page.getByRole('combobox', { name: 'Status' }).isVisible()).toBe(false);
      await page.setViewportSize({ width: 1_280, height: 900 });
      await soon(() => page.getByRole('combobox', { name: 'Status' }).isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: /^Filters/ }).isVisible()).toBe(false);
      await page.setViewportSize(PHONE);
    });

    test('have a navigation drawer that shows the current page and closes after a choice', async () => {
      const { page, open } = visit;
      await open('/developers');
      await page.getByRole('heading', { level: 1, name: 'Developers' }).waitFor();
      const bar = await page.getByRole('banner').boundingBox();
      expect(bar?.height).toBeLessThanOrEqual(80);
      await page.getByRole('button', { name: 'Menu' }).click();
      const drawer = page.getByRole('dialog', { name: 'Menu' });
      await drawer.getByRole('link', { name: 'Developers' }).and(page.locator('[aria-current=page]')).waitFor();
      await drawer.getByRole('button', { name: 'Sign out' }).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await soon(() => drawer.count()).toBe(0);
      await goTo(page, 'Payments');
      await soon(() => focusedText(page)).toBe('Payments');
      expect(await drawer.count()).toBe(0);
    });
  });
});
