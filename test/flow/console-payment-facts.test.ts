import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
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
import { confirm, createIntent, signIn, type User } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';
import { paidPayment, signInAdmin } from './refunders.ts';

const DETAILS = {
  type: 'card',
  wallet_type: 'apple_pay',
  card_brand: 'visa',
  last_four: '4242',
  expiry_month: '12',
  expiry_year: '2030',
  funding: 'credit',
  country: 'US',
  bank_name: null,
  three_d_secure: { result: 'authenticated', version: '2.2.0', liability_shifted: true },
  fingerprint: 'fp_0123456789abcdef01234567',
};
const SETTLEMENT = {
  fee_cents: 103,
  net_cents: 2_397,
  currency: 'USD',
  exchange_rate: null,
  available_on: '2026-12-01T00:00:00.000Z',
};

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

    /** Opens the payment with these fields beside its own. */
    const openWith = async (id: string, fields: Readonly<Record<string, unknown>>): Promise<void> => {
      const { page, open } = visit;
      const record = new RegExp(`/payments/${id}(\\?|$)`);
      await page.route(record, async (route) => {
        if (route.request().resourceType() === 'document') return route.fallback();
        const response = await route.fetch();
        const json: ParsedJson = await response.json();
        return route.fulfill({ response, json: { ...json, data: { ...json.data, ...fields } } });
      });
      await open(`/payments/${id}`);
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await page.unroute(record);
    };

    test('shows the method in one line, the payer’s e-mail address, and fee and net', async () => {
      const { page } = visit;
      const { id } = await paidPayment(service, payer);
      await openWith(id, {
        payment_method_details: DETAILS,
        settlement: SETTLEMENT,
        user_email: 'payer@example.com',
        organization_id: 'org_1',
        organization_name: 'Acme',
      });
      const details = await page.getByLabel('Details').innerText();
      expect(details).toContain('Visa •••• 4242, credit, US, Apple Pay, 3-D Secure passed');
      expect(details).toMatch(new RegExp(`payer@example.com\\s+${payer.userId}`));
      expect(details).toMatch(/Acme\s+org_1/);
      expect(details).toMatch(/Expires\s+12\/2030/);
      expect(await page.getByLabel('Settlement').innerText()).toMatch(
        /fee\s+USD\s1.03\s+Net\s+USD\s23.97\s+Paid out from \(UTC\)\s+1 Dec 2026/,
      );
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await page.getByRole('link', { name: 'All payments with this card' }).click();
      await soon(() => new URL(page.url()).search).toBe(`?fingerprint=${DETAILS.fingerprint}`);
      expect(await page.getByLabel('Card fingerprint').inputValue()).toBe(DETAILS.fingerprint);
    });

    test('shows no fee and no net to callers who may not see them', async () => {
      const { page } = visit;
      const { id } = await paidPayment(service, payer);
      await openWith(id, { settlement: null });
      expect(await page.getByLabel('Settlement').count()).toBe(0);
    });

    test.each([
      [
        'pm_card_visa_chargeDeclinedInsufficientFunds',
        { code: 'insufficient_funds', provider_code: 'card_declined', network_code: '51', advice: 'retry_later' },
        'The card has insufficient funds (insufficient_funds). Ask the payer to try again later, or to use another card.',
      ],
      [
        'pm_card_visa_chargeDeclined',
        { code: 'do_not_honor', provider_code: 'card_declined', network_code: '05', advice: 'contact_bank' },
        'The bank declined the card (do_not_honor). Ask the payer to contact the bank or use another card.',
      ],
      [
        'pm_card_visa_chargeDeclinedLostCard',
        { code: 'lost_card', provider_code: 'lost_card', network_code: '41', advice: 'another_method', hard: true },
        'The bank declined the card (lost_card). Ask the payer to use another card, and do not name the reason.',
      ],
    ])('says in words why %s was declined, and what to tell the payer', async (method, decline, words) => {
      const { page } = visit;
      const { id } = await createIntent(service, payer, { payment_method_id: method });
      expect((await confirm(service, id, payer.options)).status).toBe(402);
      await openWith(id, { decline });
      const shown = await page.getByLabel('Decline').innerText();
      expect(shown).toContain(words);
      expect(shown).toContain(`Stripe: ${decline.provider_code} · card network: ${decline.network_code}`);
      await expectNoViolation(page);
    });

    test('folds ignored events, and names an event, a message and a request by what they are', async () => {
      const { page, open } = visit;
      const { id } = await paidPayment(service, payer);
      await open(`/payments/${id}`);
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      const { body } = await service.get(`/payments/${id}/timeline`, admin.options);
      const ignored = body.data.filter(({ outcome }: ParsedJson) => outcome === 'ignored');
      expect(ignored.length).toBeGreaterThan(0);
      const timeline = page.getByLabel('Timeline');
      expect(await timeline.innerText()).not.toContain(ignored[0].event_id);
      await page.getByRole('button', { name: `Show ${ignored.length} ignored event` }).click();
      await timeline.getByText(`event ${ignored[0].event_id}`).waitFor();
      await expectNoViolation(page);
      const [created] = body.data;
      expect(await timeline.innerText()).toContain(`request ${created.request_id}`);
      await page.getByRole('button', { name: `Hide ${ignored.length} ignored event` }).click();
      expect(await timeline.innerText()).not.toContain(ignored[0].event_id);
    });

    test('makes no request to another host, and violates no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
