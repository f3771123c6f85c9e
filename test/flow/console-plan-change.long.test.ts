import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { commandsIn, giveCommand } from './console-controls.ts';
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
import { signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { plan } from './plan-changes.ts';
import { anotherMethod, patch, readSubscription, type Subscriber, subscriber } from './subscribers.ts';

/** The clock stands still, so a whole period is left and every amount is exact. */
describe('changes of a plan in the console', () => {
  const service = withHost({ frozen: true });
  let browser: Browser;
  let small: string;
  let large: string;

  beforeAll(async () => {
    browser = await startBrowser();
    small = await plan(service, 1_000);
    large = await plan(service, 3_000, { max_quantity: 5 });
    await plan(service, 2_000, { currency: 'EUR' });
    await plan(service, 2_000, { is_active: false });
    await plan(service, 2_000, { billing_interval: null });
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the page of a subscription at %i pixels', (width) => {
    let visit: ConsoleVisit;
    let owner: Subscriber & { readonly user: User };
    let id: string;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      owner = await subscriber(service);
      const answer = await service.post('/subscriptions', { ...owner.names, product_id: small }, owner.options);
      id = answer.body.id;
      await service.settle();
      await enterSession(visit, owner.user.session);
      await visit.open(`/subscriptions/${id}`);
    });

    const actions = (): Promise<readonly string[]> => commandsIn(visit.page);
    const read = () => readSubscription(service, owner, id);
    const dialog = () => visit.page.getByRole('dialog');
    const note = () => visit.page.getByRole('region', { name: 'Change of plan' });

    const previewed = async (product: string, quantity: number): Promise<void> => {
      await giveCommand(visit.page, 'Change plan');
      await dialog().getByLabel('Product').selectOption(product);
      await dialog().getByLabel('Quantity').fill(String(quantity));
      await dialog().getByRole('button', { name: 'Preview' }).click();
    };

    test('shows why the API refuses a plan, and keeps the form', async () => {
      await soon(actions).toEqual(['Change plan', 'Pause', 'Cancel']);
      await previewed(small, 1);
      await soon(() => dialog().getByRole('alert').innerText()).toContain('nothing would change');
      await dialog().getByLabel('Product').selectOption(large);
      await dialog().getByLabel('Quantity').fill('6');
      await dialog().getByRole('button', { name: 'Preview' }).click();
      await soon(() => dialog().getByRole('alert').innerText()).toContain('from 1 to 5');
      await expectAccessible(visit.page);
      await dialog().getByRole('button', { name: 'Close' }).click();
    });

    test('offers active products in the same currency, with name, price and interval', async () => {
      await visit.page.getByRole('button', { name: 'Change plan' }).click();
      const options = dialog().getByLabel('Product').getByRole('option');
      await soon(async () => (await options.allInnerTexts()).toSorted()).toEqual([
        'Plan 1000, USD 10.00 per month (current plan)',
        'Plan 3000, USD 30.00 per month',
      ]);
      await dialog().getByRole('button', { name: 'Close' }).click();
    });

    test('shows the preview as a table, and charges exactly the previewed amount', async () => {
      const { page } = visit;
      await previewed(large, 2);
      const table = dialog().getByRole('table', { name: 'Cost of the change' });
      await soon(() => table.innerText()).toMatch(
        /Plan 1000[\s\S]+-USD\s10\.00[\s\S]+Plan 3000 × 2[\s\S]+USD\s60\.00[\s\S]+Due now\s+USD\s50\.00/,
      );
      expect(await dialog().innerText()).toMatch(/Next charge\s+USD\s60\.00 on/);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      const sent = page.waitForRequest((request) => request.url().endsWith('/change'));
      await dialog().getByRole('button', { name: 'Pay USD 50.00 now' }).click();
      const { proration_at, ...body } = (await sent).postDataJSON();
      expect(body).toEqual({ product_id: large, quantity: 2, when: 'now', expected_cents: 5_000 });
      expect(proration_at).toMatch(/^2\d{3}-.+Z$/);
      await page.getByRole('heading', { level: 1, name: 'USD 60.00 per month, quantity 2 Active' }).waitFor();
      expect(await read()).toMatchObject({ product_id: large, quantity: 2, total_cents: 6_000 });
      await soon(() => page.getByLabel('Timeline').innerText()).toMatch(
        /Plan changed[\s\S]+USD\s10\.00 to \S+, quantity 2, USD\s60\.00[\s\S]+Charged\s+USD\s50\.00/,
      );
      await expectNoSidewaysScroll(page);
    });

    test('names the change on the page of its payment', async () => {
      const { latest_payment_id } = await read();
      await visit.open(`/payments/${latest_payment_id}`);
      await soon(() => visit.page.locator('main').innerText()).toMatch(/Charged for\s+A change of the plan/);
      await visit.open(`/subscriptions/${id}`);
    });

    test('schedules a cheaper plan for the end of the period, and withdraws it', async () => {
      const { page } = visit;
      await previewed(large, 1);
      await dialog().getByText('Not possible now:').waitFor();
      await dialog().getByRole('button', { name: 'Schedule change' }).click();
      await soon(() => note().innerText()).toMatch(/The plan changes on[\s\S]+USD\s30\.00 per month/);
      expect(await read()).toMatchObject({ quantity: 2, scheduled_change: { quantity: 1, total_cents: 3_000 } });
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await note().getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('button', { name: 'Withdraw change' }).click();
      await soon(() => note().count()).toBe(0);
      expect(await read()).toMatchObject({ quantity: 2, scheduled_change: null });
    });

    test('returns to the form if the charge is declined', async () => {
      const payment_method_id = await anotherMethod(service, owner, 'pm_sim_ok_0_then_nsf');
      await patch(service, owner, { id, body: { payment_method_id } });
      await previewed(large, 3);
      await dialog().getByRole('button', { name: 'Pay USD 30.00 now' }).click();
      await soon(() => dialog().getByRole('alert').innerText()).toContain('PAYMENT_DECLINED');
      await dialog().getByRole('button', { name: 'Preview' }).waitFor();
      await dialog().getByRole('button', { name: 'Close' }).click();
      expect(await read()).toMatchObject({ quantity: 2, total_cents: 6_000, status: 'active', pending_change: null });
    });

    test('says that an unpaid change waits for the payer, and withdraws it', async () => {
      const { page } = visit;
      const payment_method_id = await anotherMethod(service, owner, 'pm_card_authenticationRequired');
      await patch(service, owner, { id, body: { payment_method_id } });
      await previewed(large, 3);
      await dialog().getByLabel('At the end of the period').waitFor();
      await dialog().getByRole('button', { name: 'Pay USD 30.00 now' }).click();
      await soon(() => note().innerText()).toMatch(/must confirm[\s\S]+payment of USD\s30\.00/);
      await soon(actions).toEqual(['Pause', 'Cancel']);
      await expectAccessible(page);
      await note().getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('button', { name: 'Withdraw change' }).click();
      await soon(actions).toEqual(['Change plan', 'Pause', 'Cancel']);
      expect(await read()).toMatchObject({ quantity: 2, pending_change: null });
      expectQuiet(visit, service);
    });
  });

  test.each([
    { role: 'support', buttons: [] },
    { role: 'finance', buttons: ['Withdraw'] },
  ] as const)('show $role the buttons $buttons for another payer’s scheduled change', async ({ role, buttons }) => {
    const owner = await subscriber(service);
    const { body } = await service.post('/subscriptions', { ...owner.names, product_id: large }, owner.options);
    await service.post(`/subscriptions/${body.id}/change`, { product_id: small }, owner.options);
    const { page, open } = await visitConsole(browser, service, WIDTHS[0]);
    await enterSession(
      { page, open, asked: [], complaints: [] },
      (await signIn(service, { staff_role: role, expires_in: YEAR_SECONDS })).session,
    );
    await open(`/subscriptions/${body.id}`);
    await page.getByRole('region', { name: 'Change of plan' }).waitFor();
    expect(await page.getByRole('region', { name: 'Change of plan' }).getByRole('button').allInnerTexts()).toEqual(
      buttons,
    );
    expect(await commandsIn(page)).not.toContain('Change plan');
    await page.context().close();
  });

  test('let finance change another payer’s price after a preview, but never the product', async () => {
    const owner = await subscriber(service);
    const { body } = await service.post('/subscriptions', { ...owner.names, product_id: small }, owner.options);
    await service.settle();
    const staff = await signIn(service, { staff_role: 'finance', expires_in: YEAR_SECONDS });
    const visit = await visitConsole(browser, service, WIDTHS[0]);
    await enterSession(visit, staff.session);
    await visit.open(`/subscriptions/${body.id}`);
    await visit.page.getByRole('button', { name: 'Change price' }).click();
    const dialog = visit.page.getByRole('dialog', { name: 'Change price' });
    expect(await dialog.getByLabel('Product').count()).toBe(0);
    await dialog.getByLabel('Total per period, in USD').fill('15.00');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await soon(() => dialog.innerText()).toMatch(
      /Not possible now: Only the payer may make a change that is charged now[\s\S]+Next charge\s+USD\s15\.00/,
    );
    await expectNoViolation(visit.page);
    await dialog.getByRole('button', { name: 'Schedule change' }).click();
    await soon(() => visit.page.getByRole('region', { name: 'Change of plan' }).innerText()).toContain('USD 15.00');
    expect(await readSubscription(service, owner, body.id)).toMatchObject({
      ...{ product_id: small, total_cents: 1_000, scheduled_change: { total_cents: 1_500 } },
    });
    expectQuiet(visit, service);
    await visit.page.context().close();
  });
});
