import { execPath } from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { startExample } from './example-process.ts';
import { withHost } from './host.ts';

const STEP_MS = 15_000;

describe('the checkout page of docs/examples', () => {
  const service = withHost();
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const openShop = async () => {
    const shop = await startExample(execPath, 'checkout/shop.mjs', { PAYMENTS_URL: service.host().baseUrl });
    const page = await browser.newPage();
    page.setDefaultTimeout(STEP_MS);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(shop.url);
    return { page, asked };
  };
  const payWith = async (page: Page, number: string): Promise<void> => {
    await page.fill('[name=number]', number);
    await page.click('#pay');
  };
  const said = async (page: Page, text: RegExp): Promise<string> => {
    await page.locator('#message', { hasText: text }).waitFor();
    return page.locator('#message').innerText();
  };
  const paymentOf = async (message: string) => {
    const [id = ''] = /pay_[0-9a-f]+/.exec(message) ?? [];
    const { body } = await service.get(`/payments/${id}`, { session: 'demo-admin' });
    return body.data;
  };

  test('accepts a second card after a decline, and charges the order once', async () => {
    const { page, asked } = await openShop();
    await page.click('#card');
    await payWith(page, '4000 0000 0000 0002');
    expect(await said(page, /declined/)).toBe('Your card was declined.');
    await payWith(page, '4242 4242 4242 4242');
    const payment = await paymentOf(await said(page, /Paid/));
    expect(payment).toMatchObject({ status: 'succeeded', total_cents: 2_500, guest_email: 'gus@example.com' });
    const { charges } = await service.ledger(payment.id);
    expect(charges.map(({ status }: { status: string }) => status)).toEqual(['failed', 'succeeded']);
    expect(asked.filter((url) => !/^(?:http:\/\/127\.0\.0\.1:|data:)/.test(url))).toEqual([]);
  });

  test('shows the bank’s authentication, and accepts the payment once the payer approves', async () => {
    const { page } = await openShop();
    await page.click('#card');
    await payWith(page, '4000 0027 6000 3184');
    await page.frameLocator('iframe').getByRole('button', { name: 'Approve' }).click();
    expect(await paymentOf(await said(page, /Paid/))).toMatchObject({ status: 'succeeded' });
  });

  test('shows that the payer failed the authentication', async () => {
    const { page } = await openShop();
    await page.click('#card');
    await payWith(page, '4000 0027 6000 3184');
    await page.frameLocator('iframe').getByRole('button', { name: 'Refuse' }).click();
    expect(await said(page, /failed authentication/)).toContain('has failed authentication');
  });

  test('sends the payer to PayPal, and shows the payment on return', async () => {
    const { page } = await openShop();
    await page.click('#paypal');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await paymentOf(await said(page, /Paid/))).toMatchObject({ status: 'succeeded', provider_id: 'provider_b' });
  });

  test.each([
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['https://shop.example', null],
  ])('calls the simulated Stripe from the origin %s, and the allowed origin is %s', async (origin, allowed) => {
    const path = '/_local/providers/stripe/v1/payment_intents/pi_1';
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'GET' };
    for (const method of ['OPTIONS', 'GET']) {
      const answer = await service.request(method, path, { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
    }
  });
});
