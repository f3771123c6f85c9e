import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { CANONICAL_EVENTS } from '../../shared/platform/bus-event.ts';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, openMenu, typeFilter } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectAccessible,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { confirm, createIntent, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';
import { deliveredTo } from './targets.ts';

describe('the console’s pages for operators and developers', () => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', EXTERNAL_WEBHOOK_MAX_RETRIES: '0' } });
  let browser: Browser;
  let admin: User;
  let user: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    user = await signIn(service, { expires_in: YEAR_SECONDS });
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the pages at %i pixels', (width) => {
    let visit: ConsoleVisit;
    let payment: PaymentBody;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      payment = await paidPayment(service, user);
      await service.settle();
      await enterSession(visit, admin.session);
    });

    const rows = (name: string) => visit.page.getByRole('table', { name }).locator('tbody tr');

    test('list webhook deliveries, and find them by event, status and target', async () => {
      const { page, open } = visit;
      await open('/webhooks');
      await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
      await rows('Deliveries').first().waitFor();
      await typeFilter(page, 'Event', 'payment.succeeded');
      await soon(() => rows('Deliveries').first().innerText()).toContain('payment.succeeded');
      expect(await rows('Deliveries').first().innerText()).toMatch(/Success\s+200/);
      await chooseFilter(page, 'Target', 'WEBHOOK_1');
      expect(new URL(page.url()).search).toBe('?event=payment.succeeded&target=WEBHOOK_1');
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await chooseFilter(page, 'Status', 'failed');
      await page.getByText('No delivery matches').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rows('Deliveries').first().waitFor();
    });

    test('show the whole name of each event, and link to its payment', async () => {
      const { page, open } = visit;
      await open('/webhooks?event=payment.succeeded');
      const row = rows('Deliveries').filter({ hasText: payment.id });
      await row.getByText('payment.succeeded', { exact: true }).waitFor();
      expect(await page.evaluate("getComputedStyle(document.querySelector('tbody .whole')).overflow")).toBe('visible');
      await row.getByRole('link', { name: payment.id }).click();
      await atRecord(page, payment.id);
    });

    test('show the success rate of the last 24 hours, and how many attempts it covers', async () => {
      const { page, open } = visit;
      await service.control('POST', '/sink/default/behaviour', { status: 500, times: 1 });
      await createIntent(service, user);
      await service.settle();
      const since = new Date(service.now() - DAY_MS).toISOString();
      const { body } = await service.get('/webhooks/logs?limit=100', admin.options);
      const sent = body.filter(({ direction, created_at }) => direction === 'outbound' && created_at >= since);
      const delivered = sent.filter(({ status }) => status === 'success').length;
      expect(delivered).toBe(sent.length - 1);
      await open('/webhooks');
      await soon(() => page.getByLabel('Success rate, last 24 hours').innerText()).toContain(
        `${delivered} of ${sent.length} attempts`,
      );
    });

    test('show the payload and response of a delivery, and resend it under the same id', async () => {
      const { page, open } = visit;
      const { body: logs } = await service.get('/webhooks/logs?event_type=payment.succeeded', admin.options);
      const log = logs.find(({ payload }) => payload.data.payment_id === payment.id);
      const received = async (): Promise<string[]> =>
        (await deliveredTo(service, 'default', 'payment.succeeded'))
          .map(({ headers }) => headers['webhook-id'] ?? '')
          .filter((id) => id === present(log).event_id);
      expect(await received()).toHaveLength(1);
      await open(`/webhooks/${present(log).id}`);
      await soon(() => page.getByLabel('Payload', { exact: true }).innerText()).toContain(payment.id);
      expect(await page.getByLabel('Response', { exact: true }).innerText()).toContain('"http_status": 200');
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('Queued: payment.succeeded to WEBHOOK_1').waitFor();
      await service.settle();
      expect(await received()).toHaveLength(2);
      await page.getByRole('link', { name: payment.id }).click();
      await atRecord(page, payment.id);
    });

    test('group the attempts of an event, and resend several events together', async () => {
      const { page, open } = visit;
      await open('/webhooks?event=payment.succeeded');
      const row = rows('Deliveries').filter({ hasText: payment.id });
      await row.waitFor();
      expect(await row.count()).toBe(1);
      // A narrow screen shows the attempts and their actions on the page of the delivery.
      if (width !== WIDTHS[0]) return;
      await row.getByRole('button', { name: '2 attempts' }).click();
      expect(await row.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringMatching(/WEBHOOK_1: 200, \d+ ms/),
        expect.stringMatching(/WEBHOOK_1: 200, \d+ ms/),
      ]);
      const other = await createIntent(service, user);
      await service.settle();
      await open('/webhooks');
      await rows('Deliveries').filter({ hasText: other.id }).getByRole('checkbox').check();
      await rows('Deliveries').filter({ hasText: payment.id }).first().getByRole('checkbox').check();
      const before = (await deliveredTo(service, 'default')).length;
      await expectNoViolation(page);
      await page.getByRole('button', { name: 'Send 2 again' }).click();
      await page.getByText('Queued: 2 deliveries').waitFor();
      await service.settle();
      expect((await deliveredTo(service, 'default')).length).toBe(before + 2);
      expect(await page.getByRole('button', { name: /^Send \d+ again/ }).count()).toBe(0);
    });

    test('show new events without a click while the page is open', async () => {
      const { open } = visit;
      await open('/webhooks');
      await rows('Deliveries').first().waitFor();
      const made = await createIntent(service, user);
      await service.settle();
      await soon(() => rows('Deliveries').first().innerText()).toContain(made.id);
    });

    test('show the provider’s events under their own tab, which the arrow keys reach', async () => {
      const { page, open } = visit;
      await open('/webhooks');
      const own = page.getByRole('tab', { name: 'Own events' });
      await own.focus();
      await page.keyboard.press('ArrowRight');
      expect(await page.getByRole('tab', { name: 'Provider’s events' }).getAttribute('aria-selected')).toBe('true');
      await soon(() => rows('Provider’s events').first().innerText()).toContain('provider_a:');
      expect(await page.getByRole('table', { name: 'Deliveries' }).count()).toBe(0);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
    });

    test('offer a test event of every kind, deliver it, and show the target’s response', async () => {
      const { page, open } = visit;
      await open('/webhooks');
      await page.getByRole('button', { name: 'Send test event' }).click();
      const dialog = page.getByRole('dialog');
      await soon(async () => (await dialog.getByRole('option').allInnerTexts()).toSorted()).toEqual(
        [...CANONICAL_EVENTS].toSorted(),
      );
      await dialog.getByLabel('Event').selectOption('subscription.cancelled');
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await soon(() => dialog.getByRole('status').innerText()).toMatch(
        /WEBHOOK_1 at 127.0.0.1:\d+\s+Success\s+HTTP 200/,
      );
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      const received = await deliveredTo(service, 'default', 'subscription.cancelled');
      expect(received.at(-1)).toMatchObject({ headers: { 'webhook-test': 'true' }, body: { test: true } });
      await dialog.getByRole('button', { name: 'Close' }).click();
      await soon(() => rows('Deliveries').first().innerText()).toContain('subscription.cancelled');
      expect(await rows('Deliveries').first().locator('button, input').count()).toBe(0);
      await rows('Deliveries').first().click();
      await soon(() => page.getByLabel('Payload', { exact: true }).innerText()).toContain('"test": true');
      expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
    });

    test('list a payment with an unknown outcome under Health, and link to it', async () => {
      const { page, open } = visit;
      await service.webhookMode('drop');
      await open('/health');
      const well = page.getByRole('region', { name: 'All well' });
      await soon(() => well.innerText()).toContain('no payment has an unknown outcome');
      for (const folded of ['Payments with unknown outcome', 'Refunds with unknown outcome']) {
        expect(await page.getByRole('heading', { name: folded }).count()).toBe(0);
      }
      const unclear = await createIntent(service, user, { payment_method_id: 'pm_card_visa' });
      await service.fault({ path: '/confirm', action: 'reset', times: 1 });
      await service.fault({ provider: 'provider_a', path: '/v1/payment_intents', action: 'rate_limit' });
      expect(await confirm(service, unclear.id, user.options)).toMatchObject({ status: 202 });
      await service.advance(20 * MINUTE_SECONDS);
      await page.reload();
      await soon(() => rows('Payments with unknown outcome').allInnerTexts()).toEqual([
        expect.stringMatching(new RegExp(`${unclear.id}\\s+USD`)),
      ]);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await rows('Payments with unknown outcome').click();
      await atRecord(page, unclear.id);
      await service.clearFaults();
      await service.webhookMode('normal');
      await service.advance(2 * HOUR_SECONDS);
      await open('/health');
      await soon(() => well.innerText()).toContain('no payment has an unknown outcome');
    });

    test('list disputes whose evidence is due, and failed deliveries, under Health', async () => {
      const { page, open } = visit;
      const disputed = await createIntent(service, user, { payment_method_id: 'pm_card_createDispute' });
      await service.control('POST', '/sink/default/behaviour', { status: 500, times: 1 });
      await confirm(service, disputed.id, user.options);
      await service.settle();
      await open('/health');
      await soon(() => page.getByRole('region', { name: 'Failed deliveries' }).innerText()).toMatch(
        /Failed\s+[1-9]\d* attempt/,
      );
      await soon(() => page.getByRole('table', { name: 'Disputes due' }).innerText()).toContain('Fraudulent');
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Show failed deliveries' }).click();
      await soon(() => page.url()).toContain('/webhooks?status=failed');
      await soon(() => rows('Deliveries').first().innerText()).toMatch(/Failed\s+500/);
    });

    test('show engineers’ checks under Developers, and no commands under Health', async () => {
      const { page, open } = visit;
      await open('/health');
      await page.getByText('the service works and responds to requests').waitFor();
      expect(await page.locator('main').innerText()).not.toMatch(/npm|payctl/);
      await page.locator('main').getByRole('link', { name: 'Developers' }).click();
      await soon(() => page.getByLabel('Checks by an engineer').innerText()).toContain('payctl doctor');
    });

    test('show the publishable keys and the test methods to developers, and no secret', async () => {
      const { page, open } = visit;
      await open('/developers');
      const { body } = await service.get('/config');
      await soon(() => page.getByLabel('Publishable keys').innerText()).toContain(
        body.data.providers[0]?.publishable_key,
      );
      expect(await page.getByLabel('Table of test methods').innerText()).toContain('pm_card_visa');
      expect(await page.locator('main').innerText()).not.toMatch(/\bsk_|whsec_/);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      expect(await page.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe('/docs');
    });

    test('advance the clock, show its offset in the banner, and settle all deliveries', async () => {
      const { page } = visit;
      const before = service.now();
      await page.getByLabel('Advance by').selectOption({ label: '7 days' });
      await page.getByRole('button', { name: 'Advance clock' }).click();
      await soon(async () => service.now() - before).toBeGreaterThanOrEqual(7 * DAY_MS);
      await soon(() => page.getByRole('banner').innerText()).toMatch(/Clock \+\d+ days/);
      await page.getByRole('button', { name: 'Settle' }).click();
      await page.getByText('All events, queues and deliveries are quiet.').waitFor();
      await expectAccessible(page);
      await visit.open('/overview');
      await soon(() => page.getByRole('banner').innerText()).toMatch(/Clock \+\d+ days/);
    });

    test('offer users neither Health nor test events', async () => {
      const other = await visitConsole(browser, service, width);
      await enterSession(other, user.session);
      await other.open('/webhooks');
      await other.page.getByRole('table', { name: 'Deliveries' }).waitFor();
      for (const name of ['Send again', 'Send test event']) {
        expect(await other.page.getByRole('button', { name }).count()).toBe(0);
      }
      await openMenu(other.page);
      expect(await other.page.getByRole('navigation').getByRole('link').allInnerTexts()).toEqual([
        'Overview',
        'Payments',
        'Subscriptions',
        'Customers',
        'Webhooks',
        'Developers',
      ]);
      expectQuiet(other, service);
    });

    test('make no request to another host, and violate no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
