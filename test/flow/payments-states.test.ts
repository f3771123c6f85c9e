import { describe, expect, test } from 'vitest';
import { DECLINED, intentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import {
  atProvider,
  confirm,
  createIntent,
  createPaidIntent,
  eventsOf,
  PATIENT,
  read,
  signIn,
  storedPayment,
  timesCharged,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';
import type { PaymentBody } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const refused = (status: number, code: string) => ({ status, body: { code } });
const cancel = (id: string, user: User) => service.post(`/payments/intents/${id}/cancel`, {}, user.options);
const update = (id: string, user: User, fields: object) => service.put(`/payments/intents/${id}`, fields, user.options);
const sync = (payment: PaymentBody, user: User) =>
  service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);

/** Brings a payment into each state. */
const STATES = {
  requires_payment_method: async (user: User) => createIntent(service, user),
  created: async (user: User) => createPaidIntent(service, user),
  pending: async (user: User) => confirmed(user, THREE_D_SECURE),
  processing: async (user: User) => confirmed(user, 'pm_sim_processing_ok'),
  failed: async (user: User) => confirmed(user, DECLINED),
  canceled: async (user: User) => {
    const payment = await createPaidIntent(service, user);
    await cancel(payment.id, user);
    return payment;
  },
  succeeded: async (user: User) => confirmed(user, VISA),
} as const;
type State = keyof typeof STATES;

const confirmed = async (user: User, method: string) => {
  const payment = await createIntent(service, user, { payment_method_id: method });
  await confirm(service, payment.id, user.options);
  return payment;
};

/** For each state and request, the expected status code with the error code or the next state. */
const COMMANDS: Readonly<Record<State, Readonly<Record<'update' | 'cancel' | 'confirm' | 'confirmWith', string>>>> = {
  requires_payment_method: {
    update: '200 requires_payment_method',
    cancel: '200 canceled',
    confirm: '400 PAYMENT_METHOD_REQUIRED',
    confirmWith: '200 succeeded',
  },
  created: {
    update: '200 created',
    cancel: '200 canceled',
    confirm: '200 succeeded',
    confirmWith: '200 succeeded',
  },
  pending: {
    update: '409 PAYMENT_NOT_UPDATABLE',
    cancel: '200 canceled',
    confirm: '409 PAYMENT_IN_PROGRESS',
    confirmWith: '409 PAYMENT_IN_PROGRESS',
  },
  processing: {
    update: '409 PAYMENT_NOT_UPDATABLE',
    cancel: '409 PAYMENT_IN_PROGRESS',
    confirm: '409 PAYMENT_IN_PROGRESS',
    confirmWith: '409 PAYMENT_IN_PROGRESS',
  },
  failed: {
    update: '409 PAYMENT_NOT_UPDATABLE',
    cancel: '409 INVALID_STATE',
    confirm: '402 PAYMENT_DECLINED',
    confirmWith: '200 succeeded',
  },
  canceled: {
    update: '409 PAYMENT_NOT_UPDATABLE',
    cancel: '200 canceled',
    confirm: '409 INVALID_STATE',
    confirmWith: '409 INVALID_STATE',
  },
  succeeded: {
    update: '409 PAYMENT_NOT_UPDATABLE',
    cancel: '409 INVALID_STATE',
    confirm: '200 succeeded',
    confirmWith: '200 succeeded',
  },
};

const ACTS = {
  update: (id: string, user: User) => update(id, user, { concept: 'Changed' }),
  cancel,
  confirm: (id: string, user: User) => confirm(service, id, user.options),
  confirmWith: (id: string, user: User) =>
    confirm(service, id, { ...user.options, body: { payment_method_id: 'pm_card_mastercard' } }),
} as const;

describe.each(Object.entries(COMMANDS))('a payment in the state %s', (state, commands) => {
  test.each(Object.entries(commands))('responds to %s with %s', async (command, expected) => {
    const user = await signIn(service);
    const payment = await STATES[state as State](user);
    const before = await read(service, payment.id, user.options);
    expect(before.status).toBe(state);
    const { status, body } = await ACTS[command as keyof typeof ACTS](payment.id, user);
    expect(`${status} ${body.code ?? body.status}`).toBe(expected);
    const after = await read(service, payment.id, user.options);
    if (status >= 400) expect(after).toEqual(before);
    else expect(after.status).toBe(body.status);
    expect(await timesCharged(service, payment.id)).toBe(
      after.status === 'succeeded' || after.status === 'processing' ? 1 : 0,
    );
  });

  test('keeps its status in a sync that finds no change', async () => {
    const user = await signIn(service);
    const payment = await STATES[state as State](user);
    await service.settle();
    const before = await storedPayment(service, payment.id);
    expect(await sync(payment, user)).toMatchObject({ status: 200, body: { id: payment.id, status: state } });
    expect(await storedPayment(service, payment.id)).toEqual(before);
  });
});

describe('a confirmed payment', () => {
  test('is not charged again by any later confirm', async () => {
    const user = await signIn(service);
    const payment = await STATES.succeeded(user);
    const before = await storedPayment(service, payment.id);
    for (const method of [undefined, 'pm_card_amex', 'pm_card_visa_chargeDeclined']) {
      const body = method === undefined ? {} : { payment_method_id: method };
      expect(await confirm(service, payment.id, { ...user.options, body })).toMatchObject({
        body: { status: 'succeeded' },
      });
    }
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await storedPayment(service, payment.id)).toEqual(before);
    await service.settle();
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
  });
});

describe('the price of a payment', () => {
  test.each([
    [{ subtotal_cents: 1_000, tax_cents: 200, discount_cents: 100 }, [1_000, 200, 100, 1_100]],
    [{ total_cents: 1_100, tax_cents: 200, discount_cents: 100 }, [1_000, 200, 100, 1_100]],
    [{ total_cents: 1_100 }, [1_100, 0, 0, 1_100]],
    [{ amount_cents: 1_100 }, [1_100, 0, 0, 1_100]],
    [{ amount_cents: 1_100, tax_cents: 100 }, [1_000, 100, 0, 1_100]],
    [{ amount_cents: 1_100, total_cents: 1_100, subtotal_cents: 1_100 }, [1_100, 0, 0, 1_100]],
    [{ subtotal_cents: 1_000, discount_cents: 950 }, [1_000, 0, 950, 50]],
    [{ subtotal_cents: 0, tax_cents: 50 }, [0, 50, 0, 50]],
    [{ total_cents: 99_999_999 }, [99_999_999, 0, 0, 99_999_999]],
  ])('is completed on create for %j', async (given, [subtotal, tax, discount, total]) => {
    const user = await signIn(service);
    const answer = await service.post('/payments/intents', { currency: 'USD', ...given }, user.options);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        subtotal_cents: subtotal,
        tax_cents: tax,
        discount_cents: discount,
        total_cents: total,
        amount_cents: total,
      },
    });
    expect((await atProvider(service, answer.body.id)).intents).toMatchObject([{ amount: total, currency: 'USD' }]);
  });

  test.each([
    [{ subtotal_cents: 1_000, total_cents: 999 }, 'PRICING_MISMATCH', { expected: 1_000 }],
    [{ subtotal_cents: 1_000, tax_cents: 1, total_cents: 1_000 }, 'PRICING_MISMATCH', { expected: 1_001 }],
    [{ total_cents: 1_000, amount_cents: 999 }, 'PRICING_MISMATCH', { expected: 1_000 }],
    [{ total_cents: 100, tax_cents: 200 }, 'PRICING_MISMATCH', {}],
    [{ subtotal_cents: 100, discount_cents: 100 }, 'AMOUNT_TOO_SMALL', undefined],
    [{ subtotal_cents: 100, discount_cents: 101 }, 'AMOUNT_TOO_SMALL', undefined],
    [{ total_cents: 0 }, 'AMOUNT_TOO_SMALL', undefined],
    [{ subtotal_cents: 99_999_999, tax_cents: 1 }, 'VALIDATION_ERROR', undefined],
    [{ subtotal_cents: Number.MAX_SAFE_INTEGER, tax_cents: 1 }, 'VALIDATION_ERROR', undefined],
    [{ tax_cents: 1 }, 'VALIDATION_ERROR', undefined],
  ])('is refused on create for %j: %s', async (given, code, details) => {
    const user = await signIn(service);
    const answer = await service.post('/payments/intents', { currency: 'USD', ...given }, user.options);
    expect(answer).toMatchObject({ status: 400, body: { code, ...(details && { details }) } });
    expect((await service.get('/payments', user.options)).body.meta.total).toBe(0);
  });

  test.each([
    [{ total_cents: 2_000 }, [1_900, 200, 100, 2_000]],
    [{ amount_cents: 2_000 }, [1_900, 200, 100, 2_000]],
    [{ subtotal_cents: 2_000 }, [2_000, 200, 100, 2_100]],
    [{ tax_cents: 300 }, [1_000, 300, 100, 1_200]],
    [{ discount_cents: 0 }, [1_000, 200, 0, 1_200]],
    [{ tax_cents: 0, discount_cents: 0 }, [1_000, 0, 0, 1_000]],
    [{ tax_cents: 300, total_cents: 1_200 }, [1_000, 300, 100, 1_200]],
    [{ subtotal_cents: 2_000, tax_cents: 0, discount_cents: 0, total_cents: 2_000 }, [2_000, 0, 0, 2_000]],
    [{ description: 'No price' }, [1_000, 200, 100, 1_100]],
  ])('is recalculated by an update with %j', async (given, [subtotal, tax, discount, total]) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, {
      subtotal_cents: 1_000,
      tax_cents: 200,
      discount_cents: 100,
      total_cents: 1_100,
    });
    expect(await update(payment.id, user, given)).toMatchObject({
      status: 200,
      body: {
        subtotal_cents: subtotal,
        tax_cents: tax,
        discount_cents: discount,
        total_cents: total,
        amount_cents: total,
      },
    });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ amount: total }]);
  });

  test.each([
    [{ subtotal_cents: 2_000, total_cents: 2_000 }, 'PRICING_MISMATCH'],
    [{ total_cents: 50 }, 'PRICING_MISMATCH'],
    [{ subtotal_cents: 0, tax_cents: 0, discount_cents: 0 }, 'AMOUNT_TOO_SMALL'],
    [{ discount_cents: 1_200 }, 'AMOUNT_TOO_SMALL'],
    [{ total_cents: -1 }, 'VALIDATION_ERROR'],
    [{ total_cents: 100_000_000 }, 'VALIDATION_ERROR'],
  ])('is not changed by an update with %j: %s', async (given, code) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { subtotal_cents: 1_000, tax_cents: 200, total_cents: 1_200 });
    const before = await storedPayment(service, payment.id);
    expect(await update(payment.id, user, { discount_cents: 100, ...given })).toMatchObject({
      status: 400,
      body: { code },
    });
    expect(await storedPayment(service, payment.id)).toEqual(before);
  });

  test.each([
    ['usd', 'USD'],
    [' eur ', 'EUR'],
    ['JPY', 'JPY'],
    ['KWD', 'KWD'],
  ])('accepts the currency %j', async (currency, stored) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { currency });
    expect(payment.currency).toBe(stored);
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ currency: stored }]);
  });

  test.each(['QQQ', 'US', 'dollar', '$'])('refuses the currency %j', async (currency) => {
    const user = await signIn(service);
    const answer = await service.post('/payments/intents', intentBody({ currency }), user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_CURRENCY' } });
  });
});

describe('an update of a payment', () => {
  test('changes the given fields, clears null fields, and keeps the rest', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, {
      description: 'Old',
      concept: 'Keep',
      category: 'Drop',
      tags: 'a,b',
      metadata: { a: '1' },
    });
    await service.advance(5);
    const changed = await update(payment.id, user, {
      description: 'New',
      category: null,
      concept: '',
      tags: null,
      currency: 'EUR',
      metadata: { b: { deep: [1, true, null] } },
      reference_code: 'R-1',
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        id: payment.id,
        description: 'New',
        concept: 'Keep',
        category: null,
        tags: null,
        currency: 'EUR',
        metadata: { b: { deep: [1, true, null] } },
        reference_code: 'R-1',
        client_secret: payment.client_secret,
        created_at: payment.created_at,
        updated_at: new Date(service.now()).toISOString(),
      },
    });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ currency: 'EUR', amount: 2_500 }]);
    expect(await read(service, payment.id, user.options)).toEqual(changed.body);
  });

  test('sets and clears the payment method, in the record and at the provider', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    expect(await update(payment.id, user, { payment_method_id: VISA })).toMatchObject({ body: { status: 'created' } });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ payment_method: expect.any(String) }]);
    expect(await update(payment.id, user, { payment_method_id: null })).toMatchObject({
      body: { status: 'requires_payment_method' },
    });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      body: { code: 'PAYMENT_METHOD_REQUIRED' },
    });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ payment_method: null }]);
    expect(await sync(payment, user)).toMatchObject({ body: { status: 'requires_payment_method' } });
  });

  test('changes nothing if the provider does not know the method', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const before = await read(service, payment.id, user.options);
    expect(await update(payment.id, user, { payment_method_id: 'pm_unknown', total_cents: 100 })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'payment_method_id' }] },
    });
    expect(await read(service, payment.id, user.options)).toEqual(before);
    expect(await update(payment.id, user, { total_cents: 100 })).toMatchObject({ status: 200 });
  });

  test('refuses to change provider, organization and guest, and lists all three problems', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const answer = await update(payment.id, user, {
      provider_id: 'provider_b',
      organization_id: 'org_other',
      guest_data: { email: 'g@example.com', name: 'G' },
      total_cents: 1,
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(answer.body.details).toEqual(
      ['provider_id', 'organization_id', 'guest_data'].map((path) => ({
        path,
        rule: 'immutable',
        message: expect.any(String),
      })),
    );
    const same = { provider_id: 'provider_a', organization_id: null, guest_data: null };
    expect(await update(payment.id, user, same)).toMatchObject({ status: 200, body: { total_cents: 2_500 } });
  });
});

describe('an unusable id', () => {
  test.each(['pay_000000000000000000000000', 'nonsense', '%00', '..', 'x'.repeat(64)])(
    'returns 404 from every command: %j',
    async (id) => {
      const user = await signIn(service);
      const path = id === '%00' || id === '..' ? encodeURIComponent('\u0000..') : id;
      const answers = await Promise.all([
        service.get(`/payments/${path}`, user.options),
        confirm(service, path, user.options),
        cancel(path, user),
        update(path, user, {}),
        service.post(`/payments/sync/${path}`, {}, user.options),
      ]);
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
      }
    },
  );

  test.each([
    ['project_id', 'prj_none', refused(404, 'RESOURCE_NOT_FOUND')],
    ['product_id', 'prd_none', refused(404, 'RESOURCE_NOT_FOUND')],
    ['customer_id', 'cust_000000000000000000000000', refused(404, 'RESOURCE_NOT_FOUND')],
    ['billing_address_id', 'addr_000000000000000000000000', refused(404, 'RESOURCE_NOT_FOUND')],
    ['payment_method_id', 'pmt_000000000000000000000000', refused(404, 'RESOURCE_NOT_FOUND')],
    ['organization_id', 'org_none', refused(403, 'ORGANIZATION_ACCESS_DENIED')],
  ])('is refused if a body sets it as %s', async (field, id, refusal) => {
    const user = await signIn(service);
    const fields = field === 'product_id' ? { product_id: id } : intentBody({ [field]: id });
    const answer = await service.post('/payments/intents', fields, user.options);
    expect(answer).toMatchObject(refusal);
    expect((await service.get('/payments', user.options)).body.meta.total).toBe(0);
  });

  test('is refused if it names a provider that supports only customers', async () => {
    const user = await signIn(service);
    const answer = await service.post('/payments/intents', intentBody({ provider_id: 'provider_d' }), user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_PROVIDER' } });
  });
});
