import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, goTo, typeFilter } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import type { User } from './flow.ts';
import { withHost } from './host.ts';
import { company, createCustomer } from './payers.ts';
import { signInAdmin } from './refunders.ts';
import type { SubscriptionBody } from './routes.ts';
import { OWN_BILLING, type Subscriber, subscribe, subscriber } from './subscribers.ts';

describe('the console’s pages of customers', () => {
  const service = withHost({ env: OWN_BILLING });
  let browser: Browser;
  let admin: User;
  let owner: Subscriber & { readonly user: User };
  let subscription: SubscriptionBody;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    owner = await subscriber(service);
    const named = { email: 'ada@example.com', name: 'Ada Lovelace' };
    const answer = await service.put(`/customers/${owner.names.customer_id}`, named, owner.options);
    expect(answer).toMatchObject({ status: 200 });
    subscription = await subscribe(service, owner, { concept: 'Magazine' });
    await service.settle();
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the pages at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await enterSession(visit, owner.user.session);
    });

    const rows = (page: Page, name: string) => page.getByRole('table', { name, exact: true }).locator('tbody tr');

    const expectRecords = async (page: Page): Promise<void> => {
      await soon(() => rows(page, 'Payment methods').allInnerTexts()).toEqual([
        expect.stringMatching(/^Visa •••• 4242\s+(12\/20\d\d\s+Ready|Ready\s+12\/20\d\d)/),
      ]);
      await soon(() => rows(page, 'Subscriptions').allInnerTexts()).toEqual([expect.stringContaining('Magazine')]);
      await soon(() => rows(page, 'Payments').allInnerTexts()).toEqual([
        expect.stringMatching(/USD\s19.00\s[\s\S]*Succeeded/),
      ]);
    };

    test('list the caller’s customers, and show a customer with methods, subscriptions and payments', async () => {
      const { page } = visit;
      await goTo(page, 'Customers');
      await soon(() => rows(page, 'Customers').count()).toBe(1);
      const shown = await rows(page, 'Customers').innerText();
      for (const text of ['ada@example.com', 'Ada Lovelace', 'Stripe']) expect(shown).toContain(text);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await rows(page, 'Customers').click();
      await page.getByRole('heading', { name: 'ada@example.com' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/console/customers/${owner.names.customer_id}`);
      await expectRecords(page);
      await atRecord(page, owner.names.customer_id);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
    });

    test('link to the subscription and the payment, which link back to the customer', async () => {
      const { page } = visit;
      await rows(page, 'Subscriptions').click();
      await atRecord(page, subscription.id);
      await page.getByRole('link', { name: owner.names.customer_id }).click();
      await rows(page, 'Payments').click();
      await page.getByRole('heading', { level: 1, name: 'USD 19.00 Succeeded' }).waitFor();
      await page.getByRole('link', { name: owner.names.customer_id }).click();
      await page.getByRole('heading', { name: 'ada@example.com' }).waitFor();
    });

    test('filter by provider, and name the filter if nothing matches', async () => {
      const { page, open } = visit;
      await open('/customers');
      await chooseFilter(page, 'Provider', 'provider_c');
      await page.getByText('No customer matches').waitFor();
      expect(await page.getByText('Searched:').innerText()).toBe('Searched: provider Square');
      expect(new URL(page.url()).search).toBe('?provider=provider_c');
      await expectNoViolation(page);
    });

    test('show a platform admin all customers, a search by e-mail, and a customer’s lifetime net', async () => {
      const other = await visitConsole(browser, service, width);
      const { page } = other;
      await enterSession(other, admin.session);
      await other.open('/customers');
      await soon(() => rows(page, 'Customers').count()).toBeGreaterThan(0);
      await page.getByLabel('Search customers').fill('ADA@example.com');
      await page.keyboard.press('Enter');
      await soon(() => rows(page, 'Customers').allInnerTexts()).toEqual([
        expect.stringMatching(/ada@example.com[\s\S]+Ada Lovelace/),
      ]);
      await expectNoViolation(page);
      await rows(page, 'Customers').click();
      const lifetime = page.getByRole('region', { name: 'Lifetime' });
      await expectRecords(page);
      const { body } = await service.get('/admin/payments?limit=1', admin.options);
      const [paid] = body.data;
      const net = ((paid?.settlement?.net_cents ?? paid?.amount_cents ?? 0) / 100).toFixed(2);
      await soon(() => lifetime.innerText()).toMatch(
        new RegExp(`Lifetime net\\s+USD\\s${net}[\\s\\S]+Paid\\s+USD\\s19.00`),
      );
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      expectQuiet(other, service);
      await page.close();
    });

    test('show a platform admin any customer, and the customers of an organization', async () => {
      const firm = await company(service);
      const customer = await createCustomer(service, firm.owner.options, {
        organization_id: firm.id,
        email: 'books@acme.example.com',
      });
      const other = await visitConsole(browser, service, width);
      const { page } = other;
      await enterSession(other, admin.session);
      await other.open(`/customers/${owner.names.customer_id}`);
      await expectRecords(page);
      await expectNoViolation(page);
      await other.open('/customers');
      await typeFilter(page, 'Organization', firm.id);
      await soon(() => rows(page, 'Customers').allInnerTexts()).toEqual([
        expect.stringContaining('books@acme.example.com'),
      ]);
      await rows(page, 'Customers').click();
      await atRecord(page, customer.id);
      expectQuiet(other, service);
      await page.close();
    });

    test('make no request to another host, and violate no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
