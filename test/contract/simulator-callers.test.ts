import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRig, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const intent = (more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
  rig.stripe.paymentIntents.create({
    amount: 1099,
    currency: 'usd',
    metadata: { payment_id: 'pay_1' },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    ...more,
  });

describe('access to the simulated Stripe', () => {
  test('accepts a browser’s confirm with publishable key and client secret, and returns fewer fields', async () => {
    const created = await intent();
    const secret = created.client_secret ?? '';
    const seen = await rig.browser(`/v1/payment_intents/${created.id}?client_secret=${secret}`);
    expect(seen).toMatchObject({ status: 200, body: { id: created.id, status: 'requires_payment_method' } });
    expect(seen.body).not.toHaveProperty('metadata');
    const confirm = (id: string) =>
      rig.browser(`/v1/payment_intents/${id}/confirm`, { client_secret: secret, payment_method: 'pm_card_visa' });
    const paid = await confirm(created.id);
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(paid.body).not.toHaveProperty('customer');
    const another = await intent();
    expect(await confirm(another.id)).toMatchObject({ status: 400, body: { error: { param: 'client_secret' } } });
  });

  test('shows a browser no more fields after a decline than after a success', async () => {
    const { id, client_secret: secret } = await intent();
    const { status, body } = await rig.browser(`/v1/payment_intents/${id}/confirm`, {
      client_secret: secret ?? '',
      payment_method: 'pm_card_chargeDeclined',
    });
    expect(status).toBe(402);
    expect(body['error']).toMatchObject({ payment_intent: { status: 'requires_payment_method' } });
    expect((body['error'] as { payment_intent: object }).payment_intent).not.toHaveProperty('metadata');
  });

  test('requires the client secret from a browser, and limits the browser’s operations', async () => {
    const { id } = await intent();
    expect(await rig.browser(`/v1/payment_intents/${id}`)).toMatchObject({ status: 400 });
    expect(await rig.browser(`/v1/payment_intents/${id}/cancel`, {})).toMatchObject({ status: 401 });
    expect(await rig.browser('/v1/payment_intents')).toMatchObject({ status: 401 });
    expect(await rig.browser('/v1/customers')).toMatchObject({ status: 401 });
    const made = await rig.browser('/v1/payment_methods', { type: 'card', 'card[token]': 'tok_visa' });
    expect(made).toMatchObject({ status: 200, body: { object: 'payment_method' } });
  });

  test('accepts the secret key as Bearer or as the user name of Basic, and no other key', async () => {
    const get = async (authorization?: string) =>
      (await rig.raw('/v1/customers', authorization === undefined ? {} : { headers: { authorization } })).status;
    expect(await get('Bearer sk_test_local_provider_a')).toBe(200);
    expect(await get(`Basic ${btoa('sk_test_local_provider_a:')}`)).toBe(200);
    expect(await get('Bearer sk_test_other')).toBe(401);
    expect(await get()).toBe(401);
  });

  test('responds to unknown paths with the vendor’s 404', async () => {
    const response = await rig.raw('/v1/nothing', { headers: { authorization: 'Bearer sk_test_local_provider_a' } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect((await rig.simulator.provider(new Request('http://localhost/unknown/v1'))).status).toBe(404);
  });
});
