/**
 * @module Compares every currency of an adapter's table with the simulator's separate table. A mistake in either table
 * shows as a different ledger amount or as a refusal on one side only.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currencyDigits } from '../../shared/core/money.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import type { CurrencyTable } from '../../shared/providers/currencies.ts';
import { PAYPAL_CURRENCIES } from '../../shared/providers/paypal/amounts.ts';
import { SQUARE_CURRENCIES } from '../../shared/providers/square/currencies.ts';
import { STRIPE_CURRENCIES } from '../../shared/providers/stripe/currencies.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';
import type { ProviderSubject } from './provider-suite.ts';

interface Ledger {
  readonly payment_intents: readonly {
    readonly payment_id: string;
    readonly amount: number;
    readonly currency: string;
  }[];
}

const PROVIDERS: readonly (readonly [ProviderSubject, CurrencyTable])[] = [
  [STRIPE, STRIPE_CURRENCIES],
  [PAYPAL, PAYPAL_CURRENCIES],
  // The simulated Square location accepts only USD.
  [SQUARE, new Map([...SQUARE_CURRENCIES].filter(([code]) => code === 'USD'))],
];

describe.each(PROVIDERS.map(([subject, table]) => ({ name: subject.name, subject, table })))(
  'an amount at $name',
  ({ subject, table }) => {
    let rig: ProviderRig;
    beforeAll(async () => {
      rig = await openRig(subject);
    });
    afterAll(() => rig.close());

    const create = (currency: string, amountCents: number) => {
      const paymentId = `pay_${currency}_${amountCents}`;
      return rig.provider.createIntent({
        paymentId,
        amountCents,
        currency,
        description: undefined,
        method: subject.methods.succeeds,
        customerId: undefined,
        saveMethod: false,
        returnUrl: undefined,
        idempotencyKey: `${paymentId}:create`,
      });
    };

    test.each([...table.keys()])('of 5,000 %s is unchanged in the provider’s response and ledger', async (currency) => {
      const amountCents = 5_000 * 10 ** currencyDigits(currency);
      expect(await rig.provider.checkAmount({ amountCents, currency })).toBeUndefined();
      expect(await create(currency, amountCents)).toMatchObject({ kind: 'done', value: { amountCents, currency } });
      const { payment_intents } = await rig.control<Ledger>('GET', `/ledger?payment_id=pay_${currency}_${amountCents}`);
      expect(payment_intents).toMatchObject([{ amount: amountCents, currency }]);
    });

    test('below the minimum is refused by adapter and provider, and the minimum is accepted by both', async () => {
      for (const [currency, { minimumCents }] of table) {
        if (minimumCents === undefined) continue;
        const below = { currency, amountCents: minimumCents - 1 };
        expect(await rig.provider.checkAmount(below)).toEqual({ kind: 'too small', minimumCents });
        expect(await create(currency, below.amountCents)).toMatchObject({
          kind: 'refused',
          reason: 'amount_too_small',
          parameter: 'amount',
        });
        expect(await rig.provider.checkAmount({ currency, amountCents: minimumCents })).toBeUndefined();
        expect(await create(currency, minimumCents)).toMatchObject({ kind: 'done' });
      }
    });

    test('is refused without a call if the provider cannot express it', async () => {
      for (const [currency, rule] of table) {
        const refusal = await rig.provider.checkAmount({ currency, amountCents: 1_234_561 });
        if (refusal?.kind !== 'not expressible') continue;
        expect(rule.step ?? refusal.multipleOf).toBe(refusal.multipleOf);
        const before = rig.exchanges.length;
        expect(await create(currency, 1_234_561)).toMatchObject({ kind: 'refused', parameter: 'amount' });
        expect(rig.exchanges).toHaveLength(before);
      }
    });
  },
);

describe('the currency of a Square location', () => {
  let rig: ProviderRig;
  beforeAll(async () => {
    rig = await openRig(SQUARE);
  });
  afterAll(() => rig.close());

  const reads = (): number => rig.exchanges.filter(({ path }) => path.endsWith('/v2/locations/LOCAL')).length;

  test('is read once for concurrent payments', async () => {
    const asked = Array.from({ length: 5 }, () => rig.provider.checkAmount({ amountCents: 500, currency: 'USD' }));
    expect(await Promise.all(asked)).toEqual(Array(5).fill(undefined));
    expect(await rig.provider.checkAmount({ amountCents: 500, currency: 'EUR' })).toEqual({
      kind: 'currency',
      only: 'USD',
    });
    expect(reads()).toBe(1);
  });

  test('is reported, or the reason why the location is unusable', async () => {
    expect(await rig.reopen(SQUARE.settings)?.onlyCurrency?.()).toEqual({ kind: 'done', value: 'USD' });
    const elsewhere = rig.reopen({ ...SQUARE.settings, LOCATION_ID: 'ELSEWHERE' });
    expect(await elsewhere?.onlyCurrency?.()).toMatchObject({ kind: 'refused', reason: 'NOT_FOUND' });
    const answered = Response.json({ location: { currency: 'NZD' } });
    const abroad = SQUARE.open({
      slot: SQUARE.slot,
      settings: { ...parseSettings({}).slots.provider_c, ...SQUARE.settings, ADAPTER: 'square' },
      timeoutMs: 1_000,
      fetch: async () => answered,
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    expect(await abroad?.onlyCurrency?.()).toEqual({ kind: 'refused', reason: 'unsupported currency NZD' });
  });

  test('is not read for a currency that Square never accepts', async () => {
    const fresh = rig.reopen(SQUARE.settings);
    const before = reads();
    expect(await fresh?.checkAmount({ amountCents: 500, currency: 'KES' })).toEqual({ kind: 'currency' });
    expect(reads()).toBe(before);
  });

  test('is read again by the next payment if a read fails', async () => {
    const fresh = rig.reopen(SQUARE.settings);
    await rig.control('POST', '/faults', { path: '/v2/locations', action: 'error_500', times: 1 });
    expect(await fresh?.checkAmount({ amountCents: 500, currency: 'USD' })).toMatchObject({ kind: 'not known' });
    expect(await fresh?.checkAmount({ amountCents: 500, currency: 'USD' })).toBeUndefined();
  });

  test('is unknown for a nonexistent location', async () => {
    const fresh = rig.reopen({ ...SQUARE.settings, LOCATION_ID: 'ELSEWHERE' });
    expect(await fresh?.checkAmount({ amountCents: 500, currency: 'USD' })).toMatchObject({
      kind: 'not known',
      outcome: { kind: 'refused', reason: 'NOT_FOUND' },
    });
  });
});

describe('the simulated Stripe', () => {
  let rig: ProviderRig;
  beforeAll(async () => {
    rig = await openRig(STRIPE);
  });
  afterAll(() => rig.close());

  const post = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_local' },
      body: new URLSearchParams(fields),
    });
    return { status: response.status, body: (await response.json()) as { id?: string; error?: object } };
  };

  test.each([
    [
      { amount: '49', currency: 'usd' },
      { code: 'amount_too_small', param: 'amount' },
    ],
    [
      { amount: '1499', currency: 'czk' },
      { code: 'amount_too_small', param: 'amount' },
    ],
    [
      { amount: '49', currency: 'jpy' },
      { code: 'amount_too_small', param: 'amount' },
    ],
    [
      { amount: '5124', currency: 'kwd' },
      { code: 'parameter_invalid_integer', param: 'amount' },
    ],
    [
      { amount: '550', currency: 'isk' },
      { code: 'parameter_invalid_integer', param: 'amount' },
    ],
    [
      { amount: '550', currency: 'ugx' },
      { code: 'parameter_invalid_integer', param: 'amount' },
    ],
    [
      { amount: '5000', currency: 'clf' },
      { param: 'currency', message: expect.stringMatching(/^Invalid currency: clf\./) },
    ],
  ])('refuses %o with Stripe’s error, on create and on update', async (fields, error) => {
    const refusal = { status: 400, body: { error: { type: 'invalid_request_error', ...error } } };
    expect(await post('/v1/payment_intents', fields)).toMatchObject(refusal);
    const { body } = await post('/v1/payment_intents', { amount: '5000', currency: 'eur' });
    expect(await post(`/v1/payment_intents/${body.id}`, fields)).toMatchObject(refusal);
  });
});
