import { beforeAll, describe, expect, test } from 'vitest';
import { addressUseKey } from '../../shared/platform/keys.ts';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { changeTable, confirm, partitionOf, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { company, createAddress, createCustomer, saveMethod } from './payers.ts';
import type { AddressBody } from './routes.ts';
import { command, OWN_BILLING, readSubscription, subscribe, subscriber } from './subscribers.ts';

/** A deletion removes the address from every linked record. Payments keep the address of their creation. */
const service = withHost({ frozen: true, env: OWN_BILLING });

const remove = (path: string, options: RequestOptions) => service.request('DELETE', path, options);
const link = (path: string, addressId: string | null, options: RequestOptions) =>
  service.request('PATCH', `${path}/billing-address`, { ...options, body: { billing_address_id: addressId } });
const methodOf = async (id: string, options: RequestOptions) =>
  (await service.get(`/payment-methods/${id}`, options)).body;
const usesOf = async (addressId: string): Promise<string[]> =>
  (await partitionOf(service, `ADDR#${addressId}`)).map(({ sk }) => sk).filter((sk) => sk !== 'ADDR');

describe('a deleted address', () => {
  test('is removed from all linked methods, for each way to link an address', async () => {
    const { options } = await signIn(service);
    const [gone, kept] = [await createAddress(service, options), await createAddress(service, options)];
    const made = await saveMethod(service, options, { billing_address_id: gone.id });
    const changed = await saveMethod(service, options);
    await service.put(`/payment-methods/${changed.id}`, { billing_address_id: gone.id }, options);
    const linked = await saveMethod(service, options, { billing_address_id: kept.id });
    await link(`/payment-methods/${linked.id}`, gone.id, options);
    const other = await saveMethod(service, options, { billing_address_id: gone.id });
    await link(`/payment-methods/${other.id}`, kept.id, options);
    expect((await remove(`/addresses/${gone.id}`, options)).status).toBe(204);
    for (const { id } of [made, changed, linked]) {
      expect(await methodOf(id, options)).toMatchObject({ billing_address_id: null });
    }
    expect(await methodOf(other.id, options)).toMatchObject({ billing_address_id: kept.id });
    expect([await usesOf(gone.id), await usesOf(kept.id)]).toEqual([[], [`PM#${other.id}`]]);
  });

  test('is removed from a method that a payment with this address saved', async () => {
    const user = await signIn(service);
    await createCustomer(service, user.options);
    const address = await createAddress(service, user.options);
    const saving = paidIntentBody({ setup_future_usage: 'off_session', billing_address_id: address.id });
    const { body: payment } = await service.post('/payments/intents', saving, user.options);
    await confirm(service, payment.id, user.options);
    await service.settle();
    const [method] = (await service.get('/payment-methods', user.options)).body;
    expect(method).toMatchObject({ billing_address_id: address.id });
    await remove(`/addresses/${address.id}`, user.options);
    expect(await methodOf(present(method).id, user.options)).toMatchObject({ billing_address_id: null });
    const { body } = await service.get(`/payments/${payment.id}`, user.options);
    expect(body.data).toMatchObject({ billing_address_id: address.id });
  });

  test('is not linked to a method that a payment saves after the deletion', async () => {
    const user = await signIn(service);
    await createCustomer(service, user.options);
    const address = await createAddress(service, user.options);
    const saving = paidIntentBody({ setup_future_usage: 'off_session', billing_address_id: address.id });
    const { body: payment } = await service.post('/payments/intents', saving, user.options);
    await remove(`/addresses/${address.id}`, user.options);
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    await service.settle();
    expect((await service.get('/payment-methods', user.options)).body).toMatchObject([{ billing_address_id: null }]);
  });

  test('is removed from subscriptions, live or canceled', async () => {
    const who = await subscriber(service);
    const address = await createAddress(service, who.options);
    const live = await subscribe(service, who, { billing_address_id: address.id });
    const canceled = await subscribe(service, who);
    expect(await link(`/subscriptions/${canceled.id}`, address.id, who.options)).toMatchObject({ status: 200 });
    await command(service, who, { id: canceled.id, name: 'cancel', body: { cancel_at_period_end: false } });
    await remove(`/addresses/${address.id}`, who.options);
    for (const { id } of [live, canceled]) {
      expect(await readSubscription(service, who, id)).toMatchObject({ billing_address_id: null });
    }
    expect(await usesOf(address.id)).toEqual([]);
  });

  test('does not recreate a method deleted earlier', async () => {
    const { options } = await signIn(service);
    const address = await createAddress(service, options);
    const method = await saveMethod(service, options, { billing_address_id: address.id });
    expect(await usesOf(address.id)).toEqual([`PM#${method.id}`]);
    await remove(`/payment-methods/${method.id}`, options);
    expect(await usesOf(address.id)).toEqual([]);
    expect((await remove(`/addresses/${address.id}`, options)).status).toBe(204);
  });

  test('is removed from methods that are linked to it during the deletion', async () => {
    const { options } = await signIn(service);
    await createCustomer(service, options);
    const methods = await Promise.all(Array.from({ length: 4 }, () => saveMethod(service, options)));
    for (let round = 0; round < 5; round += 1) {
      const address = await createAddress(service, options);
      await Promise.all([
        ...methods.map(({ id }) => link(`/payment-methods/${id}`, address.id, options)),
        remove(`/addresses/${address.id}`, options),
      ]);
      await remove(`/addresses/${address.id}`, options);
      const linked = await Promise.all(methods.map(({ id }) => methodOf(id, options)));
      expect(linked.map(({ billing_address_id }) => billing_address_id)).not.toContain(address.id);
    }
  });
});

describe('a deleted address of an organization', () => {
  let acme: Awaited<ReturnType<typeof company>>;
  beforeAll(async () => {
    acme = await company(service);
  });

  test('is removed from a personal method that an older version linked to it', async () => {
    const { options } = acme.owner;
    const address = await createAddress(service, options, { organization_id: acme.id });
    const own = await saveMethod(service, options);
    const record = (await partitionOf(service, `PM#${own.id}`)).find(({ sk }) => sk === 'PM');
    await changeTable(service, { put: { ...record, billingAddressId: address.id } });
    await changeTable(service, { put: addressUseKey(address.id, 'PM', own.id) });
    expect(await methodOf(own.id, options)).toMatchObject({ billing_address_id: address.id });
    await remove(`/organizations/${acme.id}`, options);
    await service.advance(300);
    expect(await methodOf(own.id, options)).toMatchObject({ billing_address_id: null });
    expect(await partitionOf(service, `ADDR#${address.id}`)).toEqual([]);
  });
});

describe('an address of an organization', () => {
  const REFUSED = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
  let acme: Awaited<ReturnType<typeof company>>;
  let address: AddressBody;
  beforeAll(async () => {
    acme = await company(service);
    address = await createAddress(service, acme.owner.options, { organization_id: acme.id });
  });

  test('never appears on a member’s personal payment', async () => {
    const { options } = acme.billing;
    const named = { organization_id: null, billing_address_id: address.id };
    for (const path of ['/payments', '/payments/intents']) {
      expect(await service.post(path, intentBody(named), options)).toMatchObject(REFUSED);
    }
    const { body: payment } = await service.post('/payments/intents', intentBody({ organization_id: null }), options);
    const path = `/payments/intents/${payment.id}`;
    expect(await service.put(path, { billing_address_id: address.id }, options)).toMatchObject(REFUSED);
    const { body } = await service.get(`/payments/${payment.id}`, options);
    expect(body.data).toMatchObject({ billing_address_id: null });
  });

  test('never appears on a member’s personal method or in the request to the provider', async () => {
    const { options } = acme.admin;
    const saved = await saveMethod(service, options, { organization_id: null });
    await service.clearProviderRequests();
    const fields = { organization_id: null, billing_address_id: address.id };
    expect(await service.post('/payment-methods', methodBody(fields), options)).toMatchObject(REFUSED);
    const path = `/payment-methods/${saved.id}`;
    expect(await service.put(path, { billing_address_id: address.id }, options)).toMatchObject(REFUSED);
    expect(await link(path, address.id, options)).toMatchObject(REFUSED);
    expect(await service.providerRequests()).toEqual([]);
    expect(await methodOf(saved.id, options)).toMatchObject({ billing_address_id: null });
    expect(await usesOf(address.id)).toEqual([]);
  });

  test('appears on the organization’s payments and methods, like a member’s own address', async () => {
    const { options } = acme.admin;
    const own = await createAddress(service, options, { organization_id: null });
    for (const { id } of [address, own]) {
      const fields = { organization_id: acme.id, billing_address_id: id };
      const { body: payment } = await service.post('/payments/intents', intentBody(fields), options);
      expect(payment).toMatchObject({ billing_address_id: id });
      expect(await saveMethod(service, options, fields)).toMatchObject({ billing_address_id: id });
    }
  });
});
