/** @module Provider events about payment methods. */

import { describe, expect, test } from 'vitest';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT, partitionOf, signIn, type User } from './flow.ts';
import { type TestProviderEvent, withHost } from './host.ts';
import {
  company,
  defaultsIn,
  guestWithMethod,
  methodAtProvider,
  outcomesOf,
  saveMethod,
  storedRecord,
} from './payers.ts';
import type { MethodBody } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const seconds = (): number => Math.floor(service.now() / 1_000);
const readMethod = async (user: User, id: string) => (await service.get(`/payment-methods/${id}`, user.options)).body;

const sendEvent = async (type: string, object: object, event: Partial<TestProviderEvent> = {}): Promise<void> => {
  const answer = await service.sendEvent({ type, object, ...event });
  expect(answer).toMatchObject({ status: 200, body: { received: true } });
  await service.settle();
};

/** A method some minutes old. The events of its creation have been handled. */
const known = async (fields = {}): Promise<{ user: User; method: MethodBody; at: { id: string } }> => {
  const user = await signIn(service);
  const method = await saveMethod(service, user.options, fields);
  await service.advance(10 * MINUTE_SECONDS);
  return { user, method, at: { id: method.provider_payment_method_id } };
};

const card = (fields: object) => ({ type: 'card', card: { brand: 'visa', last4: '4242', ...fields } });
const lastOutcome = async (providerId: string) => (await outcomesOf(service, providerId)).at(-1);

describe('payment_method.updated', () => {
  test.each([
    ['payment_method.updated', 'contract'],
    ['payment_method.updated', 'native'],
    ['payment_method.automatically_updated', 'native'],
  ] as const)(
    'sent as %s in the %s vocabulary refreshes the card, and clears the fingerprint of the earlier number',
    async (type, vocabulary) => {
      const { user, method, at } = await known({ alias: 'Kept', is_default: true });
      const fresh = card({ brand: 'mastercard', last4: '4444', exp_month: 3, exp_year: 2041 });
      await sendEvent(type, { ...at, ...fresh }, { vocabulary });
      expect(await readMethod(user, method.id)).toEqual({
        ...method,
        card_brand: 'mastercard',
        card_last_four: '4444',
        card_exp_month: '03',
        card_exp_year: '2041',
        fingerprint: null,
        updated_at: new Date(service.now()).toISOString(),
      });
      expect((await service.get('/payment-methods?card_brand=mastercard&search=4444', user.options)).body).toHaveLength(
        1,
      );
      expect(await lastOutcome(at.id)).toMatchObject({
        eventType: type,
        status: 'success',
        userId: user.userId,
        response: { outcome: 'applied', reason: 'payment method refreshed' },
      });
    },
  );

  test('keeps unnamed fields, and ignores unknown fields', async () => {
    const { user, method, at } = await known();
    await sendEvent('payment_method.updated', {
      ...at,
      customer: 'cus_other',
      alias: 'Theirs',
      ...card({ exp_year: 2042 }),
    });
    const updated_at = expect.any(String);
    expect(await readMethod(user, method.id)).toEqual({ ...method, card_exp_year: '2042', updated_at });
  });

  test('changes nothing if the values are already stored or no card is given', async () => {
    const { user, method, at } = await known();
    await sendEvent('payment_method.updated', { ...at, ...card({}) });
    await sendEvent('payment_method.updated', at);
    expect(await readMethod(user, method.id)).toEqual(method);
    expect(await storedRecord(service, 'PM', method.id)).toMatchObject({ version: 1 });
  });

  test('is stale if older than the stored values, but our own changes make no event stale', async () => {
    const { user, method, at } = await known();
    const started = seconds();
    await service.advance(MINUTE_SECONDS);
    await service.put(`/payment-methods/${method.id}`, { alias: 'Ours' }, user.options);
    await sendEvent('payment_method.updated', { ...at, ...card({ exp_year: 2050 }) }, { created: started + 20 });
    await sendEvent('payment_method.updated', { ...at, ...card({ exp_year: 2040 }) }, { created: started + 10 });
    expect(await readMethod(user, method.id)).toMatchObject({ card_exp_year: '2050', alias: 'Ours' });
    await sendEvent('payment_method.updated', { ...at, ...card({ exp_year: 2060 }) }, { created: started + 30 });
    expect(await readMethod(user, method.id)).toMatchObject({ card_exp_year: '2060' });
    await sendEvent(
      'payment_method.updated',
      { ...at, ...card({ exp_year: 2030 }) },
      { created: started - HOUR_SECONDS },
    );
    expect(await readMethod(user, method.id)).toMatchObject({ card_exp_year: '2060' });
    const reasons = (await outcomesOf(service, at.id)).map(({ response }) => response.reason);
    expect(reasons.filter((reason) => reason === 'stale')).toHaveLength(2);
  });

  test('results in the same state in any order and with repeats', async () => {
    const years = [2051, 2052, 2053, 2054];
    for (const order of [years, years.toReversed(), [2053, 2051, 2054, 2052]]) {
      const { user, method, at } = await known();
      const started = seconds();
      await service.advance(MINUTE_SECONDS);
      for (const exp_year of [...order, ...order]) {
        const created = started + exp_year - 2050;
        await sendEvent('payment_method.updated', { ...at, ...card({ exp_year }) }, { created });
      }
      expect(await readMethod(user, method.id)).toMatchObject({ card_exp_year: '2054' });
    }
  });

  test.each([
    ['provider_a', 'pm_card_visa'],
    ['provider_c', 'cnon:card-nonce-ok'],
  ] as const)('has one result at %s for events of the same second in any order', async (provider_id, token) => {
    const { user, method, at } = await known({ provider_id, provider_payment_method_token: token });
    const renew = (change: object) => service.control('POST', `/simulator/payment-methods/${at.id}`, change);
    await service.control('POST', '/simulator/webhooks', { mode: 'reorder', seed: 3 });
    for (const exp_year of [2041, 2042, 2043, 2044]) await renew({ exp_year, last_four: String(exp_year) });
    await service.settle();
    await service.advance(HOUR_SECONDS);
    await service.control('POST', '/simulator/webhooks', { mode: 'normal' });
    expect(await readMethod(user, method.id)).toMatchObject({ card_exp_year: '2044', card_last_four: '2044' });
  });

  test('is retried, then logged, for an unknown method', async () => {
    await sendEvent('payment_method.updated', { id: 'pm_unknown', ...card({}) });
    expect(await outcomesOf(service, 'pm_unknown')).toEqual([]);
    await service.advance(HOUR_SECONDS);
    expect(await outcomesOf(service, 'pm_unknown')).toMatchObject([
      { status: 'failed', response: { outcome: 'unmatched' } },
    ]);
  });
});

describe('payment_method.detached', () => {
  test.each(['contract', 'native'] as const)(
    'removes the method in the %s vocabulary without a call to the provider',
    async (vocabulary) => {
      const { user, method, at } = await known({ is_default: true });
      const other = await saveMethod(service, user.options);
      await service.settle();
      await service.clearProviderRequests();
      await sendEvent('payment_method.detached', { ...at, ...card({}) }, { vocabulary });
      expect(await service.providerRequests()).toEqual([]);
      expect((await service.get(`/payment-methods/${method.id}`, user.options)).status).toBe(404);
      expect(await defaultsIn(service, user.options)).toEqual([other.id]);
      expect(await partitionOf(service, `REF#provider_a#${at.id}`)).toEqual([]);
      expect(await lastOutcome(at.id)).toMatchObject({
        response: { outcome: 'applied', reason: 'payment method removed' },
      });
    },
  );

  test('changes nothing if it is repeated, caused by the service itself, or for an unknown method', async () => {
    const { user, method, at } = await known();
    expect((await service.request('DELETE', `/payment-methods/${method.id}`, user.options)).status).toBe(204);
    await service.settle();
    await sendEvent('payment_method.detached', at);
    await sendEvent('payment_method.detached', { id: 'pm_never_seen' });
    const outcomes = [...(await outcomesOf(service, at.id)), ...(await outcomesOf(service, 'pm_never_seen'))];
    const detached = outcomes.filter(({ eventType }) => eventType === 'payment_method.detached');
    expect(detached).toHaveLength(3);
    for (const entry of detached) expect(entry).toMatchObject({ status: 'success', response: { outcome: 'ignored' } });
  });

  test('is stale if it predates the save', async () => {
    const { user, method, at } = await known();
    await sendEvent('payment_method.detached', at, { created: seconds() - HOUR_SECONDS });
    expect(await readMethod(user, method.id)).toEqual(method);
  });

  test('removes the method even if our clock was ahead of the provider’s or newer values are stored', async () => {
    const user = await signIn(service);
    const ahead = await saveMethod(service, user.options);
    await sendEvent('payment_method.detached', { id: ahead.provider_payment_method_id }, { created: seconds() - 3 });
    const { user: other, method, at } = await known();
    await sendEvent('payment_method.updated', { ...at, ...card({ exp_month: 3 }) }, { created: seconds() + 60 });
    await sendEvent('payment_method.detached', at);
    for (const [{ options }, { id }] of [
      [user, ahead],
      [other, method],
    ] as const) {
      expect((await service.get(`/payment-methods/${id}`, options)).status).toBe(404);
    }
  });

  test('removes the method for every kind of owner after a detach in the provider’s dashboard', async () => {
    const acme = await company(service);
    const ofAcme = await saveMethod(service, acme.owner.options, { organization_id: acme.id });
    const guest = await guestWithMethod(service, 'detached@example.com');
    for (const { provider_payment_method_id: id } of [ofAcme, guest.method]) {
      const detach = `/_local/providers/stripe/v1/payment_methods/${id}/detach`;
      const headers = {
        authorization: 'Bearer sk_test_local_provider_a',
        'content-type': 'application/x-www-form-urlencoded',
      };
      expect((await service.request('POST', detach, { headers, body: '' })).status).toBe(200);
    }
    await service.settle();
    expect((await service.get(`/payment-methods?organization_id=${acme.id}`, acme.member.options)).body).toEqual([]);
    expect((await service.get('/payment-methods', guest.options)).body).toEqual([]);
    const outcomes = await outcomesOf(service, ofAcme.provider_payment_method_id);
    expect(outcomes.find(({ eventType }) => eventType === 'payment_method.detached')).toMatchObject({
      organizationId: acme.id,
      response: { outcome: 'applied' },
    });
  });
});

describe('payment_method.attached', () => {
  test('changes nothing on a known method, and creates no other method', async () => {
    const { user, method, at } = await known();
    await sendEvent('payment_method.attached', { ...at, customer: 'cus_other', ...card({ last4: '0000' }) });
    await sendEvent('payment_method.attached', { id: 'pm_of_the_dashboard', ...card({}) });
    expect(await readMethod(user, method.id)).toEqual(method);
    expect((await itemsOf(service, 'REF#')).some(({ pk }) => pk.includes('pm_of_the_dashboard'))).toBe(false);
    expect(await methodAtProvider(service, at.id)).toMatchObject({ customer: expect.any(String) });
    const outcomes = (await outcomesOf(service, at.id)).map(({ status, response }) => [status, response.reason]);
    expect(outcomes).toEqual([
      ['success', 'known'],
      ['success', 'known'],
    ]);
    expect(await outcomesOf(service, 'pm_of_the_dashboard')).toMatchObject([
      { status: 'success', response: { outcome: 'ignored', reason: 'no such payment method here' } },
    ]);
  });
});
