import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentedEndpoints as endpoints } from '../../functions/api/catalogue.ts';
import { CANONICAL_EVENTS } from '../../shared/events/bus-event.ts';
import { startBrowser } from './browser.ts';
import { withHost } from './host.ts';

/** The reference page in a browser. */
const STEP_MS = 10_000;

describe('the reference page', () => {
  const service = withHost();
  let browser: Browser;
  let page: Page;
  const asked: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 1_200, height: 1_600 } });
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.setDefaultTimeout(STEP_MS);
    await page.goto(`${service.host().baseUrl}/docs`);
    await page.waitForSelector('.opblock');
  });
  afterAll(() => browser?.close());

  test('opens, and lists every route and every event', async () => {
    expect(await page.title()).toBe('Payments: API reference');
    const shown = await page.locator('.opblock-summary').evaluateAll((rows) =>
      rows.map((row) => {
        const textOf = (part: string): string => row.querySelector(part)?.textContent?.replaceAll('\u200b', '') ?? '';
        return `${textOf('.opblock-summary-method')} ${textOf('.opblock-summary-path')}`;
      }),
    );
    const routes = endpoints.map(({ method, path }) => `${method} ${path}`);
    const events = CANONICAL_EVENTS.map((event) => `POST ${event}`);
    expect(shown.toSorted()).toEqual([...routes, ...events].toSorted());
  });

  test('makes a payment: signed in, with the example of the document', async () => {
    await page.click('button.authorize');
    const session = page.locator('.auth-container', { hasText: 'X-Session-ID' });
    await session.locator('input').fill('demo-owner');
    await session.locator('button[type=submit]').click();
    await session.locator('.btn-done').click();
    const row = page.locator('.opblock-post', { has: page.locator('[data-path="/payments"]') });
    await row.locator('.opblock-summary').click();
    await row.locator('.try-out__btn').click();
    await row.locator('.execute').click();
    const answer = row.locator('.live-responses-table .response').first();
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').first().innerText()).toContain('201');
    expect(await answer.locator('.response-col_description').first().innerText()).toContain('requires_payment_method');
  });

  test('makes no request to another host and logs no error', () => {
    const outside = asked.filter((url) => !url.startsWith(service.host().baseUrl) && !url.startsWith('data:'));
    expect({ outside, complaints }).toEqual({ outside: [], complaints: [] });
    expect(asked.length).toBeGreaterThan(4);
  });
});
