import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { closeMenu, openMenu } from './console-controls.ts';
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
import { paidPayment, refund, signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';
import { payer as payerOf, subscribe } from './subscribers.ts';

/** An amount in USD or EUR as the page writes it. */
const shown = (cents: number, currency = 'USD'): string =>
  `${currency} ${(cents / 100).toLocaleString('en-GB', { minimumFractionDigits: 2 })}`;

describe('the overview page', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;
  let user: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    user = await signIn(service, { expires_in: YEAR_SECONDS });
    const first = await paidPayment(service, user, { total_cents: 2_500 });
    await paidPayment(service, user, { total_cents: 112_345 });
    await paidPayment(service, user, { total_cents: 900, currency: 'EUR' });
    await refund(service, first.id, { ...admin.options, body: { amount_cents: 700 } });
    const declined = { total_cents: 3_300, payment_method_id: 'pm_card_visa_chargeDeclined' };
    await confirm(service, (await createIntent(service, user, declined)).id, user.options);
    const disputed = { total_cents: 1_100, payment_method_id: 'pm_card_createDispute' };
    await confirm(service, (await createIntent(service, user, disputed)).id, user.options);
    await subscribe(service, await payerOf(service, user.options), { billing_interval: 'daily' });
    await service.settle();
  });
  afterAll(() => browser?.close());

  const sumsOf = async (path: '/admin/summary' | '/payments/summary', options: User['options']) => {
    const rowsOf = async (group: string) =>
      (await service.get(`${path}?group_by=${group}`, options)).body.data.filter(({ currency }) => currency === 'USD');
    type Sum = 'amount_cents' | 'count' | 'refunded_cents' | 'refunded_count';
    const sum = (rows: Awaited<ReturnType<typeof rowsOf>>, field: Sum): number =>
      rows.reduce((all, row) => all + row[field], 0);
    const [successes, states] = [await rowsOf('currency'), await rowsOf('status')];
    const failures = states.filter(({ status }) => status === 'failed');
    const ended = states.filter(({ status }) => status === 'failed' || status === 'succeeded');
    return {
      succeeded: `${shown(sum(successes, 'amount_cents'))} ${sum(successes, 'count')} payments`,
      failed: `${shown(sum(failures, 'amount_cents'))} ${sum(failures, 'count')} payment`,
      refunded: `${shown(sum(successes, 'refunded_cents'))} ${sum(successes, 'refunded_count')} refund`,
      rate: 1 - sum(failures, 'count') / sum(ended, 'count'),
    };
  };

  describe.each(WIDTHS)('the overview at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
    });

    const figure = async (name: string): Promise<string> => {
      const tile = visit.page.locator('.tile').filter({ has: visit.page.getByText(name, { exact: true }) });
      return (await tile.locator('dd').innerText()).replaceAll(/\s+/g, ' ');
    };

    test('is the first page of a platform admin, with the totals of all payments', async () => {
      const { page } = visit;
      await enterSession(visit, admin.session);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      const sums = await sumsOf('/admin/summary', admin.options);
      await soon(() => figure('Gross')).toContain(sums.succeeded);
      expect(await figure('Failed')).toContain(sums.failed);
      expect(await figure('Refunded')).toContain(sums.refunded);
      expect(await figure('Success rate')).toContain(`${Math.round(sums.rate * 1_000) / 10}%`);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
    });

    test('compares the summary’s net, recurring revenue and new payers with the previous days', async () => {
      const { body } = await service.get('/admin/summary', admin.options);
      const total = present(body.meta.totals.find(({ currency }: ParsedJson) => currency === 'USD'));
      const settled = present(total.settlements[0]);
      expect(total).toMatchObject({ active_subscriptions: 1, new_payers: 1, before: { count: 0 } });
      await soon(() => figure('Net')).toMatch(
        `${shown(settled.net_cents)} fees ${shown(settled.fee_cents)} New before: USD 0.00`,
      );
      expect(await figure('MRR')).toContain(shown(total.mrr_cents));
      expect(await figure('Active subscriptions')).toMatch(/^1 /);
      expect(await figure('New payers')).toMatch(/^1 .*New before: 0$/);
      expect(await visit.page.locator('.tile svg.spark').count()).toBe(8);
    });

    test('lists the open tasks of today, and repeats their counts in the navigation', async () => {
      const { page } = visit;
      const list = page.getByRole('region', { name: 'Needs attention today' });
      await soon(() => list.innerText()).toMatch(
        /1 Dispute due[\s\S]+None: holds ending, past-due subscriptions, failing targets/,
      );
      await openMenu(page);
      const link = page.getByRole('navigation').getByRole('link', { name: /^Disputes\s+1 needs attention$/ });
      expect(await link.locator('.badge').innerText()).toBe('1');
      await closeMenu(page);
      await list.getByRole('link', { name: '1 Dispute due' }).click();
      await page.getByRole('heading', { level: 1, name: 'Disputes' }).waitFor();
      await soon(() => page.getByRole('table', { name: 'Disputes' }).locator('tbody tr').count()).toBe(1);
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    });

    test('lists the last payments, at most ten, each with a link to its page', async () => {
      const rows = visit.page.getByRole('table', { name: 'Last payments' }).locator('tbody tr');
      const { body } = await service.get('/admin/payments?limit=10', admin.options);
      await soon(() => rows.count()).toBe(body.data.length);
      await expectNoViolation(visit.page);
    });

    test('draws the days as a chart, and also shows their figures as text', async () => {
      const { page } = visit;
      const chart = page.getByRole('figure', { name: /Payments in USD by day/ });
      expect(await chart.locator('canvas').count()).toBe(1);
      await page.getByText('Figures by day').click();
      const rows = page.getByRole('region', { name: 'Figures by day' }).locator('tbody tr');
      await soon(() => rows.count()).toBe(1);
      expect(await rows.innerText()).toContain('USD 7.00 (1)');
      await page.getByLabel('Show').selectOption('count');
      await soon(() => page.url()).toContain('measure=count');
      await expectAccessible(page);
    });

    test('shows one currency and the chosen days, and keeps the days in the URL', async () => {
      const { page } = visit;
      await page.getByLabel('Currency').selectOption('EUR');
      await soon(() => figure('Gross')).toContain('EUR 9.00 1 payment');
      expect(await figure('Failed')).toContain('EUR 0.00 0 payments');
      await page.getByLabel('To', { exact: true }).fill('2020-01-31');
      await page.getByText('No payments in this range').waitFor();
      expect(new URL(page.url()).searchParams.get('to')).toBe('2020-01-31');
      await expectAccessible(page);
      await page.getByRole('button', { name: '7 days' }).click();
      await soon(() => figure('Gross')).toContain('EUR 9.00 1 payment');
    });

    test('downloads the totals of the range as CSV', async () => {
      const { page } = visit;
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download CSV' }).click();
      const file = await readFile(await (await download).path(), 'utf8');
      expect(file).toMatch(
        /^period,currency,status,provider_id,count,amount_cents,refunded_count,refunded_cents,method,lost_cents,new_payers,settlements\r\n/,
      );
      expect(file).toMatch(/,EUR,,,1,900,0,0,,0,0,EUR fee=\d+ net=\d+\r\n/);
    });

    test('shows an error of the summary with its request id, and offers a retry', async () => {
      const { page } = visit;
      const summary = /\/admin\/summary/;
      const body = { success: false, error: 'Slow down', code: 'RATE_LIMITED', request_id: 'req-78' };
      await page.route(summary, (route) => route.fulfill({ status: 429, json: body }));
      await visit.open('/overview');
      await soon(() => page.getByRole('alert').innerText()).toMatch(/Slow down\s+Request req-78/);
      await page.unroute(summary);
      await page.getByRole('button', { name: 'Try again' }).click();
      await soon(() => figure('Refunded')).toContain('USD 7.00');
    });

    test('shows a user the totals of only their own payments, and the subscriptions due', async () => {
      const other = await visitConsole(browser, service, width);
      visit = other;
      await enterSession(other, user.session);
      const sums = await sumsOf('/payments/summary', user.options);
      await soon(() => figure('Succeeded')).toContain(sums.succeeded);
      await soon(() => figure('Due')).toMatch(/^1\b/);
      expect(await figure('Past due')).toMatch(/^0\b/);
      expect(await other.page.getByRole('region', { name: 'Needs attention today' }).count()).toBe(0);
      for (const name of ['Gross', 'Net', 'MRR', 'New payers']) {
        expect(await other.page.locator('.tile').getByText(name, { exact: true }).count()).toBe(0);
      }
      expectQuiet(other, service);
      await expectAccessible(other.page);
    });
  });
});
