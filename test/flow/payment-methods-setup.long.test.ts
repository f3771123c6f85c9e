/** @module Cards that require the payer's authentication before Stripe saves them. */

import { afterEach, describe, expect, test } from 'vitest';
import { PUBLISHABLE_KEY } from '../../infra/local/machine/environment.ts';
import { intentBody } from '../builders/intent.ts';
import { methodBody, rawCardBody } from '../builders/payer.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { confirm, createIntent, IMPATIENT, itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import {
  company,
  createCustomer,
  defaultsIn,
  guestWithMethod,
  methodAtProvider,
  outcomesOf,
  saveMethod,
  storedRecord,
} from './payers.ts';
import type { MethodBody, ParsedJson } from './routes.ts';
import { patch, subscribe, trySubscribe } from './subscribers.ts';

const service = withHost({ frozen: true, env: { ...IMPATIENT, ALLOW_RAW_CARDS: 'true' } });

const ASKS = 'pm_card_authenticationRequiredOnSetup';
const NOT_SET_UP = { status: 409, body: { success: false, code: 'INVALID_STATE' } };

afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const newUser = (): Promise<User> => signIn(service, { expires_in: 5 * DAY_SECONDS });
const save = (options: RequestOptions, fields = {}) =>
  saveMethod(service, options, { provider_payment_method_token: ASKS, ...fields });
const readMethod = (id: string, options: RequestOptions) => service.get(`/payment-methods/${id}`, options);
const stateOf = async (id: string, options: RequestOptions) => (await readMethod(id, options)).body;
const removeMethod = (id: string, options: RequestOptions) =>
  service.request('DELETE', `/payment-methods/${id}`, options);
const setDefault = (id: string, options: RequestOptions) =>
  service.post(`/payment-methods/${id}/set-default`, {}, options);

/** The payer authenticates at the bank, and the provider's events are delivered. */
const authenticate = async (id: string, outcome: 'success' | 'failure' = 'success'): Promise<void> => {
  await service.authenticateMethod(id, outcome);
  await service.settle();
};

const setupIdOf = ({ client_secret }: { readonly client_secret: string }): string =>
  client_secret.split('_secret_')[0] ?? '';

/** Confirms the set-up like a browser page, with the publishable key and the client secret. */
const confirmSetup = (method: MethodBody, card: string) =>
  service.request('POST', `/_local/providers/stripe/v1/setup_intents/${setupIdOf(method)}/confirm`, {
    headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_secret: method.client_secret, payment_method: card }).toString(),
  });

/** The ids of the methods attached to this method's customer at the provider. */
const attachedFor = async ({ customer_id }: ParsedJson, options: RequestOptions): Promise<string[]> => {
  const { body: customer } = await service.get(`/customers/${customer_id}`, options);
  const { payment_methods } = await service.ledger();
  return payment_methods.filter((held) => held.customer === customer.provider_customer_id).map(({ id }) => id);
};

const requestsTo = async (path: string): Promise<number> =>
  (await service.providerRequests()).filter((call) => call.path.includes(path)).length;

const subscriberWith = (user: User, method: MethodBody) => ({
  options: user.options,
  names: { customer_id: method.customer_id, payment_method_id: method.id, provider_id: 'provider_a' },
});

/** Creates a payment and confirms it with this method. */
const chargeWith = async (user: User, method: { readonly id: string }) => {
  const payment = await createIntent(service, user);
  return confirm(service, payment.id, { ...user.options, body: { payment_method_id: method.id } });
};

describe('a card whose saving requires authentication', () => {
  test('is saved as pending, with the data for the browser, and is not attached yet', async () => {
    const user = await newUser();
    await service.clearProviderRequests();
    const method = await save(user.options, { alias: 'Home' });
    expect(method).toMatchObject({
      setup_status: 'requires_action',
      next_action: { type: 'use_provider_sdk' },
      client_secret: expect.stringMatching(/^seti_.+_secret_.+$/),
      provider_payment_method_id: expect.stringMatching(/^pm_/),
      card_last_four: '3155',
      alias: 'Home',
      is_default: false,
    });
    expect(await requestsTo('/setup_intents')).toBe(1);
    expect(await requestsTo('/attach')).toBe(0);
    expect(await attachedFor(method, user.options)).toEqual([]);
    expect(await stateOf(method.id, user.options)).toEqual(method);
  });

  test('is set up once its payer authenticates, and can then be charged off-session', async () => {
    const user = await newUser();
    const method = await save(user.options);
    await authenticate(method.id);
    const ready = await stateOf(method.id, user.options);
    const { client_secret, next_action, ...rest } = method;
    expect(ready).toEqual({ ...rest, setup_status: 'succeeded', updated_at: expect.any(String) });
    expect(await attachedFor(method, user.options)).toEqual([method.provider_payment_method_id]);
    expect(await storedRecord(service, 'PM', method.id)).not.toHaveProperty('setup');
    const who = subscriberWith(user, method);
    const subscription = await subscribe(service, who, { trial_days: 1 });
    await service.advance(DAY_SECONDS + 2 * HOUR_SECONDS);
    const { body } = await service.get(`/subscriptions/${subscription.id}`, user.options);
    expect(body).toMatchObject({ status: 'active', billing_status: 'active' });
  });

  test('fails if its payer fails authentication, and another attempt in the browser completes the set-up', async () => {
    const user = await newUser();
    const method = await save(user.options);
    await authenticate(method.id, 'failure');
    const failed = await stateOf(method.id, user.options);
    expect(failed).toMatchObject({ setup_status: 'failed', client_secret: method.client_secret });
    expect(failed).not.toHaveProperty('next_action');
    expect(await chargeWith(user, method)).toMatchObject(NOT_SET_UP);
    expect((await confirmSetup(method, method.provider_payment_method_id)).body.status).toBe('requires_action');
    await authenticate(method.id);
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'succeeded' });
    expect(await chargeWith(user, method)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('can be replaced in the browser after a failure by another card, which is then saved', async () => {
    const user = await newUser();
    const method = await save(user.options, { is_default: true });
    await authenticate(method.id, 'failure');
    expect((await confirmSetup(method, 'pm_card_mastercard')).body.status).toBe('succeeded');
    await service.settle();
    const ready = await stateOf(method.id, user.options);
    expect(ready).toMatchObject({ setup_status: 'succeeded', card_last_four: '4444', is_default: true });
    expect(ready.provider_payment_method_id).not.toBe(method.provider_payment_method_id);
    expect(await attachedFor(method, user.options)).toEqual([ready.provider_payment_method_id]);
    expect(await chargeWith(user, method)).toMatchObject({ body: { status: 'succeeded' } });
    expect((await removeMethod(method.id, user.options)).status).toBe(204);
    expect(await attachedFor(method, user.options)).toEqual([]);
  });

  test('can be deleted after an already saved card replaced it, and that card stays', async () => {
    const user = await newUser();
    const saved = await saveMethod(service, user.options);
    const method = await save(user.options);
    await authenticate(method.id, 'failure');
    await service.webhookMode('drop');
    await confirmSetup(method, saved.provider_payment_method_id);
    expect((await removeMethod(method.id, user.options)).status).toBe(204);
    await service.webhookMode('normal');
    expect(await attachedFor(saved, user.options)).toEqual([saved.provider_payment_method_id]);
    expect(await chargeWith(user, saved)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('loses its former provider id after a replacement in the browser, so that id cannot be charged', async () => {
    const user = await newUser();
    const { provider_payment_method_id: first, ...method } = await save(user.options);
    await authenticate(method.id, 'failure');
    await confirmSetup(method, 'pm_card_mastercard');
    await service.settle();
    const { provider_payment_method_id: second } = await stateOf(method.id, user.options);
    expect(second).not.toBe(first);
    const gone = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
    const again = methodBody({ provider_payment_method_token: first });
    expect(await service.post('/payment-methods', again, user.options)).toMatchObject(gone);
    expect(await chargeWith(user, { id: first })).toMatchObject(gone);
    const other = await newUser();
    expect(await chargeWith(other, { id: first })).toMatchObject(gone);
    expect(await chargeWith(user, { id: second })).toMatchObject({ body: { status: 'succeeded' } });
    expect((await removeMethod(method.id, user.options)).status).toBe(204);
    expect(await chargeWith(other, { id: first })).toMatchObject(gone);
  });

  test('is removed if an already saved card replaces it after a failure', async () => {
    const user = await newUser();
    const saved = await saveMethod(service, user.options, { is_default: true });
    const method = await save(user.options, { is_default: true });
    await authenticate(method.id, 'failure');
    expect((await confirmSetup(method, saved.provider_payment_method_id)).body.status).toBe('succeeded');
    await service.settle();
    expect((await readMethod(method.id, user.options)).status).toBe(404);
    expect((await service.get('/payment-methods', user.options)).body).toEqual([saved]);
    expect(await attachedFor(saved, user.options)).toEqual([saved.provider_payment_method_id]);
  });

  test.each([
    ['a token of one use', { provider_payment_method_token: 'tok_authenticationRequiredOnSetup' }],
    ['its number', rawCardBody({ card_number: '4000002500003155' })],
  ])('also requires authentication if given as %s', async (_, body) => {
    const user = await newUser();
    const { status, body: method } = await service.post(
      '/payment-methods',
      methodBody({ provider_payment_method_token: undefined, ...body }),
      user.options,
    );
    expect({ status, method }).toMatchObject({ status: 201, method: { setup_status: 'requires_action' } });
    await authenticate(method.id);
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'succeeded' });
  });

  test('is the same method if the save is repeated under the same key or with the provider’s id', async () => {
    const user = await newUser();
    const keyed = { ...user.options, idempotencyKey: 'once' };
    const method = await save(keyed, { is_default: true });
    const again = await service.post(
      '/payment-methods',
      methodBody({ provider_payment_method_token: ASKS, is_default: true }),
      keyed,
    );
    expect(again).toMatchObject({ status: 201, body: method });
    const byId = methodBody({ provider_payment_method_token: method.provider_payment_method_id });
    expect(await service.post('/payment-methods', byId, user.options)).toMatchObject({ status: 200, body: method });
    await authenticate(method.id);
    const { body } = await service.post(
      '/payment-methods',
      methodBody({ provider_payment_method_token: ASKS, is_default: true }),
      keyed,
    );
    expect(body).toMatchObject({ id: method.id, setup_status: 'succeeded', is_default: true });
    expect(body).not.toHaveProperty('client_secret');
  });

  test.each(['timeout_after', 'error_500', 'malformed'])(
    'is finished by a retry under the same key, with a single set-up, after %s hid the outcome',
    async (action) => {
      const user = await newUser();
      const keyed = { ...user.options, idempotencyKey: `unclear-${action}` };
      await service.fault({ action, path: '/v1/setup_intents', times: 1 });
      const create = () => service.post('/payment-methods', methodBody({ provider_payment_method_token: ASKS }), keyed);
      expect((await create()).status).toBeGreaterThanOrEqual(502);
      const { status, body: method } = await create();
      expect({ status, method }).toMatchObject({ status: 201, method: { setup_status: 'requires_action' } });
      await authenticate(method.id);
      expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'succeeded' });
      expect(await attachedFor(method, user.options)).toEqual([method.provider_payment_method_id]);
    },
  );
});

describe('a method before its set-up is complete', () => {
  test('cannot start a subscription or replace its method until the set-up is complete', async () => {
    const user = await newUser();
    const old = await saveMethod(service, user.options);
    const method = await save(user.options);
    const subscription = await subscribe(service, subscriberWith(user, old));
    await service.settle();
    await service.clearProviderRequests();
    const started = await trySubscribe(service, subscriberWith(user, method));
    expect(started).toMatchObject(NOT_SET_UP);
    expect(started.body.error).toBe('The payment method is not set up yet; the payer must authenticate first');
    const change = { payment_method_id: method.id };
    expect(await patch(service, subscriberWith(user, old), { id: subscription.id, body: change })).toMatchObject(
      NOT_SET_UP,
    );
    expect(await service.providerRequests()).toEqual([]);
    await authenticate(method.id);
    expect((await trySubscribe(service, subscriberWith(user, method))).status).toBe(201);
    expect(await patch(service, subscriberWith(user, old), { id: subscription.id, body: change })).toMatchObject({
      status: 200,
    });
  });

  test('cannot pay by our id or the provider’s id', async () => {
    const user = await newUser();
    const method = await save(user.options);
    const payment = await createIntent(service, user);
    for (const payment_method_id of [method.id, method.provider_payment_method_id]) {
      expect(await confirm(service, payment.id, { ...user.options, body: { payment_method_id } })).toMatchObject(
        NOT_SET_UP,
      );
      const naming = { payment_method_id, total_cents: 100, currency: 'USD' };
      expect(await service.post('/payments/intents', naming, user.options)).toMatchObject(NOT_SET_UP);
    }
    const { charges } = await service.ledger(payment.id);
    expect(charges).toEqual([]);
  });

  test('is not charged by a payment that named the card before the card was saved', async () => {
    const user = await newUser();
    await createCustomer(service, user.options);
    const card = { type: 'card', 'card[token]': 'tok_authenticationRequiredOnSetup' };
    const { id } = await atStripe(service, 'POST payment_methods', card);
    const payment = await createIntent(service, user, { payment_method_id: id });
    const method = await save(user.options, { provider_payment_method_token: id });
    expect(await confirm(service, payment.id, user.options)).toMatchObject(NOT_SET_UP);
    await authenticate(method.id);
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  });

  test('cannot become the default by any route, and is_default in its create applies after set-up', async () => {
    const user = await newUser();
    const first = await saveMethod(service, user.options, { is_default: true });
    const wanting = await save(user.options, { is_default: true });
    const other = await save(user.options);
    expect(wanting.is_default).toBe(false);
    expect(await setDefault(other.id, user.options)).toMatchObject(NOT_SET_UP);
    const changed = { alias: 'New', is_default: true };
    expect(await service.put(`/payment-methods/${other.id}`, changed, user.options)).toMatchObject(NOT_SET_UP);
    expect(await stateOf(other.id, user.options)).toEqual(other);
    expect(await defaultsIn(service, user.options)).toEqual([first.id]);
    await authenticate(other.id);
    expect(await defaultsIn(service, user.options)).toEqual([first.id]);
    await authenticate(wanting.id);
    expect(await defaultsIn(service, user.options)).toEqual([wanting.id]);
    expect(await setDefault(other.id, user.options)).toMatchObject({ status: 200, body: { is_default: true } });
  });

  test('stays the requested default until is_default: false withdraws the request', async () => {
    const user = await newUser();
    const first = await saveMethod(service, user.options, { is_default: true });
    const [kept, withdrawn] = [
      await save(user.options, { is_default: true }),
      await save(user.options, { is_default: true }),
    ];
    const put = (id: string, fields: object) => service.put(`/payment-methods/${id}`, fields, user.options);
    expect(await put(withdrawn.id, { is_default: false })).toMatchObject({
      status: 200,
      body: { setup_status: 'requires_action', client_secret: withdrawn.client_secret },
    });
    expect(await put(kept.id, { alias: 'Kept' })).toMatchObject({ status: 200, body: { alias: 'Kept' } });
    await authenticate(withdrawn.id);
    expect(await defaultsIn(service, user.options)).toEqual([first.id]);
    await authenticate(kept.id);
    expect(await defaultsIn(service, user.options)).toEqual([kept.id]);
  });

  test('does not replace a deleted default', async () => {
    const user = await newUser();
    const old = await saveMethod(service, user.options);
    const current = await saveMethod(service, user.options, { is_default: true });
    const method = await save(user.options);
    expect((await removeMethod(current.id, user.options)).status).toBe(204);
    expect(await defaultsIn(service, user.options)).toEqual([old.id]);
    expect((await removeMethod(old.id, user.options)).status).toBe(204);
    expect(await defaultsIn(service, user.options)).toEqual([]);
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'requires_action' });
  });
});

describe('the client secret of a set-up', () => {
  test('is shown for 24 h to callers who may change the method, and appears in no list, log or event', async () => {
    const acme = await company(service);
    const method = await save(acme.owner.options, { organization_id: acme.id });
    const secret = method.client_secret;
    const stranger = await newUser();
    expect(await readMethod(method.id, stranger.options)).toMatchObject({ status: 403, body: { success: false } });
    for (const { options } of [acme.admin, acme.billing]) {
      expect(await stateOf(method.id, options)).toMatchObject({ client_secret: secret });
    }
    const forMember = await stateOf(method.id, acme.member.options);
    expect(forMember).toMatchObject({ setup_status: 'requires_action' });
    expect(JSON.stringify(forMember)).not.toContain(secret);
    const { body: list } = await service.get(`/payment-methods?organization_id=${acme.id}`, acme.owner.options);
    expect(list).toMatchObject([{ id: method.id, setup_status: 'requires_action' }]);
    expect(JSON.stringify(list)).not.toContain(secret);
    await authenticate(method.id, 'failure');
    expect(JSON.stringify(await service.busEvents())).not.toContain(secret);
    expect(JSON.stringify(await itemsOf(service, 'LOG#'))).not.toContain(secret);
  });

  test('is shown for a guest’s method to the guest with the token', async () => {
    const guest = await guestWithMethod(service, 'asked@example.com', { provider_payment_method_token: ASKS });
    const secret = guest.method.client_secret;
    expect(await stateOf(guest.method.id, guest.options)).toMatchObject({ client_secret: secret });
    const other = await guestWithMethod(service, 'other@example.com');
    expect((await readMethod(guest.method.id, other.options)).status).toBe(404);
    await authenticate(guest.method.id);
    expect(await stateOf(guest.method.id, guest.options)).toMatchObject({ setup_status: 'succeeded' });
  });
});

describe('a set-up', () => {
  test.each(['duplicate', 'reorder'] as const)('ends the same with webhooks in the mode %s', async (mode) => {
    const user = await newUser();
    const [passed, refused] = [await save(user.options, { is_default: true }), await save(user.options)];
    await service.webhookMode(mode, 7);
    await service.authenticateMethod(refused.id, 'failure');
    await service.authenticateMethod(passed.id);
    await service.advance(HOUR_SECONDS);
    expect(await stateOf(passed.id, user.options)).toMatchObject({ setup_status: 'succeeded', is_default: true });
    expect(await stateOf(refused.id, user.options)).toMatchObject({ setup_status: 'failed', is_default: false });
    expect(await storedRecord(service, 'PM', passed.id)).toMatchObject({ version: 2 });
  });

  test('ends only after a read at the provider, never from an event alone', async () => {
    const user = await newUser();
    const method = await save(user.options);
    const id = setupIdOf(method);
    const sendEvent = async (type: string, metadata: object = { payment_method_id: method.id }) => {
      const object = { id, object: 'setup_intent', status: 'succeeded', metadata };
      expect(await service.sendEvent({ type, object, vocabulary: 'native' })).toMatchObject({ status: 200 });
      await service.settle();
    };
    await sendEvent('setup_intent.succeeded');
    expect(await stateOf(method.id, user.options)).toEqual(method);
    await authenticate(method.id);
    await sendEvent('setup_intent.setup_failed');
    await sendEvent('setup_intent.succeeded', {});
    await sendEvent('setup_intent.succeeded', { payment_method_id: 'pmt_000000000000000000000000' });
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'succeeded' });
    const reasonsOf = async (object: string) =>
      (await outcomesOf(service, object)).map(({ response }) => response.reason);
    const reasons = [...(await reasonsOf(id)), ...(await reasonsOf(method.provider_payment_method_id))];
    const count = (reason: string): number => reasons.filter((one) => one === reason).length;
    expect(count('payment method set up')).toBe(1);
    expect(count('no change')).toBeGreaterThan(0);
    expect(count('no such payment method here')).toBe(2);
  });

  test('ignores an event for another set-up', async () => {
    const user = await newUser();
    const method = await save(user.options);
    const object = { id: 'seti_other', object: 'setup_intent', metadata: { payment_method_id: method.id } };
    await service.sendEvent({ type: 'setup_intent.succeeded', object, vocabulary: 'native' });
    await service.settle();
    expect(await stateOf(method.id, user.options)).toEqual(method);
    expect(await outcomesOf(service, 'seti_other')).toMatchObject([{ response: { reason: 'no such open set-up' } }]);
  });

  test('is completed by due work after 24 h if its event is lost', async () => {
    const user = await newUser();
    await service.webhookMode('drop');
    const method = await save(user.options, { is_default: true });
    await authenticate(method.id);
    await service.advance(DAY_SECONDS - MINUTE_SECONDS);
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'requires_action' });
    await service.advance(3 * MINUTE_SECONDS);
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'succeeded', is_default: true });
    expect(await chargeWith(user, method)).toMatchObject({ body: { status: 'succeeded' } });
    expect((await storedRecord(service, 'PM', method.id)).due_at).toBeUndefined();
  });

  test.each(['requires_action', 'failed'])(
    'is removed with its method after 24 h without completion (%s), and never attaches later',
    async (status) => {
      const user = await newUser();
      const method = await save(user.options);
      if (status === 'failed') await authenticate(method.id, 'failure');
      await service.advance(DAY_SECONDS - 1);
      expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: status });
      await service.advance(3 * MINUTE_SECONDS);
      expect((await readMethod(method.id, user.options)).status).toBe(404);
      expect((await service.get('/payment-methods', user.options)).body).toEqual([]);
      expect((await confirmSetup(method, 'pm_card_visa')).status).toBe(400);
      await service.settle();
      expect(await attachedFor(method, user.options)).toEqual([]);
      // The provider would still charge the method, so no payment may use the method's provider id.
      const thief = await newUser();
      const named = intentBody({ payment_method_id: method.provider_payment_method_id });
      for (const who of [thief, user]) {
        expect(await service.post('/payments/intents', named, who.options)).toMatchObject({ status: 404 });
      }
    },
  );

  test('is kept after 24 h, without its secret, while the provider is unavailable', async () => {
    const user = await newUser();
    const method = await save(user.options);
    await service.webhookMode('drop');
    await authenticate(method.id);
    await service.fault({ action: 'error_500', path: '/v1/setup_intents', times: 1_000 });
    await service.advance(DAY_SECONDS + HOUR_SECONDS);
    const waiting = await stateOf(method.id, user.options);
    expect(waiting).toMatchObject({ setup_status: 'requires_action' });
    expect(waiting).not.toHaveProperty('client_secret');
    const stored = await storedRecord(service, 'PM', method.id);
    expect(JSON.stringify(stored)).not.toContain(method.client_secret);
    await service.clearFaults();
    await service.advance(HOUR_SECONDS);
    expect(await stateOf(method.id, user.options)).toMatchObject({ setup_status: 'succeeded' });
  });

  test('is removed with its method after a cancellation at Stripe', async () => {
    const user = await newUser();
    const method = await save(user.options);
    await atStripe(service, `POST setup_intents/${setupIdOf(method)}/cancel`);
    await service.advance(DAY_SECONDS + 3 * MINUTE_SECONDS);
    expect((await readMethod(method.id, user.options)).status).toBe(404);
  });
});

describe('a deletion before a set-up completes', () => {
  test('cancels the set-up first, so nothing is attached', async () => {
    const user = await newUser();
    const method = await save(user.options);
    expect((await removeMethod(method.id, user.options)).status).toBe(204);
    expect((await readMethod(method.id, user.options)).status).toBe(404);
    await expect(service.authenticateMethod(method.id)).rejects.toThrow('409');
    await service.settle();
    expect(await attachedFor(method, user.options)).toEqual([]);
  });

  test('detaches the method if the payer authenticates first', async () => {
    const user = await newUser();
    const method = await save(user.options);
    await service.webhookMode('drop');
    await authenticate(method.id);
    expect(await attachedFor(method, user.options)).toHaveLength(1);
    expect((await removeMethod(method.id, user.options)).status).toBe(204);
    expect(await attachedFor(method, user.options)).toEqual([]);
  });

  test('detaches the new card if the payer replaces the card first', async () => {
    const user = await newUser();
    const method = await save(user.options);
    await authenticate(method.id, 'failure');
    await service.webhookMode('drop');
    await confirmSetup(method, 'pm_card_mastercard');
    expect((await removeMethod(method.id, user.options)).status).toBe(204);
    expect(await attachedFor(method, user.options)).toEqual([]);
  });

  test.each([
    ['timeout_after', 504],
    ['reset', 503],
    ['error_500', 502],
  ] as const)('fails if %s hides the outcome of the cancellation, and a retry completes it', async (action, status) => {
    const user = await newUser();
    const method = await save(user.options);
    await service.fault({ action, path: '/cancel', times: action === 'reset' ? 2 : 1 });
    expect((await removeMethod(method.id, user.options)).status).toBe(status);
    await service.clearFaults();
    expect([204, 404]).toContain((await removeMethod(method.id, user.options)).status);
    expect((await readMethod(method.id, user.options)).status).toBe(404);
    expect((await confirmSetup(method, 'pm_card_visa')).status).toBe(400);
    expect(await attachedFor(method, user.options)).toEqual([]);
  });

  test('ends the set-up when the customer is deleted', async () => {
    const user = await newUser();
    const customer = await createCustomer(service, user.options);
    const method = await save(user.options);
    expect((await service.request('DELETE', `/customers/${customer.id}`, user.options)).status).toBe(204);
    expect((await readMethod(method.id, user.options)).status).toBe(404);
    expect((await confirmSetup(method, 'pm_card_visa')).status).toBe(400);
    expect(await methodAtProvider(service, method.provider_payment_method_id)).toMatchObject({ customer: null });
  });
});

test.each([
  ['provider_a', 'pm_card_visa'],
  ['provider_b', 'SIM-OK'],
  ['provider_c', 'cnon:card-nonce-ok'],
])(
  'a method of %s that needs no authentication is set up immediately',
  async (provider_id, provider_payment_method_token) => {
    const user = await newUser();
    const method = await saveMethod(service, user.options, {
      provider_id,
      provider_payment_method_token,
      is_default: true,
    });
    expect(method).toMatchObject({ setup_status: 'succeeded', is_default: true });
    expect(method).not.toHaveProperty('client_secret');
    expect((await service.get('/payment-methods', user.options)).body).toMatchObject([{ setup_status: 'succeeded' }]);
  },
);
