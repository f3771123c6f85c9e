import { describe, expect, test } from 'vitest';
import { fullAddress } from '../builders/address.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { itemsOf, signIn } from './flow.ts';
import { from, type RequestOptions, withHost } from './host.ts';
import { createKey, newAdmin } from './keys.ts';
import type { MethodBody, ParsedJson } from './routes.ts';
import { takenSince } from './use/charges.ts';

/** A guest proves a guest_id by our id of a record, from the network that created it, within an hour. */
type Fields = Readonly<Record<string, unknown>>;

const REFUSED = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
const ELSEWHERE = from('198.51.100.9');

let guests = 0;
const newGuest = () => {
  guests += 1;
  return { email: `network.${guests}@example.com`, name: 'Gus' };
};

const PROOFS = ['customer', 'method', 'method as token', 'address'] as const;
const NAMED = ['our id', 'the provider’s id'] as const;
const AGES = [
  ['immediately', 0],
  ['an hour later', HOUR_SECONDS],
  ['an hour and a second later', HOUR_SECONDS + 1],
] as const;
const CELLS = PROOFS.flatMap((proof) =>
  (['own', 'another'] as const).flatMap((network) =>
    NAMED.flatMap((named) => AGES.map(([age, seconds]) => ({ proof, network, named, age, seconds }))),
  ),
);

describe('a create of a guest with guest_data alone', () => {
  const service = withHost({ frozen: true });

  const made = async (path: string, body: Fields, options: RequestOptions = {}) => {
    const answer = await service.post(path, body, options);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  };

  /**
   * Creates a record whose id proves the guest. Providers have no addresses, so an address's second id is invented.
   * @returns `ids`, our id and the provider's id, and `create`, which gives the path and body of a create that names
   * one of these ids
   */
  const proofOf = async (proof: (typeof PROOFS)[number], guest_data: Fields) => {
    switch (proof) {
      case 'customer': {
        const { id, provider_customer_id } = await made('/customers', customerBody({ guest_data }));
        return {
          ids: [id, provider_customer_id],
          create: (customer_id: string) => ['/payments/intents', intentBody({ guest_data, customer_id })] as const,
        };
      }
      case 'address': {
        const { id } = await made('/addresses', fullAddress({ guest_data }));
        return {
          ids: [id, `at_a_provider_${id}`],
          create: (billing_address_id: string) =>
            ['/payments/intents', intentBody({ guest_data, billing_address_id })] as const,
        };
      }
      default: {
        const { id, provider_payment_method_id } = await made('/payment-methods', methodBody({ guest_data }));
        const isToken = proof === 'method as token';
        return {
          ids: [id, provider_payment_method_id],
          create: (named: string) =>
            isToken
              ? (['/payment-methods', methodBody({ guest_data, provider_payment_method_token: named })] as const)
              : (['/payments/intents', intentBody({ guest_data, payment_method_id: named })] as const),
        };
      }
    }
  };

  const idsIn = async (path: string, options: RequestOptions): Promise<readonly string[]> => {
    const { body } = await service.get(path, options);
    return (body.data ?? body).map(({ id }: ParsedJson) => id);
  };

  interface Reach {
    /** The record of the continuing create, with its token. */
    readonly record: ParsedJson;
    readonly older: ParsedJson;
    readonly method: MethodBody;
  }

  /** Expects that the token opens the record, and no other record of the guest. */
  const expectReach = async ({ record, older, method }: Reach): Promise<void> => {
    const options = { guestToken: record.guest_token };
    const isPayment = String(record.id).startsWith('pay_');
    const path = isPayment ? '/payments' : '/payment-methods';
    expect(await service.get(`${path}/${record.id}`, options)).toMatchObject({ status: 200 });
    expect(await idsIn('/payments', options)).toEqual(isPayment ? [record.id] : []);
    expect(await idsIn('/payment-methods', options)).toEqual(isPayment ? [] : [record.id]);
    expect(await idsIn(`/payments/guest/${older.guest_email}`, options)).toEqual(isPayment ? [record.id] : []);
    expect(await idsIn(`/payments?search=${older.id}`, options)).toEqual([]);
    expect(await service.get(`/payments/${older.id}`, options)).toMatchObject(REFUSED);
    expect(await service.post(`/payments/confirm/${older.id}`, {}, options)).toMatchObject(REFUSED);
    if (isPayment) await expectPaymentReach({ record, older, method });
    await expectNothingToName({ record, older, method });
  };

  /** Expects that the token confirms the payment with a new card, but not with another saved method of the guest. */
  const expectPaymentReach = async ({ record, method }: Reach): Promise<void> => {
    const options = { guestToken: record.guest_token };
    expect(await service.get(`/payment-methods/${method.id}`, options)).toMatchObject(REFUSED);
    const { body } = await service.get(`/payments/${record.id}?include=payment_method`, options);
    expect(body.data).toMatchObject({ id: record.id, payment_method: null });
    const confirm = (payment_method_id: string) =>
      service.post(`/payments/confirm/${record.id}`, { payment_method_id }, options);
    const others = record.payment_method_id === method.id ? [] : [method.id, method.provider_payment_method_id];
    for (const id of others) expect(await confirm(id)).toMatchObject(REFUSED);
    expect(await confirm(VISA)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  };

  /** Expects that a create with the token can neither name the guest's method nor open an older record. */
  const expectNothingToName = async ({ record, older, method }: Reach): Promise<void> => {
    const options = { guestToken: record.guest_token, ...ELSEWHERE };
    const naming = intentBody({ payment_method_id: method.id });
    expect(await service.post('/payments/intents', naming, options)).toMatchObject(REFUSED);
    const fresh = await made('/payments/intents', intentBody(), options);
    expect(await service.get(`/payments/${fresh.id}`, { guestToken: fresh.guest_token })).toMatchObject({
      status: 200,
    });
    expect(await service.get(`/payments/${older.id}`, { guestToken: fresh.guest_token })).toMatchObject(REFUSED);
  };

  test.each(CELLS)('proves its guest_id or is refused: $proof by $named from $network network, $age', async (cell) => {
    const guest_data = newGuest();
    const { ids, create } = await proofOf(cell.proof, guest_data);
    await service.advance(cell.seconds);
    const [path, body] = create(cell.named === 'our id' ? ids[0] : ids[1]);
    const answer = await service.post(path, body, cell.network === 'own' ? {} : ELSEWHERE);
    const isProof = cell.named === 'our id' && cell.network === 'own' && cell.seconds <= HOUR_SECONDS;
    expect(answer).toMatchObject(isProof ? { status: cell.proof === 'method as token' ? 200 : 201 } : REFUSED);
  });

  /** A method, a customer, an address and a payment of one guest_id, and the token that opens them all. */
  const guestWithRecords = async (guest_data: Fields) => {
    const method = await made('/payment-methods', methodBody({ guest_data }));
    const options = { guestToken: method.guest_token };
    const customer = await made('/customers', customerBody({ guest_data }), options);
    const address = await made('/addresses', fullAddress({ guest_data }), options);
    const older = await made('/payments/intents', intentBody({ guest_data, payment_method_id: method.id }), options);
    return { method, customer, address, older };
  };

  test.each(PROOFS)('gets a token for the new record only, if a %s proves its guest_id', async (proof) => {
    const guest_data = newGuest();
    const { method, customer, address, older } = await guestWithRecords(guest_data);
    const requests: Readonly<Record<typeof proof, readonly [string, Fields]>> = {
      customer: ['/payments/intents', intentBody({ guest_data, customer_id: customer.id })],
      method: ['/payments/intents', intentBody({ guest_data, payment_method_id: method.id })],
      'method as token': ['/payment-methods', methodBody({ guest_data, billing_address_id: address.id })],
      address: ['/payments/intents', intentBody({ guest_data, billing_address_id: address.id })],
    };
    const { status, body } = await service.post(...requests[proof]);
    expect(status).toBe(201);
    await expectReach({ record: body, older, method });
  });

  test('makes a record that the earlier tokens of its guest_id can also read', async () => {
    const guest_data = newGuest();
    const method = await made('/payment-methods', methodBody({ guest_data }));
    const options = { guestToken: method.guest_token };
    const payment = await made('/payments/intents', intentBody({ guest_data, payment_method_id: method.id }));
    expect(await service.get(`/payments/${payment.id}`, options)).toMatchObject({ status: 200 });
    const renewed = await made('/payments/intents', intentBody({ guest_data }), options);
    for (const { id } of [payment, renewed]) {
      const answer = await service.get(`/payments/${id}`, { guestToken: renewed.guest_token, ...ELSEWHERE });
      expect(answer).toMatchObject({ status: 200 });
    }
  });

  test('gets a token that confirms the payment with its method, by our id, the provider’s id or no id', async () => {
    const guest_data = newGuest();
    const method = await made('/payment-methods', methodBody({ guest_data }));
    for (const body of [
      {},
      { payment_method_id: method.id },
      { payment_method_id: method.provider_payment_method_id },
    ]) {
      const payment = await made('/payments/intents', intentBody({ guest_data, payment_method_id: method.id }));
      const confirmed = await service.post(`/payments/confirm/${payment.id}`, body, {
        guestToken: payment.guest_token,
      });
      expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    }
  });

  test('does not prove its guest_id by a record whose network is unknown', async () => {
    const guest_data = newGuest();
    const method = await made('/payment-methods', methodBody({ guest_data }));
    const item = (await itemsOf(service)).find(({ pk }) => pk === `PM#${method.id}`) ?? {};
    const { guestNetwork: _, ...older } = item;
    await service.host().connection.putItem({ ...older, pk: String(older['pk']), sk: String(older['sk']) }, []);
    expect(
      await service.post('/payments/intents', intentBody({ guest_data, payment_method_id: method.id })),
    ).toMatchObject(REFUSED);
  });

  test('stores its network only as a hash, which an erasure removes', async () => {
    const guest_data = newGuest();
    const { method, customer, address, older } = await guestWithRecords(guest_data);
    const named = { customer_id: customer.id, payment_method_id: method.id };
    const subscription = await made('/subscriptions', subscriptionBody({ guest_data, ...named }));
    const ids = [method, customer, address, older, subscription].map(({ id }) => id);
    const stored = async () => {
      const items = (await itemsOf(service)).filter(({ guestNetwork }) => guestNetwork !== undefined);
      return ids.map((id) => items.find(({ pk }) => String(pk).endsWith(`#${id}`))?.['guestNetwork']);
    };
    const [hash, ...others] = await stored();
    expect(hash).toMatch(/^[0-9a-f]{24}$/);
    expect(new Set(others)).toEqual(new Set([hash]));
    const root = await platformAdmin(service);
    const { id } = await requestErasure(service, root.options, { email: guest_data.email });
    await untilErased(service, root.options, { id });
    expect(await stored()).toEqual(ids.map(() => undefined));
  });

  test('continues with a card saved during a payment, only from the payment’s network', async () => {
    const guest_data = newGuest();
    const saving = { guest_data, payment_method_id: VISA, setup_future_usage: 'off_session' };
    const payment = await made('/payments/intents', intentBody(saving));
    const options = { guestToken: payment.guest_token };
    expect(await service.post(`/payments/confirm/${payment.id}`, {}, { ...options, ...ELSEWHERE })).toMatchObject({
      status: 200,
    });
    await service.settle();
    const [saved] = (await service.get('/payment-methods', options)).body;
    const naming = intentBody({ guest_data, payment_method_id: present(saved).id });
    expect(await service.post('/payments/intents', naming, ELSEWHERE)).toMatchObject(REFUSED);
    expect(await service.post('/payments/intents', naming)).toMatchObject({ status: 201 });
  });
});

describe('a repeated create of a guest under its Idempotency-Key', () => {
  const service = withHost({ frozen: true });
  const key = (name: string): RequestOptions => ({ idempotencyKey: `the-key-of-the-order-${name}-${guests}` });

  test.each([
    ['/payments/intents', intentBody()],
    ['/payment-methods', methodBody()],
    ['/customers', customerBody()],
    ['/addresses', fullAddress()],
  ])('returns the record of POST %s, and the token only to the network that created it', async (path, fields) => {
    const body = { ...fields, guest_data: newGuest() };
    const first = await service.post(path, body, key('first'));
    expect(first).toMatchObject({ status: 201, body: { guest_token: expect.any(String) } });
    const near = await service.post(path, body, key('first'));
    const far = await service.post(path, body, { ...key('first'), ...ELSEWHERE });
    for (const again of [near, far]) {
      expect(again).toMatchObject({ status: 201, body: { id: first.body.id } });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
    expect([near.body.guest_token, far.body.guest_token]).toEqual([expect.any(String), undefined]);
  });

  test.each([
    ['payment', '/payments/intents', 0],
    ['payment', '/payments/intents', 2 * HOUR_SECONDS],
    ['subscription', '/subscriptions', 0],
    ['subscription', '/subscriptions', 2 * HOUR_SECONDS],
  ])(
    'returns a %s (POST %s) of a continued guest_id without a token to another network, %i seconds later',
    async (kind, path, later) => {
      const guest_data = newGuest();
      const { body: method } = await service.post('/payment-methods', methodBody({ guest_data }));
      const named = { guest_data, customer_id: method.customer_id, payment_method_id: method.id };
      const body = kind === 'payment' ? intentBody(named) : subscriptionBody(named);
      const first = await service.post(path, body, key('continued'));
      expect(first).toMatchObject({ status: 201 });
      await service.advance(later);
      const far = await service.post(path, body, { ...key('continued'), ...ELSEWHERE });
      expect(far).toMatchObject({ status: 201, body: { id: first.body.id } });
      expect(far.body.guest_token).toBeUndefined();
      const near = await service.post(path, body, key('continued'));
      expect(near).toMatchObject({ status: 201, body: { id: first.body.id, guest_token: expect.any(String) } });
      expect((await service.get('/payment-methods', { guestToken: near.body.guest_token })).body).toEqual([]);
      expect(
        await service.post(path, { ...body, description: 'other' }, { ...key('continued'), ...ELSEWHERE }),
      ).toMatchObject({ status: 422 });
      expect(await service.post(path, body, { ...key('unused'), ...ELSEWHERE })).toMatchObject(REFUSED);
    },
  );
});

describe('a service key that creates for a guest', () => {
  const service = withHost({ frozen: true });
  const BROWSER = '198.51.100.9';
  const payer = (address: string): RequestOptions => ({ headers: { 'x-payer-address': address } });

  test('continues the record of a guest’s browser only with the browser’s address', async () => {
    const { secret } = await createKey(service, await newAdmin(service), { scopes: ['payments:write'] });
    const guest_data = newGuest();
    const { body: method } = await service.post('/payment-methods', methodBody({ guest_data }), from(BROWSER));
    const pay = (options: RequestOptions) =>
      service.post('/payments/intents', intentBody({ guest_data, payment_method_id: method.id }), {
        bearer: secret,
        ...options,
      });
    // The test host listens on loopback, so it sees the browser's address with 127 as the first number.
    const [near, far] = [payer(BROWSER.replace(/^\d+/, '127')), payer('203.0.113.7')];
    for (const options of [{}, far]) expect(await pay(options)).toMatchObject(REFUSED);
    expect(await pay(near)).toMatchObject({ status: 201, body: { guest_token: expect.any(String) } });
  });

  test('gets the token again in a repeat with the same payer address, from any address of the backend', async () => {
    const { secret: bearer } = await createKey(service, await newAdmin(service), { scopes: ['payments:write'] });
    const body = intentBody({ guest_data: newGuest() });
    const key = { bearer, idempotencyKey: 'order-1' };
    const first = await service.post('/payments/intents', body, { ...key, ...payer('203.0.113.7') });
    const again = await service.post('/payments/intents', body, { ...key, ...payer('203.0.113.7'), ...ELSEWHERE });
    const other = await service.post('/payments/intents', body, { ...key, ...payer('2001:db8::1') });
    expect([first, again, other].map(({ body: { id } }) => id)).toEqual(Array(3).fill(first.body.id));
    const tokens = [first, again, other].map(({ body: { guest_token: token } }) => typeof token);
    expect(tokens).toEqual(['string', 'string', 'undefined']);
  });

  test('treats all addresses of an IPv6 /64 as one network', async () => {
    const { secret: bearer } = await createKey(service, await newAdmin(service), {
      scopes: ['payments:write', 'methods:write'],
    });
    const guest_data = newGuest();
    const named = (address: string) => ({ bearer, ...payer(address) });
    const { body: method } = await service.post(
      '/payment-methods',
      methodBody({ guest_data }),
      named('2001:db8:1:2::1'),
    );
    const body = intentBody({ guest_data, payment_method_id: method.id });
    expect(await service.post('/payments/intents', body, named('2001:db8:1:3::1'))).toMatchObject(REFUSED);
    expect(await service.post('/payments/intents', body, named('2001:db8:1:2:ffff::9'))).toMatchObject({ status: 201 });
  });
});

describe('a reader of a guest’s records', () => {
  const service = withHost({ frozen: true, env: { WEBHOOK_1_EVENT_MODE: 'both' } });

  const paidByGuest = async () => {
    const guest_data = newGuest();
    const { body: method } = await service.post('/payment-methods', methodBody({ guest_data }));
    const { body: payment } = await service.post(
      '/payments/intents',
      intentBody({ guest_data, payment_method_id: method.id }),
      { guestToken: method.guest_token },
    );
    return { guest_data, method, payment };
  };

  /** Expects that no id creates a payment from the reader's own network, with any of the credentials. */
  const expectNoCharge = async (
    seen: Fields,
    guest_data: Fields,
    credentials: readonly RequestOptions[],
  ): Promise<void> => {
    const taken = await takenSince(service);
    const total_cents = 66_600;
    for (const options of credentials) {
      for (const [field, id] of Object.entries(seen)) {
        const body = intentBody({ total_cents, guest_data, [field]: id });
        expect(await service.post('/payments/intents', body, { ...options, ...ELSEWHERE }), field).toMatchObject(
          REFUSED,
        );
      }
    }
    expect(await takenSince(service)).toEqual(taken);
  };

  test('cannot charge the card as staff or with a key', async () => {
    const { guest_data, method, payment } = await paidByGuest();
    const staff = await signIn(service, { staff_role: 'support' });
    const admin = await newAdmin(service);
    const reading = await createKey(service, admin, { scopes: ['payments:read', 'customers:read'] });
    const writing = await createKey(service, admin, { scopes: ['payments:write'] });
    const shown = (await service.get(`/payments/${payment.id}`, staff.options)).body.data;
    expect(shown).toMatchObject({ guest_email: guest_data.email, payment_method_id: method.id });
    expect((await service.get(`/payments/${payment.id}`, { bearer: reading.secret })).body.data).toMatchObject({
      payment_method_id: method.id,
    });
    const seen = { payment_method_id: shown.payment_method_id, customer_id: method.customer_id };
    await expectNoCharge(seen, guest_data, [{}, { bearer: writing.secret }]);
  });

  test('cannot charge the card by a provider id in a raw event, even from the guest’s network', async () => {
    const { guest_data, method } = await paidByGuest();
    const seen = { payment_method_id: method.provider_payment_method_id };
    await expectNoCharge(seen, guest_data, [{}]);
    expect(await service.post('/payments/intents', intentBody({ guest_data, ...seen }))).toMatchObject(REFUSED);
  });
});
