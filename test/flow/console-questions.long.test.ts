import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, giveCommand, searchFor, typeFilter } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectNoSidewaysScroll,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { confirm, createPaidIntent, IMPATIENT, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';

/** One test per question of docs/guides/support.md. */
describe('support’s questions in the console with demo data', () => {
  const service = withHost({ daysAgo: DEMO_DAYS, env: { ...IMPATIENT, EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  let browser: Browser;
  let ids: ReadonlyMap<string, string>;
  let payer: User;

  beforeAll(async () => {
    const { baseUrl, door, clock } = service.host();
    const [started, made] = await Promise.all([
      startBrowser(),
      makeDemoData({ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now }),
    ]);
    [browser, ids] = [started, made];
    door?.open();
    payer = await signIn(service);
    await service.settle();
  }, 240_000);
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('an admin at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await enterSession(visit, 'demo-admin');
    });

    const search = (text: string): Promise<void> => searchFor(visit.page, text);
    const idOf = (name: string): string => ids.get(name) ?? name;
    const atPayment = async (name: string): Promise<Page> => {
      await atRecord(visit.page, idOf(name));
      await visit.page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await expectNoSidewaysScroll(visit.page);
      return visit.page;
    };
    const rows = (table: string): Locator => visit.page.getByRole('table', { name: table }).locator('tbody tr');

    test('finds the payment by its reference, the payer’s e-mail address or the card’s last four digits', async () => {
      const { page } = visit;
      await search('DEMO-2001');
      await atPayment('payment-course');
      await search('demo.member@example.com');
      await rows('Payments found').filter({ hasText: 'Course in drawing' }).getByRole('link').click();
      await atPayment('payment-lost-card');
      await search('4242');
      await page.getByRole('heading', { level: 1, name: 'Results for “4242”' }).waitFor();
      await rows('Payments found').filter({ hasText: 'Course in watercolor' }).getByRole('link').click();
      const shown = await atPayment('payment-course');
      expect(await shown.getByLabel('Details').innerText()).toMatch(/Visa •••• 4242/);
    });

    test('shows the history of the payment', async () => {
      await search('DEMO-2001');
      const page = await atPayment('payment-course');
      expect(await page.getByLabel('Timeline').innerText()).toMatch(
        /Payment created[\s\S]+Attempt 1 started[\s\S]+The provider responded[\s\S]+payment.succeeded to WEBHOOK_1/,
      );
    });

    test('lists the payments of the payer, so a double charge would be visible', async () => {
      await search(idOf('payment-inks'));
      const page = await atPayment('payment-inks');
      expect(await page.getByLabel('Details').innerText()).toContain('demo.owner@example.com');
      await page.getByRole('link', { name: 'All payments of this payer' }).click();
      await soon(() => new URL(page.url()).search).toBe('?user=user_demo_owner');
      await chooseFilter(page, 'Status', 'succeeded');
      for (const name of ['Minimum amount', 'Maximum amount']) await typeFilter(page, name, '33.00');
      await soon(() => rows('Payments').allInnerTexts()).toEqual([
        expect.stringMatching(/EUR\s33.00\s[\s\S]*Succeeded/),
      ]);
    });

    test('says why the payment was declined, and what to tell the payer', async () => {
      await search('demo.member@example.com');
      await rows('Payments found').filter({ hasText: 'Course in drawing' }).getByRole('link').click();
      const page = await atPayment('payment-lost-card');
      expect(await page.getByLabel('Decline').innerText()).toMatch(
        /The bank declined the card \(lost_card\)\. Ask the payer to use another card, and do not name the reason\./,
      );
    });

    test('learns the unknown outcome of a payment from the provider', async () => {
      await service.webhookMode('drop');
      const { id } = await createPaidIntent(service, payer);
      await service.fault({ provider: 'provider_a', action: 'timeout_after', path: '/confirm', times: 1 });
      expect((await confirm(service, id, payer.options)).status).toBe(202);
      await search(id);
      const page = await atPayment(id);
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('Processing');
      await giveCommand(page, 'Sync');
      await soon(() => page.getByRole('heading', { level: 1 }).innerText()).toContain('Succeeded');
      await service.webhookMode('normal');
    });

    test('shows the status of the refund', async () => {
      await search(idOf('refund-frame'));
      const page = await atPayment('payment-frame');
      expect(await page.getByLabel('Refunds').innerText()).toMatch(/EUR\s9.00\s+Succeeded[\s\S]+re_/);
      await search(idOf('refund-returned'));
      await atPayment('payment-returned');
      expect(await page.getByLabel('Refunds').innerText()).toMatch(/EUR\s31.00\s+Failed/);
    });

    test('shows the dispute and the due date of its evidence', async () => {
      await search(idOf('payment-open'));
      const page = await atPayment('payment-open');
      expect(await page.getByLabel('Disputes').innerText()).toMatch(
        /USD\s75.00\s+Respond[\s\S]+evidence is due by \d+ \w+ \d{4} \(UTC\)/,
      );
      await page.getByRole('link', { name: 'All disputes' }).click();
      await rows('Disputes').filter({ hasText: 'USD 75.00' }).getByRole('link').click();
      await atPayment('payment-open');
    });

    test('shows how our own system responded to the events of the payment', async () => {
      await search('DEMO-2001');
      const page = await atPayment('payment-course');
      const delivery = page.getByRole('listitem').filter({ hasText: 'payment.succeeded to WEBHOOK_1' });
      expect(await delivery.innerText()).toMatch(/Delivered\s+Answered 200 · attempt 1/);
      await delivery.getByRole('button', { name: 'Show payload' }).click();
      await delivery.getByText('"event": "payment.succeeded"').waitFor();
    });

    test('says why the subscription is not active', async () => {
      await search('demo.member@example.com');
      await rows('Subscriptions found').filter({ hasText: 'Magazine' }).getByRole('link').click();
      const { page } = visit;
      await atRecord(page, idOf('subscription-past-due'));
      expect(await page.getByLabel('Dunning').innerText()).toMatch(
        /Dunning: retrying\s+\d attempts? made. Declined: \w+. Next attempt: \d+/,
      );
      await page.getByRole('link', { name: 'Show the payment' }).click();
      await page.getByRole('heading', { level: 1, name: 'USD 9.90 Failed' }).waitFor();
    });

    test('names the author of a change', async () => {
      await search(idOf('payment-frame'));
      const page = await atPayment('payment-frame');
      await soon(() => page.getByLabel('Timeline').innerText()).toMatch(
        /Payment created[\s\S]+by demo\.owner@example\.com[\s\S]+Refund[\s\S]+by staff member demo\.admin@example\.com/,
      );
    });

    test('makes no request to another host, and violates no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
