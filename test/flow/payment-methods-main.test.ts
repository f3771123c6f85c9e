/** @module Every payment-method route, called by the method's user. */

import { describe, expect, test } from 'vitest';
import { methodBody, rawCardBody } from '../builders/payer.ts';
import {
  confirm,
  createIntent,
  createPaidIntent,
  itemsOf,
  PATIENT,
  partitionOf,
  read,
  signIn,
  timesCharged,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';
import {
  createAddress,
  createCustomer,
  defaultsIn,
  methodAtProvider,
  ONLY_A,
  problemsOf,
  saveMethod,
  storedRecord,
} from './payers.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: { ...PATIENT, ...ONLY_A, ALLOW_RAW_CARDS: 'false' } });

const create = (user: User, fields = {}) => service.post('/payment-methods', methodBody(fields), user.options);
const put = (user: User, id: string, fields: object) => service.put(`/payment-methods/${id}`, fields, user.options);
const remove = (user: User, id: string) => service.request('DELETE', `/payment-methods/${id}`, user.options);
const setDefault = (user: User, id: string) => service.post(`/payment-methods/${id}/set-default`, {}, user.options);
const list = (user: User, query = '') => service.get(`/payment-methods${query}`, user.options);

describe('a payment method', () => {
  test('is attached to the user’s customer at the provider, and is returned without an envelope', async () => {
    const user = await signIn(service);
    const { id: addressId } = await createAddress(service, user.options);
    const answer = await create(user, { alias: 'Work', type: 'card', billing_address_id: addressId, is_default: true });
    const at = new Date(service.now()).toISOString();
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^pmt_[0-9a-f]{24}$/),
      provider_id: 'provider_a',
      provider_payment_method_id: expect.stringMatching(/^pm_/),
      type: 'card',
      wallet_type: null,
      card_brand: 'visa',
      card_last_four: '4242',
      card_exp_month: '12',
      card_exp_year: expect.stringMatching(/^20\d\d$/),
      funding: 'credit',
      country: 'US',
      fingerprint: expect.stringMatching(/^fp_[0-9a-f]{24}$/),
      billing_address_id: addressId,
      customer_id: expect.stringMatching(/^cust_/),
      is_default: true,
      alias: 'Work',
      is_guest_method: false,
      setup_status: 'succeeded',
      created_at: at,
      updated_at: at,
    });
    const read = await service.get(`/payment-methods/${answer.body.id}`, user.options);
    expect(read).toMatchObject({ status: 200, body: answer.body });
    expect(read.headers.get('cache-control')).toBe('no-store');
    const { body: customer } = await service.get(`/customers/${answer.body.customer_id}`, user.options);
    expect(customer).toMatchObject({ user_id: user.userId, email: expect.stringContaining('@example.com') });
    expect(await methodAtProvider(service, answer.body.provider_payment_method_id)).toMatchObject({
      customer: customer.provider_customer_id,
    });
  });

  test.each([
    ['pm_card_mastercard', 'mastercard', '4444'],
    ['tok_visa', 'visa', '4242'],
    ['tok_amex', 'amex', '0005'],
  ])('is created from %s, which is never stored', async (token, card_brand, card_last_four) => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options, { provider_payment_method_token: token });
    expect(method).toMatchObject({ type: 'card', card_brand, card_last_four, is_default: false });
    expect(method.provider_payment_method_id).toMatch(/^pm_/);
    const stored = JSON.stringify(await itemsOf(service));
    expect(stored).not.toContain(token);
  });

  test('is attached to the user’s existing customer, like later methods', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    const methods = [await saveMethod(service, user.options), await saveMethod(service, user.options)];
    expect(methods.map(({ customer_id }) => customer_id)).toEqual([customer.id, customer.id]);
    expect((await service.get('/customers', user.options)).body).toHaveLength(1);
  });

  test.each([
    ['chargeDeclined', 'do_not_honor'],
    ['chargeDeclinedInsufficientFunds', 'insufficient_funds'],
    ['chargeDeclinedExpiredCard', 'expired_card'],
    ['chargeDeclinedIncorrectCvc', 'incorrect_cvc'],
    ['chargeDeclinedLostCard', 'lost_card'],
    ['chargeDeclinedStolenCard', 'stolen_card'],
  ])('is declined and not saved if the bank refuses it (%s)', async (card, decline_code) => {
    const user = await signIn(service);
    for (const token of [`pm_card_${card}`, `tok_${card}`]) {
      expect(await create(user, { provider_payment_method_token: token })).toMatchObject({
        status: 402,
        body: { success: false, code: 'PAYMENT_DECLINED', details: { decline_code } },
      });
    }
    expect(await list(user)).toMatchObject({ status: 200, body: [] });
  });

  test('is refused if the provider does not know its token', async () => {
    const user = await signIn(service);
    for (const token of ['pm_nothing', 'tok_nothing', 'nonsense', 'cus_1']) {
      const answer = await create(user, { provider_payment_method_token: token });
      expect({ token, answer }).toMatchObject({ token, answer: { status: 400, body: { code: 'VALIDATION_ERROR' } } });
      expect(problemsOf(answer)).toEqual(['provider_payment_method_token']);
    }
    expect(await list(user)).toMatchObject({ body: [] });
  });

  test('cannot be saved (404) if it belongs to another customer at the provider', async () => {
    const [user, stranger] = [await signIn(service), await signIn(service)];
    const { provider_payment_method_id } = await saveMethod(service, user.options);
    const answer = await create(stranger, { provider_payment_method_token: provider_payment_method_id });
    expect(answer).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
    expect(await list(stranger)).toMatchObject({ body: [] });
  });

  test.each([
    ['no provider', { provider_id: undefined }, ['provider_id']],
    ['an unknown provider', { provider_id: 'provider_z' }, ['provider_id']],
    ['neither token nor card', { provider_payment_method_token: undefined }, ['provider_payment_method_token']],
    ['an empty token', { provider_payment_method_token: '' }, ['provider_payment_method_token']],
    ['a long token', { provider_payment_method_token: 't'.repeat(256) }, ['provider_payment_method_token']],
    ['an unknown type', { type: 'cheque' }, ['type']],
    ['a default that is no truth', { is_default: 'yes' }, ['is_default']],
    ['a long alias', { alias: 'a'.repeat(101) }, ['alias']],
    ['a long address id', { billing_address_id: 'a'.repeat(65) }, ['billing_address_id']],
    ['guest_data without an e-mail', { guest_data: { name: 'G' } }, ['guest_data.email']],
    [
      'half a card',
      { provider_payment_method_token: undefined, card_number: '4242424242424242' },
      ['card_exp_month', 'card_exp_year'],
    ],
    [
      'a wrong card',
      { ...rawCardBody(), card_number: '42', card_exp_month: '13', card_exp_year: '31', card_cvc: '1' },
      ['card_number', 'card_exp_month', 'card_exp_year', 'card_cvc'],
    ],
  ])('is refused with %s, and the error lists every problem', async (_, fields, paths) => {
    const user = await signIn(service);
    const answer = await create(user, fields);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer).sort()).toEqual([...paths].sort());
    expect(JSON.stringify({ ...answer.body, request_id: '' })).not.toContain('4242');
  });

  test('is refused at a provider that supports only customers', async () => {
    const user = await signIn(service);
    for (const provider_id of ['provider_b', 'provider_c', 'provider_d']) {
      expect(await create(user, { provider_id })).toMatchObject({
        status: 400,
        body: { code: 'UNSUPPORTED_PROVIDER', details: { provider_id } },
      });
    }
  });

  test('cannot be created from a card number', async () => {
    const user = await signIn(service);
    for (const body of [
      rawCardBody(),
      methodBody({ card_number: '4242424242424242', card_exp_month: '01', card_exp_year: '2031' }),
      methodBody({ card_cvc: '737' }),
    ]) {
      const answer = await service.post('/payment-methods', body, user.options);
      expect(answer).toMatchObject({ status: 403, body: { code: 'RAW_CARD_DISABLED' } });
    }
    expect(await list(user)).toMatchObject({ body: [] });
  });

  test('belongs to its user, so other callers get 404', async () => {
    const [user, stranger] = [await signIn(service), await signIn(service)];
    const { id } = await saveMethod(service, user.options, { is_default: true });
    for (const [method, path, body] of [
      ['GET', `/payment-methods/${id}`, undefined],
      ['PUT', `/payment-methods/${id}`, { alias: 'Mine' }],
      ['PATCH', `/payment-methods/${id}/billing-address`, { billing_address_id: null }],
      ['POST', `/payment-methods/${id}/set-default`, {}],
      ['DELETE', `/payment-methods/${id}`, undefined],
      ['GET', '/payment-methods/pmt_000000000000000000000000', undefined],
    ] as const) {
      const answer = await service.request(method, path, { ...stranger.options, body });
      const details = { resource: 'payment_method' };
      expect({ method, path, answer }).toMatchObject({
        answer: { status: 404, body: { code: 'RESOURCE_NOT_FOUND', details } },
      });
      const anonymous = await service.request(method, path, { body });
      expect({ method, anonymous }).toMatchObject({
        method,
        anonymous: { status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } },
      });
    }
    expect(await list(stranger)).toMatchObject({ body: [] });
    const naming = await service.post(
      '/payments/intents',
      { total_cents: 100, currency: 'USD', payment_method_id: id },
      stranger.options,
    );
    expect(naming).toMatchObject({ status: 404, body: { details: { resource: 'payment_method' } } });
    expect(await defaultsIn(service, user.options)).toEqual([id]);
  });

  test('can pay several payments', async () => {
    const user = await signIn(service);
    const { id } = await saveMethod(service, user.options, { alias: 'Work' });
    for (const total_cents of [700, 800]) {
      const payment = await createIntent(service, user, { total_cents, payment_method_id: id });
      expect(payment).toMatchObject({ status: 'created', payment_method_id: id });
      expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
      const shown = (await service.get(`/payments/${payment.id}?include=payment_method`, user.options)).body.data;
      expect(shown.payment_method).toEqual({
        id,
        payment_type: 'card',
        wallet_type: null,
        card_brand: 'visa',
        last_four: '4242',
        expiry_month: '12',
        expiry_year: expect.any(String),
        alias: 'Work',
      });
    }
  });

  test('pays an older intent if the confirm names the method', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    expect(payment.customer_id).toBeNull();
    const { id } = await saveMethod(service, user.options);
    const confirmed = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: id } });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await read(service, payment.id, user.options)).toMatchObject({ payment_method_id: id });
  });

  test('pays an intent without a customer', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const { id } = await saveMethod(service, user.options);
    const updated = await service.put(`/payments/intents/${payment.id}`, { payment_method_id: id }, user.options);
    expect(updated).toMatchObject({ status: 200, body: { payment_method_id: id, status: 'created' } });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
  });
});

describe('an update of a payment method', () => {
  test('changes alias, billing address and default, and leaves unnamed fields', async () => {
    const user = await signIn(service);
    const address = await createAddress(service, user.options);
    const method = await saveMethod(service, user.options, { alias: 'Old' });
    await service.advance(5);
    const later = { updated_at: new Date(service.now()).toISOString() };
    expect((await put(user, method.id, { alias: 'New' })).body).toEqual({ ...method, alias: 'New', ...later });
    const linked = await put(user, method.id, { billing_address_id: address.id, is_default: true });
    expect(linked.body).toEqual({
      ...method,
      alias: 'New',
      billing_address_id: address.id,
      is_default: true,
      ...later,
    });
    const cleared = await put(user, method.id, { alias: null, billing_address_id: null });
    expect(cleared.body).toEqual({ ...method, alias: null, is_default: true, ...later });
    expect((await put(user, method.id, { alias: '' })).body.alias).toBeNull();
  });

  test('writes nothing if nothing changes', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options, { alias: 'Same' });
    await service.advance(5);
    for (const same of [{}, { alias: '' }, { alias: 'Same' }, { billing_address_id: null }, { is_default: false }]) {
      expect(await put(user, method.id, same)).toMatchObject({ status: 200, body: method });
    }
    expect(await storedRecord(service, 'PM', method.id)).toMatchObject({ version: 1 });
  });

  test.each([
    [{ alias: 7 }, 'alias'],
    [{ alias: 'a'.repeat(101) }, 'alias'],
    [{ is_default: 'yes' }, 'is_default'],
    [{ billing_address_id: 7 }, 'billing_address_id'],
  ])('is refused with %j', async (fields, path) => {
    const user = await signIn(service);
    const { id } = await saveMethod(service, user.options);
    const answer = await put(user, id, fields);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual([path]);
  });
});

describe('the default payment method', () => {
  test('is the most recently set method, by any route', async () => {
    const user = await signIn(service);
    const [a, b, c] = [
      await saveMethod(service, user.options),
      await saveMethod(service, user.options),
      await saveMethod(service, user.options, { is_default: true }),
    ];
    expect(await defaultsIn(service, user.options)).toEqual([c.id]);
    const set = await setDefault(user, a.id);
    expect(set).toMatchObject({ status: 200, body: { ...a, is_default: true } });
    expect(await defaultsIn(service, user.options)).toEqual([a.id]);
    await put(user, b.id, { is_default: true });
    expect(await defaultsIn(service, user.options)).toEqual([b.id]);
    for (const { id } of [a, b, c]) {
      expect((await service.get(`/payment-methods/${id}`, user.options)).body.is_default).toBe(id === b.id);
    }
  });

  test('is absent until it is set and after it is cleared', async () => {
    const user = await signIn(service);
    const [a, b] = [await saveMethod(service, user.options), await saveMethod(service, user.options)];
    expect(await defaultsIn(service, user.options)).toEqual([]);
    await setDefault(user, a.id);
    expect((await put(user, b.id, { is_default: false })).body.is_default).toBe(false);
    expect(await defaultsIn(service, user.options)).toEqual([a.id]);
    expect((await put(user, a.id, { is_default: false })).body.is_default).toBe(false);
    expect(await defaultsIn(service, user.options)).toEqual([]);
  });

  test('is one method after fifty concurrent changes', async () => {
    const user = await signIn(service);
    const methods = await Promise.all(Array.from({ length: 10 }, () => saveMethod(service, user.options)));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => setDefault(user, methods[index % 10].id)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const chosen = await defaultsIn(service, user.options);
    expect(chosen).toHaveLength(1);
    const single = await Promise.all(methods.map(({ id }) => service.get(`/payment-methods/${id}`, user.options)));
    expect(single.filter(({ body }) => body.is_default).map(({ body }) => body.id)).toEqual(chosen);
  });

  test('is one method after many concurrent creates with is_default', async () => {
    const user = await signIn(service);
    await createCustomer(service, user.options);
    await Promise.all(Array.from({ length: 10 }, () => saveMethod(service, user.options, { is_default: true })));
    expect(await defaultsIn(service, user.options)).toHaveLength(1);
  });

  test('passes to the newest remaining method if the default is deleted', async () => {
    const user = await signIn(service);
    const made: ParsedJson[] = [];
    for (let count = 0; count < 3; count += 1) {
      made.push(await saveMethod(service, user.options));
      await service.advance(1);
    }
    const [oldest, middle, newest] = made;
    await setDefault(user, middle.id);
    expect((await remove(user, middle.id)).status).toBe(204);
    expect((await service.get(`/payment-methods/${newest.id}`, user.options)).body.is_default).toBe(true);
    expect(await defaultsIn(service, user.options)).toEqual([newest.id]);
    await remove(user, newest.id);
    expect(await defaultsIn(service, user.options)).toEqual([oldest.id]);
    await remove(user, oldest.id);
    expect(await defaultsIn(service, user.options)).toEqual([]);
    const next = await saveMethod(service, user.options);
    expect(await defaultsIn(service, user.options)).toEqual([]);
    expect(next.is_default).toBe(false);
  });

  test('stays the same if another method is deleted', async () => {
    const user = await signIn(service);
    const [a, b] = [
      await saveMethod(service, user.options, { is_default: true }),
      await saveMethod(service, user.options),
    ];
    await remove(user, b.id);
    expect(await defaultsIn(service, user.options)).toEqual([a.id]);
  });

  test('is not set again by a repeated request with the same Idempotency-Key', async () => {
    const user = await signIn(service);
    const [a, b] = [await saveMethod(service, user.options), await saveMethod(service, user.options)];
    const keyed = { ...user.options, idempotencyKey: 'default' };
    const first = await service.post(`/payment-methods/${a.id}/set-default`, {}, keyed);
    await setDefault(user, b.id);
    const again = await service.post(`/payment-methods/${a.id}/set-default`, {}, keyed);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await defaultsIn(service, user.options)).toEqual([b.id]);
  });
});

describe('a deleted payment method', () => {
  test('is detached at the provider, and then gets 404', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    const answer = await remove(user, method.id);
    expect(answer).toMatchObject({ status: 204, body: undefined });
    expect(await methodAtProvider(service, method.provider_payment_method_id)).toMatchObject({ customer: null });
    await service.settle();
    expect((await service.get(`/payment-methods/${method.id}`, user.options)).status).toBe(404);
    expect((await remove(user, method.id)).status).toBe(404);
    expect(await partitionOf(service, `PM#${method.id}`)).toEqual([]);
    expect(await partitionOf(service, `REF#provider_a#${method.provider_payment_method_id}`)).toEqual([]);
    const naming = { total_cents: 100, currency: 'USD', payment_method_id: method.id };
    expect(await service.post('/payments/intents', naming, user.options)).toMatchObject({ status: 404 });
  });

  test('can be deleted even if already detached at the provider', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    await service.webhookMode('drop');
    await service.request(
      'POST',
      `/_local/providers/stripe/v1/payment_methods/${method.provider_payment_method_id}/detach`,
      {
        headers: {
          authorization: 'Bearer sk_test_local_provider_a',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: '',
      },
    );
    await service.webhookMode('normal');
    expect((await remove(user, method.id)).status).toBe(204);
  });

  test('disappears from its payments, which then have no method', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    const payment = await createIntent(service, user, { payment_method_id: method.id });
    await confirm(service, payment.id, user.options);
    await remove(user, method.id);
    const { data } = (await service.get(`/payments/${payment.id}?include_pm=true`, user.options)).body;
    expect(data).toMatchObject({ status: 'succeeded', payment_method_id: method.id, payment_method: null });
  });
});
