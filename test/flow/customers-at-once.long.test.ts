import { afterEach, describe, expect, test } from 'vitest';
import { intentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { partitionOf, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { company } from './payers.ts';

/** Concurrent first requests of an owner make one customer in the service and one at the provider. */
const service = withHost({ frozen: true });

afterEach(() => service.clearFaults());

const AT_ONCE = 6;
const SLOTS = [
  ['provider_a', 'pm_card_visa'],
  ['provider_c', 'cnon:card-nonce-ok'],
] as const;

const save = (options: RequestOptions, fields = {}) => service.post('/payment-methods', methodBody(fields), options);
const customersHere = async (options: RequestOptions, query = '') =>
  (await service.get(`/customers${query}`, options)).body;
const madeAtProvider = async (since: number) => (await service.ledger()).customers.slice(since);
const countAtProvider = async (): Promise<number> => (await service.ledger()).customers.length;

describe.each(SLOTS)('first methods saved concurrently at %s', (provider_id, token) => {
  const fields = { provider_id, provider_payment_method_token: token };

  test('create one customer for a user', async () => {
    const before = await countAtProvider();
    const user = await signIn(service);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => save(user.options, fields)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: AT_ONCE }, () => 201));
    const customers = await customersHere(user.options);
    expect(customers).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.customer_id))).toEqual(new Set([present(customers[0]).id]));
    expect(await madeAtProvider(before)).toMatchObject([{ id: present(customers[0]).provider_customer_id }]);
  });

  test('create one customer for an organization when several members save them', async () => {
    const acme = await company(service);
    const before = await countAtProvider();
    const members = [acme.owner, acme.admin, acme.billing];
    const organization = { ...fields, organization_id: acme.id };
    const answers = await Promise.all(members.map(({ options }) => save(options, organization)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await customersHere(acme.owner.options, `?organization_id=${acme.id}`)).toHaveLength(1);
    expect(await madeAtProvider(before)).toHaveLength(1);
  });
});

test('a first method and a concurrent payment that saves its method create one customer', async () => {
  const before = await countAtProvider();
  const user = await signIn(service);
  const saving = intentBody({ setup_future_usage: 'off_session' });
  const answers = await Promise.all([
    save(user.options),
    service.post('/payments/intents', saving, user.options),
    save(user.options),
    service.post('/payments/intents', saving, user.options),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.customer_id)).size).toBe(1);
  expect(await madeAtProvider(before)).toHaveLength(1);
});

test('a deleted customer is replaced by one new customer', async () => {
  const user = await signIn(service);
  const first = await save(user.options);
  await service.request('DELETE', `/customers/${first.body.customer_id}`, user.options);
  const before = await countAtProvider();
  const answers = await Promise.all([save(user.options), save(user.options), save(user.options)]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  const [customer, ...others] = await customersHere(user.options);
  expect({ others, first: present(customer).id === first.body.customer_id }).toEqual({ others: [], first: false });
  expect(await madeAtProvider(before)).toMatchObject([{ id: present(customer).provider_customer_id }]);
});

test('after a provider failure, a second request without an Idempotency-Key creates one customer', async () => {
  for (const action of ['error_500', 'reset'] as const) {
    const before = await countAtProvider();
    const user = await signIn(service);
    await service.fault({ action, path: '/v1/customers', times: 1 });
    expect((await save(user.options)).status).toBeGreaterThanOrEqual(502);
    expect(await save(user.options)).toMatchObject({ status: 201 });
    expect(await customersHere(user.options)).toHaveLength(1);
    expect(await madeAtProvider(before)).toHaveLength(1);
  }
});

test('an abandoned claim is removed after a day', async () => {
  const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
  await service.fault({ action: 'error_500', path: '/v1/customers', times: 1 });
  expect(await save(user.options)).toMatchObject({ status: 502 });
  const claims = () => partitionOf(service, `OWNER#USER#${user.userId}`);
  expect(await claims()).toMatchObject([{ claim: { draft: { userId: user.userId } }, ttl: expect.any(Number) }]);
  await service.advance(DAY_SECONDS + 1);
  expect(await save(user.options)).toMatchObject({ status: 201 });
  expect((await claims()).filter(({ claim }) => claim !== undefined)).toEqual([]);
  expect(await customersHere(user.options)).toHaveLength(1);
});
