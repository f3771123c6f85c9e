/** @module Idempotency rules that apply only to methods, and the state after a provider failure. */

import { afterEach, describe, expect, test } from 'vitest';
import { methodBody } from '../builders/payer.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { createCustomer, defaultsIn, methodAtProvider, saveMethod } from './payers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const create = (options: RequestOptions, fields = {}) => service.post('/payment-methods', methodBody(fields), options);
const listOf = async (options: RequestOptions) => (await service.get('/payment-methods', options)).body;
const attachedTo = async (customerId: string) =>
  (await service.ledger()).payment_methods.filter(({ customer }) => customer === customerId);

describe('a payment method create under a key', () => {
  test('returns the current method if repeated, and does not make it the default again', async () => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: 'one' };
    const first = await create(keyed, { is_default: true });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const other = await saveMethod(service, user.options, { is_default: true });
    await service.put(`/payment-methods/${first.body.id}`, { alias: 'Since' }, user.options);
    const again = await create(keyed, { is_default: true });
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, alias: 'Since', is_default: false } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await defaultsIn(service, user.options)).toEqual([other.id]);
    expect(await listOf(user.options)).toHaveLength(2);
  });

  test('saves nothing after a decline, and another card can be saved under another key', async () => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: 'declined' };
    const declined = await create(keyed, { provider_payment_method_token: 'pm_card_chargeDeclined' });
    expect(declined).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    expect((await create({ ...user.options, idempotencyKey: 'another' })).status).toBe(201);
    expect(await listOf(user.options)).toHaveLength(1);
  });
});

describe('a provider failure during a deletion', () => {
  test.each([
    ['timeout_after', 504],
    ['reset', 503],
    ['error_500', 502],
  ] as const)('leaves the method until a retry (%s)', async (action, status) => {
    const user = await signIn(service);
    const [kept, gone] = [
      await saveMethod(service, user.options),
      await saveMethod(service, user.options, { is_default: true }),
    ];
    await service.settle();
    await service.webhookMode('drop');
    await service.fault({ action, path: '/detach', times: 1 });
    const remove = () => service.request('DELETE', `/payment-methods/${gone.id}`, user.options);
    expect((await remove()).status).toBe(status);
    expect(await listOf(user.options)).toHaveLength(2);
    expect(await defaultsIn(service, user.options)).toEqual([gone.id]);
    expect((await remove()).status).toBe(204);
    expect(await defaultsIn(service, user.options)).toEqual([kept.id]);
    expect(await methodAtProvider(service, gone.provider_payment_method_id)).toMatchObject({ customer: null });
  });

  test('leaves the customer until a retry, which also deletes the remaining methods', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    await saveMethod(service, user.options);
    await saveMethod(service, user.options);
    await service.settle();
    await service.webhookMode('drop');
    await service.fault({ action: 'error_500', path: '/v1/customers', times: 1 });
    const remove = () => service.request('DELETE', `/customers/${customer.id}`, user.options);
    expect((await remove()).status).toBe(502);
    expect((await service.get(`/customers/${customer.id}`, user.options)).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect(await listOf(user.options)).toEqual([]);
    expect(await attachedTo(customer.provider_customer_id)).toEqual([]);
  });
});
