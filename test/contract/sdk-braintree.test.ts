/**
 * @module Runs the quick start guides of Braintree's full SDK against the simulator. Our adapter supports only
 * customers, and accepts no Braintree webhooks.
 */
import type * as BraintreeSdk from 'braintree';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBraintree } from '../../shared/providers/braintree/braintree.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';

let sdk: typeof BraintreeSdk;
beforeAll(async () => {
  sdk = await import('braintree');
});

let rig: ProviderRig;
let gateway: BraintreeSdk.BraintreeGateway;
beforeEach(async () => {
  rig = await openRig({
    slot: 'provider_d',
    adapter: 'braintree',
    open: openBraintree,
    settings: { MERCHANT_ID: 'local', PUBLIC_KEY: 'local_public', PRIVATE_KEY: 'local_private' },
    credentials: { apiKey: 'local_private', webhookSecret: '' },
  });
  gateway = connect('local_private');
});
afterEach(() => rig.close());

const connect = (privateKey: string): BraintreeSdk.BraintreeGateway => {
  const { hostname, port, pathname } = new URL(rig.url);
  const made = new sdk.BraintreeGateway({
    environment: new sdk.Environment(hostname, port, rig.url, false, hostname, port),
    merchantId: 'local',
    publicKey: 'local_public',
    privateKey,
  });
  made.config.baseMerchantPath = () => `${pathname}/merchants/local`;
  return made;
};

const ANA = {
  firstName: 'Ana',
  lastName: 'Silva',
  company: 'Silva Ltd',
  email: 'ana@example.com',
  phone: '312.555.1234',
} as const;

const created = async (fields: BraintreeSdk.CustomerFields = ANA): Promise<BraintreeSdk.Customer> => {
  const result = await gateway.customer.create(fields);
  if (!result.success) throw new Error(result.message);
  return result.customer;
};

const errorsOf = (result: BraintreeSdk.Result) =>
  result.success ? [] : result.errors.deepErrors().map(({ attribute, code }) => [attribute, code]);

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    ({ type }: { type: string }) => type,
  );

describe('a customer at Braintree', () => {
  test('is created with an id from Braintree, and found', async () => {
    const customer = await created();
    expect(customer).toMatchObject({ ...ANA, merchantId: 'local', creditCards: [], paymentMethods: [] });
    const found = await gateway.customer.find(customer.id);
    expect(found).toMatchObject({ id: customer.id, ...ANA });
    expect(Date.parse(found.createdAt)).toBe(rig.clock.now());
  });

  test('is created once with our id', async () => {
    expect(await created({ id: 'cus_1', ...ANA })).toMatchObject({ id: 'cus_1' });
    const again = await gateway.customer.create({ id: 'cus_1', ...ANA });
    expect(again).toMatchObject({ success: false, message: 'Customer ID has already been taken.' });
    expect(errorsOf(again)).toEqual([['id', '91609']]);
  });

  test('is changed only in the fields that are sent', async () => {
    const { id } = await created();
    expect(await gateway.customer.update(id, { lastName: 'Costa', phone: '' })).toMatchObject({
      success: true,
      customer: { id, firstName: 'Ana', lastName: 'Costa', email: 'ana@example.com', phone: null },
    });
  });

  test('is refused with Braintree’s code if the e-mail address is invalid', async () => {
    expect(errorsOf(await gateway.customer.create({ email: 'not-an-email' }))).toEqual([['email', '81604']]);
    const { id } = await created();
    expect(errorsOf(await gateway.customer.update(id, { email: 'not-an-email' }))).toEqual([['email', '81604']]);
  });

  test('is deleted, and then cannot be found', async () => {
    const { id } = await created();
    await gateway.customer.delete(id);
    expect(await failureOf(gateway.customer.find(id))).toBe('notFoundError');
    expect(await failureOf(gateway.customer.update(id, { lastName: 'Costa' }))).toBe('notFoundError');
    expect(await failureOf(gateway.customer.delete(id))).toBe('notFoundError');
  });
});

describe('the SDK of Braintree', () => {
  test('is refused with the private key of another merchant', async () => {
    expect(await failureOf(connect('another').customer.find('cus_1'))).toBe('authenticationError');
  });
});
