import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { fingerprint } from '../../shared/core/ids.ts';
import { idempotencyScope } from '../../shared/http/idempotency.ts';
import { fullAddress } from '../builders/address.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { signIn } from './flow.ts';
import { type RequestOptions, startTestHost, type TestHost, withHost } from './host.ts';

type Fields = Readonly<Record<string, unknown>>;

const REFUSED = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
const DIGITS = 24;

let guests = 0;
const newGuest = () => {
  guests += 1;
  return { email: `keyed.${guests}@example.com`, name: 'Gus' };
};

/** The id that anyone could compute if ids were plain hashes of their inputs. */
const hashed = (prefix: string, ...parts: readonly string[]): string =>
  `${prefix}_${fingerprint(...parts).slice(0, DIGITS)}`;

const scopeOf = (route: string, email: string, key: string): string =>
  idempotencyScope({ principal: `email:${email}`, route, params: {}, key });

describe('a stranger who knows the inputs of an id', () => {
  const service = withHost({ frozen: true });

  const made = async (path: string, body: Fields, options: RequestOptions = {}) => {
    const answer = await service.post(path, body, options);
    expect(answer).toMatchObject({ status: expect.toBeOneOf([200, 201]) });
    return answer.body;
  };

  test('cannot charge a card by e-mail and order number, even if the number is the Idempotency-Key', async () => {
    const guest_data = newGuest();
    const key = `order-2026-${String(guests).padStart(12, '0')}`;
    const method = await made('/payment-methods', methodBody({ guest_data }), { idempotencyKey: key });
    const id = hashed('pmt', scopeOf('POST /payment-methods', guest_data.email, key));
    expect(id).not.toBe(method.id);
    expect(
      await service.post('/payments/intents', intentBody({ guest_data, payment_method_id: id })),
    ).not.toMatchObject({ status: 201, body: { payment_method_id: method.id } });
    const [customer, address] = [
      await made('/customers', customerBody({ guest_data }), { idempotencyKey: key }),
      await made('/addresses', fullAddress({ guest_data }), { idempotencyKey: key }),
    ];
    const guessed = {
      customer_id: hashed('cust', scopeOf('POST /customers', guest_data.email, key)),
      billing_address_id: hashed('addr', scopeOf('POST /addresses', guest_data.email, key)),
    };
    expect([customer.id, address.id]).not.toEqual(Object.values(guessed));
    for (const [field, value] of Object.entries(guessed)) {
      expect(await service.post('/payments/intents', intentBody({ guest_data, [field]: value }))).toMatchObject(
        REFUSED,
      );
    }
  });

  test('cannot charge a card by the listed id of the payment that saved the card', async () => {
    const guest_data = newGuest();
    const saving = { guest_data, payment_method_id: VISA, setup_future_usage: 'off_session' };
    const payment = await made('/payments/intents', intentBody(saving), {
      idempotencyKey: `a-secret-key-${guests}-01234`,
    });
    const options = { guestToken: payment.guest_token };
    await made(`/payments/confirm/${payment.id}`, {}, options);
    await service.settle();
    const [saved] = (await service.get('/payment-methods', options)).body;
    const listed = present((await service.get(`/payments/guest/${guest_data.email}`)).body.data[0]);
    expect([listed.id, present(saved).id]).toEqual([payment.id, expect.stringMatching(/^pmt_/)]);
    for (const named of [
      { payment_method_id: hashed('pmt', listed.id) },
      { customer_id: hashed('cust', listed.id) },
      { customer_id: hashed('cust', hashed('pmt', listed.id)) },
      { customer_id: String(listed.id).replace('pay', 'cust') },
      { billing_address_id: String(listed.id).replace('pay', 'addr') },
    ]) {
      const { status, body } = await service.post('/payments/intents', intentBody({ guest_data, ...named }));
      expect(Object.values(named), JSON.stringify(named)).not.toContain(present(saved).id);
      expect({ status, method: body.payment_method_id, customer: body.customer_id }, JSON.stringify(named)).not.toEqual(
        expect.objectContaining({ status: 201, customer: present(saved).customer_id }),
      );
    }
  });

  test('cannot derive one id from another id of the same key', async () => {
    const guest_data = newGuest();
    const idempotencyKey = `a-secret-key-of-a-guest-${guests}`;
    const saving = { guest_data, payment_method_id: VISA, setup_future_usage: 'off_session' };
    const payment = await made('/payments/intents', intentBody(saving), { idempotencyKey });
    const method = await made('/payment-methods', methodBody({ guest_data }), { idempotencyKey });
    const ids: readonly string[] = [payment.id, payment.customer_id, method.id, method.customer_id];
    expect(new Set(ids.map((id) => id.split('_')[1])).size).toBe(ids.length);
  });
});

/** Creates a record by every route whose Idempotency-Key determines the new id. @returns the ids */
const createdUnder = async (service: TestHost, idempotencyKey: string): Promise<Readonly<Record<string, string>>> => {
  const user = await signIn(service, { email: 'keyed@example.com', user_id: 'user_keyed' });
  const root = await signIn(service, { email: 'root@example.com', user_id: 'user_root', is_admin: true });
  const idOf = async (
    path: string,
    body: Fields,
    { options }: { readonly options: RequestOptions },
  ): Promise<string> => {
    const answer = await service.post(path, body, { ...options, idempotencyKey });
    expect({ path, status: answer.status }).toEqual({ path, status: expect.toBeOneOf([201, 202]) });
    return (answer.body.data ?? answer.body).id;
  };
  const customer = await idOf('/customers', customerBody(), user);
  const method = await idOf('/payment-methods', methodBody(), user);
  const named = { customer_id: customer, payment_method_id: method };
  const guest_data = { email: 'gus.keyed@example.com', name: 'Gus' };
  const ofGuest = await service.post('/payment-methods', methodBody({ guest_data }), { idempotencyKey });
  return {
    customer,
    method,
    address: await idOf('/addresses', fullAddress(), user),
    payment: await idOf('/payments/intents', intentBody(), user),
    subscription: await idOf('/subscriptions', subscriptionBody(named), user),
    organization: await idOf('/organizations', { name: 'Keyed' }, user),
    key: await idOf('/admin/keys', { name: 'Shop', scopes: ['payments:read'] }, root),
    erasure: await idOf('/admin/erasures', { email: 'nobody@example.com' }, root),
    guestsMethod: ofGuest.body.id,
    guestsCustomer: ofGuest.body.customer_id,
  };
};

describe('the ids of equal Idempotency-Keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyed-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const KEY = 'a-key-that-two-deployments-share';

  const on = async <T>(
    options: Parameters<typeof startTestHost>[0],
    work: (host: TestHost) => Promise<T>,
  ): Promise<T> => {
    const service = await startTestHost({ frozen: true, ...options });
    onTestFinished(() => service.stop());
    const result = await work(service);
    await service.stop();
    return result;
  };

  test('differ between two deployments, even if both have the same guest token secret', async () => {
    const [one, other] = [await on({}, (it) => createdUnder(it, KEY)), await on({}, (it) => createdUnder(it, KEY))];
    for (const [name, id] of Object.entries(one)) expect(id, name).not.toBe(other[name]);
  });

  test('are the same after a restart, and after a rotation of the guest token secret', async () => {
    const first = await on({ dataDir: folder }, (it) => createdUnder(it, KEY));
    const rotated = { GUEST_TOKEN_SECRET: 'another-guest-token-secret-of-32-bytes' };
    const again = await on({ dataDir: folder, env: rotated }, (it) => createdUnder(it, KEY));
    expect(again).toEqual(first);
  });

  test('are the same in two deployments with the same ID_SECRET', async () => {
    const env = { ID_SECRET: 'an id secret that an operator gives to both' };
    const [one, other] = [
      await on({ env }, (it) => createdUnder(it, KEY)),
      await on({ env }, (it) => createdUnder(it, KEY)),
    ];
    expect(one).toEqual(other);
  });
});
