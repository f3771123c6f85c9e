/** @module Approvals, late ids, unpayable orders and webhook verification that occur only at PayPal. */

import { beforeEach, describe, expect, test } from 'vitest';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  createIntent,
  eventsOf,
  IMPATIENT,
  itemsOf,
  logEntriesOf,
  read,
  signIn,
  storedPayment,
  timesCharged,
  type User,
} from './flow.ts';
import { startTestHost, withHost } from './host.ts';
import { newOrganization } from './organization-steps.ts';
import { customerAtProvider, saveMethod, storedRecord } from './payers.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';
import { paymentsOf, readSubscription, subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
  await service.clearProviderRequests();
});

const PAYPAL = { provider_id: 'provider_b', return_url: 'https://shop.example/back' };
const SAVED = { ...PAYPAL, payment_method_id: 'SIM-OK' };

const approve = (id: string, payer?: string) =>
  service.control('POST', `/simulator/payments/${id}/authenticate`, { outcome: 'success', ...(payer && { payer }) });

const capturesAsked = async (): Promise<number> =>
  (await service.providerRequests()).filter(({ path }) => path.endsWith('/capture')).length;

const sync = (providerId: string, user: User) => service.post(`/payments/sync/${providerId}`, {}, user.options);

const expectPaidOnce = async (id: string, user: User) => {
  const payment = await read(service, id, user.options);
  expect(payment).toMatchObject({ status: 'succeeded' });
  expect(await timesCharged(service, id)).toBe(1);
  await service.settle();
  expect((await eventsOf(service, id)).filter((name) => name === 'payment.succeeded')).toHaveLength(1);
  expect((await storedPayment(service, id)).anomaly).toBeUndefined();
  return payment;
};

describe('an approval at PayPal', () => {
  test.each([
    ['its event', 'delay'],
    ['due work', 'drop'],
  ] as const)('is not captured from %s once the organization is deleted', async (_, mode) => {
    const owner = await signIn(service, { expires_in: 30 * DAY_SECONDS });
    const organization_id = await newOrganization(service, owner);
    const { id } = await createIntent(service, owner, { ...PAYPAL, organization_id });
    expect((await confirm(service, id, owner.options)).body).toMatchObject({ status: 'pending' });
    await service.settle();
    await service.clearProviderRequests();
    await service.webhookMode(mode);
    await approve(id);
    expect((await service.request('DELETE', `/organizations/${organization_id}`, owner.options)).status).toBe(200);
    await service.advance(2 * HOUR_SECONDS);
    await service.webhookMode('normal');
    await service.advance(2 * DAY_SECONDS);
    expect(await timesCharged(service, id)).toBe(0);
    expect(await capturesAsked()).toBe(0);
    expect(await storedPayment(service, id)).toMatchObject({ status: 'canceled' });
  });

  test('leads to one capture, and both provider ids find the payment', async () => {
    const user = await signIn(service);
    const created = await createIntent(service, user, PAYPAL);
    expect(created).toMatchObject({
      status: 'requires_payment_method',
      provider_payment_id: created.provider_intent_id,
      client_secret: created.provider_intent_id,
      next_action: { type: 'redirect_to_url', url: expect.stringContaining(created.provider_intent_id) },
    });
    expect((await service.get('/payments', user.options)).body.data[0]).not.toHaveProperty('client_secret');
    await approve(created.id);
    await service.settle();
    const paid = await expectPaidOnce(created.id, user);
    expect(await capturesAsked()).toBe(1);
    expect(paid).not.toHaveProperty('next_action');
    const { charges } = await atProvider(service, created.id);
    expect(paid.provider_payment_id).toBe(present(charges[0]).id);
    for (const id of [paid.provider_payment_id, paid.provider_intent_id]) {
      expect(await sync(id, user)).toMatchObject({ status: 200, body: { id: created.id, status: 'succeeded' } });
    }
  });

  test.each(['duplicate', 'reorder'] as const)('leads to one capture with webhooks in the mode %s', async (mode) => {
    await service.webhookMode(mode, 3);
    const user = await signIn(service);
    const { id } = await createIntent(service, user, PAYPAL);
    await approve(id);
    await service.settle();
    await service.advance(HOUR_SECONDS);
    await expectPaidOnce(id, user);
    expect(await capturesAsked()).toBe(1);
  });

  test('is captured by the confirm without a webhook and without a method', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const { id } = await createIntent(service, user, PAYPAL);
    await approve(id);
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    await expectPaidOnce(id, user);
  });

  test('is captured even after a premature confirm', async () => {
    const user = await signIn(service);
    const { id, next_action } = await createIntent(service, user, PAYPAL);
    const early = await confirm(service, id, user.options);
    expect(early).toMatchObject({ status: 200, body: { status: 'pending', next_action } });
    expect(await confirm(service, id, user.options)).toMatchObject({
      status: 409,
      body: { code: 'PAYMENT_IN_PROGRESS' },
    });
    expect(await sync(early.body.provider_payment_id, user)).toMatchObject({
      body: { status: 'pending', next_action },
    });
    await approve(id);
    await service.settle();
    await expectPaidOnce(id, user);
  });

  test('is found by the next reconciliation after a confirm without a webhook', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const { id } = await createIntent(service, user, PAYPAL);
    await confirm(service, id, user.options);
    await approve(id);
    await service.advance(2 * MINUTE_SECONDS);
    await expectPaidOnce(id, user);
  });

  test('is captured a minute after a sync finds it without a webhook', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const { id, provider_payment_id } = await createIntent(service, user, PAYPAL);
    await approve(id);
    expect(await sync(provider_payment_id, user)).toMatchObject({ body: { status: 'pending' } });
    expect(await timesCharged(service, id)).toBe(0);
    await service.advance(2 * MINUTE_SECONDS);
    await expectPaidOnce(id, user);
  });

  test('is captured once with a concurrent confirm', async () => {
    const user = await signIn(service);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createIntent(service, user, PAYPAL);
      await approve(id);
      const answers = await Promise.all([1, 2].map(() => confirm(service, id, user.options)));
      for (const { status } of answers) expect([200, 409]).toContain(status);
      await service.settle();
      await service.advance(MINUTE_SECONDS);
      await expectPaidOnce(id, user);
    }
  });

  test.each(['timeout_before', 'timeout_after', 'error_500'])(
    'is captured once if the capture meets %s',
    async (action) => {
      const user = await signIn(service);
      const { id } = await createIntent(service, user, PAYPAL);
      await service.fault({ provider: 'provider_b', path: '/capture', action, times: 1 });
      await approve(id);
      await service.settle();
      await service.advance(6 * MINUTE_SECONDS);
      await expectPaidOnce(id, user);
    },
  );

  test('fails the payment if the capture is declined, and a later approval pays', async () => {
    const user = await signIn(service);
    const { id, provider_payment_id } = await createIntent(service, user, PAYPAL);
    await approve(id, 'SIM-DECLINED');
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'failed', failure_code: 'do_not_honor' });
    expect(await sync(provider_payment_id, user)).toMatchObject({ body: { status: 'failed' } });
    await service.advance(MINUTE_SECONDS);
    await approve(id);
    await service.settle();
    await expectPaidOnce(id, user);
    expect(await capturesAsked()).toBe(2);
  });

  test('completes a guest’s payment, and the guest token shows it', async () => {
    const created = await service.post('/payments/intents', guestIntentBody(PAYPAL));
    expect(created).toMatchObject({ status: 201, body: { next_action: { type: 'redirect_to_url' } } });
    const { id, guest_token: guestToken } = created.body;
    await approve(id);
    await service.settle();
    expect(await read(service, id, { guestToken })).toMatchObject({ status: 'succeeded', is_guest_payment: true });
    expect(await timesCharged(service, id)).toBe(1);
  });

  test('charges nothing on a canceled payment', async () => {
    const user = await signIn(service);
    const { id, provider_payment_id } = await createIntent(service, user, PAYPAL);
    const canceled = await service.post(`/payments/intents/${id}/cancel`, {}, user.options);
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await approve(id);
    await service.settle();
    expect(await sync(provider_payment_id, user)).toMatchObject({ body: { status: 'canceled' } });
    await service.advance(DAY_SECONDS);
    expect(await timesCharged(service, id)).toBe(0);
    expect((await storedPayment(service, id)).anomaly).toBeUndefined();
  });

  test('saves the payment method if the payment has setup_future_usage', async () => {
    const user = await signIn(service);
    const { id } = await createIntent(service, user, { ...PAYPAL, setup_future_usage: 'off_session' });
    await approve(id);
    await service.settle();
    const { payment_method_id } = await expectPaidOnce(id, user);
    const { body: methods } = await service.get('/payment-methods', user.options);
    expect(methods).toMatchObject([{ id: payment_method_id, provider_id: 'provider_b', wallet_type: 'paypal' }]);
    const again = await createIntent(service, user, { ...PAYPAL, payment_method_id });
    expect(await confirm(service, again.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  });

  test.each([
    ['SIM-OK', 'creation'],
    ['SIM-CARD', 'creation'],
    ['SIM-OK', 'confirmation'],
    ['SIM-CARD', 'confirmation'],
  ])('saves %s if it was named in the %s', async (token, named) => {
    const user = await signIn(service);
    const at = (place: string) => (place === named ? { payment_method_id: token } : {});
    const { id } = await createIntent(service, user, {
      ...PAYPAL,
      setup_future_usage: 'off_session',
      ...at('creation'),
    });
    const options = { ...user.options, body: at('confirmation') };
    expect(await confirm(service, id, options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    const { payment_method_id } = await expectPaidOnce(id, user);
    const { body: methods } = await service.get('/payment-methods', user.options);
    expect(methods).toMatchObject([{ id: payment_method_id, wallet_type: token === 'SIM-OK' ? 'paypal' : null }]);
    const again = await createIntent(service, user, { ...PAYPAL, payment_method_id });
    expect(await confirm(service, again.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  });

  test('saves a card named by the create and then authenticated by the payer', async () => {
    const user = await signIn(service);
    const fields = { ...PAYPAL, payment_method_id: 'SIM-CARD-3DS', setup_future_usage: 'off_session' };
    const { id } = await createIntent(service, user, fields);
    expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'pending' } });
    await approve(id);
    await service.settle();
    const { payment_method_id } = await expectPaidOnce(id, user);
    expect((await service.get('/payment-methods', user.options)).body).toMatchObject([{ id: payment_method_id }]);
  });

  test('saves no method if the charge is declined', async () => {
    const user = await signIn(service, { expires_in: 30 * DAY_SECONDS });
    const fields = { ...PAYPAL, payment_method_id: 'SIM-NSF', setup_future_usage: 'off_session' };
    const { id } = await createIntent(service, user, fields);
    expect((await confirm(service, id, user.options)).status).toBe(402);
    await service.advance(DAY_SECONDS);
    expect((await service.get('/payment-methods', user.options)).body).toEqual([]);
  });
});

describe('a PayPal order that can no longer be paid', () => {
  test('is replaced if its card was declined, and the payment is paid once', async () => {
    const user = await signIn(service);
    const created = await createIntent(service, user, { ...PAYPAL, payment_method_id: 'SIM-NSF' });
    expect(await confirm(service, created.id, user.options)).toMatchObject({
      status: 402,
      body: { details: { decline_code: 'insufficient_funds' } },
    });
    const again = await confirm(service, created.id, { ...user.options, body: { payment_method_id: 'SIM-OK' } });
    expect(again).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    const paid = await expectPaidOnce(created.id, user);
    expect(paid.provider_intent_id).not.toBe(created.provider_intent_id);
    for (const id of [created.provider_intent_id, paid.provider_intent_id, paid.provider_payment_id]) {
      expect(await sync(id, user)).toMatchObject({ body: { id: created.id, status: 'succeeded' } });
    }
  });

  test.each(['timeout_before', 'timeout_after', 'malformed', 'reset'])(
    'is replaced once if its captures meet %s twice',
    async (action) => {
      const user = await signIn(service);
      const { id } = await createIntent(service, user, SAVED);
      await service.advance(7 * HOUR_SECONDS);
      await service.fault({ provider: 'provider_b', path: '/capture', action, times: 2 });
      expect((await confirm(service, id, user.options)).status).toBe(202);
      await service.advance(40 * MINUTE_SECONDS);
      await expectPaidOnce(id, user);
      expect((await atProvider(service, id)).intents).toHaveLength(2);
    },
  );

  test('is replaced at the confirmation after it expires', async () => {
    const user = await signIn(service);
    const created = await createIntent(service, user, SAVED);
    await service.advance(8 * HOUR_SECONDS);
    expect(await sync(created.provider_intent_id, user)).toMatchObject({ body: { status: 'created' } });
    expect(await confirm(service, created.id, user.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
    await service.settle();
    await expectPaidOnce(created.id, user);
  });

  test('requires a new approval after it expires', async () => {
    const user = await signIn(service);
    const created = await createIntent(service, user, PAYPAL);
    await service.advance(8 * HOUR_SECONDS);
    const asked = await confirm(service, created.id, user.options);
    expect(asked).toMatchObject({ status: 200, body: { status: 'pending', next_action: { type: 'redirect_to_url' } } });
    expect(asked.body.next_action.url).not.toBe(created.next_action.url);
    await approve(created.id);
    await service.settle();
    await expectPaidOnce(created.id, user);
  });

  test('is canceled by the service after a day, even if PayPal has already dropped the order', async () => {
    const user = await signIn(service, { expires_in: 30 * DAY_SECONDS });
    const { id } = await createIntent(service, user, PAYPAL);
    const pending = await createIntent(service, user, PAYPAL);
    await confirm(service, pending.id, user.options);
    await service.advance(DAY_SECONDS + HOUR_SECONDS);
    for (const one of [id, pending.id]) {
      expect(await read(service, one, user.options)).toMatchObject({ status: 'canceled' });
    }
  });
});

describe('an update of a payment at PayPal', () => {
  test('changes the order, and keeps the approval link', async () => {
    const user = await signIn(service);
    const created = await createIntent(service, user, PAYPAL);
    const put = (body: object) => service.put(`/payments/intents/${created.id}`, body, user.options);
    expect(await put({ total_cents: 4_000, description: 'Three books' })).toMatchObject({
      status: 200,
      body: { status: 'requires_payment_method', total_cents: 4_000, next_action: created.next_action },
    });
    const named = await put({ payment_method_id: 'SIM-OK' });
    expect(named).toMatchObject({ status: 200, body: { status: 'created' } });
    expect(named.body).not.toHaveProperty('next_action');
    expect(await sync(created.provider_intent_id, user)).toMatchObject({ body: { status: 'created' } });
    expect(await put({ payment_method_id: null })).toMatchObject({
      status: 200,
      body: { status: 'requires_payment_method', next_action: { type: 'redirect_to_url' } },
    });
    await approve(created.id);
    await service.settle();
    expect(await expectPaidOnce(created.id, user)).toMatchObject({ total_cents: 4_000 });
    const { charges } = await atProvider(service, created.id);
    expect(charges).toMatchObject([{ amount: 4_000 }]);
  });

  test('is refused once the payer has approved', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const { id } = await createIntent(service, user, PAYPAL);
    await approve(id);
    expect(await service.put(`/payments/intents/${id}`, { total_cents: 1 }, user.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
  });
});

describe('an unsupported amount at PayPal', () => {
  test.each([
    ['HUF', 250_050, { path: 'total_cents', rule: 'multiple_of' }],
    ['TWD', 101, { path: 'total_cents', rule: 'multiple_of' }],
  ])('is refused as a validation error for %s', async (currency, total_cents, problem) => {
    const user = await signIn(service);
    const body = intentBody({ ...PAYPAL, currency, total_cents });
    const refused = await service.post('/payments/intents', body, user.options);
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR', details: [problem] } });
  });

  test('is refused in a currency that PayPal does not support', async () => {
    const user = await signIn(service);
    const body = intentBody({ ...PAYPAL, currency: 'KWD' });
    expect(await service.post('/payments/intents', body, user.options)).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED_CURRENCY' },
    });
  });
});

describe('a PayPal payment method', () => {
  test('is saved from a setup token, and removed from the vault on deletion', async () => {
    const user = await signIn(service);
    const body = { provider_id: 'provider_b', provider_payment_method_token: 'SIM-CARD', is_default: true };
    const saved = await service.post('/payment-methods', body, user.options);
    expect(saved).toMatchObject({ status: 201, body: { type: 'card', card_brand: 'visa', card_last_four: '1111' } });
    const payment = await createIntent(service, user, { ...PAYPAL, payment_method_id: saved.body.id });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    const removed = await service.request('DELETE', `/payment-methods/${saved.body.id}`, user.options);
    expect(removed.status).toBe(204);
    await service.settle();
    const again = await createIntent(service, user, PAYPAL);
    expect(
      (await confirm(service, again.id, { ...user.options, body: { payment_method_id: saved.body.id } })).status,
    ).toBe(404);
  });
});

describe('a saved PayPal method', () => {
  const AT_PAYPAL = { provider_id: 'provider_b' };
  const saved = (user: User, token: string) =>
    saveMethod(service, user.options, { ...AT_PAYPAL, provider_payment_method_token: token });
  /** The calls about orders and saved methods. */
  const asked = async (): Promise<string[]> => {
    const calls: ParsedJson[] = await service.providerRequests();
    return calls
      .filter(({ path }) => /orders|vault/.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/\/orders\/\w+/, '/orders/:id')}`);
  };
  const CAPTURE = 'POST /v2/checkout/orders/:id/capture';

  test.each(['SIM-OK', 'SIM-CARD'])(
    'made from %s is charged with one call, because its type is stored',
    async (token) => {
      const user = await signIn(service);
      const method = await saved(user, token);
      const { id } = await createIntent(service, user, { ...PAYPAL, payment_method_id: method.id });
      await service.clearProviderRequests();
      expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
      expect(await asked()).toEqual([CAPTURE]);
      const other = await createIntent(service, user, PAYPAL);
      await service.clearProviderRequests();
      const paid = await confirm(service, other.id, { ...user.options, body: { payment_method_id: method.id } });
      expect(paid).toMatchObject({ body: { status: 'succeeded' } });
      expect(await asked()).toEqual([CAPTURE]);
    },
  );

  test('is charged with one call in a renewal too', async () => {
    const who = await subscriber(service, 'SIM-CARD', AT_PAYPAL);
    const { id } = await subscribe(service, who);
    await service.clearProviderRequests();
    await service.advance(32 * DAY_SECONDS);
    const [, renewal] = await paymentsOf(service, who, id);
    expect(renewal).toMatchObject({ status: 'succeeded' });
    const calls: ParsedJson[] = await service.providerRequests();
    expect(
      calls.filter(({ idempotency_key }) => idempotency_key?.startsWith(`${present(renewal).id}:confirm`)),
    ).toHaveLength(1);
    expect((await asked()).filter((call) => call.includes('payment-tokens'))).toEqual([]);
  });

  test('waits for its payer if it requires authentication, and is captured after the payer passes', async () => {
    const user = await signIn(service);
    const method = await saved(user, 'SIM-CARD-3DS');
    const { id } = await createIntent(service, user, { ...PAYPAL, payment_method_id: method.id });
    const waiting = await confirm(service, id, user.options);
    expect(waiting).toMatchObject({
      status: 200,
      body: { status: 'pending', next_action: { type: 'redirect_to_url', url: expect.any(String) } },
    });
    expect(await timesCharged(service, id)).toBe(0);
    const passed = await fetch(waiting.body.next_action.url, {
      method: 'POST',
      body: new URLSearchParams({ outcome: 'success' }),
      redirect: 'manual',
    });
    expect(passed.headers.get('location')).toContain(PAYPAL.return_url);
    await service.settle();
    const paid = await expectPaidOnce(id, user);
    expect(paid).toMatchObject({ payment_method_id: method.id });
    expect(paid).not.toHaveProperty('next_action');
  });

  test('is charged by reconciliation if it requires authentication and no webhook arrives', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const method = await saved(user, 'SIM-CARD-3DS');
    const { id } = await createIntent(service, user, { ...PAYPAL, payment_method_id: method.id });
    await confirm(service, id, user.options);
    await approve(id);
    await service.advance(2 * MINUTE_SECONDS);
    await expectPaidOnce(id, user);
  });

  test('is not charged if its payer fails the authentication', async () => {
    const user = await signIn(service, { expires_in: 30 * DAY_SECONDS });
    const method = await saved(user, 'SIM-CARD-3DS');
    const { id } = await createIntent(service, user, { ...PAYPAL, payment_method_id: method.id });
    await confirm(service, id, user.options);
    await service.authenticate(id, 'failure');
    await service.advance(DAY_SECONDS + HOUR_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled' });
    expect(await timesCharged(service, id)).toBe(0);
  });

  test.each(['SIM-CARD-3DS', 'SIM-PAYER-ACTION'])(
    'made from %s is declined in a renewal with authentication_required',
    async (token) => {
      const who = await subscriber(service, 'SIM-OK', AT_PAYPAL);
      const { id } = await subscribe(service, who);
      const method = await saved(who.user, token);
      const changed = await service.request('PATCH', `/subscriptions/${id}`, {
        ...who.options,
        body: { payment_method_id: method.id },
      });
      expect(changed).toMatchObject({ status: 200 });
      await service.advance(31 * DAY_SECONDS + HOUR_SECONDS);
      expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due' });
      const [, renewal] = await paymentsOf(service, who, id);
      expect(renewal).toMatchObject({ status: 'failed', failure_code: 'authentication_required' });
      expect(await timesCharged(service, present(renewal).id)).toBe(0);
    },
  );

  test('gives the customer an id assigned by PayPal, and later methods use that id', async () => {
    const user = await signIn(service);
    const first = await saved(user, 'SIM-OK');
    const customer = await service.get(`/customers/${first.customer_id}`, user.options);
    const { provider_customer_id } = customer.body;
    expect(await customerAtProvider(service, provider_customer_id)).toMatchObject({ provider: 'provider_b' });
    const later = await saved(user, 'SIM-CARD');
    const { id } = await createIntent(service, user, { ...PAYPAL, setup_future_usage: 'off_session' });
    await approve(id);
    await service.settle();
    const { payment_method_id } = await expectPaidOnce(id, user);
    for (const one of [first.id, later.id, payment_method_id]) {
      const { providerMethodId } = await storedRecord(service, 'PM', one);
      const { payment_methods } = await service.ledger();
      expect(payment_methods.find((method) => method.id === providerMethodId)).toMatchObject({
        customer: provider_customer_id,
      });
    }
    const updates = (await service.busEvents('customer.updated')).map(({ detail }) => detail.payload.data);
    expect(updates.filter(({ customer_id }) => customer_id === first.customer_id)).toMatchObject([
      { provider_customer_id },
    ]);
  });

  test('is saved under one customer id by concurrent saves, and a customer deletion removes both methods', async () => {
    const user = await signIn(service);
    const both = await Promise.all(['SIM-OK', 'SIM-CARD'].map((token) => saved(user, token)));
    const [{ customer_id }] = both;
    expect(both.map((method) => method.customer_id)).toEqual([customer_id, customer_id]);
    const refs = await Promise.all(both.map(({ id }) => storedRecord(service, 'PM', id)));
    expect((await service.request('DELETE', `/customers/${customer_id}`, user.options)).status).toBe(204);
    const { payment_methods } = await service.ledger();
    for (const { providerMethodId } of refs) {
      expect(payment_methods.find(({ id }) => id === providerMethodId)).toMatchObject({ customer: null });
    }
  });
});

describe('the webhook route of PayPal', () => {
  const captureEvent = (payment: PaymentBody, object: object = {}) => ({
    provider: 'provider_b',
    object: {
      id: payment.provider_payment_id,
      amount: payment.total_cents,
      currency: 'usd',
      customer: null,
      ...object,
    },
  });

  test('also accepts events in the contract’s vocabulary', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, SAVED);
    const event = { ...captureEvent(payment), type: 'payment_intent.succeeded', vocabulary: 'contract' as const };
    expect(await service.sendEvent(event)).toMatchObject({ status: 200, body: { received: true } });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await logEntriesOf(service, payment.id)).toMatchObject([{ status: 'success' }]);
  });

  test('accepts the event of a capture that the payment does not know yet', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, SAVED);
    const object = {
      id: 'CAPTURE1',
      status: 'COMPLETED',
      amount: { currency_code: 'USD', value: '25.00' },
      custom_id: payment.id,
      supplementary_data: { related_ids: { order_id: payment.provider_intent_id } },
    };
    await service.sendEvent({
      provider: 'provider_b',
      type: 'PAYMENT.CAPTURE.COMPLETED',
      object,
      vocabulary: 'native',
    });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'succeeded',
      provider_payment_id: 'CAPTURE1',
      provider_intent_id: payment.provider_intent_id,
    });
  });

  test.each(['invalid', 'missing'] as const)(
    'refuses a signature that is %s, and stores nothing',
    async (signature) => {
      const user = await signIn(service);
      const payment = await createIntent(service, user, SAVED);
      const before = (await itemsOf(service, 'EVT#')).length;
      const event = { ...captureEvent(payment), type: 'payment_intent.succeeded', signature };
      expect(await service.sendEvent(event)).toMatchObject({
        status: 401,
        body: { code: 'INVALID_WEBHOOK_SIGNATURE' },
      });
      expect(await itemsOf(service, 'EVT#')).toHaveLength(before);
      await service.settle();
      expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'created' });
    },
  );

  test('accepts a retry with the first attempt’s time, and applies the event once', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, SAVED);
    const retry = {
      ...captureEvent(payment),
      type: 'payment_intent.succeeded',
      signature: 'stale',
      id: 'WH-RETRIED',
    } as const;
    expect(await service.sendEvent(retry)).toMatchObject({ status: 200, body: { received: true } });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await service.sendEvent(retry)).toMatchObject({ status: 200, body: { received: true, duplicate: true } });
    await service.settle();
    expect((await eventsOf(service, payment.id)).filter((name) => name === 'payment.succeeded')).toHaveLength(1);
  });

  test('returns 503 while an event cannot be verified, and never applies an unverified event', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, SAVED);
    const before = (await itemsOf(service, 'EVT#')).length;
    for (const action of ['error_500', 'timeout_before', 'malformed']) {
      await service.fault({ provider: 'provider_b', path: '/verify-webhook-signature', action, times: 1 });
      expect(await service.sendEvent({ ...captureEvent(payment), type: 'payment_intent.succeeded' })).toMatchObject({
        status: 503,
        body: { code: 'PROVIDER_UNAVAILABLE' },
      });
    }
    expect(await itemsOf(service, 'EVT#')).toHaveLength(before);
    expect(await service.sendEvent({ ...captureEvent(payment), type: 'payment_intent.succeeded' })).toMatchObject({
      status: 200,
    });
  });

  test('is closed without a webhook id, and the slot is closed without its keys', async () => {
    const host = await startTestHost({ env: { PROVIDER_B_WEBHOOK_ID: '' } });
    const bare = await startTestHost({ env: { PROVIDER_B_CLIENT_SECRET: '' } });
    try {
      expect((await host.post('/webhooks/provider_b', {})).status).toBe(404);
      const user = await signIn(bare);
      expect((await bare.post('/webhooks/provider_b', {})).status).toBe(404);
      expect(await bare.post('/payments/intents', intentBody(PAYPAL), user.options)).toMatchObject({
        status: 400,
        body: { code: 'UNSUPPORTED_PROVIDER' },
      });
    } finally {
      await Promise.all([host.stop(), bare.stop()]);
    }
  });
});
