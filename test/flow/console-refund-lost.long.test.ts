import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import { type ConsoleVisit, enterSession, expectAccessible, expectQuiet, soon, visitConsole } from './console-steps.ts';
import { signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, refundsAtProvider, signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';

const WIDTH = 1_280;
const REFUNDS = /\/payments\/pay_\w+\/refunds$/;
const UNKNOWN =
  'The outcome of this refund is unknown. Send it again to learn the outcome; the refund is made only once.';

type Answer = 'lost' | { readonly status: number; readonly code: string };

describe('a refund whose response is lost', () => {
  const service = withHost();
  let browser: Browser;
  let admin: User;
  let payer: User;
  let visit: ConsoleVisit;
  let payment: PaymentBody;
  let page: Page;
  let dialog: Locator;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    payer = await signIn(service);
    visit = await visitConsole(browser, service, WIDTH);
    page = visit.page;
    dialog = page.getByRole('dialog');
    await enterSession(visit, admin.session);
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    payment = await paidPayment(service, payer);
    await visit.open(`/payments/${payment.id}`);
  });

  const openDialog = (): Promise<void> => page.getByRole('button', { name: 'Refund', exact: true }).click();
  const proceed = (): Promise<void> => dialog.getByRole('button', { name: 'Continue' }).click();
  const send = (): Promise<void> => dialog.getByRole('button', { name: 'Refund USD 5.00' }).click();

  const refundFive = async (): Promise<void> => {
    await openDialog();
    await dialog.getByLabel('Amount').fill('5.00');
    await dialog.getByLabel('Reason').selectOption('duplicate');
    await proceed();
    await send();
  };

  /** Replaces the responses to the next refund requests. The service still receives and runs these requests. */
  const answerInstead = async (...answers: Answer[]): Promise<void> => {
    await page.unroute(REFUNDS);
    await page.route(REFUNDS, async (route) => {
      const answer = route.request().method() === 'POST' ? answers.shift() : undefined;
      if (answer === undefined) return route.fallback();
      await route.fetch();
      if (answer === 'lost') return route.abort();
      return route.fulfill({ status: answer.status, json: { error: 'Refused', code: answer.code } });
    });
  };

  const expectLocked = async (): Promise<void> => {
    await dialog.getByText(UNKNOWN).waitFor();
    expect(await dialog.getByLabel('Amount').inputValue()).toBe('5.00');
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('duplicate');
    expect(await dialog.getByLabel('Amount').isDisabled()).toBe(true);
    expect(await dialog.getByLabel('Reason').isDisabled()).toBe(true);
  };

  const expectOneRefund = async (): Promise<void> => {
    await dialog.getByText('The refund succeeded.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await refundsAtProvider(service, payment.id)).toMatchObject([{ amount: 500 }]);
    await soon(() => page.getByLabel('Prices').innerText()).toMatch(/Can be refunded\s+USD\s20.00/);
  };

  test('is made once when the user closes the dialog, reloads the page and resends the refund', async () => {
    await answerInstead('lost');
    await refundFive();
    await soon(() => dialog.getByRole('alert').innerText()).toContain('cannot be reached');
    await page.keyboard.press('Escape');
    await page.reload();
    await openDialog();
    await expectLocked();
    await expectAccessible(page);
    await proceed();
    await send();
    await expectOneRefund();
  });

  const IN_PROGRESS = { status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' };

  test.each<[string, Answer, Answer]>([
    ['two lost responses', 'lost', 'lost'],
    ['a fault of the service', { status: 500, code: 'INTERNAL_ERROR' }, { status: 500, code: 'INTERNAL_ERROR' }],
    ['the response that the first request still runs', IN_PROGRESS, IN_PROGRESS],
    ['a lost response and a request over the rate limit', 'lost', { status: 429, code: 'RATE_LIMITED' }],
  ])('keeps its amount and its key after %s and a click on Back', async (_, first, second) => {
    await answerInstead(first, second);
    await refundFive();
    await dialog.getByText(UNKNOWN).waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
    await expectLocked();
    await proceed();
    await send();
    await dialog.getByRole('alert').waitFor();
    await send();
    await expectOneRefund();
  });

  test('can be edited again after a definite refusal', async () => {
    await page.route(REFUNDS, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 400, json: { error: 'Refused', code: 'REFUND_EXCEEDS_PAYMENT' } })
        : route.fallback(),
    );
    await refundFive();
    await dialog.getByRole('alert').waitFor();
    await page.unroute(REFUNDS);
    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await dialog.getByLabel('Amount').isEnabled()).toBe(true);
    expect(await dialog.getByText(UNKNOWN).count()).toBe(0);
    await proceed();
    await send();
    await expectOneRefund();
  });

  test('makes no request to another host, and violates no content policy', () => {
    expectQuiet(visit, service);
  });

  test('the console works in a browser with the locale POSIX', async () => {
    const posix = await visitConsole(browser, service, WIDTH);
    await posix.page.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'language', { configurable: true, get: () => 'en-US@posix' });",
    );
    await enterSession(posix, admin.session);
    expect(posix.complaints).toEqual([]);
  });
});
