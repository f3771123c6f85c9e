import { request as httpRequest } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import {
  atRecord,
  chooseFilter,
  commandsIn,
  expectUser,
  filterShown,
  goTo,
  isPhone,
  signOut,
} from './console-controls.ts';
import {
  type ConsoleVisit,
  downloadCsv,
  enterSession,
  expectAccessible,
  expectNoSidewaysScroll,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { changeTable, confirm, createIntent, createPaidIntent, signIn, storedPayment, type User } from './flow.ts';
import { withHost } from './host.ts';
import { company, saveReadyMethod } from './payers.ts';
import { signInAdmin } from './refunders.ts';

const SIGN_IN_PAGE = 'https://accounts.example.com/sign-in';
const GUEST = 'gus.at.the.console@example.com';
const ROWS = 1_200;
const AT_ONCE = 25;

describe('the files of the console', () => {
  const service = withHost({ env: { BASE_PATH: '/pay', CONSOLE_SIGN_IN_URL: SIGN_IN_PAGE } });

  const named = async (): Promise<string[]> => {
    const { body } = await service.get('/pay/console');
    return [...String(body).matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
  };

  test.each(['/pay/console', '/pay/console/payments', '/pay/console/payments/pay_1'])(
    'serve the page at %s, which browsers must revalidate each time',
    async (path) => {
      const { status, headers, body } = await service.get(path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(body).toContain('<div id="app">');
      expect(body).toContain(`data-base="/pay" data-sign-in-url="${SIGN_IN_PAGE}"`);
      expect(body).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
    },
  );

  test('carry a content policy that allows only this host', async () => {
    const { headers } = await service.get('/pay/console');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).toContain("img-src 'self' data:");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  test('have names that change with their content, so browsers can cache them', async () => {
    const paths = await named();
    expect(paths).toEqual([
      expect.stringMatching(/^\/pay\/console\/assets\/main-\w{8}\.css$/),
      expect.stringMatching(/^\/pay\/console\/assets\/main-\w{8}\.js$/),
    ]);
    for (const path of paths) {
      const { status, headers } = await service.get(path);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
  });

  test('are sent uncompressed to browsers without compression', async () => {
    for (const path of await named()) {
      const [plain, compressed] = await Promise.all([bytesOf(path, 'identity'), bytesOf(path, 'gzip')]);
      expect(plain).toBeGreaterThan(compressed);
      expect((await service.get(path)).body).toHaveLength(plain);
    }
  });

  test('total less than 90 KB compressed', async () => {
    const sizes = await Promise.all(['/pay/console', ...(await named())].map((path) => bytesOf(path, 'gzip')));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000);
  });

  const bytesOf = (path: string, encoding: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = httpRequest(
        `${service.host().baseUrl}${path}`,
        { headers: { 'accept-encoding': encoding } },
        async (message) => resolve(Buffer.concat(await message.toArray()).length),
      );
      asked.on('error', reject).end();
    });

  test('return 404 for an unknown asset, and 405 for a POST', async () => {
    const { status, body } = await service.get('/pay/console/assets/nothing.js');
    expect([status, body.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
    expect((await service.post('/pay/console', {})).status).toBe(405);
  });

  test.each(['/', '/pay/', '/pay/console/'])('are reached by a redirect from %s of the local host', async (path) => {
    const answer = await fetch(`${service.host().baseUrl}${path}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/pay/console']);
  });

  test('send users to the installation’s sign-in page, and sign them in on return', async () => {
    const browser = await startBrowser();
    try {
      const { page } = await visitConsole(browser, service, WIDTHS[0]);
      const host = service.host().baseUrl;
      await page.route(`${SIGN_IN_PAGE}*`, async (route) => {
        const back = new URL(route.request().url()).searchParams.get('return_to');
        await route.fulfill({ status: 302, headers: { location: `${back}#session_id=demo-member` } });
      });
      await page.goto(`${host}/pay/console/payments`);
      await page.getByRole('button', { name: 'Sign in with your account' }).click();
      await page.getByText('demo.member@example.com').waitFor();
      expect(page.url()).toBe(`${host}/pay/console/payments`);
    } finally {
      await browser.close();
    }
  });
});

describe('an installation without the console', () => {
  const service = withHost({ env: { CONSOLE: 'off' } });

  test('serves none of its routes', async () => {
    for (const path of ['/', '/console', '/console/payments']) expect((await service.get(path)).status).toBe(404);
    expect((await service.post('/console', {})).status).toBe(404);
  });
});

describe('the console', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;
  let payer: User;
  let withCard: string;
  let ofGuest: string;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    payer = await signIn(service, { email: 'payer@example.com', expires_in: 30 * DAY_SECONDS });
    const card = await saveReadyMethod(service, payer.options);
    withCard = (await createIntent(service, payer, { total_cents: 4_200, payment_method_id: card.id })).id;
    await confirm(service, withCard, payer.options);
    ofGuest = (
      await service.post(
        '/payments/intents',
        guestIntentBody({ total_cents: 1_900, guest_data: { email: GUEST, name: 'Gus' } }),
      )
    ).body.id;
    const order = await createPaidIntent(service, payer, { total_cents: 7_700, reference_code: 'order-77' });
    await confirm(service, order.id, payer.options);
    await service.settle();
  });
  afterAll(() => browser?.close());

  describe.each(WIDTHS)('the console at %i pixels', (width) => {
    let visit: ConsoleVisit;

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
    });

    test('refuses a session that does not exist, with the request id', async () => {
      const { page, open } = visit;
      await open('');
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in');
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.getByLabel('Session ID or token').fill('nothing');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await soon(() => page.getByRole('alert').innerText()).toMatch(/Request [\w-]{36}/);
    });

    test('signs in, keeps the session in sessionStorage only, and forgets it at sign-out', async () => {
      const { page } = visit;
      await enterSession(visit, admin.session);
      await expectUser(page, 'Platform admin');
      expect(await page.evaluate('[localStorage.length, document.cookie, sessionStorage.length]')).toEqual([0, '', 1]);
      await page.reload();
      await signOut(page);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    });

    test('signs in each demo user of the local host with one click', async () => {
      const { page, open } = visit;
      for (const name of ['demo-owner', 'demo-member', 'demo-admin']) {
        await open('');
        await page.getByRole('button', { name }).click();
        await expectUser(page, `${name.replace('-', '.')}@example.com`);
        await signOut(page);
      }
    });

    test('finds a payment by the last four digits of its card, and opens it', async () => {
      const { page, open } = visit;
      await enterSession(visit, admin.session);
      await open('/payments');
      await page.getByRole('table', { name: 'Payments' }).waitFor();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.getByLabel('Search payments').fill('4242');
      await page.keyboard.press('Enter');
      await soon(() => page.url()).toContain('?search=4242');
      const found = page.locator('tbody tr');
      await soon(() => found.count()).toBe(2);
      if (!isPhone(page)) expect(await found.filter({ hasNotText: '4242' }).count()).toBe(0);
      await found.filter({ hasText: '42.00' }).click();
      await atRecord(page, withCard);
    });

    test.each([
      ['an id', () => ofGuest, '19.00'],
      ['an e-mail', () => GUEST, '19.00'],
      ['a reference', () => 'order-77', '77.00'],
    ])('finds a payment by %s', async (_, search, amount) => {
      const { page, open } = visit;
      await open('/payments');
      await page.getByLabel('Search payments').fill(search());
      await page.keyboard.press('Enter');
      await soon(() => page.locator('tbody tr').allInnerTexts()).toEqual([expect.stringContaining(amount)]);
    });

    test('applies the filter in the URL, and writes each change back', async () => {
      const { page, open } = visit;
      await open('/payments?status=succeeded&min=50');
      await soon(() => page.locator('tbody tr').count()).toBe(1);
      expect(await page.locator('tbody tr').innerText()).toContain('77.00');
      expect(await filterShown(page, 'Status')).toBe('Succeeded');
      expect(await filterShown(page, 'Minimum amount')).toBe('50');
      await chooseFilter(page, 'Currency', 'JPY');
      await page.getByText('No payment matches').waitFor();
      expect(new URL(page.url()).search).toBe('?status=succeeded&min=50&currency=JPY');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await soon(() => page.locator('tbody tr').count()).toBeGreaterThanOrEqual(3);
      expect(new URL(page.url()).search).toBe('');
    });

    test('says that the list covers 31 days, unless the filters search more days', async () => {
      const { page, open } = visit;
      const hint = page.getByText('cover the last 31 days');
      await open('/payments?currency=SEK');
      await page.getByText('No payment matches').waitFor();
      expect(await hint.count()).toBe(1);
      const ofAnyAge = [
        'search=nothing-77',
        'user=user_none',
        'organization=org_none',
        `fingerprint=fp_${'0'.repeat(24)}`,
      ];
      for (const filter of [...ofAnyAge, 'from=2020-01-01']) {
        await open(`/payments?currency=SEK&${filter}`);
        await page.getByText('No payment matches').waitFor();
        expect([filter, await hint.count()]).toEqual([filter, 0]);
      }
    });

    test('supports the keyboard: / goes to the search, arrows move in the table, Enter opens a payment', async () => {
      const { page, open } = visit;
      await open('/payments');
      await page.getByRole('table').waitFor();
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.type')).toBe('search');
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(key);
      const address = await page.evaluate('document.activeElement.pathname');
      expect(address).toBe(await page.locator('tbody tr').nth(1).getByRole('link').getAttribute('href'));
      await page.keyboard.press('Enter');
      await soon(() => new URL(page.url()).pathname).toBe(address);
    });

    test.each([
      ['the heading after navigation', (page: Page) => goTo(page, 'Payments')],
      ['the search of the list', (page: Page) => page.getByLabel('Search payments').focus()],
    ])('moves in the table by arrow keys from %s', async (_, goThere) => {
      const { page, open } = visit;
      await open('/payments');
      await page.getByRole('table').waitFor();
      await goThere(page);
      await page.keyboard.press('ArrowDown');
      await soon(() => page.evaluate('document.activeElement.className')).toBe('row-link');
    });

    test('shows an API error with its request id, and offers a retry', async () => {
      const { page, open } = visit;
      const list = /\/admin\/payments/;
      const body = { success: false, error: 'Slow down', code: 'RATE_LIMITED', request_id: 'req-77' };
      await page.route(list, (route) => route.fulfill({ status: 429, json: body }));
      await open('/payments');
      await soon(() => page.getByRole('alert').innerText()).toMatch(/Slow down\s+Request req-77/);
      await expectAccessible(page);
      await page.unroute(list);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table').waitFor();
    });

    test('offers only the user’s permitted actions: no refund, and no search in the payments of others', async () => {
      const other = await visitConsole(browser, service, width);
      await enterSession(other, payer.session);
      await other.open('/payments');
      await other.page.getByRole('table').waitFor();
      expect(await other.page.getByRole('button', { name: 'Add filter' }).count()).toBe(0);
      await other.open(`/payments/${withCard}`);
      await other.page.getByRole('list', { name: 'Chain' }).getByText('Visa •••• 4242').waitFor();
      expect(await commandsIn(other.page)).toEqual([]);
      expect(await other.page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
      expectQuiet(other, service);
      await other.open(`/payments/${ofGuest}`);
      await soon(() => other.page.getByRole('alert').innerText()).toContain('Request');
      await other.page.close();
    });

    test('lists only own payments, even in an organization’s session, until the organization is chosen', async () => {
      const { id: organization, owner } = await company(service);
      const session = { user_id: owner.userId, organization_id: organization, expires_in: DAY_SECONDS };
      const member = await signIn(service, session);
      await createIntent(service, member, { total_cents: 1_100, organization_id: null });
      await createIntent(service, member, { total_cents: 2_200, organization_id: organization });
      const other = await visitConsole(browser, service, width);
      await enterSession(other, member.session);
      await other.open('/payments');
      const rows = other.page.getByRole('table', { name: 'Payments' }).locator('tbody tr');
      await soon(() => rows.allInnerTexts()).toEqual([expect.stringContaining('11.00')]);
      await chooseFilter(other.page, 'Organization', organization);
      await soon(() => rows.allInnerTexts()).toEqual([expect.stringContaining('22.00')]);
      await other.page.close();
    });

    test('makes no request to another host, and violates no content policy', () => {
      expectQuiet(visit, service);
    });
  });

  describe('the console with many payments', () => {
    let many: User;

    beforeAll(async () => {
      many = await signIn(service, { email: 'many@example.com', expires_in: 30 * DAY_SECONDS });
      const one = await createPaidIntent(service, many, { total_cents: 500 });
      const item = await storedPayment(service, one.id);
      const copies = Array.from({ length: ROWS - 1 }, (_, index) => {
        const id = `pay_${String(index + 1).padStart(24, '0')}`;
        const sort = `${new Date(Date.parse(one.created_at) - index * 1_000).toISOString()}#${id}`;
        return { ...item, pk: `PAY#${id}`, sort };
      });
      for (let at = 0; at < copies.length; at += AT_ONCE) {
        await Promise.all(copies.slice(at, at + AT_ONCE).map((put) => changeTable(service, { put })));
      }
    });

    test.each(WIDTHS)('downloads the whole filtered list as CSV, with one header row, at %i pixels', async (width) => {
      const visit = await visitConsole(browser, service, width);
      const { page, open } = visit;
      await enterSession(visit, many.session);
      await open('/payments?status=created');
      await page.getByRole('table').waitFor();
      const { name, rows } = await downloadCsv(page);
      expect(name).toBe('payments.csv');
      expect(rows[0]).toMatch(/^id,status,currency,amount_cents/);
      expect(new Set(rows).size).toBe(ROWS + 1);
      expectQuiet(visit, service);
      await page.close();
    });
  });
});

describe('the clock of the local host', () => {
  const service = withHost();

  test('appears in the banner after it is moved', async () => {
    const browser = await startBrowser();
    try {
      const visit = await visitConsole(browser, service, WIDTHS[0]);
      const { page } = visit;
      await enterSession(visit, 'demo-admin');
      expect(await page.getByRole('banner').innerText()).not.toContain('Clock');
      await service.advance(2 * DAY_SECONDS);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.reload();
        await soon(() => page.getByRole('banner').innerText()).toMatch(/Clock \+2 days/);
      }
    } finally {
      await browser.close();
    }
  });
});
