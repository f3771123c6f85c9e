import { execPath } from 'node:process';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { startExample } from './example-process.ts';
import { withHost } from './host.ts';

const STEP_MS = 30_000;

describe('the cards page of docs/examples, in a browser without the internet', () => {
  const service = withHost();
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const openPage = async () => {
    const shop = await startExample(execPath, 'cards/shop.mjs', { PAYMENTS_URL: service.host().baseUrl });
    const page = await browser.newPage();
    page.setDefaultTimeout(STEP_MS);
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!/^(?:http:\/\/127\.0\.0\.1:|data:)/.test(request.url())) foreign.push(request.url());
    });
    await page.goto(shop.url);
    const save = async (number: string): Promise<void> => {
      await page.fill('[name=number]', number);
      await page.getByRole('button', { name: 'Save this card' }).click();
    };
    const said = (text: RegExp) => page.locator('#message', { hasText: text }).waitFor();
    return { page, save, said, foreign };
  };
  const cards = async () => {
    await service.settle();
    const { body } = await service.get('/payment-methods?limit=50', { session: 'demo-member' });
    return body.map((card) => [card.card_last_four, card.setup_status]);
  };

  test('saves a card without authentication', async () => {
    const { save, said, foreign } = await openPage();
    await save('4242 4242 4242 4242');
    await said(/^Saved/);
    expect(await cards()).toContainEqual(['4242', 'succeeded']);
    expect(foreign).toEqual([]);
  });

  test('saves a card by 3-D Secure, and the frame shows its buttons without scrolling', async () => {
    const { page, save, said } = await openPage();
    await save('4000 0025 0000 3155');
    const frame = page.frameLocator('iframe');
    const height = await page.locator('iframe').evaluate((element) => element.clientHeight);
    for (const name of ['Approve', 'Refuse']) {
      const box = await frame.getByRole('button', { name }).boundingBox();
      const top = (await page.locator('iframe').boundingBox())?.y ?? 0;
      expect((box?.y ?? 0) + (box?.height ?? 0) - top).toBeLessThanOrEqual(Math.min(height, 150));
    }
    await frame.getByRole('button', { name: 'Approve' }).click();
    await said(/^Saved/);
    expect(await cards()).toContainEqual(['3155', 'succeeded']);
  });

  test('says that the payer refused the authentication, and keeps no usable card', async () => {
    const { page, save, said } = await openPage();
    const before = (await cards()).filter(([, status]) => status === 'succeeded').length;
    await save('4000 0025 0000 3155');
    await page.frameLocator('iframe').getByRole('button', { name: 'Refuse' }).click();
    await said(/unable to authenticate|failed/);
    expect((await cards()).filter(([, status]) => status === 'succeeded')).toHaveLength(before);
  });

  test('supports the calls of Stripe.js that confirm a set-up intent', async () => {
    const { page, save } = await openPage();
    const created = page.waitForResponse(
      (response) => response.url().endsWith('/cards') && response.request().method() === 'POST',
    );
    await save('4000 0025 0000 3155');
    const { client_secret: secret } = JSON.parse(await (await created).text());
    const ends = await page.evaluate(async (clientSecret) => {
      const stripe = Reflect.get(globalThis, 'Stripe')(Reflect.get(globalThis, 'document').body.dataset.key);
      const waiting = await stripe.retrieveSetupIntent(clientSecret);
      const card = await stripe.confirmCardSetup(clientSecret, { payment_method: 'pm_card_visa' });
      const read = await stripe.retrieveSetupIntent(clientSecret);
      const again = await stripe.confirmSetup({
        elements: { getElement: () => ({ valueOf: () => '1/30' }) },
        clientSecret,
      });
      return [waiting.setupIntent.status, card.setupIntent.status, read.setupIntent.status, again.error.code];
    }, secret);
    expect(ends).toEqual(['requires_action', 'succeeded', 'succeeded', 'setup_intent_unexpected_state']);
  });

  test('shows the amount of a payment in major units', async () => {
    const { id, client_secret: secret } = (
      await service.post('/payments/intents', { total_cents: 2500, currency: 'USD' }, { session: 'demo-member' })
    ).body;
    const { page } = await openPage();
    const confirmed = page.evaluate(async (clientSecret) => {
      const stripe = Reflect.get(globalThis, 'Stripe')(Reflect.get(globalThis, 'document').body.dataset.key);
      const payment_method = 'pm_card_threeDSecure2Required';
      return (await stripe.confirmCardPayment(clientSecret, { payment_method })).paymentIntent.status;
    }, secret);
    const frame = page.frameLocator('iframe');
    expect(await frame.locator('p').first().innerText()).toBe('Do you approve 25.00 USD?');
    await frame.getByRole('button', { name: 'Approve' }).click();
    expect(await confirmed).toBe('succeeded');
    await service.settle();
    expect((await service.get(`/payments/${id}`, { session: 'demo-member' })).body.data.status).toBe('succeeded');
  });
});
