/**
 * @module A payment method is charged only for its owner, whatever field names it now and whatever user has named it
 * before.
 */

import { beforeEach, describe, expect, test } from 'vitest';
import { PUBLISHABLE_KEY } from '../../infra/local/machine/environment.ts';
import { intentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { confirm, confirmInBrowser, createIntent, eventsOf, read, signIn, timesCharged, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { type Company, company, createCustomer, saveMethod } from './payers.ts';
import type { PaymentBody } from './routes.ts';
import { command, OWN_BILLING, payer, subscribe } from './subscribers.ts';
import { takenSince } from './use/charges.ts';

const service = withHost({ frozen: true, env: OWN_BILLING });

const TOKENS = {
  provider_a: 'pm_card_visa',
  provider_b: 'SIM-OK',
  provider_c: 'cnon:card-nonce-ok',
} as const;
const SLOTS = ['provider_a', 'provider_b', 'provider_c'] as const;
type Slot = (typeof SLOTS)[number];

const at = (slot: Slot) => ({ provider_id: slot, provider_payment_method_token: TOKENS[slot] });
const PERSONAL = { organization_id: null } as const;

let acme: Company;
let stranger: User;
beforeEach(async () => {
  acme = await company(service);
  stranger = await signIn(service);
});

const methodOfAcme = (slot: Slot) => saveMethod(service, acme.owner.options, { ...at(slot), organization_id: acme.id });

/** The provider calls since the journal was cleared, except reads. */
const changingCalls = async () =>
  (await service.providerRequests()).filter(({ method, path }) => method !== 'GET' && !path.endsWith('/oauth2/token'));

const expectNothingDone = async (known: number): Promise<void> => {
  expect(await changingCalls()).toEqual([]);
  expect(await takenSince(service)).toHaveLength(known);
};

const begin = async (): Promise<number> => {
  await service.settle();
  await service.clearProviderRequests();
  return (await takenSince(service)).length;
};

const methodsOf = async (options: RequestOptions, query = ''): Promise<string[]> =>
  (await service.get(`/payment-methods${query}`, options)).body.map(({ id }) => id);

const refusal = (status: number, code: string) => ({ status, body: { code } });
const DENIED = refusal(403, 'INSUFFICIENT_PERMISSIONS');
const NO_MEMBER = refusal(403, 'ORGANIZATION_ACCESS_DENIED');
const NOT_FOUND = refusal(404, 'RESOURCE_NOT_FOUND');
const NO_METHOD = refusal(400, 'PAYMENT_METHOD_REQUIRED');
const INVALID = refusal(400, 'VALIDATION_ERROR');

/** Checks that the organization can still pay with its own method. */
const expectAcmePays = async (slot: Slot, methodId: string): Promise<void> => {
  const fields = { provider_id: slot, payment_method_id: methodId, organization_id: acme.id };
  const payment = await createIntent(service, acme.owner, fields);
  const answer = await confirm(service, payment.id, acme.owner.options);
  expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
};

describe.each(SLOTS)('an organization’s method, named by its provider’s id at %s', (slot) => {
  const use = (options: RequestOptions, id: string, fields: object = PERSONAL) =>
    service.post('/payments/intents', intentBody({ provider_id: slot, payment_method_id: id, ...fields }), options);

  test('cannot be charged for a read-only member’s own payment', async () => {
    await methodOfAcme(slot);
    const { body } = await service.get(`/payment-methods?organization_id=${acme.id}`, acme.member.options);
    const id = present(body[0]).provider_payment_method_id;
    const known = await begin();
    expect(await use(acme.member.options, id)).toMatchObject(DENIED);
    await expectNothingDone(known);
  });

  test('cannot be charged for a stranger or for a guest without an account', async () => {
    const { provider_payment_method_id: id } = await methodOfAcme(slot);
    const known = await begin();
    expect(await use(stranger.options, id)).toMatchObject(NO_MEMBER);
    const guest = await use({}, id, { guest_data: { email: 'guessing@example.com', name: 'Gus' } });
    expect([403, 404]).toContain(guest.status);
    await expectNothingDone(known);
  });

  test('cannot be charged by a confirmation or an update that names the method', async () => {
    const { provider_payment_method_id: id } = await methodOfAcme(slot);
    const payment = await createIntent(service, acme.member, { provider_id: slot, ...PERSONAL });
    const known = await begin();
    const named = { payment_method_id: id };
    expect(await confirm(service, payment.id, { ...acme.member.options, body: named })).toMatchObject(DENIED);
    expect(await service.put(`/payments/intents/${payment.id}`, named, acme.member.options)).toMatchObject(DENIED);
    expect(await read(service, payment.id, acme.member.options)).toMatchObject({ status: 'requires_payment_method' });
    await expectNothingDone(known);
  });

  test('cannot be saved by an attacker through setup_future_usage', async () => {
    const method = await methodOfAcme(slot);
    const known = await begin();
    const saving = { ...PERSONAL, setup_future_usage: 'off_session' };
    for (const [user, expected] of [
      [acme.member, DENIED],
      [stranger, NO_MEMBER],
    ] as const) {
      expect(await use(user.options, method.provider_payment_method_id, saving)).toMatchObject(expected);
      expect(await methodsOf(user.options)).toEqual([]);
      expect((await service.get('/customers', user.options)).body).toEqual([]);
    }
    await expectNothingDone(known);
    await expectAcmePays(slot, method.id);
  });

  test('cannot be saved by an attacker as their own method', async () => {
    const method = await methodOfAcme(slot);
    const body = { ...at(slot), provider_payment_method_token: method.provider_payment_method_id, ...PERSONAL };
    const known = await begin();
    for (const [user, expected] of [
      [acme.member, DENIED],
      [acme.billing, DENIED],
      [stranger, NO_MEMBER],
    ] as const) {
      expect(await service.post('/payment-methods', body, user.options)).toMatchObject(expected);
      expect(await methodsOf(user.options)).toEqual([]);
    }
    await expectNothingDone(known);
    expect(await methodsOf(acme.owner.options, `?organization_id=${acme.id}`)).toEqual([method.id]);
    await expectAcmePays(slot, method.id);
  });

  test('is used as the existing record for a permitted caller', async () => {
    const method = await methodOfAcme(slot);
    const body = { ...at(slot), provider_payment_method_token: method.provider_payment_method_id };
    const saved = await service.post('/payment-methods', { ...body, organization_id: acme.id }, acme.billing.options);
    expect(saved).toMatchObject({ status: 200, body: { id: method.id } });
    const created = await use(acme.billing.options, method.provider_payment_method_id, { organization_id: acme.id });
    expect(created).toMatchObject({ status: 201, body: { payment_method_id: method.id } });
    await expectAcmePays(slot, method.provider_payment_method_id);
  });
});

describe.each(SLOTS)('a personal method at %s', (slot) => {
  test('is unknown to all other callers, even by the provider’s id', async () => {
    const { provider_payment_method_id: id } = await saveMethod(service, stranger.options, at(slot));
    const known = await begin();
    const body = intentBody({ provider_id: slot, payment_method_id: id, ...PERSONAL });
    expect(await service.post('/payments/intents', body, acme.owner.options)).toMatchObject(NOT_FOUND);
    const token = { ...at(slot), provider_payment_method_token: id };
    expect(await service.post('/payment-methods', token, acme.owner.options)).toMatchObject(NOT_FOUND);
    await expectNothingDone(known);
  });

  test('leaves the payment unpaid but not failed if the method is deleted', async () => {
    const method = await saveMethod(service, stranger.options, at(slot));
    const fields = { provider_id: slot, payment_method_id: method.id };
    const payment = await createIntent(service, stranger, fields);
    const { status } = await service.request('DELETE', `/payment-methods/${method.id}`, stranger.options);
    expect(status).toBe(204);
    const known = await begin();
    expect(await confirm(service, payment.id, stranger.options)).toMatchObject(NO_METHOD);
    const named = { payment_method_id: method.id };
    expect(await confirm(service, payment.id, { ...stranger.options, body: named })).toMatchObject(NOT_FOUND);
    await service.settle();
    expect(await read(service, payment.id, stranger.options)).toMatchObject({ status: 'created' });
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created']);
    await expectNothingDone(known);
    // The service does not know the provider's id of the detached method, so the provider refuses the method.
    const byProvider = { payment_method_id: method.provider_payment_method_id };
    expect(await confirm(service, payment.id, { ...stranger.options, body: byProvider })).toMatchObject(INVALID);
    expect(await timesCharged(service, payment.id)).toBe(0);
    const token = { payment_method_id: TOKENS[slot] };
    expect(await confirm(service, payment.id, { ...stranger.options, body: token })).toMatchObject({ status: 200 });
  });
});

describe('an organization’s card', () => {
  test('cannot pay a personal payment, even of a billing member', async () => {
    const { id } = await methodOfAcme('provider_a');
    const body = intentBody({ payment_method_id: id, ...PERSONAL });
    const known = await begin();
    expect(await service.post('/payments/intents', body, acme.billing.options)).toMatchObject(DENIED);
    const payment = await createIntent(service, acme.billing, PERSONAL);
    const path = `/payments/intents/${payment.id}`;
    expect(await service.put(path, { payment_method_id: id }, acme.billing.options)).toMatchObject(DENIED);
    expect(
      await confirm(service, payment.id, { ...acme.billing.options, body: { payment_method_id: id } }),
    ).toMatchObject(DENIED);
    expect(await takenSince(service)).toHaveLength(known);
  });

  test('cannot pay for another organization of the same owner', async () => {
    const { id } = await methodOfAcme('provider_a');
    const made = await service.post('/organizations', { name: 'Beta' }, acme.owner.options);
    const organization_id = made.body.data.id;
    const known = await begin();
    const body = intentBody({ payment_method_id: id, organization_id });
    expect(await service.post('/payments/intents', body, acme.owner.options)).toMatchObject(DENIED);
    const payment = await createIntent(service, acme.owner, { organization_id });
    expect(
      await confirm(service, payment.id, { ...acme.owner.options, body: { payment_method_id: id } }),
    ).toMatchObject(DENIED);
    expect(await takenSince(service)).toHaveLength(known);
  });
});

describe('a member’s own card on an organization’s payment', () => {
  const lent = async (): Promise<{ payment: PaymentBody; path: string }> => {
    const { id } = await saveMethod(service, acme.billing.options);
    const fields = { payment_method_id: id, organization_id: acme.id };
    const payment = await createIntent(service, acme.billing, fields);
    return { payment, path: `/payments/intents/${payment.id}` };
  };

  test('lets only that member charge the payment or raise its amount', async () => {
    const { payment, path } = await lent();
    const known = await begin();
    expect(await service.put(path, { total_cents: 99_900 }, acme.owner.options)).toMatchObject(DENIED);
    expect(await confirm(service, payment.id, acme.owner.options)).toMatchObject(DENIED);
    await expectNothingDone(known);
    const shown = await read(service, payment.id, acme.owner.options);
    expect(shown).toMatchObject({ status: 'created', total_cents: payment.total_cents });
    const raised = await service.put(path, { total_cents: 99_900 }, acme.billing.options);
    expect(raised).toMatchObject({ status: 200, body: { total_cents: 99_900 } });
    expect(await confirm(service, payment.id, acme.billing.options)).toMatchObject({ status: 200 });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test.each(['when it is confirmed', 'by an update before'])(
    'is replaced by a method that the owner names %s',
    async (when) => {
      const { payment, path } = await lent();
      const own = await methodOfAcme('provider_a');
      const named = { payment_method_id: own.id };
      const isUpdated = when === 'by an update before';
      if (isUpdated) expect(await service.put(path, named, acme.owner.options)).toMatchObject({ status: 200 });
      const answer = await confirm(service, payment.id, { ...acme.owner.options, body: isUpdated ? {} : named });
      expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
      const taken = (await takenSince(service)).at(-1);
      expect(taken).toMatchObject({ amount: payment.total_cents, method: own.provider_payment_method_id });
    },
  );

  test('is not charged by a browser that has the client secret but names no method', async () => {
    const { payment } = await lent();
    const shown = await read(service, payment.id, acme.owner.options);
    const known = await begin();
    const path = `/_local/providers/stripe/v1/payment_intents/${shown.provider_payment_id}/confirm`;
    await service.request('POST', path, {
      headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_secret: shown.client_secret ?? '' }).toString(),
    });
    expect(await takenSince(service)).toHaveLength(known);
  });

  test.each([
    ['the payment names another of the member’s cards', true, DENIED],
    ['the payment names no card', false, NO_METHOD],
  ])('is not charged by the owner after the member tried a card in the browser (%s)', async (_, names, refused) => {
    const { options } = acme.billing;
    const customer = await createCustomer(service, options, PERSONAL);
    const named = await saveMethod(service, options);
    const tried = await saveMethod(service, options, { provider_payment_method_token: 'pm_card_chargeCustomerFail' });
    const payment = await createIntent(service, acme.billing, {
      organization_id: acme.id,
      ...(names && { payment_method_id: named.id }),
    });
    // The intent names the member's customer, as after an earlier attempt with the member's card.
    const fields = { customer: customer.provider_customer_id };
    await atStripe(service, `POST payment_intents/${payment.provider_payment_id}`, fields);
    await service.webhookMode('drop');
    await confirmInBrowser(service, payment, tried.provider_payment_method_id);
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, options);
    await service.webhookMode('normal');
    expect(synced.body).toMatchObject({ status: 'failed', payment_method_id: names ? named.id : null });
    const known = await begin();
    expect(await confirm(service, payment.id, acme.owner.options)).toMatchObject(refused);
    await expectNothingDone(known);
  });

  test('does not let the member’s personal payment name the organization’s customer', async () => {
    const { body: customer } = await service.post(
      '/customers',
      { provider_id: 'provider_a', email: 'billing@acme.example', organization_id: acme.id },
      acme.billing.options,
    );
    const named = { customer_id: customer.id };
    const denied = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
    const body = { total_cents: 2_500, currency: 'USD', organization_id: null, ...named };
    expect(await service.post('/payments/intents', body, acme.billing.options)).toMatchObject(denied);
    const own = await createIntent(service, acme.billing, { organization_id: null });
    expect(await service.put(`/payments/intents/${own.id}`, named, acme.billing.options)).toMatchObject(denied);
  });

  test('is not used if the owner changes only the description', async () => {
    const { path } = await lent();
    const answer = await service.put(path, { description: 'Two chairs' }, acme.owner.options);
    expect(answer).toMatchObject({ status: 200, body: { description: 'Two chairs' } });
  });

  test('cannot be used by another member to reactivate a subscription', async () => {
    const who = await payer(service, acme.billing.options);
    const made = await subscribe(service, who, { organization_id: acme.id, billing_interval: 'daily' });
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    await service.advance(2 * DAY_SECONDS);
    const known = await begin();
    const path = `/subscriptions/${made.id}/reactivate`;
    const owner = await signIn(service, { user_id: acme.owner.userId });
    expect(await service.post(path, {}, owner.options)).toMatchObject(DENIED);
    await expectNothingDone(known);
  });
});
