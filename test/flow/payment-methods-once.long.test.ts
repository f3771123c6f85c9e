import { afterEach, describe, expect, test } from 'vitest';
import { methodBody } from '../builders/payer.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, partitionOf, signIn } from './flow.ts';
import { type ParsedJson, type RequestOptions, withHost } from './host.ts';
import { company, createCustomer, defaultsIn, methodAtProvider, saveMethod } from './payers.ts';

/** A create under an Idempotency-Key, and the state after a provider fails. */
const service = withHost({ frozen: true, env: IMPATIENT });

afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const create = (options: RequestOptions, fields = {}) => service.post('/payment-methods', methodBody(fields), options);
const listOf = async (options: RequestOptions): Promise<ParsedJson[]> =>
  (await service.get('/payment-methods', options)).body;
const attachedTo = async (customerId: string): Promise<ParsedJson[]> =>
  (await service.ledger()).payment_methods.filter(({ customer }: ParsedJson) => customer === customerId);

describe('a payment method create under a key', () => {
  test('returns the current method when repeated, and saves no other', async () => {
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

  test('is refused with another body or for another owner', async () => {
    const acme = await company(service);
    const keyed = { ...acme.owner.options, idempotencyKey: 'other' };
    expect((await create(keyed)).status).toBe(201);
    const refused = { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    expect(await create(keyed, { alias: 'Other' })).toMatchObject(refused);
    expect(await create(keyed, { organization_id: acme.id })).toMatchObject(refused);
    expect(await create({ ...acme.admin.options, idempotencyKey: 'other' })).toMatchObject({ status: 201 });
  });

  test('is refused after its method is deleted, and saves a new method a day later', async () => {
    const user = await signIn(service, { expires_in: 5 * DAY_SECONDS });
    const keyed = { ...user.options, idempotencyKey: 'gone' };
    const { body } = await create(keyed, { alias: 'Secret name' });
    expect((await service.request('DELETE', `/payment-methods/${body.id}`, user.options)).status).toBe(204);
    expect(await create(keyed, { alias: 'Secret name' })).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    const [left] = await partitionOf(service, `PM#${body.id}`);
    expect(Object.keys(left).sort()).toEqual(['createdAt', 'pk', 'requestHash', 'sk', 'tombstone', 'ttl']);
    expect((await service.get(`/payment-methods/${body.id}`, user.options)).status).toBe(404);
    await service.advance(DAY_SECONDS + 1);
    const next = await create(keyed, { alias: 'Secret name' });
    expect(next.status).toBe(201);
    expect((await listOf(user.options)).map(({ id }) => id)).toEqual([next.body.id]);
  });

  test('saves a new method a day later under the same key', async () => {
    const user = await signIn(service, { expires_in: 5 * DAY_SECONDS });
    const keyed = { ...user.options, idempotencyKey: 'daily' };
    const first = await create(keyed);
    await service.advance(DAY_SECONDS - HOUR_SECONDS);
    expect((await create(keyed)).body.id).toBe(first.body.id);
    await service.advance(HOUR_SECONDS + 1);
    const second = await create(keyed, { alias: 'Second' });
    expect(second).toMatchObject({ status: 201, body: { alias: 'Second' } });
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.body.customer_id).toBe(first.body.customer_id);
    expect(await listOf(user.options)).toHaveLength(2);
  });

  test('saves one method for one customer from twelve concurrent requests', async () => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: 'at-once' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(keyed)));
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const again = await create(keyed);
    expect(again.status).toBe(201);
    expect((await listOf(user.options)).map(({ id }) => id)).toEqual([again.body.id]);
    expect((await service.get('/customers', user.options)).body).toHaveLength(1);
  });

  test('can be tried with another card after a decline', async () => {
    const user = await signIn(service);
    const keyed = { ...user.options, idempotencyKey: 'declined' };
    const declined = await create(keyed, { provider_payment_method_token: 'pm_card_chargeDeclined' });
    expect(declined).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    expect((await create({ ...user.options, idempotencyKey: 'another' })).status).toBe(201);
    expect(await listOf(user.options)).toHaveLength(1);
  });
});

describe('a failing provider', () => {
  const FAULTS = [
    ['timeout_after', '/v1/setup_intents', 504, 'PROVIDER_TIMEOUT'],
    ['timeout_before', '/v1/customers', 504, 'PROVIDER_TIMEOUT'],
    ['reset', '/v1/customers', 503, 'PROVIDER_UNAVAILABLE'],
    ['reset', '/v1/setup_intents', 503, 'PROVIDER_UNAVAILABLE'],
    ['error_500', '/v1/setup_intents', 502, 'PROVIDER_ERROR'],
    ['malformed', '/v1/setup_intents', 502, 'PROVIDER_ERROR'],
  ] as const;

  test.each(FAULTS)(
    'fails by %s at %s with %i, and the same key saves one method',
    async (...[action, path, status, code]) => {
      const user = await signIn(service);
      const keyed = { ...user.options, idempotencyKey: `save-${action}` };
      await service.fault({ action, path, times: 1 });
      const failed = await create(keyed, { is_default: true });
      expect(failed).toMatchObject({ status, body: { success: false, code } });
      expect(await listOf(user.options)).toEqual([]);
      const again = await create(keyed, { is_default: true });
      expect(again).toMatchObject({ status: 201, body: { is_default: true } });
      expect((await listOf(user.options)).map(({ id }) => id)).toEqual([again.body.id]);
      const { body: customers } = await service.get('/customers', user.options);
      expect(customers).toHaveLength(1);
      expect(await attachedTo(customers[0].provider_customer_id)).toHaveLength(1);
    },
  );

  test.each([
    ['timeout_after', 504],
    ['reset', 503],
    ['error_500', 502],
  ] as const)('leaves the method after %s on a deletion until a retry', async (action, status) => {
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

  test('keeps the customer and its remaining methods during a customer deletion until a retry', async () => {
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
