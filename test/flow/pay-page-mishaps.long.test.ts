import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { signIn, timesCharged, type User } from './flow.ts';
import { withHost } from './host.ts';
import {
  answerBank,
  approveAtPayPal,
  CARDS,
  enterCard,
  expectPaid,
  pageAddress,
  payableAt,
  payButton,
  payByCard,
  visitPage,
} from './pay-page-steps.ts';

const service = withHost({ env: { PAGE_NAME: 'Corner Shop', PROVIDER_TIMEOUT_MS: '1500' } });
let browser: Browser;
let user: User;
beforeAll(async () => {
  browser = await startBrowser();
  user = await signIn(service);
});
afterAll(() => browser?.close());

/** The request takes effect, but the response never reaches the page. */
const loseAnswer = async (page: Page, url: RegExp): Promise<void> => {
  await page.route(
    url,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
};

const loseAnswerOfProvider = (provider: string, path: string) =>
  service.post('/_local/simulator/faults', { provider, path, method: 'POST', action: 'timeout_after', times: 1 });

describe('the page of a payment', () => {
  test('shows the payment as paid if Stripe’s response to the browser is lost', async () => {
    const { id, token } = await payableAt(service, user, 'stripe');
    const { page, complaints } = await visitPage(browser, service, token);
    await loseAnswer(page, /\/payment_intents\/[^/]+\/confirm$/);
    await payByCard(page, CARDS.stripe.good);
    await expectPaid(service, page, id);
    expect(complaints).toEqual([]);
  });

  test('retries under the same key if the service’s response is lost, and the payer is charged once', async () => {
    const { id, token } = await payableAt(service, user, 'square');
    const { page, asked } = await visitPage(browser, service, token);
    await loseAnswer(page, /\/pay\/confirm$/);
    await payByCard(page, CARDS.square.good);
    await expectPaid(service, page, id);
    expect(asked.filter((url) => url.endsWith('/pay/confirm'))).toHaveLength(2);
  });

  test('shows the payment as paid once a lookup replaces Square’s lost response', async () => {
    const { id, token } = await payableAt(service, user, 'square');
    const { page } = await visitPage(browser, service, token);
    expect((await loseAnswerOfProvider('provider_c', '/v2/payments')).status).toBe(201);
    await payByCard(page, CARDS.square.good);
    await page.getByRole('heading', { name: /Paid|Processing/ }).waitFor();
    await service.advance(2 * MINUTE_SECONDS);
    await expectPaid(service, page, id);
  });

  test('offers no second payment while PayPal’s response is lost, and shows the payment as paid', async () => {
    const { id, token } = await payableAt(service, user, 'paypal');
    const { page } = await visitPage(browser, service, token);
    expect((await loseAnswerOfProvider('provider_b', '/capture')).status).toBe(201);
    await approveAtPayPal(page);
    // PayPal's event may arrive before the page has shown that the payment is processing.
    await page.getByRole('heading', { name: /Paid|Processing/ }).waitFor();
    expect(await page.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    await service.advance(2 * MINUTE_SECONDS);
    await expectPaid(service, page, id);
  });

  test('lets the payer try again after a minute if the confirmation never reaches Stripe', async () => {
    const { id, token } = await payableAt(service, user, 'stripe');
    const { page } = await visitPage(browser, service, token);
    await page.clock.install();
    await page.route(/\/payment_intents\/[^/]+\/confirm$/, (route) => route.abort(), { times: 1 });
    await payByCard(page, CARDS.stripe.good);
    await page.getByRole('heading', { name: 'Confirming' }).waitFor();
    await page.clock.fastForward(61_000);
    await page.getByRole('alert').filter({ hasText: 'never charged twice' }).waitFor();
    await page.clock.resume();
    expect(await timesCharged(service, id)).toBe(0);
    await payByCard(page, CARDS.stripe.good);
    await expectPaid(service, page, id);
  });
});

describe('a payer who leaves the page and returns', () => {
  test('can complete the bank’s authentication at Stripe', async () => {
    const { id, token } = await payableAt(service, user, 'stripe');
    const first = await visitPage(browser, service, token);
    await payByCard(first.page, CARDS.stripe.asks);
    await first.page.frameLocator('iframe').getByRole('button', { name: 'Approve' }).waitFor();
    await first.page.context().close();
    await service.settle();
    const { page, end } = await visitPage(browser, service, token);
    await page.getByRole('button', { name: 'Continue to your bank' }).click();
    await answerBank(page, 'Approve');
    await expectPaid(service, page, id);
    await end();
  });

  test('finds the payment paid at Square if the page had sent the request', async () => {
    const { id, token } = await payableAt(service, user, 'square');
    const first = await visitPage(browser, service, token);
    await enterCard(first.page, CARDS.square.good);
    const sent = first.page.waitForRequest(/\/pay\/confirm$/);
    await payButton(first.page).click();
    await sent;
    await first.page.context().close();
    await service.settle();
    const { page, end } = await visitPage(browser, service, token);
    await expectPaid(service, page, id);
    await end();
  });

  test('finds the approved PayPal payment paid, while another browser sees only a confirmation', async () => {
    const { id, token } = await payableAt(service, user, 'paypal');
    const first = await visitPage(browser, service, token);
    await first.page.route(/\/pay\?token=/, (route) => route.abort());
    const left = first.page.waitForRequest(/\/pay\?token=/);
    await approveAtPayPal(first.page);
    const returned = (await left).url();
    await first.page.context().close();
    const elsewhere = await visitPage(browser, service, token);
    await elsewhere.page.evaluate('sessionStorage.clear()');
    await elsewhere.page.goto(returned);
    await elsewhere.page.getByText('Your approval was received; you may close this page').waitFor();
    expect(elsewhere.page.url()).toBe(pageAddress(service, '').replace('#', ''));
    await elsewhere.end();
    const { page, end } = await visitPage(browser, service, token);
    await expectPaid(service, page, id);
    await end();
  });

  test('can pay at PayPal after first refusing the approval', async () => {
    const { id, token } = await payableAt(service, user, 'paypal');
    const { page, end } = await visitPage(browser, service, token);
    await page.getByRole('button', { name: 'Pay with PayPal' }).click();
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByRole('alert').filter({ hasText: 'never charged twice' }).waitFor();
    await approveAtPayPal(page);
    await expectPaid(service, page, id);
    await end();
  });
});
