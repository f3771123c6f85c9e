import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { goTo, signOut } from './console-controls.ts';
import { type ConsoleVisit, expectAccessible, expectQuiet, soon, visitConsole, WIDTHS } from './console-steps.ts';
import { withHost } from './host.ts';

const CONTINUE = { name: 'Continue with your account' } as const;
const REFUSED = 'The sign-in service did not sign you in. Try again.';
const NOT_STARTED = 'The console ignored the sign-in in this link, because it did not start in this tab.';
const RENEWED_AFTER_SECONDS = 3_600;

describe('the sign-in of the console by OpenID Connect', () => {
  const service = withHost({});
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
  const issuer = (): string => `${service.host().baseUrl}/_local/identity-service`;
  const userShown = (): Promise<string> => visit.page.locator('.user').innerText();

  const goToIssuer = async (path = ''): Promise<void> => {
    await visit.open(path);
    await visit.page.getByRole('button', CONTINUE).click();
  };
  const choose = async (name: string): Promise<void> => {
    await visit.page.getByRole('heading', { name: 'Sign in as a demo person' }).waitFor();
    await visit.page.getByRole('button', { name }).click();
  };
  const signInAs = async (name: string, path = ''): Promise<void> => {
    await goToIssuer(path);
    await choose(name);
    await visit.page.getByRole('banner').waitFor();
  };
  /** Everything stored by the tab outside its memory. */
  const kept = (page: Page): Promise<string> =>
    page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])');

  /** Records the target addresses of the issuer's redirects. */
  const watchReturns = (): string[] => {
    const returns: string[] = [];
    visit.page.on('request', (request) => {
      if (request.isNavigationRequest() && /[?&]code=/.test(request.url())) returns.push(request.url());
    });
    return returns;
  };

  test('opens the requested page, keeps the token in memory only, and calls no host but the issuer', async () => {
    const { page } = visit;
    await signInAs('Ada', '/payments?status=failed');
    expect(await userShown()).toContain('demo.admin');
    await soon(() => page.url()).toBe(addressOf('/payments?status=failed'));
    expect(await kept(page)).not.toMatch(/eyJ|code=|refresh|state/);
    await page.getByRole('link', { name: 'Keys' }).waitFor();
    expectQuiet(visit, service);
    await page.reload();
    await page.getByRole('button', CONTINUE).waitFor();
  });

  test('has an accessible page, with the other ways to sign in below the button', async () => {
    await visit.open('');
    await visit.page.getByRole('button', CONTINUE).waitFor();
    await visit.page.getByText('Other ways').waitFor();
    await expectAccessible(visit.page);
  });

  test('renews an expired token, and repeats the refused request once', async () => {
    const { page } = visit;
    await signInAs('Fay');
    const renewals: string[] = [];
    page.on('request', (request) => {
      if (request.url() === `${issuer()}/token`) renewals.push(request.postData() ?? '');
    });
    await service.advance(RENEWED_AFTER_SECONDS);
    await goTo(page, 'Refunds');
    await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
    await soon(() => renewals.length).toBe(1);
    expect(renewals[0]).toContain('grant_type=refresh_token');
    await goTo(page, 'Disputes');
    await page.getByRole('heading', { name: 'Disputes', level: 1 }).waitFor();
    expect(await userShown()).toContain('demo.finance');
    expect(renewals).toHaveLength(1);
  });

  test('asks for one click if the issuer does not renew an expired token', async () => {
    const { page } = visit;
    await signInAs('Fay');
    await goTo(page, 'Refunds');
    await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await page.route(`${issuer()}/token`, (route) => route.fulfill({ status: 400, json: { error: 'invalid_grant' } }));
    await service.advance(RENEWED_AFTER_SECONDS);
    await goTo(page, 'Disputes');
    await page.getByText('The session has ended. Sign in again.').waitFor();
    await page.unroute(`${issuer()}/token`);
    await page.getByRole('button', CONTINUE).click();
    await choose('Fay');
    await page.getByRole('heading', { name: 'Disputes', level: 1 }).waitFor();
  });

  test('is refused if another issuer is in the discovery document', async () => {
    const { page } = visit;
    await page.route(`${issuer()}/.well-known/openid-configuration`, async (route) => {
      const document: Record<string, unknown> = await (await route.fetch()).json();
      await route.fulfill({ json: { ...document, issuer: 'https://other.example' } });
    });
    await goToIssuer();
    await page.getByText('The sign-in service cannot be reached, or is not the configured service.').waitFor();
    expect(page.url()).toBe(addressOf(''));
  });

  /** Makes the issuer redirect the browser to a changed address. */
  const returnWith = async (change: (back: URL) => void): Promise<void> => {
    await visit.page.route(`${issuer()}/authorize?*person=*`, async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      const back = new URL(response.headers()['location'] ?? '');
      change(back);
      await route.fulfill({ status: 302, headers: { location: back.href } });
    });
  };

  test.each<[string, (back: URL) => void]>([
    ['another state', (back) => back.searchParams.set('state', 'x'.repeat(43))],
    ['another issuer', (back) => back.searchParams.set('iss', 'https://other.example')],
    ['no issuer', (back) => back.searchParams.delete('iss')],
    ['an error', (back) => back.searchParams.set('error', 'access_denied')],
    ['a code that the issuer does not know', (back) => back.searchParams.set('code', 'guess')],
  ])('is refused if the browser returns with %s', async (_, change) => {
    const { page } = visit;
    await returnWith(change);
    await goToIssuer();
    await choose('Ada');
    await page.getByText(REFUSED).waitFor();
    expect(page.url()).toBe(addressOf(''));
    expect(await kept(page)).not.toMatch(/code=|state/);
    await page.unroute(`${issuer()}/authorize?*person=*`);
    await signInAs('Ada');
  });

  test('ignores a link that this tab did not request, and refuses a used code', async () => {
    const { page } = visit;
    const returns = watchReturns();
    await signInAs('Ada');
    const [used = ''] = returns;
    expect(used).toContain('code=');
    await signOut(page);
    await page.getByRole('button', CONTINUE).waitFor();
    await page.goto(used);
    await page.getByText(NOT_STARTED).waitFor();
    expect(page.url()).toBe(addressOf(''));
    const usedCode = new URL(used).searchParams.get('code') ?? '';
    await returnWith((back) => back.searchParams.set('code', usedCode));
    await page.getByRole('button', CONTINUE).click();
    await choose('Ada');
    await page.getByText(REFUSED).waitFor();
  });

  test('ends the issuer’s session at sign-out', async () => {
    const { page } = visit;
    await signInAs('Olivia');
    const ended = page.waitForRequest((request) => request.url().startsWith(`${issuer()}/end-session?`));
    await signOut(page);
    const sent = new URL((await ended).url()).searchParams;
    expect([...sent.keys()].sort()).toEqual(['client_id', 'id_token_hint', 'post_logout_redirect_uri']);
    await page.getByRole('button', CONTINUE).waitFor();
    expect(page.url()).toBe(addressOf(''));
  });
});
