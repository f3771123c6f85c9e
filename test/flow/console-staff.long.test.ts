import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { atRecord, commandsIn } from './console-controls.ts';
import { type ConsoleVisit, enterSession, soon, visitConsole, WIDTHS } from './console-steps.ts';
import { createIntent, signIn, type User } from './flow.ts';
import { heldPayment } from './holders.ts';
import { withHost } from './host.ts';
import { paidPayment, refund, signInAdmin } from './refunders.ts';
import { payer, subscribe } from './subscribers.ts';

const ROLES = ['support', 'finance', 'operations'] as const;
type Role = (typeof ROLES)[number];

describe('the console of the staff', () => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', SUPPORT_REFUND_LIMITS: 'USD:1000' } });
  let browser: Browser;
  let user: User;
  let admin: User;
  const ids = { paid: '', inEuro: '', unpaid: '', held: '', subscription: '', delivery: '' };

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    user = await signIn(service, { expires_in: YEAR_SECONDS });
    ids.paid = (await paidPayment(service, user)).id;
    ids.inEuro = (await paidPayment(service, user, { currency: 'EUR' })).id;
    ids.unpaid = (await createIntent(service, user)).id;
    ids.held = (await heldPayment(service, user)).id;
    ids.subscription = (await subscribe(service, await payer(service, user.options))).id;
    await service.settle();
    const { body: logs } = await service.get('/webhooks/logs?event_type=payment.succeeded', admin.options);
    ids.delivery = present(logs[0]).id;
  });
  afterAll(() => browser?.close());

  const visitAs = async (role: Role): Promise<ConsoleVisit> => {
    const visit = await visitConsole(browser, service, WIDTHS[0]);
    await enterSession(visit, (await signIn(service, { staff_role: role, expires_in: YEAR_SECONDS })).session);
    return visit;
  };

  describe.each([
    {
      role: 'support',
      paid: ['Refund', 'Sync'],
      inEuro: ['Sync'],
      unpaid: ['Copy pay link', 'Cancel', 'Sync'],
      held: ['Sync'],
      subscription: [],
      delivery: [],
      webhooks: ['Refresh'],
      missing: ['Discounts', 'Keys'],
    },
    {
      role: 'finance',
      paid: ['Refund'],
      inEuro: ['Refund'],
      unpaid: ['Copy pay link'],
      held: ['Capture', 'Release'],
      subscription: ['Change price', 'Cancel'],
      delivery: undefined,
      webhooks: undefined,
      missing: ['Webhooks', 'Discounts', 'Keys'],
    },
    {
      role: 'operations',
      paid: ['Sync'],
      inEuro: ['Sync'],
      unpaid: ['Copy pay link', 'Cancel', 'Sync'],
      held: ['Capture', 'Release', 'Sync'],
      subscription: ['Change price', 'Cancel'],
      delivery: ['Send again'],
      webhooks: ['Refresh', 'Send test event'],
      missing: ['Customers', 'Keys'],
    },
  ] as const)('in the role $role', ({ role, missing, webhooks, delivery, ...offered }) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitAs(role);
      return () => visit.page.context().close();
    });

    const actions = () => commandsIn(visit.page);

    test('names the role, and lists the payments and subscriptions of everyone', async () => {
      const { page, open } = visit;
      expect(await page.locator('.role').innerText()).toMatch(new RegExp(role, 'i'));
      for (const [path, table] of [
        [`/payments?user=${user.userId}`, 'Payments'],
        [`/subscriptions?user=${user.userId}`, 'Subscriptions'],
      ] as const) {
        await open(path);
        await page.getByRole('table', { name: table }).locator('tbody tr').first().waitFor();
      }
      for (const name of ['Refunds', 'Disputes', 'Health']) {
        await page.getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name }).waitFor();
        await soon(() => page.locator('[aria-busy=true], .loading').count()).toBe(0);
        expect(await page.getByRole('alert').count()).toBe(0);
      }
      const well = await page.getByRole('region', { name: 'All well' }).innerText();
      expect(/no delivery failed/.test(well)).toBe(webhooks !== undefined);
    });

    test('hides pages forbidden to the role, and names the missing scope', async () => {
      const { page, open } = visit;
      for (const name of missing) {
        expect([name, await page.getByRole('link', { name, exact: true }).count()]).toEqual([name, 0]);
      }
      await open(`/${missing[0].toLowerCase()}`);
      await page.getByRole('heading', { level: 1, name: 'Not permitted' }).waitFor();
      expect(await page.locator('main').innerText()).toMatch(/your role lacks the scope \w+:\w+/);
      await open(`/payments/${ids.paid}`);
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.waitFor();
      expect(/lacks the scope webhooks:read/.test(await timeline.innerText())).toBe(webhooks === undefined);
    });

    test('finds a payment of any payer by its id', async () => {
      const { page } = visit;
      await page.getByRole('searchbox', { name: 'Search' }).first().fill(ids.paid);
      await page.keyboard.press('Enter');
      await atRecord(page, ids.paid);
    });

    test.each(['paid', 'inEuro', 'unpaid', 'held'] as const)(
      'offers the role’s actions on the %s payment',
      async (which) => {
        const { page, open } = visit;
        await open(`/payments/${ids[which]}`);
        await page.getByRole('region', { name: 'Timeline' }).waitFor();
        expect(await actions()).toEqual(offered[which]);
      },
    );

    test('offers the role’s actions on a subscription', async () => {
      const { page, open } = visit;
      await open(`/subscriptions/${ids.subscription}`);
      await page.getByRole('region', { name: 'Timeline' }).waitFor();
      expect(await actions()).toEqual(offered.subscription);
    });

    test('offers the role’s actions on webhooks', async () => {
      const { page, open } = visit;
      await open(`/webhooks/${ids.delivery}`);
      if (delivery === undefined) {
        await page.getByRole('heading', { level: 1, name: 'Not permitted' }).waitFor();
        return;
      }
      await page.getByRole('heading', { level: 1, name: 'payment.succeeded' }).waitFor();
      expect(await actions()).toEqual(delivery);
      await open('/webhooks');
      await soon(() => page.locator('[aria-busy=true], .loading').count()).toBe(0);
      expect(await page.locator('main .actions button').allInnerTexts()).toEqual(webhooks);
    });
  });

  describe('a refund by support', () => {
    let visit: ConsoleVisit;
    let payment = '';

    beforeEach(async () => {
      visit = await visitAs('support');
      payment = (await paidPayment(service, user)).id;
      await visit.open(`/payments/${payment}`);
      await visit.page.getByRole('button', { name: 'Refund' }).click();
      return () => visit.page.context().close();
    });

    const dialog = () => visit.page.getByRole('dialog');

    test('is prefilled with the limit, and succeeds', async () => {
      expect(await dialog().getByLabel('Amount').inputValue()).toBe('10.00');
      await dialog().getByText('Support may refund up to USD 10.00 of one payment.').waitFor();
      await dialog().getByRole('button', { name: 'Continue' }).click();
      await dialog().getByRole('button', { name: 'Refund USD 10.00' }).click();
      await dialog().getByText('The refund succeeded.').waitFor();
    });

    test('names the limit if the API refuses the refund', async () => {
      await refund(service, payment, { ...admin.options, body: { amount_cents: 500 } });
      await dialog().getByRole('button', { name: 'Continue' }).click();
      await dialog().getByRole('button', { name: 'Refund USD 10.00' }).click();
      await soon(() => dialog().getByRole('alert').innerText()).toContain('INSUFFICIENT_PERMISSIONS');
      await dialog().getByText('Support may refund up to USD 10.00 of one payment.').waitFor();
    });
  });
});
