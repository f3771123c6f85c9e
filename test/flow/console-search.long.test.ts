import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { atRecord, searchField, searchFor } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectAccessible,
  expectNoSidewaysScroll,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { createIntent, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, signInAdmin } from './refunders.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';

/** A search hit with these fields. By default the label is the id, and the other fields are null. */
const hit = (fields: { readonly kind: string; readonly id: string } & ParsedJson) => ({
  label: fields.id,
  status: null,
  created_at: null,
  amount_cents: null,
  currency: null,
  payment_id: null,
  ...fields,
});

describe('the search field of the console', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;
  let user: User;
  let payment: PaymentBody;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    user = await signIn(service, { expires_in: YEAR_SECONDS });
    payment = await paidPayment(service, user);
    await service.settle();
  });
  afterAll(() => browser?.close());

  const SEARCH = /\/admin\/search\?/;

  describe.each(WIDTHS)('the search field at %i pixels', (width) => {
    let visit: ConsoleVisit;
    let asked: string[];

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await enterSession(visit, admin.session);
    });

    /** Makes the API's search find these records from now on. */
    const found = async (hits: readonly ParsedJson[], truncated = false): Promise<void> => {
      asked = [];
      await visit.page.unroute(SEARCH);
      await visit.page.route(SEARCH, async (route) => {
        asked.push(new URL(route.request().url()).searchParams.get('q') ?? '');
        await route.fulfill({ json: { success: true, data: hits, meta: { truncated } } });
      });
    };

    const search = (text: string): Promise<void> => searchFor(visit.page, text);

    test('gets the focus by / on every page, and opens the only match', async () => {
      const { page, open } = visit;
      await found([hit({ kind: 'payment', id: payment.id, status: 'succeeded' })]);
      for (const path of ['/overview', '/payments', '/webhooks', '/health', '/developers']) {
        await open(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.keyboard.press('/');
        expect(await page.evaluate('document.activeElement.type')).toBe('search');
      }
      await page.keyboard.type(`  ${payment.id} `);
      await page.keyboard.press('Enter');
      await atRecord(page, payment.id);
      // The page of the payment also searches for its payer.
      expect(asked.filter((text) => text !== user.userId)).toEqual([payment.id]);
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Developers' }).waitFor();
    });

    test.each([
      ['refund', 're_1'],
      ['dispute', 'dsp_1'],
    ])('opens the payment of the only %s found', async (kind, id) => {
      await found([hit({ kind, id, payment_id: payment.id })]);
      await search(id);
      await atRecord(visit.page, payment.id);
    });

    test.each([
      ['subscription', 'subs_1', '/console/subscriptions/subs_1'],
      ['customer', 'cus_1', '/console/customers/cus_1'],
      ['organization', 'org_1', '/console/payments?organization=org_1'],
      ['user', 'user_1', '/console/payments?user=user_1'],
    ])('opens the page of the only %s found', async (kind, id, path) => {
      const { page } = visit;
      await found([hit({ kind, id })]);
      await search(id);
      await soon(() => page.url()).toBe(`${service.host().baseUrl}${path}`);
    });

    test('lists several records by kind, each with a link', async () => {
      const { page } = visit;
      const at = { created_at: '2026-11-20T10:00:00.000Z', currency: 'USD' };
      await found([
        hit({ kind: 'customer', id: 'cus_1', label: 'ada@example.com' }),
        hit({
          ...at,
          kind: 'payment',
          id: payment.id,
          label: 'ada@example.com',
          amount_cents: 2_500,
          status: 'succeeded',
        }),
        hit({ ...at, kind: 'refund', id: 're_1', amount_cents: 700, status: 'pending', payment_id: payment.id }),
        hit({ kind: 'method', id: 'pmt_1', label: 'Visa •••• 4242' }),
      ]);
      await search('ada@example.com');
      await page.getByRole('heading', { level: 1, name: 'Results for “ada@example.com”' }).waitFor();
      await soon(() => page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
        'Payments',
        'Refunds',
        'Customers',
        'Saved methods',
      ]);
      expect(await page.getByRole('table', { name: 'Refunds found' }).locator('tbody tr').innerText()).toMatch(
        /re_1\s+USD\s7.00\s[\s\S]*Pending/,
      );
      const links = page.locator('tbody').getByRole('link');
      expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
        `/console/payments/${payment.id}`,
        `/console/payments/${payment.id}`,
        '/console/customers/cus_1',
      ]);
      expect(await (await searchField(page)).inputValue()).toBe('ada@example.com');
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });

    test('keeps text typed while another page opens', async () => {
      const { page, open } = visit;
      await found([]);
      await open('/search?q=first');
      await page.getByText('Nothing found for “first”').waitFor();
      await searchField(page);
      const typed = await page.evaluate(`(async () => {
        const field = document.querySelector('input[type="search"]');
        document.querySelector('.empty a').click();
        // The page is drawn, but not painted.
        await new Promise((resolve) => queueMicrotask(() => queueMicrotask(resolve)));
        field.value = 'second';
        field.dispatchEvent(new Event('input', { bubbles: true }));
        for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
        return [location.pathname, field.value];
      })()`);
      expect(typed).toEqual(['/console/payments', 'second']);
    });

    test('says that more records match, and links to the payments', async () => {
      const { page } = visit;
      await found([hit({ kind: 'payment', id: payment.id, label: 'Visa •••• 4242' })], true);
      await search('4242');
      await page.getByText('More records match than are listed here.').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Search the payments, with filters' }).click();
      await soon(() => page.url()).toContain('/console/payments?search=4242');
    });

    test('repeats the searched text if nothing is found', async () => {
      const { page } = visit;
      await found([]);
      await search('nobody@example.com');
      await page.getByText('Nothing found for “nobody@example.com”').waitFor();
      expect(await page.locator('.empty').innerText()).toMatch(
        /payments, refunds, disputes, subscriptions, customers, saved methods, organizations and users/,
      );
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });

    test('shows a refusal with its request id, and offers a retry', async () => {
      const { page } = visit;
      const body = { success: false, error: 'Slow down', code: 'RATE_LIMITED', request_id: 'req-79' };
      await page.unroute(SEARCH);
      await page.route(SEARCH, (route) => route.fulfill({ status: 429, json: body }));
      await search('4242');
      await soon(() => page.getByRole('alert').innerText()).toMatch(/Slow down\s+Request req-79/);
      await found([]);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Nothing found for “4242”').waitFor();
    });

    test('opens a payment by its id through the API itself, and finds nothing for an unknown id', async () => {
      const { page, open } = visit;
      await page.unroute(SEARCH);
      await open('/health');
      await search(payment.id);
      await atRecord(page, payment.id);
      await search('pay_000000000000000000000000');
      await page.getByText('Nothing found for “pay_000000000000000000000000”').waitFor();
    });

    test('finds a user’s own payment by id without a call to an admin route', async () => {
      const other = await visitConsole(browser, service, width);
      const { page } = other;
      await enterSession(other, user.session);
      await createIntent(service, user, { total_cents: 1_300 });
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type(payment.id);
      await page.keyboard.press('Enter');
      await soon(() =>
        page.locator('tbody a.row-link').evaluateAll((all) => all.map((link) => link.getAttribute('href'))),
      ).toEqual([`/console/payments/${payment.id}`]);
      expect(await (await searchField(page)).inputValue()).toBe(payment.id);
      expect(other.asked.filter((url) => SEARCH.test(url))).toEqual([]);
      expectQuiet(other, service);
      await page.close();
    });
  });
});
