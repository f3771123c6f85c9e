import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { atRecord, chooseFilter, commandsIn, giveCommand, goTo } from './console-controls.ts';
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
import type { User } from './flow.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';
import type { SubscriptionBody } from './routes.ts';
import { OWN_BILLING, readSubscription, type Subscriber, subscribe, subscriber } from './subscribers.ts';

describe('the console’s pages of subscriptions', () => {
  const service = withHost({ env: OWN_BILLING });
  let browser: Browser;
  let admin: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the pages at %i pixels', (width) => {
    let visit: ConsoleVisit;
    let owner: Subscriber & { readonly user: User };
    let subscription: SubscriptionBody;
    let failing: SubscriptionBody;
    let earlier: number;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      earlier = (await service.get('/admin/subscriptions', admin.options)).body.data.length;
      owner = await subscriber(service);
      subscription = await subscribe(service, owner, { concept: 'Magazine', billing_interval: 'monthly' });
      await service.settle();
      await enterSession(visit, owner.user.session);
    });

    const open = async (id: string): Promise<void> => {
      await visit.open(`/subscriptions/${id}`);
      await atRecord(visit.page, id);
    };
    const actions = (): Promise<readonly string[]> => commandsIn(visit.page);
    const readStatus = async () => readSubscription(service, owner, subscription.id);

    test('list the caller’s subscriptions, and suggest a next step if none matches', async () => {
      const { page } = visit;
      await goTo(page, 'Subscriptions');
      const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr');
      await soon(() => rows.count()).toBe(1);
      expect(await rows.innerText()).toMatch(/Magazine\s+USD\s19.00 per month\s[\s\S]*Active/);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await chooseFilter(page, 'Status', 'canceled');
      await page.getByText('No subscription matches').waitFor();
      expect(new URL(page.url()).search).toBe('?status=canceled');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rows.click();
      await atRecord(page, subscription.id);
    });

    test('show the plan, the next charge and the payments of its periods', async () => {
      const { page } = visit;
      await open(subscription.id);
      expect(await page.getByLabel('Plan').innerText()).toMatch(/Name\s+Magazine[\s\S]+Next charge/);
      const payments = page.getByRole('table', { name: 'Payments of its periods' }).locator('tbody tr');
      await soon(() => payments.count()).toBe(1);
      expect(await payments.innerText()).toMatch(/USD\s19.00\s[\s\S]*Succeeded/);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });

    test('pause and resume a subscription', async () => {
      const { page } = visit;
      expect(await actions()).toEqual(['Change plan', 'Pause', 'Cancel']);
      await giveCommand(page, 'Pause');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Pause subscription' }).click();
      await soon(actions).toEqual(['Resume', 'Cancel']);
      expect(await readStatus()).toMatchObject({ status: 'paused' });
      await giveCommand(page, 'Resume');
      await page.getByRole('button', { name: 'Resume subscription' }).click();
      await soon(actions).toEqual(['Change plan', 'Pause', 'Cancel']);
    });

    test('schedule a cancellation for the end of the period, withdraw it, and cancel immediately', async () => {
      const { page } = visit;
      await giveCommand(page, 'Cancel');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Cancel subscription' }).dblclick();
      await soon(actions).toEqual(['Change plan', 'Reactivate', 'Cancel']);
      expect(await readStatus()).toMatchObject({ status: 'active', cancel_at_period_end: true });
      await page.getByText('Ending', { exact: true }).waitFor();
      await giveCommand(page, 'Reactivate');
      await page.getByRole('button', { name: 'Reactivate subscription' }).click();
      await soon(actions).toEqual(['Change plan', 'Pause', 'Cancel']);
      await giveCommand(page, 'Cancel');
      await page.getByLabel('Now.').check();
      await page.getByRole('button', { name: 'Cancel subscription' }).click();
      await soon(actions).toEqual(['Reactivate']);
      expect(await readStatus()).toMatchObject({ status: 'canceled' });
    });

    test('show the dunning step of a past-due subscription', async () => {
      const { page } = visit;
      const poor = await subscriber(service, 'pm_sim_ok_1_then_nsf');
      failing = await subscribe(service, poor, { billing_interval: 'weekly' });
      await service.advance(7 * DAY_SECONDS + 600);
      await service.settle();
      const reader = await visitConsole(browser, service, width);
      await enterSession(reader, poor.user.session);
      await reader.open(`/subscriptions/${failing.id}`);
      await soon(() => reader.page.getByLabel('Dunning').innerText()).toMatch(
        /Dunning: retrying\s+1 attempt made. Declined: insufficient_funds. Next attempt:/,
      );
      const payments = reader.page.getByRole('table', { name: 'Payments of its periods' }).locator('tbody tr');
      await soon(() => payments.count()).toBe(2);
      await expectAccessible(reader.page);
      await expectNoSidewaysScroll(reader.page);
      expectQuiet(reader, service);
      await page.reload();
    });

    test('show a platform admin all subscriptions, with commands to cancel and to copy the pay link', async () => {
      const other = await visitConsole(browser, service, width);
      const { page } = other;
      await enterSession(other, admin.session);
      await other.open('/subscriptions');
      const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr');
      await soon(() => rows.count()).toBe(earlier + 2);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await chooseFilter(page, 'Status', 'trialing');
      await page.getByText('No subscription matches').waitFor();
      expect(await page.getByText('Searched:').innerText()).toBe('Searched: status Trialing');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rows.first().click();
      await atRecord(page, failing.id);
      await soon(() => commandsIn(page)).toEqual(['Copy pay link', 'Cancel']);
      const payments = page.getByRole('table', { name: 'Payments of its periods' }).locator('tbody tr');
      await soon(() => payments.count()).toBe(2);
      await other.open('/subscriptions/subs_000000000000000000000000');
      await soon(() => page.getByRole('alert').innerText()).toMatch(/Request [\w-]{36}/);
      expectQuiet(other, service);
    });

    test('show the timeline of a subscription, with links to its payments', async () => {
      const { page } = visit;
      await open(subscription.id);
      const timeline = page.getByLabel('Timeline');
      await soon(() => timeline.innerText()).toMatch(/Subscription created[\s\S]+Paused[\s\S]+Subscription canceled/);
      expect(await timeline.innerText()).toMatch(/by \S+@example\.com/);
      expect(await timeline.getByTitle(owner.user.userId).count()).toBeGreaterThan(0);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await timeline.getByRole('link', { name: subscription.latest_payment_id }).first().click();
      await atRecord(page, subscription.latest_payment_id);
    });

    test('make no request to another host, and violate no content policy', () => {
      expectQuiet(visit, service);
    });
  });
});
