import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { soon } from './console-steps.ts';
import { signIn, timesCharged } from './flow.ts';
import { withHost } from './host.ts';
import { createLink, pageToken } from './pages.ts';
import {
  answerBank,
  approveAtPayPal,
  CARDS,
  DESK,
  enterCard,
  expectPaid,
  PHONE,
  pageAddress,
  payableAt,
  payButton,
  visitPage,
} from './pay-page-steps.ts';
import { anotherMethod, patch, readSubscription, subscriber, subscribeToGold } from './subscribers.ts';

const RETURN = 'http://127.0.0.1:1/thanks';
const service = withHost({ env: { PAGE_NAME: 'Corner Shop', PAGE_RETURN_HOSTS: '127.0.0.1:1' } });
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const fillStart = async (page: Page, email: string): Promise<void> => {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Name').fill('Pia Payer');
};

const paymentsOfLink = async (link: Awaited<ReturnType<typeof createLink>>) => (await link.read()).payments;

describe('the page of a payment link', () => {
  test.each([
    [PHONE, 'Card (Stripe)'],
    [DESK, 'Card (Square)'],
    [PHONE, 'PayPal'],
  ] as const)('sells on a screen of %o to a payer who chooses %s', async (screen, method) => {
    const link = await createLink(service, { description: 'Workshop' });
    const { page, end } = await visitPage(browser, service, link.token, screen);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Enter a valid e-mail address.').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('email');
    await fillStart(page, 'pia@example.com');
    await page.getByLabel(method, { exact: true }).check();
    await page.getByRole('button', { name: 'Continue' }).click();
    if (method === 'PayPal') await approveAtPayPal(page);
    else await payButton(page).click();
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(await paymentsOfLink(link)).toEqual({ open: 0, succeeded: 1 });
    await end();
  });

  test('starts one payment even if the response of the start is lost', async () => {
    const link = await createLink(service, { providers: ['provider_a'] });
    const { page } = await visitPage(browser, service, link.token);
    await page.route(
      /\/pay\/start$/,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await fillStart(page, 'lost@example.com');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await payButton(page).click();
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(await paymentsOfLink(link)).toEqual({ open: 0, succeeded: 1 });
  });

  test('sells several items with a discount code, and reports an invalid code', async () => {
    const admin = await signIn(service, { is_admin: true });
    const product = { name: 'Ticket', subtotal_cents: 1_000, total_cents: 1_000, currency: 'USD', max_quantity: 10 };
    await service.put('/admin/products/ticket', product, admin.options);
    await service.put('/admin/discounts/HALF', { name: 'Half', percent_bp: 5_000 }, admin.options);
    const link = await createLink(service, {
      ...{ total_cents: undefined, currency: undefined, product_id: 'ticket' },
      quantity: { min: 1, max: 5 },
      providers: ['provider_a'],
    });
    const { page, end } = await visitPage(browser, service, link.token);
    await fillStart(page, 'several@example.com');
    await page.getByLabel('Quantity').fill('7');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Enter a whole number from 1 to 5.').waitFor();
    await page.getByLabel('Quantity').fill('5');
    await page.getByText('50.00 USD').waitFor();
    await page.getByLabel('Discount code').fill('nothing');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('This code cannot be used for this payment.').waitFor();
    await page.getByLabel('Discount code').fill('half');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Pay 25.00 USD' }).click();
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    await end();
  });

  test('says that the link has been used after another payer has started its only payment', async () => {
    const link = await createLink(service, { max_payments: 1, providers: ['provider_a'] });
    const second = await visitPage(browser, service, link.token);
    const first = await visitPage(browser, service, link.token);
    await fillStart(first.page, 'first@example.com');
    await first.page.getByRole('button', { name: 'Continue' }).click();
    await payButton(first.page).waitFor();
    await fillStart(second.page, 'second@example.com');
    await second.page.getByRole('button', { name: 'Continue' }).click();
    await second.page.getByRole('heading', { name: 'has been used' }).waitFor();
    await second.page.goto('about:blank');
    await second.page.goto(pageAddress(service, link.token));
    await second.page.getByRole('heading', { name: 'has been used' }).waitFor();
  });
});

describe('the page of a payment', () => {
  test('redirects a payer to the seller after the payment, with payment id and status', async () => {
    const user = await signIn(service);
    const { id, token } = await payableAt(service, user, 'stripe', { return_url: `${RETURN}?order=7` });
    const { page } = await visitPage(browser, service, token);
    const left = page.waitForRequest((request) => request.url().startsWith(RETURN));
    await payButton(page).click();
    await expectPaid(service, page, id);
    expect((await left).url()).toBe(`${RETURN}?order=7&payment_id=${id}&status=succeeded`);
  });

  test('can be used with only the keyboard', async () => {
    const user = await signIn(service);
    for (const provider of ['stripe', 'square'] as const) {
      const { id, token } = await payableAt(service, user, provider);
      const { page } = await visitPage(browser, service, token);
      await page.getByLabel('Test card').waitFor();
      const focused = () => page.evaluate('document.activeElement.name || document.activeElement.textContent');
      for (let tabs = 0; (await focused()) !== 'number' && tabs < 10; tabs += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(CARDS[provider].good);
      while (!String(await focused()).startsWith('Pay ')) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await expectPaid(service, page, id);
      expect(await focused()).toBe('Paid');
      await page.context().close();
    }
  });
});

describe('the page of a subscription', () => {
  const active = async () => {
    const who = await subscriber(service);
    const { id, current_period_end: end } = await subscribeToGold(service, who);
    return { who, id, end };
  };

  test('changes the card', async () => {
    const { who, id } = await active();
    const before = (await readSubscription(service, who, id)).payment_method_id;
    const { page, end } = await visitPage(browser, service, await pageToken(service, id), DESK);
    await page.getByText('19.00 USD per month').waitFor();
    await page.getByRole('button', { name: 'Change card' }).click();
    await enterCard(page, '5555 5555 5555 4444');
    await page.getByRole('button', { name: 'Save card' }).click();
    await page.getByText('The card is saved.').waitFor();
    await page.getByText('4444').waitFor();
    expect((await readSubscription(service, who, id)).payment_method_id).not.toBe(before);
    await end();
  });

  test('changes to a card that requires authentication, once the payer authenticates', async () => {
    const { id } = await active();
    const { page, end } = await visitPage(browser, service, await pageToken(service, id));
    await page.getByRole('button', { name: 'Change card' }).click();
    await enterCard(page, '4000 0025 0000 3155');
    await page.getByRole('button', { name: 'Save card' }).click();
    await page.getByRole('button', { name: 'Continue to your bank' }).click();
    await answerBank(page, 'Approve');
    await page.getByText('3155').waitFor();
    await end();
  });

  test('keeps the previous card if the new card is declined', async () => {
    const { id } = await active();
    const { page, end } = await visitPage(browser, service, await pageToken(service, id));
    await page.getByRole('button', { name: 'Change card' }).click();
    await enterCard(page, '4000 0000 0000 0002');
    await page.getByRole('button', { name: 'Save card' }).click();
    await page.getByRole('alert').filter({ hasText: 'Your former card stays' }).waitFor();
    await page.getByText('4242').waitFor();
    await end();
  });

  test('cancels with reason and comment, and can withdraw the cancellation', async () => {
    const { who, id } = await active();
    const { page, end } = await visitPage(browser, service, await pageToken(service, id));
    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    await page.getByLabel('Reason').selectOption({ label: 'Too expensive' });
    await page.getByLabel('Comment').fill('Too dear for me');
    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    await page.getByRole('button', { name: 'Keep subscription' }).waitFor();
    await page.getByText(/^Ends /).waitFor();
    expect(await readSubscription(service, who, id)).toMatchObject({
      cancel_at_period_end: true,
      cancel_reason: 'too_expensive',
      cancel_comment: 'Too dear for me',
    });
    await page.getByRole('button', { name: 'Keep subscription' }).click();
    await page.getByText(/^Next payment on /).waitFor();
    expect(await readSubscription(service, who, id)).toMatchObject({ cancel_at_period_end: false });
    await end();
  });

  test('charges the amount due once to another card', async () => {
    const { who, id, end: periodEnd } = await active();
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id, body: { payment_method_id: failing } });
    await service.moveTo(periodEnd);
    await service.advance(10 * MINUTE_SECONDS);
    const { page } = await visitPage(browser, service, await pageToken(service, id));
    await page.getByText('Payment failed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change card' }).click();
    await enterCard(page, '5555 5555 5555 4444');
    await page.getByRole('button', { name: 'Save card' }).click();
    await page.getByText('Active', { exact: true }).waitFor();
    await soon(async () => (await readSubscription(service, who, id)).status).toBe('active');
    const { latest_payment_id: renewal } = await readSubscription(service, who, id);
    if (renewal) expect(await timesCharged(service, renewal)).toBe(1);
  });
});
