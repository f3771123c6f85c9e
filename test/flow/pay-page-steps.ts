/** @module Helpers for browser tests of the hosted page. */

import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type ConsoleVisit, expectQuiet, type Screen, soon, visitConsole } from './console-steps.ts';
import { createIntent, timesCharged, type User } from './flow.ts';
import type { TestHost } from './host.ts';
import { pageToken } from './pages.ts';

export interface PayVisit extends Pick<ConsoleVisit, 'page' | 'asked' | 'complaints'> {
  /** Ends the visit. Expects no request to another host and no violation of the page's policy. */
  readonly end: () => Promise<void>;
}

export const PHONE: Screen = { width: 390, height: 844 };
export const DESK: Screen = { width: 1_280, height: 900 };

export const pageAddress = (service: TestHost, token: string): string => `${service.host().baseUrl}/pay#${token}`;

export const visitPage = async (
  browser: Browser,
  service: TestHost,
  token: string,
  screen: Screen = PHONE,
): Promise<PayVisit> => {
  const visit = await visitConsole(browser, service, screen);
  await visit.page.goto(pageAddress(service, token));
  const end = async (): Promise<void> => {
    expectQuiet(visit, service);
    await visit.page.context().close();
  };
  return { ...visit, end };
};

export type PayingProvider = 'stripe' | 'paypal' | 'square';

const SLOTS = { stripe: 'provider_a', paypal: 'provider_b', square: 'provider_c' } as const;

/**
 * Creates a payment at the provider and a link for its payer. @returns the id of the payment and the token of the link
 */
export const payableAt = async (
  service: TestHost,
  user: User,
  provider: PayingProvider,
  link: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: string; readonly token: string }> => {
  const fields = { provider_id: SLOTS[provider], description: 'Repair of a bicycle' };
  const returnUrl = provider === 'paypal' ? { return_url: `${service.host().baseUrl}/pay` } : {};
  const { id } = await createIntent(service, user, { ...fields, ...returnUrl });
  return { id, token: await pageToken(service, id, link) };
};

export const CARDS = {
  stripe: { good: '4242 4242 4242 4242', declined: '4000 0000 0000 9995', asks: '4000 0027 6000 3184' },
  square: { good: '4111 1111 1111 1111', declined: '4000 0000 0000 0002', asks: '4310 0000 0000 0007' },
} as const;

export const payButton = (page: Page) => page.getByRole('button', { name: 'Pay 25.00 USD' });

export const enterCard = async (page: Page, number: string): Promise<void> => {
  await page.getByLabel('Test card').fill(number);
};

export const payByCard = async (page: Page, number: string): Promise<void> => {
  await enterCard(page, number);
  await payButton(page).click();
};

/** Goes to PayPal's page, enters the test payer if one is given, and approves the payment. */
export const approveAtPayPal = async (page: Page, payer?: string): Promise<void> => {
  await page.getByRole('button', { name: 'Pay with PayPal' }).click();
  await page.getByRole('heading', { name: 'Your bank or wallet asks' }).waitFor();
  if (payer !== undefined) await page.getByLabel('Test payer').fill(payer);
  await page.getByRole('button', { name: 'Approve' }).click();
};

export const answerBank = (page: Page, answer: 'Approve' | 'Refuse'): Promise<void> =>
  page.frameLocator('iframe').getByRole('button', { name: answer }).click();

export const expectPaid = async (service: TestHost, page: Page, paymentId: string): Promise<void> => {
  await page.getByRole('heading', { name: 'Paid' }).waitFor();
  await expectOneCharge(service, paymentId);
};

export const expectOneCharge = async (service: TestHost, paymentId: string): Promise<void> => {
  await service.settle();
  expect(await timesCharged(service, paymentId)).toBe(1);
};

export const expectDeclined = async (page: Page, advice: RegExp): Promise<void> => {
  const alert = page.getByRole('alert');
  await alert.waitFor();
  await soon(() => alert.innerText()).toMatch(advice);
  expect(await alert.innerText()).toMatch(/declined/);
};
