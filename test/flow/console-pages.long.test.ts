import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import {
  chooseZone,
  expectPillsInOneLine,
  expectStatusesAndAmountsVisible,
  expectTablesInBox,
  FONTS,
  showAsWideAs,
} from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectAccessible,
  expectCellsWideEnough,
  expectNoSidewaysScroll,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { confirm, createIntent, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, refund, signInAdmin } from './refunders.ts';
import { payer, subscribe } from './subscribers.ts';

describe('the pages of the console', () => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  let browser: Browser;
  let admin: User;
  const ids = { payment: '', subscription: '', customer: '', delivery: '', key: '' };

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    const email = 'alexandra.featherstonehaugh@accounts.example.com';
    const user = await signIn(service, { email, expires_in: YEAR_SECONDS });
    ids.payment = (await paidPayment(service, user, { total_cents: 9_876_500, currency: 'EUR' })).id;
    await createIntent(service, user, { total_cents: 9_999_900 });
    await refund(service, ids.payment, { ...admin.options, body: { amount_cents: 700 } });
    const disputed = await createIntent(service, user, { payment_method_id: 'pm_card_createDispute' });
    await confirm(service, disputed.id, user.options);
    const { id, customer_id } = await subscribe(service, await payer(service, user.options));
    [ids.subscription, ids.customer] = [id, customer_id];
    await service.settle();
    // The service reads the provider's fee a minute after the payment.
    await service.advance(MINUTE_SECONDS + 1);
    const { body: logs } = await service.get('/webhooks/logs?event_type=payment.succeeded', admin.options);
    ids.delivery = present(logs[0]).id;
    const fields = { name: 'Shop backend', scopes: ['payments:read'] };
    ids.key = (await service.post('/admin/keys', fields, admin.options)).body.data.id;
  });
  afterAll(() => browser?.close());

  /** Every page that a platform admin can open, with its path. */
  const PAGES: readonly (readonly [name: string, path: () => string])[] = [
    ['Overview', () => '/overview'],
    ['Payments', () => '/payments'],
    ['a payment', () => `/payments/${ids.payment}`],
    ['Subscriptions', () => '/subscriptions'],
    ['a subscription', () => `/subscriptions/${ids.subscription}`],
    ['Customers', () => '/customers'],
    ['a customer', () => `/customers/${ids.customer}`],
    ['Refunds', () => '/refunds'],
    ['Disputes', () => '/disputes'],
    ['Links', () => '/links'],
    ['Webhooks', () => '/webhooks'],
    ['a delivery', () => `/webhooks/${ids.delivery}`],
    ['Health', () => '/health'],
    ['Keys', () => '/keys'],
    ['a key', () => `/keys/${ids.key}`],
    ['Developers', () => '/developers'],
    ['the search', () => '/search'],
    ['the results of a search', () => '/search?q=4242'],
    ['an unknown page', () => '/nothing'],
  ];

  const expectAccessibleInBothSchemes = async (page: Page): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
  };

  const isLoaded = async (page: Page): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await soon(() => page.locator('.loading, [aria-busy=true]').count()).toBe(0);
  };

  describe.each(WIDTHS)('the pages at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await visit.open('');
      await expectAccessibleInBothSchemes(visit.page);
      await enterSession(visit, admin.session);
    });

    test.each(PAGES)('have no axe-core findings and no sideways scrolling on %s, light or dark', async (_, path) => {
      const { page, open } = visit;
      await open(path());
      await isLoaded(page);
      await expectAccessibleInBothSchemes(page);
      await expectNoSidewaysScroll(page);
      await expectCellsWideEnough(page);
    });

    test('make no request to another host, and violate no content policy', () => {
      expectQuiet(visit, service);
    });
  });

  /** The pages with tables. Their e-mail addresses and amounts are longer than usual. */
  const TABLES = PAGES.filter(([name]) => !['Developers', 'the search', 'an unknown page'].includes(name));

  describe.each(FONTS)('the tables in %s', (font) => {
    let desk: ConsoleVisit;
    let phone: ConsoleVisit;

    beforeAll(async () => {
      [desk, phone] = [
        await visitConsole(browser, service, WIDTHS[0]),
        await visitConsole(browser, service, WIDTHS[1]),
      ];
      for (const visit of [desk, phone]) {
        await showAsWideAs(visit, font);
        await enterSession(visit, admin.session);
      }
    });

    test.each(TABLES)('fit their box on %s, with statuses and amounts visible on a phone', async (_, path) => {
      for (const { page, open } of [desk, phone]) {
        await open(path());
        await isLoaded(page);
        await expectTablesInBox(page);
        await expectStatusesAndAmountsVisible(page);
        await expectPillsInOneLine(page);
        await expectNoSidewaysScroll(page);
      }
    });
  });

  describe('the pages in the browser’s zone', () => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, { width: WIDTHS[0], timezoneId: 'Europe/Berlin' });
      await enterSession(visit, admin.session);
      await chooseZone(visit.page, 'local');
    });

    test.each(PAGES.filter(([name]) => name !== 'Overview'))(
      'show no time on the page %s as a UTC time',
      async (_, path) => {
        const { page, open } = visit;
        await open(path());
        await isLoaded(page);
        const titles = await page.locator('th, dt').allInnerTexts();
        expect(titles.filter((title) => title.includes('UTC'))).toEqual([]);
        const exact = await page.locator('dd time, .entry-by time').allInnerTexts();
        expect(exact.filter((text) => text.includes('UTC'))).toEqual([]);
      },
    );
  });
});
