import { expect, test } from 'vitest';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { createCustomer, saveMethod, storedRecord } from './payers.ts';
import type { ParsedJson } from './routes.ts';

/** Deleting a customer removes all of its records at the provider, for any number of methods. */
const service = withHost({ frozen: true, env: IMPATIENT });

const METHODS = 12;

test.each([
  ['provider_a', 'pm_card_visa'],
  ['provider_b', 'SIM-CARD'],
  ['provider_c', 'cnon:card-nonce-ok'],
])('a customer with 12 saved methods is deleted at %s with all of its methods', async (provider_id, token) => {
  const user = await signIn(service);
  const saved: ParsedJson[] = [];
  for (let count = 0; count < METHODS; count += 1) {
    saved.push(await saveMethod(service, user.options, { provider_id, provider_payment_method_token: token }));
  }
  const [{ customer_id }] = saved;
  expect(new Set(saved.map((method) => method.customer_id))).toEqual(new Set([customer_id]));
  const { body: customer } = await service.get(`/customers/${customer_id}`, user.options);
  const refs = await Promise.all(saved.map(async ({ id }) => (await storedRecord(service, 'PM', id)).providerMethodId));
  const heldThere = async () =>
    (await service.ledger()).payment_methods.filter((method) => method.customer === customer.provider_customer_id);
  expect((await heldThere()).map(({ id }) => id).toSorted()).toEqual(refs.toSorted());

  expect((await service.request('DELETE', `/customers/${customer_id}`, user.options)).status).toBe(204);
  await service.settle();
  expect(await heldThere()).toEqual([]);
  const { customers } = await service.ledger();
  const there = customers.filter(({ id }) => id === customer.provider_customer_id);
  // PayPal has no record of a customer. Only payment tokens carry the customer's id.
  expect(there).toMatchObject([{ deleted: provider_id !== 'provider_b' }]);
  expect(await service.get('/payment-methods', user.options)).toMatchObject({ body: [] });
  expect((await service.get(`/customers/${customer_id}`, user.options)).status).toBe(404);
  const { body: orphan } = await service.get(`/customers?provider_id=${provider_id}`, user.options);
  expect(orphan).toEqual([]);
});

test('a deletion at PayPal also removes a first method whose response was lost, once its event arrives', async () => {
  const user = await signIn(service);
  const customer = await createCustomer(service, user.options, { provider_id: 'provider_b' });
  expect(customer.provider_customer_id).toBe(customer.id);
  await service.fault({ provider: 'provider_b', path: '/payment-tokens', action: 'timeout_after', times: 2 });
  const fields = { provider_id: 'provider_b', provider_payment_method_token: 'SIM-CARD' };
  expect((await service.post('/payment-methods', fields, user.options)).status).toBeGreaterThanOrEqual(500);
  await service.clearFaults();
  await service.settle();
  const { body: learned } = await service.get(`/customers/${customer.id}`, user.options);
  expect(learned.provider_customer_id).not.toBe(customer.id);
  const heldThere = async (): Promise<number> =>
    (await service.ledger()).payment_methods.filter((method) => method.customer === learned.provider_customer_id)
      .length;
  expect(await heldThere()).toBe(1);
  expect((await service.request('DELETE', `/customers/${customer.id}`, user.options)).status).toBe(204);
  expect(await heldThere()).toBe(0);
});

test('a deletion at PayPal also removes methods that the service does not know', async () => {
  const user = await signIn(service);
  const fields = { provider_id: 'provider_b', provider_payment_method_token: 'SIM-CARD' };
  const known = await saveMethod(service, user.options, fields);
  // The response is lost and the request is not retried, so the method is saved at PayPal only.
  await service.fault({ provider: 'provider_b', path: '/payment-tokens', action: 'timeout_after', times: 2 });
  const lost = await service.post('/payment-methods', fields, user.options);
  expect(lost.status).toBeGreaterThanOrEqual(500);
  await service.clearFaults();
  const { body: customer } = await service.get(`/customers/${known.customer_id}`, user.options);
  const heldThere = async (): Promise<number> =>
    (await service.ledger()).payment_methods.filter((method) => method.customer === customer.provider_customer_id)
      .length;
  expect(await heldThere()).toBe(2);
  expect((await service.request('DELETE', `/customers/${known.customer_id}`, user.options)).status).toBe(204);
  expect(await heldThere()).toBe(0);
});
