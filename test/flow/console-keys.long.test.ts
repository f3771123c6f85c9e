import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { commandsIn, giveCommand, goTo } from './console-controls.ts';
import {
  type ConsoleVisit,
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import type { User } from './flow.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const SECRET = /^psk_[0-9a-f]{24}_[\w-]{43}$/;
/** A key or a change of a key takes effect within this time. */
const KEY_CACHE_SECONDS = 6;

describe('the console’s page of service keys', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
  });
  afterAll(() => browser?.close());

  /** The status of a request with the secret, after changes of the key have taken effect. */
  const statusOf = async (secret: string): Promise<number> => {
    await service.advance(KEY_CACHE_SECONDS);
    return (await service.get('/refunds', { headers: { authorization: `Bearer ${secret}` } })).status;
  };

  describe.each(WIDTHS)('at %i pixels', (width) => {
    const name = `Shop backend ${width}`;
    let visit: ConsoleVisit;
    let first = '';
    let second = '';

    beforeAll(async () => {
      visit = await visitConsole(browser, service, width);
      await enterSession(visit, admin.session);
    });

    const dialog = () => visit.page.getByRole('dialog');
    const press = (button: string) => visit.page.getByRole('button', { name: button, exact: true }).click();
    const pressInDialog = (button: string) => dialog().getByRole('button', { name: button, exact: true }).click();
    const shownSecret = async (): Promise<string> => {
      await dialog().getByText('It is shown only now.').waitFor();
      return dialog().locator('code').innerText();
    };
    const openKey = async (): Promise<void> => {
      await visit.open('/keys');
      await visit.page.getByRole('link', { name, exact: true }).click();
      await visit.page.getByRole('heading', { level: 1, name: `${name} Active` }).waitFor();
    };

    test('explains the use of keys while the list is empty', async () => {
      const { page, open } = visit;
      const json = { success: true, data: [], meta: { limit: 25, has_more: false, next_cursor: null } };
      await page.route(/\/admin\/keys$/, (route) => route.fulfill({ json }));
      await open('/keys');
      await page.getByText('No keys yet').waitFor();
      await page.unroute(/\/admin\/keys$/);
    });

    test('creates a key with the chosen scopes, and shows its secret once', async () => {
      const { page } = visit;
      await goTo(page, 'Overview');
      await goTo(page, 'Keys');
      await press('Create key');
      await dialog().getByLabel('Name').fill(name);
      await pressInDialog('Create key');
      await dialog().getByText('Choose at least one scope.').waitFor();
      await dialog()
        .getByRole('checkbox', { name: /^payments:read/ })
        .check();
      await expectNoViolation(page);
      await pressInDialog('Create key');
      first = await shownSecret();
      expect(first).toMatch(SECRET);
      await expectNoViolation(page);
      await expectNoSidewaysScroll(page);
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).not.toContain('psk_');
      await pressInDialog('Done');
      await openKey();
      expect(await page.locator('body').innerText()).not.toContain(first);
      expect(await statusOf(first)).toBe(200);
    });

    test('copies the secret with a button', async () => {
      const { page, open } = visit;
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await open('/keys');
      await press('Create key');
      await dialog().getByLabel('Name').fill(`Copied ${width}`);
      await dialog()
        .getByRole('checkbox', { name: /^refunds:write/ })
        .check();
      await pressInDialog('Create key');
      const secret = await shownSecret();
      await dialog()
        .getByRole('button', { name: `Copy ${secret}` })
        .click();
      await dialog().getByText('Copied', { exact: true }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    });

    test('says how to get another secret if the response with the secret was lost', async () => {
      const { page, open } = visit;
      const route = /\/admin\/keys$/;
      await page.route(route, async (asked) => {
        if (asked.request().method() !== 'POST') return asked.continue();
        await asked.fetch();
        return asked.abort();
      });
      await open('/keys');
      await press('Create key');
      await dialog().getByLabel('Name').fill(`Lost ${width}`);
      await dialog()
        .getByRole('checkbox', { name: /^payments:read/ })
        .check();
      await pressInDialog('Create key');
      await soon(() => dialog().getByRole('alert').innerText()).toContain('cannot be reached');
      await page.unroute(route);
      await pressInDialog('Create key');
      await soon(() => dialog().getByRole('alert').innerText()).toContain('Rotate the key to get another secret');
    });

    test('lists the key with its status, and changes its name and scopes', async () => {
      const { page, open } = visit;
      await open('/keys');
      const row = page.getByRole('table', { name: 'Service keys' }).locator('tbody tr').filter({ hasText: name });
      await soon(() => row.innerText()).toMatch(/Active/);
      await openKey();
      await press('Change');
      await dialog()
        .getByRole('checkbox', { name: /^refunds:write/ })
        .check();
      await pressInDialog('Save');
      await page.getByRole('region', { name: 'Scopes' }).getByText('refunds:write').waitFor();
      const { body } = await service.get('/admin/keys', admin.options);
      expect(body.data).toContainEqual(
        expect.objectContaining({
          name,
          scopes: ['payments:read', 'refunds:write'],
          allowed_ips: [],
          expires_at: null,
        }),
      );
    });

    test('rotates the key, and keeps the current secret valid for the chosen time', async () => {
      const { page } = visit;
      await openKey();
      await giveCommand(page, 'Rotate');
      await dialog().getByLabel('The current secret stays valid').selectOption('1 hour');
      await expectNoViolation(page);
      await pressInDialog('Rotate key');
      second = await shownSecret();
      expect(second).toMatch(SECRET);
      expect(second).not.toBe(first);
      await pressInDialog('Done');
      expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    });

    test('rotates again if another time is chosen after a lost response', async () => {
      const { page } = visit;
      await openKey();
      await page.route(/\/rotate$/, async (asked) => {
        await asked.fetch();
        return asked.abort();
      });
      await giveCommand(page, 'Rotate');
      await pressInDialog('Rotate key');
      await soon(() => dialog().getByRole('alert').innerText()).toContain('cannot be reached');
      await page.unroute(/\/rotate$/);
      await dialog().getByLabel('The current secret stays valid').selectOption({ index: 0 });
      await pressInDialog('Rotate key');
      const third = await shownSecret();
      await pressInDialog('Done');
      expect(await statusOf(third)).toBe(200);
      second = third;
    });

    test('revokes the key after a confirmation, and then offers no action', async () => {
      const { page } = visit;
      await openKey();
      await giveCommand(page, 'Revoke');
      await expectNoViolation(page);
      await pressInDialog('Keep key');
      expect(await statusOf(second)).toBe(200);
      await giveCommand(page, 'Revoke');
      await pressInDialog('Revoke key');
      await page.getByRole('heading', { level: 1, name: `${name} Revoked` }).waitFor();
      expect(await commandsIn(page)).toEqual([]);
      expect(await statusOf(second)).toBe(401);
    });

    test('makes no request to another host, and violates no content policy', () => {
      expectQuiet(visit, service);
    });
  });

  test.each(['demo-support', 'demo-owner'])('does not exist for %s', async (session) => {
    const visit = await visitConsole(browser, service, WIDTHS[0]);
    await enterSession(visit, session);
    await visit.page.getByRole('navigation').getByRole('link', { name: 'Payments' }).waitFor();
    expect(await visit.page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
    await visit.open('/keys');
    await visit.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await visit.page.context().close();
  });
});
