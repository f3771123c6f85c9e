import { afterEach, describe, expect, test } from 'vitest';
import { methodBody } from '../builders/payer.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { createCustomer, customerAtProvider, customerEventsOf } from './payers.ts';

/** The stored state after a provider failure. */
const service = withHost({ frozen: true, env: IMPATIENT });

describe('a customer at a failing provider', () => {
  afterEach(async () => {
    await service.clearFaults();
    await service.webhookMode('normal');
  });

  const FAULTS = [
    ['timeout_after', 504, 'PROVIDER_TIMEOUT'],
    ['reset', 503, 'PROVIDER_UNAVAILABLE'],
  ] as const;

  test.each([
    ['user', false],
    ['guest', true],
  ])('is created once for a %s’s first method despite a lost creation response', async (_, isGuest) => {
    const { options } = await signIn(service);
    const before = (await service.ledger()).customers.length;
    const guest = { guest_data: { email: 'lost@example.com', name: 'Gina' } };
    const save = () =>
      service.post('/payment-methods', methodBody(isGuest ? guest : {}), {
        ...(!isGuest && options),
        idempotencyKey: 'the-first-method-of-this-person',
      });
    await service.fault({ action: 'timeout_after', path: '/v1/customers', times: 1 });
    expect(await save()).toMatchObject({ status: 504 });
    expect(await save()).toMatchObject({ status: 201 });
    expect((await service.ledger()).customers).toHaveLength(before + 1);
  });

  test.each(FAULTS)('stays unchanged here after %s on an update', async (action, status, code) => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada' });
    await service.settle();
    await service.webhookMode('drop');
    await service.fault({ action, path: '/v1/customers', times: 1 });
    const path = `/customers/${customer.id}`;
    expect(await service.put(path, { name: 'Grace' }, user.options)).toMatchObject({ status, body: { code } });
    expect((await service.get(path, user.options)).body).toEqual(customer);
    expect(await service.put(path, { name: 'Grace' }, user.options)).toMatchObject({ status: 200 });
    expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({ name: 'Grace' });
  });

  test('can be reverted and changed again after a lost update response', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada' });
    await service.settle();
    await service.webhookMode('drop');
    const path = `/customers/${customer.id}`;
    const there = async () => (await customerAtProvider(service, customer.provider_customer_id)).name;
    await service.fault({ action: 'timeout_after', path: '/v1/customers', times: 2 });
    expect(await service.put(path, { name: 'Grace' }, user.options)).toMatchObject({ status: 504 });
    expect(await service.put(path, { name: 'Ada' }, user.options)).toMatchObject({ status: 504 });
    expect(await service.put(path, { name: 'Grace' }, user.options)).toMatchObject({ status: 200 });
    expect(await there()).toBe('Grace');
    await service.fault({ action: 'timeout_after', path: '/v1/customers', times: 1 });
    expect(await service.put(path, { name: 'Joan' }, user.options)).toMatchObject({ status: 504 });
    expect(await service.put(path, { phone: '+1555' }, user.options)).toMatchObject({ status: 200 });
    expect(await there()).toBe('Joan');
    expect(await service.put(path, { name: 'Grace' }, user.options)).toMatchObject({ body: { name: 'Grace' } });
    expect(await there()).toBe('Grace');
  });

  test('publishes no event when an update with a lost response is reverted', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada' });
    await service.settle();
    await service.webhookMode('delay');
    const path = `/customers/${customer.id}`;
    await service.fault({ action: 'timeout_after', path: '/v1/customers', times: 1 });
    expect(await service.put(path, { name: 'Grace' }, user.options)).toMatchObject({ status: 504 });
    await service.advance(60);
    expect(await service.put(path, { name: 'Ada' }, user.options)).toMatchObject({ status: 200, body: customer });
    await service.advance(2 * HOUR_SECONDS);
    expect((await service.get(path, user.options)).body).toEqual(customer);
    const events = (await customerEventsOf(service, customer.id)).map((event) => event['detail-type']);
    expect(events).toEqual(['customer.created']);
  });

  test.each([
    ['both responses received', 0],
    ['one response lost', 1],
  ])('can be reverted after concurrent updates (%s)', async (_, times) => {
    const before = { name: 'Ada', email: 'before@example.com' };
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, before);
    await service.settle();
    await service.webhookMode('drop');
    const path = `/customers/${customer.id}`;
    if (times > 0) await service.fault({ action: 'timeout_after', path: '/v1/customers', times });
    await Promise.all([
      service.put(path, { name: 'Grace' }, user.options),
      service.put(path, { email: 'after@example.com' }, user.options),
    ]);
    expect(await service.put(path, before, user.options)).toMatchObject({ status: 200, body: before });
    expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject(before);
  });

  test('can still change data not stored at the provider', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada Byron' });
    await service.fault({ action: 'error_500', path: '/v1/customers' });
    const changed = await service.put(
      `/customers/${customer.id}`,
      { metadata: { a: 1 }, first_name: 'Ada' },
      user.options,
    );
    expect(changed).toMatchObject({ status: 200, body: { metadata: { a: 1 }, first_name: 'Ada' } });
  });

  test.each(FAULTS)('stays stored after %s on a deletion, until a retry deletes it', async (action, status, code) => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    await service.settle();
    await service.webhookMode('drop');
    await service.fault({ action, path: '/v1/customers', times: 1 });
    const remove = () => service.request('DELETE', `/customers/${customer.id}`, user.options);
    expect(await remove()).toMatchObject({ status, body: { code } });
    expect((await service.get(`/customers/${customer.id}`, user.options)).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({ deleted: true });
  });
});
