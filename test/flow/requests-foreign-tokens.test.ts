/** @module A token from another vendor's script is refused. The error names the vendor, and no provider is called. */

import { describe, expect, test } from 'vitest';
import { createIntent, itemsOf, PATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true, env: PATIENT });

const mismatch = (error: string, details: Readonly<Record<string, string>>) => ({
  status: 400,
  body: { code: 'PROVIDER_MISMATCH', error, details },
});

describe('a token of another provider', () => {
  test.each([
    ['provider_a', 'cnon:card-nonce-ok', ['Square', 'Stripe']],
    ['provider_a', 'ccof:uIbfJXhXETSP197M3GB', ['Square', 'Stripe']],
    ['provider_a', 'tokencc_bh_h9kx2q', ['Braintree', 'Stripe']],
    ['provider_b', 'pm_card_visa', ['Stripe', 'PayPal']],
    ['provider_b', 'bnon:bank-nonce-ok', ['Square', 'PayPal']],
    ['provider_c', 'tok_visa', ['Stripe', 'Square']],
    ['provider_c', 'fake-valid-nonce', ['Braintree', 'Square']],
  ])('is refused by create, update, confirm and save at %s (%s)', async (slot, token, [of = '', at = '']) => {
    const [given, expected] = [of.toLowerCase(), at.toLowerCase()];
    const { options } = await signIn(service);
    const owner = await signIn(service);
    const own = await createIntent(service, owner, { provider_id: slot });
    await service.settle();
    await service.clearProviderRequests();
    const before = await itemsOf(service, 'PAY#');
    const price = { total_cents: 2_500, currency: 'USD', provider_id: slot };
    const path = 'payment_method_id';
    const refused = mismatch(`${path} is a ${of} token; this payment is at ${slot} (${at})`, {
      ...{ path, provider_id: slot, expected, given },
    });
    expect(await service.post('/payments/intents', { ...price, [path]: token }, options)).toMatchObject(refused);
    const change = { ...owner.options, body: { [path]: token } };
    expect(await service.request('PUT', `/payments/intents/${own.id}`, change)).toMatchObject(refused);
    expect(await service.post(`/payments/confirm/${own.id}`, { [path]: token }, owner.options)).toMatchObject(refused);
    const saved = { provider_id: slot, provider_payment_method_token: token };
    expect(await service.post('/payment-methods', saved, options)).toMatchObject(
      mismatch(`provider_payment_method_token is a ${of} token; this payment method is at ${slot} (${at})`, {
        ...{ path: 'provider_payment_method_token', provider_id: slot, expected, given },
      }),
    );
    expect(await service.providerRequests()).toEqual([]);
    expect(await itemsOf(service, 'PAY#')).toEqual(before);
  });

  test('is sent to the provider if its format belongs to no other provider', async () => {
    const { options } = await signIn(service);
    const body = { total_cents: 2_500, currency: 'USD', payment_method_id: 'unknown-form' };
    const refused = await service.post('/payments/intents', body, options);
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });
});
