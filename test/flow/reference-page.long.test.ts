/** @module The reference page in a browser. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentedEndpoints } from '../../functions/api/catalogue.ts';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { CANONICAL_EVENTS } from '../../shared/platform/bus-event.ts';
import { startBrowser } from './browser.ts';
import { type Documented, documentedIn } from './examples/documented.ts';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { tokenIn } from './pages.ts';

const STEP_MS = 60_000;
const MADE_MS = 240_000;
const TRIED_MS = 600_000;

describe('the reference page', () => {
  const service = withHost({ daysAgo: DEMO_DAYS, env: PATIENT });
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
    const { baseUrl, door, clock } = service.host();
    await makeDemoData({ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now });
    door?.open();
    await page.goto(`${service.host().baseUrl}/docs`);
    await page.waitForSelector('.opblock');
  }, MADE_MS);
  afterAll(() => browser?.close());

  test('lists every route and every event', async () => {
    expect(await page.title()).toBe('Payments: API reference');
    const shown = await page.locator('.opblock-summary').evaluateAll((rows) =>
      rows.map((row) => {
        const textOf = (part: string): string => row.querySelector(part)?.textContent?.replaceAll('\u200b', '') ?? '';
        return `${textOf('.opblock-summary-method')} ${textOf('.opblock-summary-path')}`;
      }),
    );
    const routes = documentedEndpoints.map(({ method, path }) => `${method} ${path}`);
    const events = CANONICAL_EVENTS.map((event) => `POST ${event}`);
    expect(shown.toSorted()).toEqual([...routes, ...events].toSorted());
  });

  test(
    'sends the first operation of each group unedited, and shows the documented status',
    async () => {
      const operations = documentedIn((await service.get('/openapi.json')).body);
      const groups = [...Map.groupBy(operations, ({ group }) => group).values()];
      const firsts = groups.flatMap(([first]) => first ?? []);
      const shown: { id: string; status: number }[] = [];
      const link = await service.post(
        '/payment-links',
        { total_cents: 2_500, currency: 'EUR' },
        { session: 'demo-admin' },
      );
      // A reader would paste the token of a link that they have created.
      await page.evaluate(`reference.preauthorizeApiKey('linkToken', '${tokenIn(link.body.data.url)}')`);
      for (const first of firsts) shown.push(await tryFirstOf(page, first));
      expect(shown).toEqual(firsts.map(({ id, status }) => ({ id, status })));
      expect(groups).toHaveLength(await page.locator('.opblock-tag-section').count());
    },
    TRIED_MS,
  );

  test('makes no request to another host and logs no error', () => {
    const outside = asked.filter((url) => !url.startsWith(service.host().baseUrl) && !url.startsWith('data:'));
    expect({ outside, complaints }).toEqual({ outside: [], complaints: [] });
    expect(asked.length).toBeGreaterThan(4);
  });
});

describe('the reference page of a host with an external identity service', () => {
  const service = withHost({ env: { IDENTITY_URL: 'http://127.0.0.1:9/identity' } });

  test('contains no demo session', async () => {
    const { status, body } = await service.get('/docs/start.js');
    expect(status).toBe(200);
    expect(body).toContain('/openapi.json');
    expect(body).not.toContain('demo-');
  });
});

/** Presses "Try it out" and "Execute" for the first operation of the group. @returns its id and the response status */
const tryFirstOf = async (page: Page, { group }: Documented): Promise<{ id: string; status: number }> => {
  const section = page.locator('.opblock-tag-section', { has: page.locator(`h3[data-tag="${group}"]`) });
  const row = section.locator('.opblock').first();
  await row.locator('.opblock-summary').click();
  await row.locator('.try-out__btn').click();
  await row.locator('.execute').click();
  const answer = row.locator('.live-responses-table .response .response-col_status').first();
  await answer.waitFor();
  const id = await row.locator('.opblock-summary-operation-id').innerText();
  return { id: id.replaceAll('\u200b', ''), status: Number.parseInt(await answer.innerText(), 10) };
};
