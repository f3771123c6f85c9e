/**
 * @module Calls that certainly had no effect at the provider (429). Such calls leave no trace, and a later attempt can
 * proceed.
 */

import { afterEach, describe, expect, test } from 'vitest';
import { DECLINED, intentBody, paidIntentBody, VISA } from '../builders/intent.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  createIntent,
  eventsOf,
  itemsOf,
  read,
  signIn,
  storedPayment,
  timesCharged,
  type User,
} from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';

const service = withHost({ frozen: true });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const PROVIDERS = [
  { slot: 'provider_a', method: VISA, create: '/v1/payment_intents', confirm: '/confirm' },
  { slot: 'provider_b', method: 'SIM-OK', create: '/v2/checkout/orders', confirm: '/capture' },
  { slot: 'provider_c', method: 'cnon:card-nonce-ok', create: '/v2/orders', confirm: '/v2/payments' },
] as const;
type Provider = (typeof PROVIDERS)[number];

const bodyFor = ({ slot, method }: Provider) => paidIntentBody({ provider_id: slot, payment_method_id: method });
const create = (provider: Provider, user: User) => createIntent(service, user, bodyFor(provider));

/** A rate limit that lasts longer than the single retry. */
const limit = ({ slot }: Provider, path: string, method?: string) =>
  service.fault({ provider: slot, path, action: 'rate_limit', ...(method && { method }) });

const UNAVAILABLE = { status: 503, body: { code: 'PROVIDER_UNAVAILABLE' } };

/** Expects the refusal of an unavailable provider, with a retry delay only from Stripe. */
const expectUnavailable = (answer: TestAnswer, { slot }: Provider): void => {
  expect(answer).toMatchObject(UNAVAILABLE);
  expect(answer.headers.get('retry-after')).toBe(slot === 'provider_a' ? '1' : null);
};

const isConfirm = ({ path }: { readonly path: string }): boolean => /confirm$|capture$|v2\/payments$/.test(path);

describe.each(PROVIDERS)('an unexecuted provider call at $slot', (provider) => {
  test('leaves no payment after a create, and the idempotency key can be reused', async () => {
    const user = await signIn(service);
    const options = { ...user.options, idempotencyKey: `basket ${provider.slot}` };
    await service.settle();
    const before = (await itemsOf(service, 'PAY#')).length;
    await limit(provider, provider.create);
    expectUnavailable(await service.post('/payments/intents', bodyFor(provider), options), provider);
    expect(await itemsOf(service, 'PAY#')).toHaveLength(before);
    await service.clearFaults();
    await service.clearProviderRequests();
    await service.advance(10 * MINUTE_SECONDS);
    expect((await service.get('/payments', user.options)).body).toMatchObject({ data: [], meta: { total: 0 } });
    const creates = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method === 'POST' && path === provider.create;
    expect((await service.providerRequests()).filter(creates)).toEqual([]);
    const repeated = await service.post('/payments/intents', bodyFor(provider), options);
    expect(repeated).toMatchObject({ status: 201, body: { status: 'created' } });
    expect(repeated.headers.get('idempotent-replayed')).toBeNull();
    expect((await atProvider(service, repeated.body.id)).intents).toHaveLength(1);
  });

  test('releases the claim of a confirm, and the next confirm charges once', async () => {
    const user = await signIn(service);
    const { id } = await create(provider, user);
    await service.settle();
    const before = await read(service, id, user.options);
    await limit(provider, provider.confirm);
    for (let tries = 0; tries < 2; tries += 1) {
      expectUnavailable(await confirm(service, id, user.options), provider);
    }
    expect(await read(service, id, user.options)).toEqual({ ...before, updated_at: expect.any(String) });
    await service.clearFaults();
    await service.clearProviderRequests();
    await service.advance(HOUR_SECONDS);
    expect((await service.providerRequests()).filter(isConfirm)).toEqual([]);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'created' });
    expect(await timesCharged(service, id)).toBe(0);
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    expect(await timesCharged(service, id)).toBe(1);
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('leaves an update unapplied, so the update can be retried', async () => {
    const user = await signIn(service);
    const { id } = await create(provider, user);
    const update = (total: number) => service.put(`/payments/intents/${id}`, { total_cents: total }, user.options);
    await limit(provider, '');
    expectUnavailable(await update(5_000), provider);
    expect(await read(service, id, user.options)).toMatchObject({ total_cents: 2_500 });
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ total_cents: 2_500 });
    expect(await update(7_000)).toMatchObject({ status: 200, body: { total_cents: 7_000 } });
    expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    expect((await atProvider(service, id)).charges).toMatchObject([{ amount: 7_000, status: 'succeeded' }]);
  });

  test('leaves a payment unchanged after a cancel or a sync', async () => {
    const user = await signIn(service);
    const payment = await create(provider, user);
    const before = await read(service, payment.id, user.options);
    await limit(provider, '');
    const cancel = () => service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    expectUnavailable(await cancel(), provider);
    const sync = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expectUnavailable(sync, provider);
    expect(await read(service, payment.id, user.options)).toEqual(before);
    await service.clearFaults();
    expect(await cancel()).toMatchObject({ status: 200, body: { status: 'canceled' } });
  });
});

test('an unexecuted call is retried once, unless the provider requests a longer wait', async () => {
  const user = await signIn(service);
  const { id } = await createIntent(service, user, { provider_id: 'provider_b', payment_method_id: 'SIM-OK' });
  await service.clearProviderRequests();
  await service.fault({ provider: 'provider_b', path: '/capture', action: 'rate_limit', times: 1 });
  expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  const captures = (await service.providerRequests()).filter(isConfirm);
  expect(captures.map(({ status }) => status)).toEqual([429, 201]);
  expect(new Set(captures.map((call) => call.idempotency_key)).size).toBe(1);
});

test('a failed payment stays failed after an unexecuted attempt, without a second event', async () => {
  const user = await signIn(service);
  const { id } = await createIntent(service, user, { payment_method_id: DECLINED });
  await confirm(service, id, user.options);
  const before = await read(service, id, user.options);
  await service.fault({ path: '/confirm', action: 'rate_limit' });
  const again = await confirm(service, id, { ...user.options, body: { payment_method_id: VISA } });
  expect(again).toMatchObject(UNAVAILABLE);
  expect(await read(service, id, user.options)).toEqual({ ...before, updated_at: expect.any(String) });
  await service.clearFaults();
  const last = await confirm(service, id, { ...user.options, body: { payment_method_id: 'pm_card_mastercard' } });
  expect(last).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  await service.settle();
  expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  expect(await timesCharged(service, id)).toBe(1);
});

test('an attempt with an unknown outcome stays claimed if its retry is not executed', async () => {
  await service.webhookMode('drop');
  const user = await signIn(service);
  const payment = await createIntent(service, user, { payment_method_id: VISA });
  await service.fault({ path: '/confirm', action: 'reset', times: 1 });
  await service.fault({ path: '/confirm', action: 'rate_limit' });
  expect(await confirm(service, payment.id, user.options)).toMatchObject({ status: 202 });
  await service.advance(2 * MINUTE_SECONDS);
  expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'processing' });
  await service.clearFaults();
  await service.advance(5 * MINUTE_SECONDS);
  expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
  expect(await timesCharged(service, payment.id)).toBe(1);
});

test('an unexecuted capture after the payer’s approval is retried as soon as possible', async () => {
  const user = await signIn(service);
  const body = intentBody({ provider_id: 'provider_b', return_url: 'https://shop.example/back' });
  const { id } = await createIntent(service, user, body);
  await service.fault({ provider: 'provider_b', path: '/capture', action: 'rate_limit' });
  await service.authenticate(id);
  await service.settle();
  expect(await read(service, id, user.options)).toMatchObject({ status: 'pending' });
  await service.advance(HOUR_SECONDS);
  expect(await read(service, id, user.options)).toMatchObject({ status: 'pending' });
  await service.clearFaults();
  await service.advance(5 * MINUTE_SECONDS);
  expect(await read(service, id, user.options)).toMatchObject({ status: 'succeeded' });
  expect(await timesCharged(service, id)).toBe(1);
  expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.succeeded']);
  expect((await storedPayment(service, id)).anomaly).toBeUndefined();
});
