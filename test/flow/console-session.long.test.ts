import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { goTo, signOut } from './console-controls.ts';
import { type ConsoleVisit, soon, visitConsole, WIDTHS } from './console-steps.ts';
import { withHost } from './host.ts';

const SIGN_IN_PAGE = 'https://accounts.example.com/sign-in';
const NOT_ASKED = 'The console ignored the session in this link, because the sign-in did not start in this tab.';

describe('the console session', () => {
  const service = withHost({ env: { CONSOLE_SIGN_IN_URL: SIGN_IN_PAGE } });
  let browser: Browser;
  let visit: ConsoleVisit;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    visit = await visitConsole(browser, service, WIDTHS[0]);
    return () => visit.page.context().close();
  });

  const addressOf = (path: string): string => `${service.host().baseUrl}/console${path}`;
  const enterAs = async (demoUser: string): Promise<void> => {
    await visit.open('');
    await visit.page.getByRole('button', { name: demoUser }).click();
    await visit.page.getByRole('banner').waitFor();
  };
  const userShown = (): Promise<string> => visit.page.locator('.user').innerText();

  /** Serves the sign-in page. It redirects the browser to the changed return address, with a session. */
  const returnTo = async (change: (back: URL) => void): Promise<void> => {
    await visit.page.route(`${SIGN_IN_PAGE}*`, async (route) => {
      const back = new URL(new URL(route.request().url()).searchParams.get('return_to') ?? '');
      change(back);
      await route.fulfill({ status: 302, headers: { location: `${back.href}#session_id=demo-member` } });
    });
  };

  const pressSignIn = async (path: string): Promise<void> => {
    await visit.open(path);
    await visit.page.getByRole('button', { name: 'Sign in with your account' }).click();
  };

  const expectIgnored = async (): Promise<void> => {
    const { page } = visit;
    await page.getByText(NOT_ASKED).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(page.url()).toBe(addressOf('/payments'));
  };

  test('is not replaced by a session in the URL, and removes that session from the URL', async () => {
    const { page, open } = visit;
    await enterAs('demo-owner');
    await open('/payments?status=failed#session_id=demo-member');
    await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
    expect(page.url()).toBe(addressOf('/payments?status=failed'));
    await page.evaluate("location.hash = '#session_id=demo-member'");
    await soon(() => page.url()).toBe(addressOf('/payments?status=failed'));
    expect(await userShown()).toContain('demo.owner');
  });

  test('starts once from the sign-in page if this tab started the sign-in and the state matches', async () => {
    const { page } = visit;
    const returned: string[] = [];
    await returnTo((back) => returned.push(back.searchParams.get('state') ?? ''));
    await pressSignIn('/payments?status=failed');
    await soon(userShown).toContain('demo.member');
    expect(page.url()).toBe(addressOf('/payments?status=failed'));
    expect(returned).toEqual([expect.stringMatching(/^[\w-]{32,}$/)]);
    await signOut(page);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visit.open(`/payments?state=${returned[0]}#session_id=demo-member`);
    await expectIgnored();
  });

  test('does not start from a link that the tab did not request', async () => {
    await visit.open('/payments#session_id=demo-member');
    await expectIgnored();
    await visit.open('/payments?state=#session_id=demo-member');
    await expectIgnored();
    await visit.page.evaluate("location.hash = '#session_id=demo-member'");
    await expectIgnored();
    await visit.page.getByRole('button', { name: 'demo-owner' }).click();
    await soon(userShown).toContain('demo.owner');
    expect(await visit.page.getByText(NOT_ASKED).count()).toBe(0);
  });

  test.each([
    ['another state', (back: URL) => back.searchParams.set('state', crypto.randomUUID())],
    ['no state', (back: URL) => back.searchParams.delete('state')],
  ])('does not start if the sign-in page returns with %s', async (_, change) => {
    await returnTo(change);
    await pressSignIn('/payments');
    await expectIgnored();
  });

  test('forgets its user’s organizations when it ends', async () => {
    const { page, open } = visit;
    const data = [{ id: 'org_of_the_owner', name: 'Studio of the owner' }];
    await page.route(/\/organizations$/, (route) => route.fulfill({ json: { success: true, data } }));
    await enterAs('demo-owner');
    await open('/payments');
    const choice = page.locator('select', { hasText: 'Studio of the owner' });
    await choice.waitFor();
    await page.unroute(/\/organizations$/);
    await page.route(/\/organizations$/, (route) => route.fulfill({ status: 503, json: { success: false } }));
    await signOut(page);
    await page.getByRole('button', { name: 'demo-member' }).click();
    await goTo(page, 'Payments');
    await page.getByText('No payments yet').waitFor();
    expect(await choice.count()).toBe(0);
  });

  test('names the fields that its user may search', async () => {
    const { page, open } = visit;
    const placeholder = async (): Promise<string | null> => {
      await open('/payments');
      return page.getByLabel('Search payments').getAttribute('placeholder');
    };
    await enterAs('demo-member');
    expect(await placeholder()).toBe('ID, or part of an e-mail or description');
    await signOut(page);
    await enterAs('demo-admin');
    expect(await placeholder()).toBe('ID, e-mail, reference or last four digits');
  });

  test('shows “Page not found” for a malformed URL', async () => {
    const { page, open, complaints } = visit;
    await enterAs('demo-member');
    await open('/payments');
    await page.evaluate("history.pushState(null, '', 'payments/%E0'); dispatchEvent(new PopStateEvent('popstate'))");
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
