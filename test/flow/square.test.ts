/**
 * @module At Square a payment starts as an order, and only the service charges the payment. The provider id of the
 * payment is known only after the charge.
 */

import { describe, expect, test } from 'vitest';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  eventsOf,
  IMPATIENT,
  itemsOf,
  logEntriesOf,
  read,
  signIn,
  timesCharged,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';
import { saveMethod } from './payers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

const OK = 'cnon:card-nonce-ok';
const atSquare = (fields: object = {}) => intentBody({ provider_id: 'provider_c', ...fields });

const create = async (user: User, fields: object = {}) => {
  const answer = await service.post('/payments/intents', atSquare(fields), user.options);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const pay = async (user: User, fields: object = {}) => {
  const payment = await create(user, { payment_method_id: OK, ...fields });
  expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  return read(service, payment.id, user.options);
};
const sync = (id: string, user: User) => service.post(`/payments/sync/${id}`, {}, user.options);
const squareEvent = (type: string, object: object, more: object = {}) =>
  service.sendEvent({ provider: 'provider_c', type, object, ...more });

describe('a payment at Square', () => {
  test('starts as an order with a client secret of the service, and the confirm charges it', async () => {
    const user = await signIn(service);
    const created = await create(user, { description: 'Two books' });
    expect(created).toMatchObject({
      status: 'requires_payment_method',
      provider_id: 'provider_c',
      provider_intent_id: expect.stringMatching(/^SQORD/),
      client_secret: expect.stringContaining('_secret_'),
    });
    expect(created.provider_payment_id).toBe(created.provider_intent_id);
    expect(await confirm(service, created.id, user.options)).toMatchObject({
      status: 400,
      body: { code: 'PAYMENT_METHOD_REQUIRED' },
    });
    const paid = await confirm(service, created.id, { ...user.options, body: { payment_method_id: OK } });
    expect(paid).toMatchObject({
      status: 200,
      body: { status: 'succeeded', provider_payment_id: expect.stringMatching(/^SQPAY/) },
    });
    await service.settle();
    expect(await atProvider(service, created.id)).toMatchObject({
      charges: [{ provider: 'provider_c', id: paid.body.provider_payment_id, status: 'succeeded', amount: 2_500 }],
      intents: [{ id: created.provider_intent_id, status: 'succeeded' }],
    });
    expect(await eventsOf(service, created.id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('is paid by a guest who confirms with a card token from the browser', async () => {
    const created = await service.post('/payments/intents', guestIntentBody({ provider_id: 'provider_c' }));
    expect(created).toMatchObject({ status: 201, body: { client_secret: expect.any(String) } });
    const { id, guest_token: guestToken } = created.body;
    const paid = await confirm(service, id, { guestToken, body: { payment_method_id: OK } });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, id)).toBe(1);
  });

  test('is found by its order id and by its payment id', async () => {
    const user = await signIn(service);
    const { id, provider_payment_id, provider_intent_id } = await pay(user);
    expect(provider_payment_id).not.toBe(provider_intent_id);
    for (const external of [provider_payment_id, provider_intent_id]) {
      expect(await sync(external, user)).toMatchObject({ status: 200, body: { id, status: 'succeeded' } });
    }
  });

  test.each([
    ['cnon:card-nonce-declined', 'do_not_honor'],
    ['cnon:card-nonce-lost', 'lost_card'],
    ['cnon:card-nonce-rejected-cvv', 'incorrect_cvc'],
    ['cnon:card-nonce-requires-verification', 'authentication_required'],
  ])(
    'is declined with %s: %s, stays failed after a sync, and can be paid with another method',
    async (method, code) => {
      const user = await signIn(service);
      const payment = await create(user, { payment_method_id: method });
      expect(await confirm(service, payment.id, user.options)).toMatchObject({
        status: 402,
        body: { code: 'PAYMENT_DECLINED', details: { decline_code: code, payment: { status: 'failed' } } },
      });
      await service.settle();
      expect(await sync(payment.provider_intent_id, user)).toMatchObject({
        status: 200,
        body: { status: 'failed', failure_code: code },
      });
      const again = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: OK } });
      expect(again).toMatchObject({ status: 200, body: { status: 'succeeded' } });
      await service.settle();
      expect(await timesCharged(service, payment.id)).toBe(1);
      expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
    },
  );

  test('is refused with a used token, and can be paid with another token', async () => {
    const user = await signIn(service);
    const payment = await create(user, { payment_method_id: 'cnon:card-nonce-already-used' });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'payment_method_id', rule: 'CARD_TOKEN_USED' }] },
    });
    expect(await sync(payment.provider_intent_id, user)).toMatchObject({ body: { status: 'created' } });
    await service.settle();
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created']);
    const again = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: OK } });
    expect(again).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test.each([
    ['bnon:bank-nonce-ok', 'succeeded'],
    ['bnon:bank-nonce-insufficient-funds', 'failed'],
  ])('settles later from a bank account (%s): %s', async (payment_method_id, status) => {
    const user = await signIn(service);
    const payment = await create(user, { payment_method_id });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 200,
      body: { status: 'processing' },
    });
    const { charges } = await atProvider(service, payment.id);
    expect(await sync(present(charges[0]).id, user)).toMatchObject({ body: { status: 'processing' } });
    await service.advance(MINUTE_SECONDS);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status,
      provider_payment_id: present(charges[0]).id,
    });
  });

  test.each(['before', 'after'])('is charged once if the connection breaks %s the charge', async (when) => {
    const user = await signIn(service);
    await service.webhookMode('drop');
    const payment = await create(user, { payment_method_id: `cnon:sim-timeout-${when}` });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 202,
      body: { status: 'processing' },
    });
    await service.advance(5 * MINUTE_SECONDS);
    await service.webhookMode('normal');
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'succeeded',
      provider_payment_id: expect.stringMatching(/^SQPAY/),
    });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test('is updated with its order, and canceled with it', async () => {
    const user = await signIn(service);
    const payment = await create(user, { payment_method_id: OK });
    const updated = await service.put(`/payments/intents/${payment.id}`, { total_cents: 4_000 }, user.options);
    expect(updated).toMatchObject({ status: 200, body: { total_cents: 4_000, status: 'created' } });
    expect(await atProvider(service, payment.id)).toMatchObject({ intents: [{ amount: 4_000 }] });
    const canceled = await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
    expect(await atProvider(service, payment.id)).toMatchObject({ charges: [], intents: [{ status: 'canceled' }] });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ status: 409 });
  });

  test('expires with its order if it is never confirmed', async () => {
    const user = await signIn(service, { expires_in: 2 * DAY_SECONDS });
    const payment = await create(user);
    await service.advance(DAY_SECONDS + 10 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled' });
    expect(await atProvider(service, payment.id)).toMatchObject({ intents: [{ status: 'canceled' }] });
  });

  test.each(['duplicate', 'reorder', 'delay'] as const)('ends the same with webhooks in the mode %s', async (mode) => {
    const user = await signIn(service);
    await service.webhookMode(mode, 7);
    const declined = await create(user, { payment_method_id: 'cnon:card-nonce-declined' });
    await confirm(service, declined.id, user.options);
    await confirm(service, declined.id, { ...user.options, body: { payment_method_id: OK } });
    const later = await create(user, { payment_method_id: 'bnon:bank-nonce-ok' });
    await confirm(service, later.id, user.options);
    await service.webhookMode('normal');
    await service.advance(3 * 60 * MINUTE_SECONDS);
    await service.settle();
    for (const [{ id }, events] of [
      [declined, ['payment.created', 'payment.failed', 'payment.succeeded']],
      [later, ['payment.created', 'payment.succeeded']],
    ] as const) {
      expect(await read(service, id, user.options)).toMatchObject({ status: 'succeeded' });
      expect(await eventsOf(service, id)).toEqual(events);
      expect(await timesCharged(service, id)).toBe(1);
    }
  });
});

describe("Square's events", () => {
  test('complete a payment before the charge response arrives, matched by order or our id', async () => {
    const user = await signIn(service);
    for (const named of ['order_id', 'reference_id']) {
      const payment = await create(user);
      const ids = { order_id: payment.provider_intent_id, reference_id: payment.id };
      const object = {
        id: `SQPAYearly${payment.id}`,
        status: 'COMPLETED',
        amount_money: { amount: 2_500, currency: 'USD' },
        order_id: ids.order_id,
        ...(named === 'reference_id' && { reference_id: ids.reference_id }),
      };
      expect(await squareEvent('payment.updated', object)).toMatchObject({ status: 200, body: { received: true } });
      await service.settle();
      expect(await read(service, payment.id, user.options)).toMatchObject({
        status: 'succeeded',
        provider_payment_id: object.id,
      });
      expect(await sync(object.id, user)).toMatchObject({ status: 200 });
    }
  });

  test("are also accepted with the contract's event types, by the id of the order or of its payment", async () => {
    const user = await signIn(service);
    const waiting = await create(user);
    const said = { amount: 2_500, currency: 'usd', status: 'succeeded', customer: null };
    await squareEvent('payment_intent.succeeded', { id: waiting.provider_payment_id, ...said });
    const paid = await pay(user);
    await squareEvent('payment_intent.succeeded', { id: paid.provider_payment_id, ...said });
    await service.settle();
    expect(await read(service, waiting.id, user.options)).toMatchObject({ status: 'succeeded' });
    const entries = await logEntriesOf(service, paid.id);
    const translated = entries.filter(({ eventType }) => eventType === 'payment_intent.succeeded');
    expect(translated).toMatchObject([{ response: { outcome: 'ignored', reason: 'no change' } }]);
  });

  test('change nothing for an unrelated order with our id, or for another amount', async () => {
    const user = await signIn(service);
    const payment = await create(user);
    const object = {
      id: 'SQPAYforeign',
      status: 'COMPLETED',
      amount_money: { amount: 2_500, currency: 'USD' },
      order_id: 'SQORDforeign',
      reference_id: payment.id,
    };
    await squareEvent('payment.created', object);
    const other = { ...object, order_id: payment.provider_intent_id, amount_money: { amount: 1, currency: 'USD' } };
    await squareEvent('payment.created', other);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'requires_payment_method' });
    const outcomes = (await logEntriesOf(service, payment.id)).map(({ response }) => response.reason);
    expect(outcomes.toSorted()).toEqual(['amount differs', 'provider object differs']);
  });

  test('are refused without a valid signature, and stored nowhere', async () => {
    for (const signature of ['missing', 'invalid'] as const) {
      const refused = await squareEvent('payment.created', { id: 'x' }, { id: `refused-${signature}`, signature });
      expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_WEBHOOK_SIGNATURE' } });
    }
    const taken = await squareEvent('inventory.count.updated', { id: 'x' }, { id: 'refused-missing' });
    expect(taken).toMatchObject({ status: 200, body: { received: true, ignored: true } });
  });

  test('cancel the payment after a cancellation at Square', async () => {
    const user = await signIn(service);
    const payment = await create(user);
    await squareEvent('order.updated', { order_id: payment.provider_intent_id, state: 'CANCELED' });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled' });
  });
});

describe('a card at Square', () => {
  const methodBody = (token: string) => ({ provider_id: 'provider_c', provider_payment_method_token: token });

  test('is saved, pays, and is disabled on deletion', async () => {
    const user = await signIn(service);
    const saved = await service.post('/payment-methods', methodBody(OK), user.options);
    expect(saved).toMatchObject({ status: 201, body: { card_brand: 'visa', card_last_four: '1111' } });
    await pay(user, { payment_method_id: saved.body.id });
    expect(await service.request('DELETE', `/payment-methods/${saved.body.id}`, user.options)).toMatchObject({
      status: 204,
    });
    const { payment_methods } = await service.ledger();
    expect(payment_methods.filter(({ customer }) => customer !== null)).toHaveLength(0);
  });

  test('is saved with the payment on request, unlike a bank account', async () => {
    const user = await signIn(service);
    const kept = await pay(user, { setup_future_usage: 'off_session' });
    expect(kept).toMatchObject({ payment_method_id: expect.stringMatching(/^pmt_/) });
    const bank = { payment_method_id: 'bnon:bank-nonce-ok', setup_future_usage: 'off_session' };
    const unkept = await create(user, bank);
    await confirm(service, unkept.id, user.options);
    await service.clearProviderRequests();
    await service.advance(2 * 60 * MINUTE_SECONDS);
    await service.settle();
    expect(await read(service, unkept.id, user.options)).toMatchObject({
      status: 'succeeded',
      payment_method_id: null,
    });
    const tries = (await service.providerRequests()).filter(({ path }) => path === '/v2/cards');
    expect(tries).toHaveLength(1);
  });

  test('is not updated at Square after a change of the billing address', async () => {
    const user = await signIn(service);
    const { body: method } = await service.post('/payment-methods', methodBody(OK), user.options);
    const address = {
      type: 'billing',
      line1: 'Rua 1',
      city: 'Porto',
      postal_code: '4000-001',
      country: 'PT',
      name: 'A',
    };
    const { body: created } = await service.post('/addresses', address, user.options);
    const linked = await service.request('PATCH', `/payment-methods/${method.id}/billing-address`, {
      ...user.options,
      body: { billing_address_id: created.id },
    });
    expect(linked).toMatchObject({ status: 200, body: { billing_address_id: created.id } });
    expect(linked.body).not.toHaveProperty('provider_synced');
  });
});

describe('a Square card that requires authentication', () => {
  const CARD = 'cnon:card-nonce-requires-verification';
  const VERIFIED = { verification_token: 'verf:CANARY-0123456789' };
  const AT_SQUARE = { provider_id: 'provider_c', provider_payment_method_token: CARD };

  test('is declined without the verification token, and pays with it', async () => {
    const user = await signIn(service);
    const { id } = await create(user, { payment_method_id: CARD });
    expect(await confirm(service, id, user.options)).toMatchObject({
      status: 402,
      body: { details: { decline_code: 'authentication_required' } },
    });
    const paid = await confirm(service, id, { ...user.options, body: { payment_method_id: CARD, ...VERIFIED } });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, id)).toBe(1);
  });

  test('is saved only with the verification token, and then pays without it', async () => {
    const user = await signIn(service);
    expect(await service.post('/payment-methods', AT_SQUARE, user.options)).toMatchObject({
      status: 402,
      body: { code: 'PAYMENT_DECLINED', details: { decline_code: 'authentication_required' } },
    });
    const saved = await saveMethod(service, user.options, { ...AT_SQUARE, ...VERIFIED });
    const { id } = await create(user, { payment_method_id: saved.id });
    expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  });

  test('is refused with a verification token not issued by Square, and nothing is charged', async () => {
    const user = await signIn(service);
    const { id } = await create(user, { payment_method_id: CARD });
    expect(await confirm(service, id, { ...user.options, body: { verification_token: 'made up' } })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'verification_token' }] },
    });
    expect(await read(service, id, user.options)).toMatchObject({ status: 'created' });
    const saving = { ...AT_SQUARE, verification_token: 'made up' };
    expect(await service.post('/payment-methods', saving, user.options)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'verification_token' }] },
    });
  });

  test('has a verification token that appears in no record, stored response or log entry', async () => {
    const user = await signIn(service);
    const { id } = await create(user, { payment_method_id: CARD });
    const options = { ...user.options, idempotencyKey: 'confirm-with-a-verification-token' };
    for (const replayed of [undefined, 'true']) {
      const paid = await confirm(service, id, { ...options, body: { payment_method_id: CARD, ...VERIFIED } });
      expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
      expect(paid.headers.get('idempotent-replayed') ?? undefined).toBe(replayed);
    }
    await saveMethod(service, user.options, { ...AT_SQUARE, ...VERIFIED });
    await service.settle();
    expect(JSON.stringify(await itemsOf(service))).not.toContain('CANARY-0123456789');
  });

  test.each([
    ['provider_a', 'pm_card_visa'],
    ['provider_b', 'SIM-OK'],
  ])('needs a verification token that only Square accepts, so %s refuses the token', async (provider_id, method) => {
    const user = await signIn(service);
    const refused = {
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'verification_token', rule: 'unsupported' }] },
    };
    const payment = await service.post('/payments/intents', intentBody({ provider_id }), user.options);
    const { id } = payment.body;
    expect(
      await confirm(service, id, { ...user.options, body: { payment_method_id: method, ...VERIFIED } }),
    ).toMatchObject(refused);
    const body = { provider_id, provider_payment_method_token: method, ...VERIFIED };
    expect(await service.post('/payment-methods', body, user.options)).toMatchObject(refused);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_payment_method' });
  });
});
