import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { signIn, timesCharged, type User } from './flow.ts';
import { withHost } from './host.ts';
import {
  answerBank,
  approveAtPayPal,
  CARDS,
  DESK,
  expectDeclined,
  expectOneCharge,
  expectPaid,
  PHONE,
  pageAddress,
  payableAt,
  payButton,
  payByCard,
  visitPage,
} from './pay-page-steps.ts';

const service = withHost({ env: { PAGE_NAME: 'Corner Shop' } });
let browser: Browser;
let user: User;
beforeAll(async () => {
  browser = await startBrowser();
  user = await signIn(service);
});
afterAll(() => browser?.close());

describe.each(['stripe', 'square'] as const)('the page of a payment at %s', (provider) => {
  const cards = CARDS[provider];

  test.each([PHONE, DESK])('charges a card and shows the payment as paid, $width pixels wide', async (screen) => {
    const { id, token } = await payableAt(service, user, provider);
    const { page, end } = await visitPage(browser, service, token, screen);
    await payByCard(page, cards.good);
    await expectPaid(service, page, id);
    await end();
  });

  test('shows that a card was declined, and accepts another card', async () => {
    const { id, token } = await payableAt(service, user, provider);
    const { page, end } = await visitPage(browser, service, token);
    await payByCard(page, cards.declined);
    await expectDeclined(page, provider === 'stripe' ? /funds[\s\S]*Try again later/ : /Contact your bank/);
    expect(await timesCharged(service, id)).toBe(0);
    await payByCard(page, cards.good);
    await expectPaid(service, page, id);
    await end();
  });

  test('shows the bank’s authentication, and charges once after it', async () => {
    const { id, token } = await payableAt(service, user, provider);
    const { page, end } = await visitPage(browser, service, token);
    await payByCard(page, cards.asks);
    await answerBank(page, 'Refuse');
    await expectDeclined(page, /./);
    await payByCard(page, cards.asks);
    await answerBank(page, 'Approve');
    await expectPaid(service, page, id);
    await end();
  });
});

describe('the page of a payment at PayPal', () => {
  test.each([PHONE, DESK])('redirects to PayPal and back, $width pixels wide', async (screen) => {
    const { id, token } = await payableAt(service, user, 'paypal');
    const { page, end } = await visitPage(browser, service, token, screen);
    await approveAtPayPal(page);
    await expectPaid(service, page, id);
    await end();
  });

  test('shows a decline, and redirects to PayPal again', async () => {
    const { id, token } = await payableAt(service, user, 'paypal');
    const { page, end } = await visitPage(browser, service, token);
    await approveAtPayPal(page, 'SIM-DECLINED');
    await expectDeclined(page, /./);
    await approveAtPayPal(page);
    await expectPaid(service, page, id);
    await end();
  });
});

describe('the token of the page', () => {
  test('is removed from the address, and stays in the tab', async () => {
    const { id, token } = await payableAt(service, user, 'stripe');
    const { page, end } = await visitPage(browser, service, token);
    await payButton(page).waitFor();
    expect(page.url()).toBe(`${service.host().baseUrl}/pay`);
    await page.reload();
    await payByCard(page, CARDS.stripe.good);
    await expectPaid(service, page, id);
    await expectOneCharge(service, id);
    await end();
  });

  test('is required, so the page reports an invalid link without it or with a wrong token', async () => {
    const { token } = await payableAt(service, user, 'stripe');
    const { page, end } = await visitPage(browser, service, `${token.slice(0, -2)}AA`);
    await page.getByRole('heading', { name: 'no longer valid' }).waitFor();
    await page.goto('about:blank');
    await page.evaluate('undefined');
    await page.goto(pageAddress(service, '').replace('#', ''));
    await page.getByRole('heading', { name: 'no longer valid' }).waitFor();
    await end();
  });
});
