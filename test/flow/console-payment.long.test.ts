import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { startBrowser } from './browser.ts';
import { atRecord, giveCommand } from './console-controls.ts';
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
import { PAYING_METHODS, paidPayment, signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';

describe('the page of a payment', () => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  let browser: Browser;
  let admin: User;
  let payer: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    payer = await signIn(service);
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the payment page at %i pixels', (width) => {
    let visit: ConsoleVisit;
    let payment: PaymentBody;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      payment = await paidPayment(service, payer, { metadata: { order: 'order-1' } });
      await service.settle();
      await enterSession(visit, admin.session);
    });

    const openPayment = async (id: string = payment.id): Promise<void> => {
      await visit.open(`/payments/${id}`);
      await atRecord(visit.page, id);
      await visit.page.getByRole('heading', { name: 'Timeline' }).waitFor();
    };
    /** Shows the provider's events that changed nothing. */
    const unfold = async (): Promise<void> => {
      const button = visit.page.getByRole('button', { name: /^Show \d+ ignored events?$/ });
      if ((await button.count()) > 0) await button.click();
    };
    const timeline = async (): Promise<string> => visit.page.getByLabel('Timeline').innerText();

    test('shows its history: changes, provider events and deliveries, with request ids', async () => {
      await openPayment();
      await unfold();
      const shown = await timeline();
      for (const text of ['Payment created', 'Attempt 1 started', 'Succeeded']) expect(shown).toContain(text);
      const person = visit.page.getByLabel('Timeline').getByTitle(payer.userId).first();
      await soon(() => person.innerText()).toMatch(/@example\.com/);
      expect(await person.getByRole('button', { name: `Copy ${payer.userId}` }).count()).toBe(1);
      expect(shown).toMatch(/Stripe sent payment_intent.succeeded\s+(Applied|Ignored)/);
      expect(shown).toMatch(/payment.succeeded to WEBHOOK_1\s+Delivered\s+Answered 200 · attempt 1/);
      const { body } = await service.get(`/payments/${payment.id}/timeline`, admin.options);
      for (const { request_id } of body.data) expect(shown).toContain(request_id);
      await expectAccessible(visit.page);
      await expectNoSidewaysScroll(visit.page);
    });

    test('shows the amounts, the metadata, and a link to the provider’s page', async () => {
      const { page } = visit;
      expect(await page.getByLabel('Prices').innerText()).toMatch(/Total\s+USD\s25.00/);
      expect(await page.getByLabel('Metadata').first().innerText()).toContain('"order": "order-1"');
      expect(await page.getByRole('link', { name: payment.provider_payment_id }).getAttribute('href')).toBe(
        `https://dashboard.stripe.com/test/payments/${payment.provider_payment_id}`,
      );
    });

    test('shows the payload of an event on demand, redacted, and the target’s response', async () => {
      const { page } = visit;
      const entry = page.getByRole('listitem').filter({ hasText: 'payment.succeeded to WEBHOOK_1' });
      await entry.getByRole('button', { name: 'Show payload' }).click();
      await entry.getByText('"event": "payment.succeeded"').waitFor();
      expect(await entry.innerText()).toContain('***@example.com');
      expect(await entry.innerText()).toContain('"http_status": 200');
      await expectAccessible(page);
      await entry.getByRole('button', { name: 'Hide payload' }).click();
      expect(await entry.getByText('"event"').count()).toBe(0);
    });

    test('resends a delivery, and shows the new delivery', async () => {
      const { page } = visit;
      const deliveries = page.getByRole('listitem').filter({ hasText: 'payment.succeeded to WEBHOOK_1' });
      expect(await deliveries.count()).toBe(1);
      await deliveries.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('Queued: payment.succeeded to WEBHOOK_1').waitFor();
      await soon(() => deliveries.count()).toBe(2);
    });

    test('asks for confirmation before a partial refund, and shows the amount left', async () => {
      const { page } = visit;
      await page.getByRole('button', { name: 'Refund' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount').fill('25.01');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await soon(() => dialog.getByRole('alert').innerText()).toBe('Enter an amount between 0.01 and 25.00.');
      await expectAccessible(page);
      await dialog.getByLabel('Amount').fill('7.00');
      await dialog.getByLabel('Reason').selectOption('requested_by_customer');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await soon(() => dialog.innerText()).toMatch(/Left to refund after this refund\s+USD\s18.00/);
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Refund USD 7.00' }).dblclick();
      await dialog.getByText('The refund succeeded.').waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await soon(() => page.getByLabel('Refunds').innerText()).toMatch(/USD\s7.00\s+Succeeded/);
      const { body } = await service.get(`/payments/${payment.id}/refunds`, admin.options);
      expect(body).toMatchObject([{ amount_cents: 700, status: 'succeeded', reason: 'requested_by_customer' }]);
      await soon(timeline).toMatch(/Refund\s+Succeeded\s+USD\s7.00, requested by customer/);
      await soon(timeline).toMatch(/payment.refunded to WEBHOOK_1/);
      expect(await page.getByLabel('Prices').innerText()).toMatch(/Can be refunded\s+USD\s18.00/);
    });

    test('warns of an open dispute, and asks for confirmation before a refund despite the dispute', async () => {
      const { page } = visit;
      const disputed = await paidPayment(service, payer, { paying: PAYING_METHODS[1] });
      const { id } = await service.control('POST', `/simulator/payments/${disputed.id}/disputes`, {});
      await service.settle();
      const [dispute] = (await service.get(`/payments/${disputed.id}/disputes`, admin.options)).body;
      expect(dispute).toMatchObject({ provider_dispute_id: id });
      await openPayment(disputed.id);
      await page.getByRole('button', { name: 'Refund' }).click();
      const dialog = page.getByRole('dialog');
      await soon(() => dialog.getByRole('alert').innerText()).toContain(`${present(dispute).id} waits for evidence`);
      expect(await dialog.getByLabel('Amount').inputValue()).toBe('');
      await dialog.getByLabel('Amount').fill('25.00');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      const send = dialog.getByRole('button', { name: 'Refund USD 25.00' });
      expect(await send.isDisabled()).toBe(true);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await dialog.getByLabel('Refund despite the dispute').check();
      await send.click();
      await dialog.getByText('The refund succeeded.').waitFor();
      await page.keyboard.press('Escape');
      const { body } = await service.get(`/payments/${disputed.id}/refunds`, admin.options);
      expect(body).toMatchObject([{ amount_cents: 2_500, status: 'succeeded' }]);
    });

    test('shows a newly opened dispute after the API refuses the refund', async () => {
      const { page } = visit;
      const disputed = await paidPayment(service, payer, { paying: PAYING_METHODS[1] });
      await openPayment(disputed.id);
      await page.getByRole('button', { name: 'Refund' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await service.control('POST', `/simulator/payments/${disputed.id}/disputes`, {});
      await service.settle();
      const send = dialog.getByRole('button', { name: 'Refund USD 25.00' });
      await send.click();
      await dialog.getByLabel('Refund despite the dispute').check();
      await send.click();
      await dialog.getByText('The refund succeeded.').waitFor();
      await page.keyboard.press('Escape');
    });

    test('makes one refund when the form is resent after a lost response', async () => {
      const { page } = visit;
      await openPayment();
      const refunds = /\/payments\/pay_\w+\/refunds$/;
      let isLost = false;
      await page.route(refunds, async (route) => {
        if (route.request().method() !== 'POST' || isLost) return route.fallback();
        isLost = true;
        await route.fetch();
        return route.abort();
      });
      await page.getByRole('button', { name: 'Refund' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount').fill('1.50');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      const send = dialog.getByRole('button', { name: 'Refund USD 1.50' });
      await send.click();
      await soon(() => dialog.getByRole('alert').innerText()).toContain('cannot be reached');
      await send.click();
      await dialog.getByText('The refund succeeded.').waitFor();
      await page.keyboard.press('Escape');
      await page.unroute(refunds);
      const { body } = await service.get(`/payments/${payment.id}/refunds`, admin.options);
      expect(body.filter(({ amount_cents: cents }) => cents === 150)).toHaveLength(1);
    });

    test('syncs the payment with its provider', async () => {
      await openPayment();
      const answer = visit.page.waitForResponse(/\/payments\/sync\//);
      await giveCommand(visit.page, 'Sync');
      expect((await answer).status()).toBe(200);
    });

    test('cancels an unpaid payment, and then no longer offers to cancel it', async () => {
      const { page } = visit;
      const open = await createIntent(service, payer, { total_cents: 900 });
      await openPayment(open.id);
      expect(await page.getByRole('button', { name: 'Refund' }).count()).toBe(0);
      await giveCommand(page, 'Cancel');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel payment' }).click();
      await soon(timeline).toMatch(/Payment canceled\s+Canceled/);
      expect(await timeline()).toMatch(/by staff member \S+@example\.com/);
      expect(await page.getByLabel('Timeline').getByTitle(admin.userId).count()).toBe(1);
      await soon(() => page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    });

    test('shows an API error with its request id', async () => {
      const { page } = visit;
      const spent = await paidPayment(service, payer, { total_cents: 1_000 });
      await openPayment(spent.id);
      await page.getByRole('button', { name: 'Refund' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await service.post(`/payments/${spent.id}/refunds`, { amount_cents: 600 }, admin.options);
      await dialog.getByRole('button', { name: 'Refund USD 10.00' }).click();
      await soon(() => dialog.getByRole('alert').innerText()).toMatch(/Request [\w-]{36} · REFUND_EXCEEDS_PAYMENT/);
    });

    test('makes no request to another host, and violates no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
