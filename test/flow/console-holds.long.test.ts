import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { giveCommand } from './console-controls.ts';
import {
  type ConsoleVisit,
  centerOf,
  enterSession,
  expectAwayFrom,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { read, signIn, type User } from './flow.ts';
import { heldPayment } from './holders.ts';
import { withHost } from './host.ts';

describe('holds in the console', () => {
  const service = withHost();
  let browser: Browser;
  let payer: User;

  beforeAll(async () => {
    browser = await startBrowser();
    payer = await signIn(service, { expires_in: YEAR_SECONDS });
  });
  afterAll(() => browser?.close());

  const visitAs = async (user: User, width: number): Promise<ConsoleVisit> => {
    const visit = await visitConsole(browser, service, width);
    await enterSession(visit, user.session);
    return visit;
  };
  /** A payment of 25.00 USD whose amount is held. */
  const held = (user: User, fields: Readonly<Record<string, unknown>> = {}) =>
    heldPayment(service, user, { subtotal_cents: 2_500, tax_cents: 0, ...fields });
  const staff = (role: string): Promise<User> => signIn(service, { staff_role: role, expires_in: YEAR_SECONDS });
  const openPayment = async ({ page, open }: ConsoleVisit, id: string): Promise<void> => {
    await open(`/payments/${id}`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
  };

  describe.each(WIDTHS)('for finance, at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitAs(await staff('finance'), width);
      return () => visit.page.context().close();
    });

    test('show when they end, and are captured in part after a confirmation', async () => {
      const { page } = visit;
      const { id } = await held(payer);
      await openPayment(visit, id);
      await page.getByRole('heading', { level: 1, name: 'USD 25.00 Authorized' }).waitFor();
      expect(await page.getByLabel('Hold', { exact: true }).innerText()).toMatch(
        /^Hold ends in (7 days|6 days 23 hours)\. USD\s25\.00 can be captured\./,
      );
      await page.getByRole('button', { name: 'Capture' }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByLabel('Amount').inputValue()).toBe('25.00');
      await dialog.getByLabel('Amount').fill('25.01');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      expect(await dialog.getByRole('alert').innerText()).toBe('Enter an amount between 0.01 and 25.00.');
      await dialog.getByLabel('Amount').fill('18');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await expectNoViolation(page);
      expect(await read(service, id, payer.options)).toMatchObject({ status: 'requires_capture', captured_cents: 0 });
      await dialog.getByRole('button', { name: 'Capture USD 18.00' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('heading', { level: 1, name: 'USD 18.00 Succeeded' }).waitFor();
      expect(await page.getByLabel('Prices').innerText()).toMatch(/Authorized\s+USD\s25\.00\s+Captured\s+USD\s18\.00/);
      expect(await page.getByLabel('Hold', { exact: true }).count()).toBe(0);
      expect(await read(service, id, payer.options)).toMatchObject({ status: 'succeeded', total_cents: 1_800 });
    });

    test('are not captured by a triple click on Continue', async () => {
      const { page } = visit;
      const { id } = await held(payer);
      await openPayment(visit, id);
      await page.getByRole('button', { name: 'Capture' }).click();
      const dialog = page.getByRole('dialog');
      const proceed = await centerOf(dialog.getByRole('button', { name: 'Continue' }));
      await page.mouse.click(proceed.x, proceed.y, { clickCount: 3 });
      const capture = dialog.getByRole('button', { name: 'Capture USD 25.00' });
      await capture.waitFor();
      await expectAwayFrom(capture, proceed);
      expect(await read(service, id, payer.options)).toMatchObject({ status: 'requires_capture', captured_cents: 0 });
      await capture.click();
      await dialog.waitFor({ state: 'detached' });
      expect(await read(service, id, payer.options)).toMatchObject({ status: 'succeeded', captured_cents: 2_500 });
    });

    test('are released, and then show that nothing was captured', async () => {
      const { page } = visit;
      const { id } = await held(payer);
      await openPayment(visit, id);
      await expectNoSidewaysScroll(page);
      await giveCommand(page, 'Release');
      await page.getByRole('dialog').getByRole('button', { name: 'Release hold' }).click();
      await page.getByText('The hold was released. Nothing was captured.').waitFor();
      expect(await page.getByRole('button', { name: 'Capture' }).count()).toBe(0);
      expect(await read(service, id, payer.options)).toMatchObject({
        status: 'canceled',
        cancellation_reason: 'released',
      });
    });

    test('are captured with an explicit split if the amount is below the tax', async () => {
      const { page } = visit;
      const { id } = await held(payer, { subtotal_cents: 2_000, tax_cents: 500 });
      await openPayment(visit, id);
      await page.getByRole('button', { name: 'Capture' }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByLabel('Subtotal').count()).toBe(0);
      await dialog.getByLabel('Amount').fill('4');
      await dialog.getByLabel('Subtotal').fill('3.50');
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      expect(await dialog.getByRole('alert').innerText()).toBe('Subtotal plus tax, less discount, must be 4.00.');
      await dialog.getByLabel('Tax').fill('0.50');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByRole('button', { name: 'Capture USD 4.00' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await read(service, id, payer.options)).toMatchObject({
        ...{ status: 'succeeded', subtotal_cents: 350, tax_cents: 50, discount_cents: 0, total_cents: 400 },
      });
    });

    test('are counted on the overview and listed on Health if they end within 24 hours', async () => {
      const { page, open } = visit;
      const { id } = await held(payer, { payment_method_id: 'pm_sim_hold_1h' });
      const { id: later } = await held(payer);
      await service.settle();
      await open('/overview');
      const list = page.getByRole('region', { name: 'Needs attention today' });
      await soon(() => list.innerText()).toMatch(/(1 Hold|[1-9]\d* Holds) ending/);
      await open('/health');
      const rows = page.getByRole('table', { name: 'Holds that end within 24 hours' }).locator('tbody');
      await soon(() => rows.innerText()).toContain(id);
      expect(await rows.innerText()).not.toContain(later);
      await open(`/payments?status=requires_capture&user=${payer.userId}`);
      const listed = page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
      await soon(() => listed.count()).toBeGreaterThanOrEqual(2);
      expect(await listed.first().innerText()).toContain('Authorized');
      await expectNoViolation(page);
      expectQuiet(visit, service);
    });
  });

  test('are captured with a new call under a new key after a declined capture', async () => {
    const visit = await visitAs(await staff('finance'), WIDTHS[0]);
    const { page } = visit;
    const { id } = await held(payer, { payment_method_id: 'pm_sim_capture_declined' });
    await openPayment(visit, id);
    await page.getByRole('button', { name: 'Capture' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const keys: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith(`/payments/${id}/capture`)) keys.push(request.headers()['idempotency-key']);
    });
    await service.clearProviderRequests();
    for (const clicks of [1, 2]) {
      await dialog.getByRole('button', { name: 'Capture USD 25.00' }).click();
      await soon(async () => String(keys.length)).toBe(String(clicks));
      await dialog.getByRole('alert').waitFor();
    }
    expect(new Set(keys).size).toBe(2);
    const calls = (await service.providerRequests()).filter(({ path }) => path.endsWith('/capture'));
    expect(calls).toHaveLength(2);
    await page.context().close();
  });

  test('offer neither capture nor release to support and the payer', async () => {
    const { id } = await held(payer);
    for (const user of [await staff('support'), payer]) {
      const visit = await visitAs(user, WIDTHS[0]);
      await openPayment(visit, id);
      expect(await visit.page.getByLabel('Hold', { exact: true }).innerText()).toContain('Hold ends in');
      expect(await visit.page.getByRole('button', { name: /Capture|Release/ }).count()).toBe(0);
      await visit.page.context().close();
    }
  });
});
