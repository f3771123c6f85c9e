import { describe, expect, test } from 'vitest';
import { fullAddress } from '../builders/address.ts';
import { intentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { itemsOf, signIn } from './flow.ts';
import { from, type RequestOptions, type TestAnswer, type TestHost, withHost } from './host.ts';
import { takenSince } from './use/charges.ts';

/**
 * A guest can continue a guest_id with guest_data alone. The request must name our id of a customer, method or address
 * with the same e-mail. It must come within an hour of this record's creation, and from the network that created it.
 */
type Fields = Readonly<Record<string, unknown>>;

const SECRET_KEY = 'a-key-of-a-guest-0123456789';

let guests = 0;
const newEmail = (): string => {
  guests += 1;
  return `continues.${guests}@example.com`;
};
const as = (email: string): Fields => ({ guest_data: { email, name: 'Gus' } });

/** The create routes for guests, each with guest_data alone. */
const guestOf = (service: TestHost, email: string) => {
  const create = async (path: string, body: Fields) => {
    const answer = await service.post(path, { ...body, ...as(email) });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  };
  const post = (path: string, body: Fields, options?: RequestOptions) =>
    service.post(path, { ...body, ...as(email) }, options);
  return {
    post,
    customer: () => create('/customers', customerBody()),
    method: (fields: Fields = {}) => create('/payment-methods', methodBody(fields)),
    address: () => create('/addresses', fullAddress()),
    payment: (fields: Fields = {}) => create('/payments/intents', intentBody(fields)),
    subscription: (fields: Fields) => create('/subscriptions', subscriptionBody(fields)),
    pay: (fields: Fields, options?: RequestOptions) => post('/payments/intents', intentBody(fields), options),
    subscribe: (fields: Fields, options?: RequestOptions) => post('/subscriptions', subscriptionBody(fields), options),
  };
};

const REFUSED = {
  status: 404,
  body: { code: 'RESOURCE_NOT_FOUND', error: expect.stringMatching(/Send the guest_token of/) },
};

const WITHOUT_MEANING = /^(RATE|LOG|DLV|IDEM|COUNT)#/;
const tableNow = async (service: TestHost) =>
  (await itemsOf(service)).filter(({ pk }) => !WITHOUT_MEANING.test(String(pk)));

const guestIdOf = async (service: TestHost, id: string): Promise<unknown> =>
  (await itemsOf(service)).find(({ pk, guestId }) => String(pk).endsWith(`#${id}`) && guestId !== undefined)?.[
    'guestId'
  ];

describe('a guest with guest_data alone', () => {
  const service = withHost({ frozen: true });

  test('subscribes with its newly created customer and method', async () => {
    const guest = guestOf(service, newEmail());
    const [customer, method] = [await guest.customer(), await guest.method()];
    const made = await guest.subscription({ customer_id: customer.id, payment_method_id: method.id });
    expect(made).toMatchObject({ status: 'active', is_guest_subscription: true, payment_method_id: method.id });
  });

  test('continues with the customer and guest_id of its method if it names another customer', async () => {
    const guest = guestOf(service, newEmail());
    const [customer, method] = [await guest.customer(), await guest.method()];
    expect(method.customer_id).not.toBe(customer.id);
    const made = await guest.subscription({ customer_id: customer.id, payment_method_id: method.id });
    expect(made.customer_id).toBe(method.customer_id);
    expect(await guestIdOf(service, made.id)).toBe(await guestIdOf(service, method.id));
    const paid = await guest.payment({ customer_id: customer.id, payment_method_id: method.id });
    expect(paid.customer_id).toBe(method.customer_id);
    const confirmed = await service.post(`/payments/confirm/${paid.id}`, {}, { guestToken: paid.guest_token });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await takenSince(service)).at(-1)).toMatchObject({ method: method.provider_payment_method_id });
  });

  test('pays with a saved method and a billing address, by our id only', async () => {
    const guest = guestOf(service, newEmail());
    const [address, method] = [await guest.address(), await guest.method()];
    expect(await guest.payment({ billing_address_id: address.id })).toMatchObject({
      status: 'requires_payment_method',
    });
    const { id: ours, provider_payment_method_id: providers } = method;
    expect(await guest.payment({ payment_method_id: ours })).toMatchObject({ payment_method_id: ours });
    expect(await guest.pay({ payment_method_id: providers })).toMatchObject(REFUSED);
    expect(await guest.method({ billing_address_id: address.id })).toMatchObject({ billing_address_id: address.id });
    const save = (token: string) =>
      guest.post('/payment-methods', methodBody({ provider_payment_method_token: token }));
    expect(await save(ours)).toMatchObject({ status: 200, body: { id: ours, guest_token: expect.any(String) } });
    expect(await save(providers)).toMatchObject(REFUSED);
  });

  test('gets a token with a full lifetime for the new record only', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    await service.advance(60);
    const payment = await guest.payment({ payment_method_id: method.id });
    expect(payment.guest_token_expires_at > method.guest_token_expires_at).toBe(true);
    for (const [guestToken, status] of [
      [method.guest_token, 200],
      [payment.guest_token, 404],
    ]) {
      expect(await service.get(`/payments/${payment.id}`, { guestToken })).toMatchObject({ status: 200 });
      expect(await service.get(`/payment-methods/${method.id}`, { guestToken })).toMatchObject({ status });
    }
  });

  test('saves a method with a payment under the customer of the continued guest_id', async () => {
    const guest = guestOf(service, newEmail());
    const [customer, address] = [await guest.customer(), await guest.address()];
    const named = { customer_id: customer.id, billing_address_id: address.id };
    const payment = await guest.payment({ ...named, setup_future_usage: 'off_session' });
    expect(payment).toMatchObject(named);
    expect(await guestIdOf(service, payment.id)).toBe(await guestIdOf(service, customer.id));
    const options = { guestToken: payment.guest_token };
    const body = { payment_method_id: 'pm_card_visa' };
    expect(await service.post(`/payments/confirm/${payment.id}`, body, options)).toMatchObject({ status: 200 });
    await service.settle();
    const whole = { guestToken: customer.guest_token };
    expect((await service.get('/payment-methods', whole)).body).toMatchObject([{ customer_id: customer.id }]);
  });

  test('can write the e-mail address in upper or lower case', async () => {
    const email = newEmail();
    const method = await guestOf(service, email).method();
    const answer = await guestOf(service, email.toUpperCase()).pay({ payment_method_id: method.id });
    expect(answer).toMatchObject({ status: 201, body: { guest_email: email } });
  });

  test('still needs the token to read and confirm', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    const payment = await guest.payment({ payment_method_id: method.id });
    const unsigned = { status: 401 };
    expect(await guest.post(`/payments/confirm/${payment.id}`, {})).toMatchObject(unsigned);
    expect(await service.get(`/payments/${payment.id}`)).toMatchObject(unsigned);
    expect(await service.get(`/payment-methods/${method.id}`)).toMatchObject(unsigned);
  });

  test('continues for an hour after the creation of the record, and then only with its token', async () => {
    const guest = guestOf(service, newEmail());
    const [customer, method, address] = [await guest.customer(), await guest.method(), await guest.address()];
    await service.advance(HOUR_SECONDS);
    expect(await guest.pay({ payment_method_id: method.id })).toMatchObject({ status: 201 });
    await service.advance(1);
    for (const named of [
      { payment_method_id: method.id },
      { payment_method_id: method.provider_payment_method_id },
      { billing_address_id: address.id },
      { customer_id: customer.id },
    ]) {
      expect(await guest.pay(named)).toMatchObject(REFUSED);
    }
    const names = { customer_id: method.customer_id, payment_method_id: method.id };
    expect(await guest.subscribe(names)).toMatchObject(REFUSED);
    expect(await guest.subscribe(names, { guestToken: method.guest_token })).toMatchObject({ status: 201 });
  });

  test('proves its guest_id with one recent record, which also unlocks that guest_id’s older records', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    await service.advance(HOUR_SECONDS + 1);
    const options = { guestToken: method.guest_token };
    const address = (await service.post('/addresses', fullAddress(), options)).body;
    expect(await guest.pay({ payment_method_id: method.id })).toMatchObject(REFUSED);
    const named = { payment_method_id: method.id, billing_address_id: address.id };
    expect(await guest.pay(named)).toMatchObject({ status: 201, body: named });
  });

  test('gets the same record for a repeated create, even after the hour', async () => {
    const guest = guestOf(service, newEmail());
    const [customer, method] = [await guest.customer(), await guest.method()];
    const names = { customer_id: customer.id, payment_method_id: method.id };
    const options = { idempotencyKey: `${SECRET_KEY}-${guests}` };
    const first = await guest.subscribe(names, options);
    const again = await guest.subscribe(names, options);
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    await service.advance(2 * HOUR_SECONDS);
    const later = await guest.subscribe(names, options);
    expect({ status: later.status, id: later.body.id }).toEqual({ status: 201, id: first.body.id });
    expect(await guest.subscribe({ ...names, total_cents: 2 }, options)).toMatchObject({ status: 422 });
    expect(await guest.subscribe(names, { idempotencyKey: `${SECRET_KEY}-new-${guests}` })).toMatchObject(REFUSED);
    await service.advance(23 * HOUR_SECONDS);
    expect(await guest.subscribe(names, options)).toMatchObject(REFUSED);
  });

  test('needs a long Idempotency-Key if the request has no token', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    const answer = await guest.pay({ payment_method_id: method.id }, { idempotencyKey: 'short' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'IDEMPOTENCY_KEY_INVALID' } });
  });

  test('is identified by its guest_id in the history of the record', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    const payment = await guest.payment({ payment_method_id: method.id });
    await service.settle();
    const { body } = await service.get(`/payments/${payment.id}/timeline`, { guestToken: method.guest_token });
    const id = await guestIdOf(service, method.id);
    expect(body.data.find(({ kind }) => kind === 'change')).toMatchObject({ actor: { type: 'guest', id } });
  });
});

describe('an attacker who knows the e-mail of a guest', () => {
  const service = withHost({ frozen: true });

  /** Expects that the request is refused and changes nothing. */
  const expectRefused = async (send: () => Promise<TestAnswer>): Promise<void> => {
    await service.settle();
    const before = await tableNow(service);
    expect(await send()).toMatchObject(REFUSED);
    expect(await tableNow(service)).toEqual(before);
  };

  test('gets no access with the payment and subscription ids that lists by e-mail show', async () => {
    const email = newEmail();
    const guest = guestOf(service, email);
    const method = await guest.method();
    const payment = await guest.payment({ payment_method_id: method.id });
    const names = { customer_id: method.customer_id, payment_method_id: method.id };
    const subscription = await guest.subscription(names);
    const attacker = guestOf(service, email);
    for (const id of [payment.id, subscription.id]) {
      await expectRefused(() => attacker.pay({ customer_id: id }));
      await expectRefused(() => attacker.pay({ billing_address_id: id }));
      await expectRefused(() => attacker.subscribe({ customer_id: id, payment_method_id: id }));
      // The ids are not provider tokens, either.
      expect((await attacker.pay({ payment_method_id: id })).body.guest_token).toSatisfy(
        (token?: string) => token === undefined || token !== method.guest_token,
      );
    }
    const own = await attacker.payment();
    expect(await service.get(`/payments/${payment.id}`, { guestToken: own.guest_token })).toMatchObject({
      status: 404,
    });
    for (const list of [`/payments/guest/${email}`, `/subscriptions/guest/${email}`]) {
      const shown = JSON.stringify((await service.get(list)).body);
      for (const secret of [method.id, method.customer_id, method.provider_payment_method_id]) {
        expect(shown).not.toContain(secret);
      }
    }
  });

  test('can pay with a known method id for an hour at most, and only in the guest’s network', async () => {
    const email = newEmail();
    const method = await guestOf(service, email).method();
    const attacker = guestOf(service, email);
    await expectRefused(() => attacker.pay({ payment_method_id: method.id }, from('198.51.100.9')));
    expect(await attacker.pay({ payment_method_id: method.id })).toMatchObject({ status: 201 });
    await service.advance(HOUR_SECONDS + 1);
    await expectRefused(() => attacker.pay({ payment_method_id: method.id }));
  });

  test('gets the same refusal for another guest’s record, a user’s record and an unknown record', async () => {
    const theirs = guestOf(service, newEmail());
    const [customer, method, address] = [await theirs.customer(), await theirs.method(), await theirs.address()];
    const email = newEmail();
    const user = await signIn(service, { email });
    const usersMethod = (await service.post('/payment-methods', methodBody(), user.options)).body;
    const attacker = guestOf(service, email);
    for (const named of [
      { customer_id: customer.id },
      { billing_address_id: address.id },
      { payment_method_id: method.id },
      { payment_method_id: method.provider_payment_method_id },
      { payment_method_id: usersMethod.id },
      { payment_method_id: usersMethod.provider_payment_method_id },
      { customer_id: usersMethod.customer_id },
      { payment_method_id: `pmt_${'0'.repeat(24)}` },
    ]) {
      await expectRefused(() => attacker.pay(named));
    }
  });

  test('gets no access with a token of another guest_id, because the token identifies the caller', async () => {
    const email = newEmail();
    const method = await guestOf(service, email).method();
    const other = await guestOf(service, email).payment();
    const answer = await guestOf(service, email).pay(
      { payment_method_id: method.id },
      { guestToken: other.guest_token },
    );
    expect(answer).toMatchObject({ status: 404 });
  });

  test('gets no access after the method is removed or the guest is erased', async () => {
    const email = newEmail();
    const guest = guestOf(service, email);
    const [removed, erased] = [await guest.method(), await guest.method()];
    const address = await guest.address();
    const detach = `/_local/providers/stripe/v1/payment_methods/${removed.provider_payment_method_id}/detach`;
    expect((await service.post(detach, undefined, { bearer: 'sk_test_local_provider_a' })).status).toBe(200);
    await service.settle();
    await expectRefused(() => guest.pay({ payment_method_id: removed.id }));
    const root = await signIn(service, { is_admin: true });
    expect((await service.post('/admin/erasures', { email }, root.options)).status).toBe(202);
    await service.advance(60);
    await service.settle();
    await expectRefused(() => guest.pay({ payment_method_id: erased.id }));
    await expectRefused(() => guest.pay({ billing_address_id: address.id }));
  });
});

describe.each([
  ['GUEST_CONTINUE_SECONDS is 0', { GUEST_CONTINUE_SECONDS: '0' }],
  ['lists by e-mail show the ids of methods', { GUEST_EMAIL_LIST: 'full' }],
])('a guest when %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  test('can continue only with its token', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    expect(await guest.pay({ payment_method_id: method.id })).toMatchObject(REFUSED);
    const options = { guestToken: method.guest_token };
    expect(await guest.pay({ payment_method_id: method.id }, options)).toMatchObject({ status: 201 });
  });
});

describe('GUEST_CONTINUE_SECONDS', () => {
  const service = withHost({ frozen: true, env: { GUEST_CONTINUE_SECONDS: '60' } });

  test('limits the time in which a guest can continue', async () => {
    const guest = guestOf(service, newEmail());
    const method = await guest.method();
    await service.advance(60);
    expect(await guest.pay({ payment_method_id: method.id })).toMatchObject({ status: 201 });
    await service.advance(1);
    expect(await guest.pay({ payment_method_id: method.id })).toMatchObject(REFUSED);
  });
});
