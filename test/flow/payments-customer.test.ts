/** @module A payment's `customer_id` is the customer of the charged method. */

import { describe, expect, test } from 'vitest';
import { confirm, createIntent, read, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { company, createCustomer, saveMethod, storedRecord } from './payers.ts';
import type { MethodBody, PaymentBody } from './routes.ts';

const service = withHost();

const GUEST = { guest_data: { email: 'gina.pays@example.com', name: 'Gina Guest' } };

/** A method that succeeds, by provider. */
const METHODS = [
  ['provider_a', 'pm_card_visa'],
  ['provider_b', 'SIM-OK'],
  ['provider_c', 'cnon:card-nonce-ok'],
] as const;

const eventCustomers = async (paymentId: string): Promise<(readonly [string, string | null])[]> =>
  (await service.busEvents())
    .filter(({ detail }) => detail.payload?.data?.payment_id === paymentId)
    .map(({ detail }) => [detail.payload.event, detail.payload.data.customer_id]);

const pay = async (payment: PaymentBody, method: MethodBody, options: RequestOptions) => {
  const confirmed = await confirm(service, payment.id, { ...options, body: { payment_method_id: method.id } });
  expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  return read(service, payment.id, options);
};

describe.each(METHODS)('a payment at %s created before its payer had a customer', (provider_id, token) => {
  const saved = { provider_id, provider_payment_method_token: token };

  test('gets the customer of the saved method that a confirm charges', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { provider_id });
    expect(payment.customer_id).toBeNull();
    const method = await saveMethod(service, user.options, saved);
    const { customerId } = await storedRecord(service, 'PM', method.id);
    expect(await pay(payment, method, user.options)).toMatchObject({ customer_id: customerId });
    expect(await eventCustomers(payment.id)).toEqual([
      ['payment.created', null],
      ['payment.succeeded', customerId],
    ]);
  });

  test('gets the customer of the saved method that an update names', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { provider_id });
    const method = await saveMethod(service, user.options, saved);
    const { customerId } = await storedRecord(service, 'PM', method.id);
    const updated = await service.put(
      `/payments/intents/${payment.id}`,
      { payment_method_id: method.id },
      user.options,
    );
    expect(updated).toMatchObject({ status: 200, body: { customer_id: customerId } });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ status: 200 });
    expect(await read(service, payment.id, user.options)).toMatchObject({ customer_id: customerId });
  });
});

test('a payment switches to the customer of the charged method', async () => {
  const user = await signIn(service);
  const customers = [await createCustomer(service, user.options), await createCustomer(service, user.options)];
  const method = await saveMethod(service, user.options);
  const { customerId } = await storedRecord(service, 'PM', method.id);
  const other = customers.find(({ id }) => id !== customerId);
  const payment = await createIntent(service, user, { customer_id: other?.id });
  expect(payment.customer_id).toBe(other?.id);
  expect(await pay(payment, method, user.options)).toMatchObject({ customer_id: customerId });
});

test('a guest’s payment gets the customer of the guest’s saved method', async () => {
  const created = await service.post('/payments/intents', { total_cents: 900, currency: 'USD', ...GUEST });
  expect(created).toMatchObject({ status: 201, body: { customer_id: null } });
  const options = { guestToken: created.body.guest_token };
  const method = await saveMethod(service, options, GUEST);
  const { customerId } = await storedRecord(service, 'PM', method.id);
  expect(await pay(created.body, method, options)).toMatchObject({ customer_id: customerId });
});

describe('an organization’s payment with a member’s own method', () => {
  test('names the member’s customer while it has that method, and else the organization’s', async () => {
    const acme = await company(service);
    const ofAcme = { organization_id: acme.id };
    const own = await createCustomer(service, acme.owner.options, ofAcme);
    const declined = await saveMethod(service, acme.billing.options, {
      organization_id: null,
      provider_payment_method_token: 'pm_card_chargeCustomerFail',
    });
    const { customerId: lenders } = await storedRecord(service, 'PM', declined.id);
    const payment = await createIntent(service, acme.billing, ofAcme);
    expect(payment.customer_id).toBe(own.id);
    const failed = await confirm(service, payment.id, {
      ...acme.billing.options,
      body: { payment_method_id: declined.id },
    });
    expect(failed).toMatchObject({ status: 402, body: { details: { payment: { customer_id: lenders } } } });
    const shared = await saveMethod(service, acme.owner.options, ofAcme);
    expect(await pay(payment, shared, acme.owner.options)).toMatchObject({ customer_id: own.id });
  });

  test('shows the customer’s id to members, and the customer itself only to its owner', async () => {
    const acme = await company(service);
    const lent = await saveMethod(service, acme.billing.options, { organization_id: null });
    const { customerId: lenders } = await storedRecord(service, 'PM', lent.id);
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id });
    expect(await pay(payment, lent, acme.billing.options)).toMatchObject({ customer_id: lenders });
    expect(await read(service, payment.id, acme.member.options)).toMatchObject({ customer_id: lenders });
    expect((await eventCustomers(payment.id)).at(-1)).toEqual(['payment.succeeded', lenders]);
    expect(await service.get(`/customers/${lenders}`, acme.owner.options)).toMatchObject({ status: 404 });
    expect(await service.get(`/customers/${lenders}`, acme.billing.options)).toMatchObject({ status: 200 });
  });

  test('keeps the organization’s customer after a charge that the provider did not receive', async () => {
    const acme = await company(service);
    const own = await createCustomer(service, acme.owner.options, { organization_id: acme.id });
    const lent = await saveMethod(service, acme.billing.options, { organization_id: null });
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id });
    await service.fault({ provider: 'provider_a', path: '/confirm', action: 'rate_limit' });
    const refused = await confirm(service, payment.id, {
      ...acme.billing.options,
      body: { payment_method_id: lent.id },
    });
    await service.clearFaults();
    expect(refused).toMatchObject({ status: 503 });
    expect(await read(service, payment.id, acme.owner.options)).toMatchObject({ customer_id: own.id });
  });
});
