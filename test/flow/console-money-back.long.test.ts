import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, filterShown, goTo } from './console-controls.ts';
import {
  type ConsoleVisit,
  downloadCsv,
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { type Disputed, disputedPayment } from './disputers.ts';
import { signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { PAYING_METHODS, paidPayment, refund, signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';

/** The number of refunds: one more than a page of the list shows. */
const REFUNDS = 26;

describe('the console’s pages of refunds and disputes', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;
  let payer: User;
  let refunded: ParsedJson;
  let disputed: Disputed;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    payer = await signIn(service);
    refunded = await paidPayment(service, payer);
    for (let made = 0; made < REFUNDS; made += 1) {
      const body = { amount_cents: 10 + made, reason: 'duplicate' };
      expect(await refund(service, refunded.id, { ...admin.options, body })).toMatchObject({ status: 201 });
    }
    disputed = await disputedPayment(service, PAYING_METHODS[0], { amount: 1_200, reason: 'product_not_received' });
    await service.settle();
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the pages at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await enterSession(visit, admin.session);
    });

    const rows = (name: string) => visit.page.getByRole('table', { name }).locator('tbody tr');

    test('list refunds page by page, and each row opens the payment with its refunds', async () => {
      const { page } = visit;
      await goTo(page, 'Refunds');
      await soon(() => rows('Refunds').count()).toBe(REFUNDS - 1);
      expect(await rows('Refunds').first().innerText()).toMatch(/USD\s0.35\s[\s\S]*Succeeded/);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await page.getByRole('button', { name: 'Load more' }).click();
      await soon(() => rows('Refunds').count()).toBe(REFUNDS);
      await rows('Refunds').first().click();
      await atRecord(page, refunded.id);
      await soon(() => page.getByLabel('Refunds').innerText()).toContain('re_');
      await page.getByRole('link', { name: 'All refunds' }).click();
      await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
    });

    test('keep the filter in the URL, and name it if nothing matches', async () => {
      const { page, open } = visit;
      await open('/refunds?status=failed&from=2020-01-01');
      await page.getByText('No refund matches').waitFor();
      expect(await page.getByText('Searched:').innerText()).toBe('Searched: from 2020-01-01 · status Failed');
      expect(await filterShown(page, 'Status')).toBe('Failed');
      await expectNoViolation(page);
      await chooseFilter(page, 'Status', 'succeeded');
      await rows('Refunds').first().waitFor();
      expect(new URL(page.url()).search).toBe('?status=succeeded&from=2020-01-01');
    });

    test('download all refunds of the list as CSV', async () => {
      const { page, open } = visit;
      await open('/refunds');
      await rows('Refunds').first().waitFor();
      const { name, rows: lines } = await downloadCsv(page);
      expect(name).toBe('refunds.csv');
      expect(lines[0]).toMatch(/^id,payment_id,status/);
      expect(new Set(lines).size).toBe(REFUNDS + 1);
    });

    test('list disputes with amount, reason and due date, and each row opens the payment with its dispute', async () => {
      const { page } = visit;
      await goTo(page, 'Disputes');
      await soon(() => rows('Disputes').count()).toBe(1);
      const shown = await rows('Disputes').innerText();
      expect(shown).toMatch(/USD\s12.00\s[\s\S]*Respond/);
      if (width > 1_000) expect(shown).toContain('Product not received');
      const [dispute] = (await service.get('/disputes', admin.options)).body.data;
      const due = rows('Disputes').locator(`time[datetime="${present(dispute).evidence_due_by}"]:visible`);
      expect(await due.count()).toBe(1);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await rows('Disputes').click();
      await atRecord(page, disputed.payment.id);
      await soon(() => page.getByLabel('Disputes').innerText()).toContain(present(dispute).id);
      await page.getByRole('link', { name: 'All disputes' }).click();
      await chooseFilter(page, 'Status', 'won');
      await page.getByText('No dispute matches').waitFor();
    });

    test('are not offered to users who may not read the refunds of others', async () => {
      const other = await visitConsole(browser, service, width);
      await enterSession(other, payer.session);
      await other.open(`/payments/${refunded.id}`);
      await other.page.getByRole('heading', { name: 'Timeline' }).waitFor();
      for (const name of ['Refunds', 'Disputes', 'All refunds']) {
        expect(await other.page.getByRole('link', { name, exact: true }).count()).toBe(0);
      }
      await other.open('/refunds');
      await other.page.getByRole('heading', { name: 'Page not found' }).waitFor();
      expectQuiet(other, service);
      await other.page.close();
    });

    test('make no request to another host, and violate no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
