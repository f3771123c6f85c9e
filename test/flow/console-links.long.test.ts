import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import {
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { createIntent, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { createLink, pageOf, tokenIn } from './pages.ts';
import { anotherMethod, patch, subscriber, subscribeToGold } from './subscribers.ts';

describe('links in the console', () => {
  const service = withHost();
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const visitAs = async (session: string, width: number = WIDTHS[0]) => {
    const visit = await visitConsole(browser, service, width);
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await enterSession(visit, session);
    return visit;
  };
  const supporter = () => signIn(service, { staff_role: 'support' });

  test.each(WIDTHS)('are created and archived at a width of %i pixels', async (width) => {
    const visit = await visitAs((await supporter()).session, width);
    const { page, open } = visit;
    await open('/links');
    await page.getByRole('heading', { name: 'Links', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Create link' }).click();
    const title = `Workshop ${width}`;
    await page.getByLabel('Description').fill(title);
    await page.getByLabel('Amount').fill('x');
    await page.getByRole('button', { name: 'Save link' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Amount').fill('25.00');
    await expectNoViolation(page);
    await page.getByRole('button', { name: 'Save link' }).click();
    const row = page.getByRole('row').filter({ hasText: title });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/USD 25\.00/);
    await expectNoViolation(page);
    await expectNoSidewaysScroll(page);
    await row.getByRole('button', { name: 'Copy link' }).click();
    await row.getByRole('button', { name: 'Copied' }).waitFor();
    const token = tokenIn(String(await page.evaluate('navigator.clipboard.readText()')));
    expect(await pageOf(service, token)).toMatchObject({ kind: 'link', description: title, amount_cents: 2_500 });
    await row.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('dialog', { name: 'Archive this link?' }).waitFor();
    await expectNoViolation(page);
    await page.getByRole('button', { name: 'Archive link' }).click();
    await soon(() => row.innerText()).toMatch(/Archived/);
    expect(await row.getByRole('button').count()).toBe(0);
    expectQuiet(visit, service);
  });

  test('show the number of their paid and open payments, and their limit', async () => {
    await createLink(service, { description: 'With a limit', max_payments: 3 });
    const { page, open } = await visitAs((await supporter()).session);
    await open('/links');
    const row = page.getByRole('row').filter({ hasText: 'With a limit' });
    await soon(() => row.innerText()).toMatch(/0 paid, 0 open, at most 3/);
  });

  test('can be copied for an open payment, and open its page', async () => {
    const { id } = await createIntent(service, await signIn(service));
    const visit = await visitAs((await supporter()).session);
    await visit.open(`/payments/${id}`);
    await visit.page.getByRole('button', { name: 'Copy pay link' }).click();
    await visit.page.getByText('Copied. It lets anyone pay').waitFor();
    await expectNoViolation(visit.page);
    const url = String(await visit.page.evaluate('navigator.clipboard.readText()'));
    expect(await pageOf(service, tokenIn(url))).toMatchObject({ kind: 'payment', payment_id: id });
    expectQuiet(visit, service);
  });

  test('can be copied for a past-due subscription, and open its page', async () => {
    const who = await subscriber(service);
    const { id, current_period_end: end } = await subscribeToGold(service, who);
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id, body: { payment_method_id: failing } });
    await service.moveTo(end);
    await service.advance(10 * MINUTE_SECONDS);
    const visit = await visitAs((await supporter()).session);
    await visit.open(`/subscriptions/${id}`);
    await visit.page.getByRole('button', { name: 'Copy pay link' }).click();
    await visit.page.getByText('Copied. It lets anyone pay').waitFor();
    const url = String(await visit.page.evaluate('navigator.clipboard.readText()'));
    expect(present(await pageOf(service, tokenIn(url)))).toMatchObject({ kind: 'subscription', status: 'past_due' });
  });

  test('are not offered to users without the scope', async () => {
    const { page } = await visitAs((await signIn(service)).session);
    expect(await page.getByRole('link', { name: 'Links' }).count()).toBe(0);
  });
});
