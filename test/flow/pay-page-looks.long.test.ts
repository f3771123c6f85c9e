import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { startBrowser } from './browser.ts';
import { expectNoSidewaysScroll, expectNoViolation, type Screen, visitConsole } from './console-steps.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { PAGE_STATES } from './pay-page-states.ts';
import { DESK, PHONE, pageAddress, payableAt, visitPage } from './pay-page-steps.ts';

const service = withHost({ env: { PAGE_NAME: 'Corner Shop' } });
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const openState = async ({ state, status = 200, show }: (typeof PAGE_STATES)[number], screen: Screen) => {
  const visit = await visitConsole(browser, service, screen);
  await visit.page.route(/\/pay\/state$/, (route) => route.fulfill({ status, json: state }));
  await visit.page.goto(pageAddress(service, 'plk_shown'));
  if (screen.locale === undefined) await show(visit.page);
  else await visit.page.locator('main h2, main button, main form').first().waitFor();
  return visit;
};

describe('the hosted page', () => {
  test.each(PAGE_STATES)('shows the state $name accessibly on every screen', async (of) => {
    for (const screen of [PHONE, DESK]) {
      const { page, complaints } = await openState(of, screen);
      await expectNoSidewaysScroll(page);
      await expectNoViolation(page);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  const textOfButton: Readonly<Record<string, readonly [lang: string, text: RegExp]>> = {
    'en-US': ['en-US', /^Pay 129\.00 EUR$/],
    'de-DE': ['de-DE', /^129,00 EUR bezahlen$/],
    'fr-FR': ['fr-FR', /^Payer 129,00 EUR$/],
    'es-ES': ['es-ES', /^Pagar 129,00 EUR$/],
    'it-IT': ['it-IT', /^Paga 129,00 EUR$/],
    'pt-BR': ['pt-BR', /^Pagar 129,00 EUR$/],
    'pl-PL': ['en', /^Pay 129\.00 EUR$/],
  };

  test.each(Object.entries(textOfButton))('uses the language of a browser in %s', async (locale, [lang, text]) => {
    const one = PAGE_STATES.filter(({ name }) => ['square', 'declined', 'link', 'subscription'].includes(name));
    for (const of of one) {
      const { page } = await openState(of, { ...PHONE, locale });
      expect(await page.locator('html').getAttribute('lang')).toBe(lang);
      await expectNoSidewaysScroll(page);
      if (of.name === 'square') expect(await page.locator('button.primary').innerText()).toMatch(text);
      await page.context().close();
    }
  });

  test.each(['#ffe600', '#101010', '#777777', '#0b6e4f'])(
    'keeps its buttons readable in the color %s',
    async (color) => {
      const [of] = PAGE_STATES.filter(({ name }) => name === 'paypal');
      if (!of) throw new Error('no state of PayPal');
      const state = { ...of.state, seller: { name: 'Corner Shop', color, terms_url: null, privacy_url: null } };
      const { page } = await openState({ ...of, state }, PHONE);
      await expectNoViolation(page);
      await page.context().close();
    },
  );
});

describe('the replacement for Square’s script', () => {
  const details = {
    ...{ amount: '25.00', currencyCode: 'USD', intent: 'CHARGE', billingContact: {} },
    ...{ customerInitiated: true, sellerKeyedIn: false },
  };
  const ends = z.array(z.string());

  test('refuses the same input as Square’s script', async () => {
    const { token } = await payableAt(service, await signIn(service), 'square');
    const { page } = await visitPage(browser, service, token);
    await page.getByLabel('Test card').waitFor();
    const said = ends.parse(
      await page.evaluate(async (sound) => {
        const { Square } = globalThis as unknown as { Square: { payments: (...ids: unknown[]) => SquareOfPage } };
        const nameOf = (reason: unknown): string => (reason as Error).name;
        const tried = async (run: () => unknown): Promise<string> => {
          try {
            return JSON.stringify(await run());
          } catch (reason) {
            return nameOf(reason);
          }
        };
        interface CardOfPage {
          attach(place: string): Promise<void>;
          tokenize(details?: object): Promise<unknown>;
        }
        interface SquareOfPage {
          card(): Promise<CardOfPage>;
        }
        const payments = Square.payments('sandbox-sq0idb-local', 'LOCAL');
        const loose = await payments.card();
        const card = await payments.card();
        const wrong = [
          { ...sound, amount: 25 },
          { ...sound, intent: 'PAY' },
          { ...sound, currencyCode: undefined },
          { ...sound, customerInitiated: undefined },
          { ...sound, total: '25.00' },
          undefined,
        ];
        const first = [
          await tried(() => Square.payments('local', 'LOCAL')),
          await tried(() => Square.payments('sandbox-sq0idb-local')),
          await tried(() => loose.tokenize(sound)),
          await tried(() => card.attach('#nowhere')),
        ];
        await card.attach('.secure');
        const second = [await tried(() => card.attach('.secure'))];
        for (const one of wrong) second.push(await tried(() => card.tokenize(one)));
        return [...first, ...second];
      }, details),
    );
    expect(said).toEqual([
      'InvalidApplicationIdError',
      'InvalidLocationIdError',
      'PaymentMethodNotAttachedError',
      'ElementNotFoundError',
      'PaymentMethodAlreadyAttachedError',
      ...Array.from({ length: 6 }, () => 'VerificationDetailsError'),
    ]);
  });

  test('accepts only Square’s test cards, and names the wrong field', async () => {
    const { token } = await payableAt(service, await signIn(service), 'square');
    const { page } = await visitPage(browser, service, token);
    const card = page.getByLabel('Test card');
    for (const [field, value, problem] of [
      ['Test card', '4242 4242 4242 4242', 'Card number is not valid'],
      ['MM/YY', '01/20', 'Expiration date is not valid'],
      ['CVC', '1', 'CVV is not valid'],
    ] as const) {
      await page.getByLabel(field).fill(value);
      await page.getByRole('button', { name: /^Pay/ }).click();
      await page.getByRole('alert').filter({ hasText: problem }).waitFor();
      await card.fill('4111 1111 1111 1111');
      await page.getByLabel('MM/YY').fill('12/34');
    }
  });
});
