import { describe, expect, test } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { guestIntentBody, intentBody, VISA } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { productBody } from '../builders/reference.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { atProvider, confirm, createIntent, itemsOf, logEntriesOf, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { payctlOf } from './payctl.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';
import { paymentsOf, subscribe, subscriber, trySubscribe } from './subscribers.ts';
import { unchanged } from './unchanged.ts';

/**
 * Amounts here are ISO 4217 minor units. The simulator converts to the provider's units by its own table; the ledger
 * shows ISO minor units again.
 */
const service = withHost({ frozen: true });

const create = (user: User, fields: object) =>
  service.post('/payments/intents', intentBody({ ...fields }), user.options);

/** The payment intent in Stripe's own form. */
const atStripe = async (intentId: string, update?: Record<string, string>) => {
  const answer = await service.request(
    update ? 'POST' : 'GET',
    `/_local/providers/stripe/v1/payment_intents/${intentId}`,
    {
      headers: {
        authorization: `Bearer ${LOCAL_SECRETS.PROVIDER_A_API_KEY}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      ...(update && { body: new URLSearchParams(update).toString() }),
    },
  );
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};

const REFUSALS = {
  currency: (message: string) => ({
    status: 400,
    body: { code: 'UNSUPPORTED_CURRENCY', details: [{ path: 'currency', rule: 'provider', message }] },
  }),
  multiple: (message: string) => ({
    status: 400,
    body: { code: 'VALIDATION_ERROR', details: [{ path: 'total_cents', rule: 'multiple_of', message }] },
  }),
  large: (message: string) => ({
    status: 400,
    body: { code: 'VALIDATION_ERROR', details: [{ path: 'total_cents', rule: 'max', message }] },
  }),
  small: (minimum_cents: number, currency: string) => ({
    status: 400,
    body: { code: 'AMOUNT_TOO_SMALL', details: { minimum_cents, currency } },
  }),
};

const PAYING = { provider_a: VISA, provider_b: 'SIM-OK', provider_c: 'cnon:card-nonce-ok' } as const;

describe('an amount', () => {
  test.each([
    ['provider_a', 'ISK', 5_000],
    ['provider_a', 'UGX', 5_000],
    ['provider_a', 'MGA', 500_000],
    ['provider_a', 'KWD', 5_120],
    ['provider_a', 'JPY', 500],
    ['provider_a', 'HUF', 250_050],
    ['provider_b', 'HUF', 250_000],
    ['provider_b', 'TWD', 8_000],
    ['provider_b', 'JPY', 900],
    ['provider_c', 'USD', 1],
    ['provider_a', 'USD', 99_999_999],
    ['provider_a', 'IDR', 999_999_999_999],
    ['provider_a', 'COP', 9_999_999_999],
    ['provider_b', 'USD', Number.MAX_SAFE_INTEGER],
    ['provider_b', 'HUF', 9_007_199_254_740_900],
    ['provider_b', 'JPY', 999_999_999_999_999],
    ['provider_c', 'USD', Number.MAX_SAFE_INTEGER],
  ] as const)('is charged in the provider’s units at %s: %s %d', async (provider_id, currency, total_cents) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, {
      ...{ provider_id, currency, total_cents },
      payment_method_id: PAYING[provider_id],
    });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    await service.settle();
    const { charges, intents } = await atProvider(service, payment.id);
    expect(charges).toMatchObject([{ amount: total_cents, currency, status: 'succeeded' }]);
    expect(intents).toMatchObject([{ amount: total_cents, currency }]);
    const entries = await logEntriesOf(service, payment.id);
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.filter(({ response }) => response.outcome === 'quarantined')).toEqual([]);
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(synced).toMatchObject({ status: 200, body: { status: 'succeeded', total_cents, currency } });
  });

  test.each([
    ['ISK', 5_000, 500_000],
    ['UGX', 5_000, 500_000],
    ['MGA', 500_000, 5_000],
  ])('is converted from %s %d to %d for Stripe', async (currency, total_cents, amount) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { currency, total_cents });
    const shown = await atStripe(payment.provider_payment_id);
    expect(shown).toMatchObject({ amount, currency: currency.toLowerCase() });
  });

  test('is compared in Stripe’s units for a native event, and in our units for an event of the interface', async () => {
    const user = await signIn(service);
    const [wrong, native, contract] = [
      await createIntent(service, user, { currency: 'ISK', total_cents: 5_000 }),
      await createIntent(service, user, { currency: 'ISK', total_cents: 5_000 }),
      await createIntent(service, user, { currency: 'ISK', total_cents: 5_000 }),
    ];
    const say = (vocabulary: 'native' | 'contract', payment: PaymentBody, amount: number) =>
      service.sendEvent({
        provider: 'provider_a',
        type: 'payment_intent.succeeded',
        vocabulary,
        object: {
          id: payment.provider_payment_id,
          object: 'payment_intent',
          ...{ amount, currency: 'isk', status: 'succeeded', customer: null },
        },
      });
    await say('native', wrong, 5_000);
    await say('native', native, 500_000);
    await say('contract', contract, 5_000);
    await service.settle();
    expect(await read(service, wrong.id, user.options)).toMatchObject({ status: 'requires_payment_method' });
    expect(await logEntriesOf(service, wrong.id)).toContainEqual(
      expect.objectContaining({ response: expect.objectContaining({ reason: 'amount differs' }) }),
    );
    expect(await read(service, native.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await read(service, contract.id, user.options)).toMatchObject({ status: 'succeeded' });
  });
});

describe('an unsupported amount', () => {
  test.each([
    ['provider_a', 'IQD', 5_000, REFUSALS.currency('provider_a does not accept IQD')],
    ['provider_a', 'KWD', 5_124, REFUSALS.multiple('must be a multiple of 10 in KWD at provider_a')],
    ['provider_a', 'MGA', 5_050, REFUSALS.multiple('must be a multiple of 100 in MGA at provider_a')],
    ['provider_a', 'USD', 49, REFUSALS.small(50, 'USD')],
    ['provider_a', 'GBP', 29, REFUSALS.small(30, 'GBP')],
    ['provider_a', 'JPY', 49, REFUSALS.small(50, 'JPY')],
    ['provider_a', 'HUF', 17_499, REFUSALS.small(17_500, 'HUF')],
    ['provider_b', 'KWD', 5_000, REFUSALS.currency('provider_b does not accept KWD')],
    ['provider_b', 'HUF', 250_050, REFUSALS.multiple('must be a multiple of 100 in HUF at provider_b')],
    ['provider_b', 'TWD', 101, REFUSALS.multiple('must be a multiple of 100 in TWD at provider_b')],
    ['provider_c', 'EUR', 5_000, REFUSALS.currency('provider_c accepts only USD')],
    ['provider_c', 'KES', 5_000, REFUSALS.currency('provider_c does not accept KES')],
    ['provider_a', 'USD', 100_000_000, REFUSALS.large('must not exceed 99999999 in USD at provider_a')],
    ['provider_a', 'IDR', 1_000_000_000_000, REFUSALS.large('must not exceed 999999999999 in IDR at provider_a')],
    ['provider_a', 'INR', 1_000_000_000, REFUSALS.large('must not exceed 999999999 in INR at provider_a')],
    ['provider_a', 'ISK', 1_000_000, REFUSALS.large('must not exceed 999999 in ISK at provider_a')],
    [
      'provider_b',
      'HUF',
      9_007_199_254_740_991,
      REFUSALS.large('must not exceed 9007199254740900 in HUF at provider_b'),
    ],
    ['provider_b', 'JPY', 1e15, REFUSALS.large('must not exceed 999999999999999 in JPY at provider_b')],
  ])(
    'is refused at %s for %s %d before anything is written or sent',
    async (...[provider_id, currency, total, refusal]) => {
      const user = await signIn(service);
      await unchanged(service, async () => {
        const fields = { provider_id, currency, total_cents: total };
        expect(await create(user, { ...fields, setup_future_usage: 'off_session' })).toMatchObject(refusal);
        expect(await service.post('/payments/intents', guestIntentBody(fields))).toMatchObject(refusal);
      });
    },
  );

  test.each([
    ['provider_a', { total_cents: 49 }, REFUSALS.small(50, 'USD')],
    ['provider_a', { total_cents: 1e8 }, REFUSALS.large('must not exceed 99999999 in USD at provider_a')],
    ['provider_a', { currency: 'IQD' }, REFUSALS.currency('provider_a does not accept IQD')],
    [
      'provider_a',
      { currency: 'KWD', total_cents: 5_124 },
      REFUSALS.multiple('must be a multiple of 10 in KWD at provider_a'),
    ],
    [
      'provider_b',
      { currency: 'HUF', total_cents: 5_001 },
      REFUSALS.multiple('must be a multiple of 100 in HUF at provider_b'),
    ],
    ['provider_c', { currency: 'EUR' }, REFUSALS.currency('provider_c accepts only USD')],
  ])('changes nothing at %s when an update names %o', async (provider_id, fields, refusal) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { provider_id });
    await unchanged(service, async () => {
      const saving = { ...fields, setup_future_usage: 'off_session' };
      expect(await service.put(`/payments/intents/${payment.id}`, saving, user.options)).toMatchObject(refusal);
    });
    expect(await read(service, payment.id, user.options)).toMatchObject({ total_cents: 2_500, currency: 'USD' });
    const again = await service.put(`/payments/intents/${payment.id}`, { total_cents: 3_000 }, user.options);
    expect(again).toMatchObject({ status: 200, body: { total_cents: 3_000 } });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ amount: 3_000, currency: 'USD' }]);
  });

  test.each([
    ['total_cents', { total_cents: 2 ** 53 }, 'total_cents'],
    ['subtotal_cents', { subtotal_cents: 1e21 }, 'subtotal_cents'],
    ['a sum', { subtotal_cents: Number.MAX_SAFE_INTEGER, tax_cents: 1 }, 'total_cents'],
  ])('is refused if %s exceeds the largest safe integer, and the error names the maximum', async (_, fields, path) => {
    const user = await signIn(service);
    const answer = await create(user, { total_cents: undefined, provider_id: 'provider_b', ...fields });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR', details: [{ path }] } });
    expect(answer.body.details[0]?.message).toContain('9007199254740991');
  });

  test('is also refused as the price of a product', async () => {
    const user = await signIn(service);
    await putProduct('penny', { total_cents: 20, currency: 'USD' });
    await putProduct('euros', { total_cents: 900, currency: 'EUR' });
    await unchanged(service, async () => {
      const bought = { product_id: 'penny', provider_id: 'provider_a' };
      expect(await service.post('/payments/intents', bought, user.options)).toMatchObject(REFUSALS.small(50, 'USD'));
      const abroad = { product_id: 'euros', provider_id: 'provider_c' };
      expect(await service.post('/payments/intents', abroad, user.options)).toMatchObject(
        REFUSALS.currency('provider_c accepts only USD'),
      );
    });
  });
});

const putProduct = async (id: string, price: Readonly<Record<string, unknown>>): Promise<void> => {
  const admin = await signIn(service, { is_admin: true });
  const put = await service.put(`/admin/products/${id}`, productBody(price), admin.options);
  expect(put).toMatchObject({ status: 200 });
};

describe('a subscription', () => {
  test('is billed by Stripe in ISK at its price, immediately and at renewal', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { currency: 'ISK', subtotal_cents: 5_000, total_cents: 5_000 });
    await service.advance(32 * DAY_SECONDS);
    await service.settle();
    const payments = await paymentsOf(service, who, made.id);
    expect(payments).toMatchObject([
      { status: 'succeeded', total_cents: 5_000, currency: 'ISK' },
      { status: 'succeeded', total_cents: 5_000, currency: 'ISK' },
    ]);
    const { subscriptions, invoices } = await service.ledger();
    const [there] = subscriptions.filter(({ subscription_id }) => subscription_id === made.id);
    expect(there).toMatchObject({ amount: 5_000, currency: 'ISK' });
    const collected = invoices.filter(({ subscription }) => subscription === present(there).id);
    expect(collected.map(({ amount }) => amount)).toEqual([5_000, 5_000]);
  });

  test.each([
    [{ total_cents: 49 }, REFUSALS.small(50, 'USD')],
    [{ total_cents: 1e8 }, REFUSALS.large('must not exceed 99999999 in USD at provider_a')],
    [{ currency: 'IQD', total_cents: 5_000 }, REFUSALS.currency('provider_a does not accept IQD')],
    [{ currency: 'MGA', total_cents: 5_050 }, REFUSALS.multiple('must be a multiple of 100 in MGA at provider_a')],
    [{ trial_days: 30, total_cents: 49 }, REFUSALS.small(50, 'USD')],
  ])('is refused with %o, and nothing is created', async (fields, refusal) => {
    const who = await subscriber(service);
    await unchanged(service, async () => {
      const sent = { ...fields, subtotal_cents: fields.total_cents };
      expect(await trySubscribe(service, who, sent)).toMatchObject(refusal);
      expect((await itemsOf(service, 'SUB#')).filter(({ customerId }) => customerId === who.names.customer_id)).toEqual(
        [],
      );
    });
  });

  test('is billed by Stripe for IDR 9,999,999,999.99', async () => {
    const who = await subscriber(service);
    const price = { subtotal_cents: 999_999_999_999, total_cents: 999_999_999_999 };
    const made = await subscribe(service, who, { currency: 'IDR', ...price });
    expect(await paymentsOf(service, who, made.id)).toMatchObject([{ status: 'succeeded', ...price }]);
  });

  test('needs no minimum if its price is zero', async () => {
    const who = await subscriber(service);
    expect(await subscribe(service, who, { subtotal_cents: 0, total_cents: 0 })).toMatchObject({ status: 'active' });
  });
});

describe('the totals of large amounts', () => {
  test('are exact in summaries, and agree with lists and CSV', async () => {
    const user = await signIn(service);
    const MOST = Number.MAX_SAFE_INTEGER;
    for (const total_cents of [MOST, 2_500])
      await createIntent(service, user, { provider_id: 'provider_b', total_cents });
    await createIntent(service, user, { total_cents: 999_999_999_999, currency: 'IDR' });
    await service.settle();
    const sums = async () =>
      (await service.get('/payments/summary?group_by=status', user.options)).body.data.map(
        ({ currency, amount_cents }) => [currency, amount_cents],
      );
    expect(await sums()).toEqual([
      ['IDR', 999_999_999_999],
      ['USD', MOST + 2_500],
    ]);
    for (let times = 0; times < 3; times += 1) {
      await createIntent(service, user, { provider_id: 'provider_b', total_cents: MOST });
    }
    await service.settle();
    expect(await sums()).toContainEqual(['USD', 4 * MOST + 2_500]);
    const csv = await service.get('/payments', {
      ...user.options,
      headers: { ...user.options.headers, accept: 'text/csv' },
    });
    expect(csv.body).toContain(`,${MOST},`);
    const admin = await signIn(service, { is_admin: true });
    const found = await service.get(`/admin/payments?min_cents=${MOST}&user_id=${user.userId}`, admin.options);
    expect(found.body.data).toHaveLength(4);
  });

  test('can be refunded in full at Stripe', async () => {
    const user = await signIn(service);
    const admin = await signIn(service, { is_admin: true });
    const payment = await createIntent(service, user, {
      ...{ total_cents: 999_999_999_999, currency: 'IDR', payment_method_id: VISA },
    });
    await confirm(service, payment.id, user.options);
    const refund = await service.post(`/payments/${payment.id}/refunds`, {}, admin.options);
    expect(refund).toMatchObject({ status: 201, body: { amount_cents: 999_999_999_999, status: 'succeeded' } });
  });
});

describe('the drift check', () => {
  const payctl = payctlOf(service);

  test('finds an amount that is off by a factor of 100', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { currency: 'ISK', total_cents: 5_000 });
    const fine = await createIntent(service, user, { currency: 'ISK', total_cents: 5_000 });
    // The amount that Stripe would get if the service treated ISK as a currency without minor units.
    await atStripe(payment.provider_payment_id, { amount: '5000' });
    const { exitCode, json } = await payctl(['drift']);
    expect(exitCode).toBe(1);
    const about = (id: string) => json.findings.filter(({ payment_id }: ParsedJson) => payment_id === id);
    expect(about(payment.id)).toMatchObject([{ kind: 'amount differs', here: '5000 ISK', there: '50 ISK' }]);
    expect(about(fine.id)).toEqual([]);
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ amount: 50, currency: 'ISK' }]);
  });
});
