import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { startBrowser } from './browser.ts';
import { filterShown } from './console-controls.ts';
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
import { changeTable, confirm, createIntent, partitionOf, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, signInAdmin } from './refunders.ts';

const SETTLEMENT = { feeCents: 103, netCents: 2_397, currency: 'USD', availableOn: '2026-12-01T00:00:00.000Z' };

describe('the facts of a payment in the console', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;
  let payer: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    payer = await signIn(service, { email: 'payer@example.com' });
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the payment page at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await enterSession(visit, admin.session);
    });

    const openPayment = async (id: string): Promise<void> => {
      await visit.open(`/payments/${id}`);
      await visit.page.getByRole('heading', { name: 'Timeline' }).waitFor();
    };

    /** A paid payment whose fee is known. */
    const settledPayment = async () => {
      const payment = await paidPayment(service, payer);
      const item = (await partitionOf(service, `PAY#${payment.id}`)).find(({ sk }) => sk === 'PAY');
      await changeTable(service, { put: { ...item, settlement: SETTLEMENT } });
      return payment;
    };

    test('shows the method in one line, the payer’s e-mail address, and fee and net', async () => {
      const { page } = visit;
      const { id, payment_method_details: method } = await settledPayment();
      await openPayment(id);
      const details = await page.getByLabel('Details').innerText();
      expect(details).toContain('Visa •••• 4242, credit, US');
      expect(details).toMatch(new RegExp(`payer@example.com\\s+${payer.userId}`));
      expect(details).toContain(`${method.expiry_month}/${method.expiry_year}`);
      expect(await page.getByLabel('Settlement').innerText()).toMatch(
        /fee\s+USD\s1.03\s+Net\s+USD\s23.97\s+Paid out from\s+1 Dec 2026/,
      );
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await page.getByRole('link', { name: 'All payments with this card' }).click();
      await soon(() => new URL(page.url()).search).toBe(`?fingerprint=${method.fingerprint}`);
      expect(await filterShown(page, 'Card fingerprint')).toBe(method.fingerprint);
      await soon(() => page.locator('tbody tr').count()).toBeGreaterThan(0);
    });

    test('shows no fee and no net to the payer', async () => {
      const { id } = await settledPayment();
      const other = await visitConsole(browser, service, width);
      await enterSession(other, payer.session);
      await other.open(`/payments/${id}`);
      await other.page.getByRole('heading', { name: 'Timeline' }).waitFor();
      expect(await other.page.getByLabel('Details').innerText()).toContain('Visa •••• 4242, credit, US');
      expect(await other.page.getByLabel('Settlement').count()).toBe(0);
      await other.page.close();
    });

    test.each([
      [
        'pm_card_visa_chargeDeclinedInsufficientFunds',
        'The card has insufficient funds (insufficient_funds). Ask the payer to try again later, or to use another card.',
      ],
      [
        'pm_card_visa_chargeDeclined',
        'The bank declined the card (do_not_honor). Ask the payer to contact the bank or use another card.',
      ],
      [
        'pm_card_visa_chargeDeclinedLostCard',
        'The bank declined the card (lost_card). Ask the payer to use another card, and do not name the reason. The same card will be declined again.',
      ],
    ])('says in words why %s was declined, and what to tell the payer', async (method, words) => {
      const { page } = visit;
      const { id } = await createIntent(service, payer, { payment_method_id: method });
      expect((await confirm(service, id, payer.options)).status).toBe(402);
      const { decline } = await read(service, id, admin.options);
      await openPayment(id);
      const shown = await page.getByLabel('Decline').innerText();
      expect(shown).toContain(words);
      expect(shown).toContain(`Stripe: ${decline.provider_code}`);
      await expectNoViolation(page);
    });

    test('folds ignored events, and labels the ids of events and requests', async () => {
      const { page } = visit;
      const { id } = await paidPayment(service, payer);
      await openPayment(id);
      const { body } = await service.get(`/payments/${id}/timeline`, admin.options);
      const ignored = body.data.filter(({ outcome }) => outcome === 'ignored');
      expect(ignored.length).toBeGreaterThan(0);
      const timeline = page.getByLabel('Timeline');
      expect(await timeline.innerText()).not.toContain(present(ignored[0]).event_id);
      await page.getByRole('button', { name: `Show ${ignored.length} ignored event` }).click();
      await timeline.getByText(`event ${present(ignored[0]).event_id}`).waitFor();
      await expectNoViolation(page);
      const [created] = body.data;
      expect(await timeline.innerText()).toContain(`request ${present(created).request_id}`);
      await page.getByRole('button', { name: `Hide ${ignored.length} ignored event` }).click();
      expect(await timeline.innerText()).not.toContain(present(ignored[0]).event_id);
    });

    test('makes no request to another host, and violates no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
