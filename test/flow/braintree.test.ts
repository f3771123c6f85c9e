import { expect, test } from 'vitest';
import { intentBody } from '../builders/intent.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';

/** Braintree is used for customers only. */
const service = withHost({ frozen: true, env: IMPATIENT });

const atBraintree = async (id: string) => (await service.ledger()).customers.find((customer) => customer.id === id);

test('a Braintree customer is created, changed and deleted at the provider too', async () => {
  const user = await signIn(service);
  const body = { provider_id: 'provider_d', email: 'ana@example.com', name: 'Ana & Co. <Silva>', phone: '+351 21' };
  const created = await service.post('/customers', body, user.options);
  expect(created).toMatchObject({ status: 201, body: { provider_id: 'provider_d', email: 'ana@example.com' } });
  const { id, provider_customer_id: externalId } = created.body;
  expect(externalId).toBe(id);
  expect(await atBraintree(id)).toMatchObject({ provider: 'provider_d', name: body.name, email: body.email });
  expect(await service.put(`/customers/${id}`, { name: 'Bea Silva' }, user.options)).toMatchObject({ status: 200 });
  expect(await atBraintree(id)).toMatchObject({ name: 'Bea Silva', email: body.email });
  expect(await service.request('DELETE', `/customers/${id}`, user.options)).toMatchObject({ status: 204 });
  expect(await atBraintree(id)).toMatchObject({ deleted: true });
});

test('Braintree supports no payments, methods or webhooks', async () => {
  const user = await signIn(service);
  const payment = intentBody({ provider_id: 'provider_d' });
  const method = { provider_id: 'provider_d', provider_payment_method_token: 't' };
  for (const [path, body] of [
    ['/payments/intents', payment],
    ['/payment-methods', method],
  ] as const) {
    const refused = await service.post(path, body, user.options);
    expect([path, refused.status, refused.body.code]).toEqual([path, 400, 'UNSUPPORTED_PROVIDER']);
  }
  expect(await service.post('/webhooks/provider_d', {})).toMatchObject({ status: 404 });
});

test('a retry with the same Idempotency-Key creates the customer once after a lost response', async () => {
  const user = await signIn(service);
  const body = { provider_id: 'provider_d', email: 'lost@example.com' };
  const options = { ...user.options, idempotencyKey: 'lost-1' };
  await service.fault({ provider: 'provider_d', action: 'timeout_after', times: 1 });
  expect(await service.post('/customers', body, options)).toMatchObject({
    status: 504,
    body: { code: 'PROVIDER_TIMEOUT' },
  });
  const again = await service.post('/customers', body, options);
  expect(again).toMatchObject({ status: 201 });
  const { customers } = await service.ledger();
  expect(customers.filter(({ email }) => email === body.email)).toHaveLength(1);
});
