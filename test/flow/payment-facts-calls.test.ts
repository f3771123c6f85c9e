/** @module The provider calls that a request of the payer waits for. Facts of a payment add no calls. */

import { beforeEach, describe, expect, test } from 'vitest';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { confirm, createIntent, PATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });
beforeEach(() => service.clearProviderRequests());

/**
 * The calls in order, without ids. Left out are the reads of an access token and of a location, because each instance
 * makes them once, and PayPal's verification of event signatures.
 */
const calls = async (): Promise<readonly string[]> =>
  (await service.providerRequests())
    .map(({ method, path }) => `${method} ${path.slice(path.search(/\/v\d\//))}`)
    .filter((call: string) => !/oauth2|locations|verify-webhook/.test(call))
    .map((call: string) => call.replaceAll(/\/(?=[a-z_]*[A-Z0-9])[\w-]{6,}(?=\/|$)/g, '/:id'));

const STRIPE = ['POST /v1/payment_intents', 'POST /v1/payment_intents/:id/confirm'] as const;
/** The method is read before the charge, because PayPal uses different fields for wallets and cards. */
const PAYPAL = [
  'POST /v2/checkout/orders',
  'GET /v3/vault/payment-tokens/:id',
  'POST /v2/checkout/orders/:id/capture',
] as const;
const SQUARE = ['POST /v2/orders', 'POST /v2/payments'] as const;

const CASES: readonly (readonly [provider: string, method: string, calls: readonly string[]])[] = [
  ['provider_a', 'pm_card_visa', STRIPE],
  ['provider_a', 'pm_card_visa_chargeDeclined', STRIPE],
  ['provider_a', 'pm_card_authenticationRequired', STRIPE],
  ['provider_a', 'pm_sim_processing_ok', STRIPE],
  ['provider_b', 'SIM-CARD', PAYPAL],
  ['provider_b', 'SIM-OK-3-THEN-LOST', PAYPAL],
  ['provider_b', 'SIM-DECLINED', PAYPAL],
  ['provider_b', 'SIM-PENDING-OK', PAYPAL],
  ['provider_c', 'cnon:card-nonce-ok', SQUARE],
  ['provider_c', 'cnon:card-nonce-declined', SQUARE],
  ['provider_c', 'bnon:bank-nonce-ok', SQUARE],
];

describe('the provider calls awaited by a payer', () => {
  test.each(CASES)('at %s with %s include no extra reads', async (provider_id, payment_method_id, expected) => {
    const user = await signIn(service);
    const { id } = await createIntent(service, user, { provider_id, payment_method_id });
    await confirm(service, id, user.options);
    await read(service, id, user.options);
    await service.get(`/payments/${id}?include=payment_method`, user.options);
    await service.get('/payments', user.options);
    await service.get(`/payments/${id}/timeline`, user.options);
    await service.settle();
    expect(await calls()).toEqual(expected);
  });

  test('are the same for a guest, and a sync reads payment, refunds and disputes once', async () => {
    const { body } = await service.post('/payments/intents', guestIntentBody({ payment_method_id: VISA }));
    const guest = { guestToken: body.guest_token };
    await confirm(service, body.id, guest);
    await read(service, body.id, guest);
    await service.settle();
    expect(await calls()).toEqual(STRIPE);
    const admin = await signInAdmin(service);
    const synced = await service.post(`/payments/sync/${body.provider_payment_id}`, {}, admin.options);
    expect(synced).toMatchObject({ status: 200 });
    const reads = ['GET /v1/payment_intents/:id', 'GET /v1/refunds', 'GET /v1/disputes'];
    expect(await calls()).toEqual([...STRIPE, ...reads]);
  });
});
