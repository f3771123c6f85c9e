/** @module The facts of payments without provider events. */

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, confirmInBrowser, createIntent, IMPATIENT, read, signIn, storedPayment, type User } from './flow.ts';
import { withHost } from './host.ts';
import { expectFactsOfLedger } from './ledger-facts.ts';
import { signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';
import { subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
let user: User;
let admin: User;
beforeAll(async () => {
  user = await signIn(service, { expires_in: YEAR_SECONDS });
  admin = await signInAdmin(service);
  await service.webhookMode('drop');
});
beforeEach(() => service.clearProviderRequests());

const later = async (...seconds: readonly number[]): Promise<void> => {
  for (const one of seconds) {
    await service.advance(one);
    await service.settle();
  }
};
/** The steps of a day, in seconds. Due work runs after each step. */
const DAY = [MINUTE_SECONDS, HOUR_SECONDS, DAY_SECONDS - HOUR_SECONDS - MINUTE_SECONDS];

const shown = (payment: PaymentBody) => ({
  ...{ status: payment.status, failure_code: payment.failure_code },
  ...payment.payment_method_details,
});
const VISA_1111 = { type: 'card', card_brand: 'visa', last_four: '1111' };
const WALLET = { type: 'wallet', wallet_type: 'paypal' };

const FAILED_BANK = { status: 'failed', failure_code: 'do_not_honor', type: 'bank_account', last_four: '6789' };

type Case = readonly [what: string, provider: string, method: string, expected: Readonly<Record<string, unknown>>];
const CASES: readonly Case[] = [
  ['settles later', 'provider_a', 'pm_sim_processing_ok', { status: 'succeeded', type: 'card', last_four: '0006' }],
  ['settles later', 'provider_b', 'SIM-PENDING-OK', { status: 'succeeded', ...WALLET }],
  ['settles later', 'provider_c', 'bnon:bank-nonce-ok', { status: 'succeeded', type: 'bank_account' }],
  ['fails later', 'provider_a', 'pm_sim_processing_fail', { status: 'failed', type: 'card', last_four: '0006' }],
  ['fails later', 'provider_b', 'SIM-PENDING-FAIL', { status: 'failed', ...WALLET }],
  ['fails later', 'provider_c', 'bnon:bank-nonce-insufficient-funds', FAILED_BANK],
  ['loses its response', 'provider_a', 'pm_sim_timeout_after', { status: 'succeeded', last_four: '0006' }],
  ['loses its response', 'provider_b', 'SIM-TIMEOUT-AFTER', { status: 'succeeded', ...WALLET }],
  ['loses its response', 'provider_c', 'cnon:sim-timeout-after', { status: 'succeeded', ...VISA_1111 }],
];

/** The number of provider reads of the payment since its outcome. */
const readsOf = async (payment: PaymentBody): Promise<number> =>
  (await service.providerRequests()).filter(
    ({ method, path }) =>
      method === 'GET' && [payment.provider_payment_id, payment.provider_intent_id].some((id) => path.includes(id)),
  ).length;

describe('a payment without provider events', () => {
  test.each(CASES)('has its facts within a day if its charge %s at %s with %s', async (...row) => {
    const [, provider_id, payment_method_id, expected] = row;
    const { id } = await createIntent(service, user, { provider_id, payment_method_id });
    await confirm(service, id, user.options);
    await later(...DAY);
    expect(shown(await expectFactsOfLedger(service, admin, id))).toMatchObject(expected);
  });

  test('has its facts within a day if it is a subscription invoice at Stripe', async () => {
    const who = await subscriber(service);
    const { latest_payment_id } = await subscribe(service, who);
    await later(...DAY);
    const payment = await read(service, latest_payment_id, admin.options);
    expect(shown(payment)).toMatchObject({ status: 'succeeded', card_brand: 'visa', last_four: '4242' });
    expect(payment.settlement).toMatchObject({ currency: payment.currency, fee_cents: expect.any(Number) });
  });

  test('has the method of a browser charge at Stripe once the time to pay ends', async () => {
    const payment = await createIntent(service, user);
    await confirmInBrowser(service, payment, 'pm_card_mastercard');
    await later(...DAY, 5 * MINUTE_SECONDS);
    const expected = { status: 'succeeded', card_brand: 'mastercard', last_four: '4444' };
    expect(shown(await read(service, payment.id, user.options))).toMatchObject(expected);
  });

  test('has the approved PayPal card within a day', async () => {
    const fields = { provider_id: 'provider_b', return_url: 'https://shop.example/back' };
    const { id } = await createIntent(service, user, fields);
    await confirm(service, id, user.options);
    await service.control('POST', `/simulator/payments/${id}/authenticate`, { outcome: 'success', payer: 'SIM-OK' });
    await later(...DAY);
    expect(shown(await read(service, id, user.options))).toMatchObject({ status: 'succeeded', ...WALLET });
  });

  test.each([
    ['provider_a', 'pm_card_visa'],
    ['provider_b', 'SIM-CARD'],
    ['provider_c', 'cnon:card-nonce-ok'],
  ])('is read at %s at most three times for its facts', async (provider_id, payment_method_id) => {
    const { id } = await createIntent(service, user, { provider_id, payment_method_id });
    await confirm(service, id, user.options);
    const payment = await read(service, id, user.options);
    expect(payment).toMatchObject({ status: 'succeeded' });
    await service.clearProviderRequests();
    await later(...DAY, HOUR_SECONDS, 10 * DAY_SECONDS);
    expect(await readsOf(payment)).toBeLessThanOrEqual(3);
    expect(await storedPayment(service, id)).not.toHaveProperty('factsAt');
  });
});
