import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, giveCommand, goTo, searchFor } from './console-controls.ts';
import {
  type ConsoleVisit,
  downloadCsv,
  enterSession,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { IMPATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { plan } from './plan-changes.ts';
import { subscriber } from './subscribers.ts';

/** The maximum number of actions per question or task. */
const MOST_ACTIONS = 4;

/**
 * Questions and tasks of people who know their product, but not this console. An action is a search, a click to another
 * view, a choice, or a submitted form.
 */
describe('the work of a day in the console with demo data', () => {
  const service = withHost({ daysAgo: DEMO_DAYS, env: { ...IMPATIENT, EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  let browser: Browser;
  let visit: ConsoleVisit;
  let page: Page;
  let ids: ReadonlyMap<string, string>;
  let actions: number;

  beforeAll(async () => {
    const { baseUrl, door, clock } = service.host();
    const [started, made] = await Promise.all([
      startBrowser(),
      makeDemoData({ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now }),
    ]);
    [browser, ids] = [started, made];
    door?.open();
    await service.settle();
    visit = await visitConsole(browser, service, WIDTHS[0]);
    page = visit.page;
    await enterSession(visit, 'demo-admin');
  }, 240_000);
  afterAll(() => browser?.close());
  beforeEach(async () => {
    actions = 0;
    await visit.open('/overview');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return () => expect(actions).toBeLessThanOrEqual(MOST_ACTIONS);
  });

  const act = async (action: Promise<unknown>): Promise<void> => {
    actions += 1;
    await action;
  };
  const idOf = (name: string): string => ids.get(name) ?? name;
  const search = (text: string): Promise<void> => act(searchFor(page, text));
  /** Opens a named record of the demo data by its id. */
  const openRecord = async (name: string): Promise<void> => {
    await search(idOf(name));
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  };
  const openFound = (text: string): Promise<void> =>
    act(page.getByRole('row').filter({ hasText: text }).getByRole('link').first().click());
  const press = (name: string): Promise<void> => act(page.getByRole('button', { name, exact: true }).click());
  const partOf = (name: string) => page.getByRole('region', { name, exact: true });

  describe('a question', () => {
    test('which card paid?', async () => {
      await search('DEMO-2001');
      await soon(() => page.getByRole('list', { name: 'Chain' }).innerText()).toContain('Visa •••• 4242');
    });

    test('who did it?', async () => {
      await openRecord('payment-frame');
      expect(await partOf('Timeline').innerText()).toMatch(/Refund[\s\S]+by staff member demo\.admin@example\.com/);
    });

    test('why was it declined?', async () => {
      await search('demo.member@example.com');
      await openFound('Course in drawing');
      await soon(() => partOf('Decline').innerText()).toMatch(/declined the card \(lost_card\)/);
    });

    test('was it refunded, when and by whom?', async () => {
      await openRecord('payment-frame');
      await page.getByText('Partly refunded').waitFor();
      expect(await partOf('Refunds').innerText()).toMatch(
        /EUR\s9\.00\s+Succeeded[\s\S]+\d+ \w+ \d{4}, [\d:]+\s+by demo\.admin@example\.com/,
      );
    });

    test('how did the shop’s endpoint respond?', async () => {
      await openRecord('payment-course');
      await act(page.getByRole('link', { name: /^\d+ events$/ }).click());
      const delivery = page.getByRole('listitem').filter({ hasText: 'payment.succeeded to WEBHOOK_1' });
      expect(await delivery.innerText()).toContain('Answered 200');
    });

    test('when is the next charge?', async () => {
      await openRecord('subscription-active');
      expect(await partOf('Plan').innerText()).toMatch(/Next charge \(UTC\)\s+\d+ \w+ \d{4}/);
    });

    test('what else did this payer buy?', async () => {
      await openRecord('payment-course');
      await act(page.getByRole('link', { name: 'All payments of this payer' }).click());
      await soon(() => page.getByRole('table', { name: 'Payments' }).locator('tbody tr').count()).toBeGreaterThan(5);
    });

    test('is a dispute due?', async () => {
      await act(goTo(page, 'Disputes'));
      const due = page.getByRole('row').filter({ hasText: 'Respond' });
      await soon(() => due.innerText()).toMatch(/USD\s75\.00/);
      expect(await due.locator('time').allInnerTexts()).toEqual([
        expect.stringMatching(/^\d+ \w+ \d{4}, /),
        expect.stringMatching(/^\d+ \w+ \d{4}, /),
      ]);
      await page.getByRole('columnheader', { name: 'Evidence due (UTC)' }).waitFor();
    });

    test('what was the provider’s fee?', async () => {
      await openRecord('payment-course');
      expect(await partOf('Settlement').innerText()).toMatch(/Provider’s fee\s+EUR\s\d+\.\d\d\s+Net\s+EUR/);
    });

    test('which plan, and from when?', async () => {
      await openRecord('subscription-active');
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/^EUR\s[\d.]+ per month\s+Active$/);
      expect(await page.locator('.record-about').innerText()).toMatch(/since \d+ \w+ \d{4}/);
    });
  });

  describe('a task', () => {
    test('refund a part of a captured hold', async () => {
      const { id } = (await service.get(`/payments/${idOf('payment-held')}`, { session: 'demo-admin' })).body.data;
      await service.post(`/payments/${id}/capture`, {}, { session: 'demo-admin' });
      await openRecord('payment-held');
      await press('Refund');
      await page.getByLabel('Amount').fill('5.00');
      await press('Continue');
      await press('Refund EUR 5.00');
      await page.getByText('The refund succeeded.').waitFor();
    });

    test('find out why a payment was declined, and what to tell the payer', async () => {
      await act(goTo(page, 'Payments'));
      await act(chooseFilter(page, 'Status', 'failed'));
      await openFound('EUR 55.00');
      await soon(() => partOf('Decline').innerText()).toContain('Ask the payer to use another card');
    });

    test('send several events again', async () => {
      await openRecord('payment-course');
      const deliveries = partOf('Timeline').getByRole('listitem').filter({ hasText: 'to WEBHOOK_1' });
      for (const at of [0, 1]) await act(deliveries.nth(at).getByRole('button', { name: 'Send again' }).click());
      await soon(() => page.getByText('Queued:').count()).toBe(2);
    });

    test('list all payments of an e-mail address', async () => {
      await act(goTo(page, 'Payments'));
      await page.getByLabel('Search payments').fill('demo.member@example.com');
      await act(page.keyboard.press('Enter'));
      const rows = page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
      await soon(async () => (await rows.allInnerTexts()).every((row) => row.includes('demo.member@'))).toBe(true);
      expect(await rows.count()).toBeGreaterThan(3);
    });

    test('get the payments of a month for accounting', async () => {
      await act(goTo(page, 'Payments'));
      await act(chooseFilter(page, 'Date', 'month'));
      await soon(() => page.locator('.table-part[aria-busy=false]').count()).toBe(1);
      actions += 1;
      const { rows } = await downloadCsv(page);
      expect(rows[0]).toMatch(/^id,/);
    });

    test('make a key for a program', async () => {
      await act(goTo(page, 'Keys'));
      await press('Create key');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Shop backend');
      await dialog.getByRole('checkbox', { name: /^payments:read/ }).check();
      await act(dialog.getByRole('button', { name: 'Create key' }).click());
      await dialog.getByText('It is shown only now.').waitFor();
    });
  });

  test('a change of plan takes a payer at most four actions', async () => {
    const owner = await subscriber(service);
    const [small, large] = [await plan(service, 1_000), await plan(service, 3_000)];
    const { body } = await service.post('/subscriptions', { ...owner.names, product_id: small }, owner.options);
    const own = await visitConsole(browser, service, WIDTHS[0]);
    await enterSession(own, owner.user.session);
    await own.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await act(goTo(own.page, 'Subscriptions'));
    await act(own.page.getByRole('table', { name: 'Subscriptions' }).getByRole('link').first().click());
    await atRecord(own.page, body.id);
    await act(giveCommand(own.page, 'Change plan'));
    const dialog = own.page.getByRole('dialog');
    await dialog.getByLabel('Product').selectOption(large);
    await act(dialog.getByRole('button', { name: 'Preview' }).click());
    // The last click confirms a question that names the amount.
    await dialog.getByRole('button', { name: /^Pay USD [\d.]+ now$/ }).click();
    await own.page.getByRole('heading', { level: 1, name: 'USD 30.00 per month Active' }).waitFor();
    expectQuiet(own, service);
  });

  test('the keyboard leads from the search to a refund and back', async () => {
    const { keyboard } = page;
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.innerText');
    await keyboard.press('/');
    await keyboard.type('demo.owner@example.com');
    await keyboard.press('Enter');
    await page.getByRole('table', { name: 'Payments found' }).waitFor();
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: /^Results for/ }).waitFor();
    await keyboard.press('/');
    await keyboard.type(idOf('payment-inks'));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await soon(focused).toMatch(/^EUR\s33\.00/);
    while ((await focused()) !== 'Refund') await keyboard.press('Tab');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await keyboard.press('Escape');
    await soon(focused).toBe('Refund');
    await keyboard.press('Tab');
    await keyboard.press('ArrowDown');
    await soon(focused).toBe('Sync');
    await keyboard.press('Escape');
    await soon(focused).toBe('More');
  });

  test('the console calls no other host, and violates no content policy', () => {
    expectQuiet(visit, service);
  });
});
