import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Product, productSchema } from '../../shared/catalog/catalog-records.ts';
import { priceOf } from '../../shared/catalog/price.ts';
import { REFUND_STATUSES } from '../../shared/core/money-back.ts';
import { iso } from '../../shared/core/time.ts';
import { requireAcceptedAmount } from '../../shared/payments/accepted-amount.ts';
import { moneyAccount } from '../../shared/payments/money-account.ts';
import { PAYMENT_STATUSES } from '../../shared/payments/payment.ts';
import { findMismatch, matchAmount } from '../../shared/payments/payment-amounts.ts';
import type { Refund } from '../../shared/payments/refunds/refund.ts';
import { isLaterRefund, refundMismatch } from '../../shared/payments/refunds/refund-states.ts';
import {
  hasGivenBackTooMuch,
  isSameShare,
  requireRefundable,
  withoutRefund,
  withRefund,
} from '../../shared/payments/refunds/refund-sums.ts';
import type { AmountRefusal } from '../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { draft, NOON, payment } from '../builders/payment.ts';
import { refusalIn, refusalOf } from '../builders/refusal.ts';

describe('the comparison with an amount that the provider reports', () => {
  const stored = { totalCents: 2_500, currency: 'USD' };

  test.each([
    [{ amountCents: 2_500, currency: 'USD' }, undefined],
    [{ amountCents: undefined, currency: undefined }, undefined],
    [{ amountCents: 2_501, currency: 'USD' }, 'amount differs'],
    [{ amountCents: 2_501, currency: undefined }, 'amount differs'],
    [{ amountCents: 2_500, currency: 'EUR' }, 'currency differs'],
    [{ amountCents: undefined, currency: 'EUR' }, 'currency differs'],
    [{ amountCents: 2_501, currency: 'EUR' }, 'amount differs'],
  ])('with the report %j finds the mismatch %s', (reported, mismatch) => {
    expect(findMismatch(stored, reported)).toBe(mismatch);
  });

  test('accepts the payment’s stored amount, even during an update', () => {
    const updating = payment({ draft: draft() });
    expect(matchAmount(updating, { amountCents: 2_500, currency: 'USD' })).toBe(updating);
  });

  test('accepts the amount of an open update, and applies the update', () => {
    const updating = payment({ draft: draft({ concept: 'Tea' }) });
    const matched = matchAmount(updating, { amountCents: 3_000, currency: 'USD' });
    expect(matched).toMatchObject({ totalCents: 3_000, concept: 'Tea', draft: undefined });
  });

  test('rejects any other amount, so that no change is stored', () => {
    const other = { amountCents: 2_999, currency: 'USD' };
    expect(matchAmount(payment(), other)).toBeUndefined();
    expect(matchAmount(payment({ draft: draft() }), other)).toBeUndefined();
    expect(matchAmount(payment({ draft: draft() }), { amountCents: 3_000, currency: 'EUR' })).toBeUndefined();
  });
});

describe('a requested total', () => {
  const provider = (refusal: AmountRefusal | undefined) => {
    const asked: unknown[] = [];
    const checkAmount = async (amount: unknown) => {
      asked.push(amount);
      return refusal;
    };
    return { asked, provider: { slot: 'provider_a', checkAmount } as unknown as PaymentProvider };
  };
  const total = { totalCents: 5, currency: 'USD' };
  const refusedBy = async (refusal: AmountRefusal) =>
    refusalIn(requireAcceptedAmount(provider(refusal).provider, total));

  test('is accepted if the provider accepts it', async () => {
    const { asked, provider: taking } = provider(undefined);
    await requireAcceptedAmount(taking, total);
    expect(asked).toEqual([{ amountCents: 5, currency: 'USD' }]);
  });

  test('is not checked with the provider if it is 0, because 0 is never charged', async () => {
    const { asked, provider: refusing } = provider({ kind: 'currency' });
    await requireAcceptedAmount(refusing, { ...total, totalCents: 0 });
    expect(asked).toEqual([]);
  });

  test('is accepted again if it was accepted before', async () => {
    await requireAcceptedAmount(provider({ kind: 'currency' }).provider, total, async () => true);
    const refused = requireAcceptedAmount(provider({ kind: 'currency' }).provider, total, async () => false);
    expect((await refusalIn(refused)).code).toBe('UNSUPPORTED_CURRENCY');
  });

  test('is refused with the accepted currency if the provider does not accept its currency', async () => {
    const only = await refusedBy({ kind: 'currency', only: 'EUR' });
    const message = 'provider_a accepts only EUR';
    expect([only.code, only.message]).toEqual(['UNSUPPORTED_CURRENCY', message]);
    expect(only.details).toEqual([{ path: 'currency', rule: 'provider', message }]);
    expect((await refusedBy({ kind: 'currency' })).message).toBe('provider_a does not accept USD');
  });

  test('is refused with the required multiple if the provider cannot express it', async () => {
    const refusal = await refusedBy({ kind: 'not expressible', multipleOf: 10 });
    expect(refusal.code).toBe('VALIDATION_ERROR');
    expect(refusal.details).toEqual([
      { path: 'total_cents', rule: 'multiple_of', message: 'must be a multiple of 10 in USD at provider_a' },
    ]);
  });

  test('is refused above the provider’s maximum, with the maximum', async () => {
    const refusal = await refusedBy({ kind: 'too large', maximumCents: 4 });
    expect(refusal.code).toBe('VALIDATION_ERROR');
    expect(refusal.details).toEqual([
      { path: 'total_cents', rule: 'max', message: 'must not exceed 4 in USD at provider_a' },
    ]);
  });

  test('is refused below the provider’s minimum, with the minimum', async () => {
    const refusal = await refusedBy({ kind: 'too small', minimumCents: 50 });
    expect(refusal).toMatchObject({
      code: 'AMOUNT_TOO_SMALL',
      message: 'The total must be at least 50 in USD at provider_a, not 5',
      details: { minimum_cents: 50, currency: 'USD' },
    });
  });

  test('is refused if only the provider can check it and the check fails', async () => {
    const unavailable = await refusedBy({ kind: 'not known', outcome: { kind: 'unknown', reason: 'timeout' } });
    expect(unavailable.code).toBe('PROVIDER_UNAVAILABLE');
    const refused = await refusedBy({ kind: 'not known', outcome: { kind: 'refused', reason: 'UNAUTHORIZED' } });
    expect(refused).toMatchObject({ code: 'PROVIDER_ERROR', details: { provider_code: 'UNAUTHORIZED' } });
  });
});

describe('the price of a purchase', () => {
  const product = (fields: Partial<Product> = {}): Product => ({
    ...productSchema.parse({
      ...{ id: 'prod_1', version: 1, created_at: iso(NOON), updated_at: iso(NOON), name: 'Tea', currency: 'USD' },
      ...{ subtotal_cents: 1_000, tax_cents: 190, discount_cents: 90, total_cents: 1_100 },
    }),
    ...fields,
  });
  const price = { subtotalCents: 1_000, taxCents: 190, discountCents: 90, totalCents: 1_100, currency: 'USD' };

  test.each([
    {},
    { currency: 'usd' },
    { currency: '' },
    { subtotal_cents: 1_000, tax_cents: 190, discount_cents: 90, total_cents: 1_100, amount_cents: 1_100 },
  ])('comes from the product if the request has the same price or none: %j', (body) => {
    expect(priceOf(body, product())).toEqual(price);
  });

  test.each([
    ['subtotal_cents', 1_000],
    ['tax_cents', 190],
    ['discount_cents', 90],
    ['total_cents', 1_100],
    ['amount_cents', 1_100],
  ])('cannot differ from the product’s price: %s', (field, expected) => {
    expect(refusalOf(() => priceOf({ [field]: 1 }, product()))).toMatchObject({
      code: 'PRICING_MISMATCH',
      message: `The product costs 1100, so ${field} must be ${expected}, not 1`,
      details: { path: field, expected },
    });
  });

  test('cannot be in another currency than the product’s', () => {
    expect(refusalOf(() => priceOf({ currency: 'EUR' }, product()))).toMatchObject({
      code: 'PRICING_MISMATCH',
      message: 'The product is priced in USD',
    });
  });

  test('is refused if the product is no longer sold', () => {
    expect(refusalOf(() => priceOf({}, product({ is_active: false })))).toMatchObject({
      code: 'PRODUCT_INACTIVE',
      details: { product_id: 'prod_1' },
    });
  });

  test('must reach the minimum total of 1 for a payment, and of 0 for a subscription', () => {
    const free = product({ subtotal_cents: 0, tax_cents: 0, discount_cents: 0, total_cents: 0 });
    expect(refusalOf(() => priceOf({}, free)).code).toBe('AMOUNT_TOO_SMALL');
    expect(priceOf({}, free, 0).totalCents).toBe(0);
    expect(
      priceOf({}, product({ subtotal_cents: 1, tax_cents: 0, discount_cents: 0, total_cents: 1 })).totalCents,
    ).toBe(1);
  });

  test('comes from the request without a product, in a known currency', () => {
    const own = { subtotalCents: 700, taxCents: 0, discountCents: 0, totalCents: 700, currency: 'EUR' };
    expect(priceOf({ total_cents: 700, currency: 'eur' }, undefined)).toEqual(own);
    expect(refusalOf(() => priceOf({ total_cents: 700 }, undefined)).code).toBe('UNSUPPORTED_CURRENCY');
    expect(refusalOf(() => priceOf({ total_cents: 0, currency: 'EUR' }, undefined)).code).toBe('AMOUNT_TOO_SMALL');
    expect(priceOf({ total_cents: 0, currency: 'EUR' }, undefined, 0).totalCents).toBe(0);
  });
});

const refund = (fields: Partial<Refund> = {}): Refund => ({
  id: 'rfd_1',
  version: 1,
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  paymentId: payment().id,
  amountCents: 400,
  currency: 'USD',
  status: 'pending',
  source: 'api',
  providerId: 'provider_a',
  ...fields,
});
const paid = (fields = {}) => payment({ status: 'succeeded', ...fields });

describe('the refundable amount', () => {
  test('is the total minus the refunded and the reserved amount', () => {
    expect(moneyAccount(paid()).refundable).toBe(2_500);
    expect(moneyAccount(paid({ refundedCents: 400 })).refundable).toBe(2_100);
    expect(moneyAccount(paid({ refundingCents: 300 })).refundable).toBe(2_200);
    expect(moneyAccount(paid({ refundedCents: 400, refundingCents: 300 })).refundable).toBe(1_800);
  });

  test('is never below 0, even if the provider refunded more than the total', () => {
    expect(moneyAccount(paid({ refundedCents: 2_600 })).refundable).toBe(0);
    expect(hasGivenBackTooMuch(paid({ refundedCents: 2_501 }))).toBe(true);
    expect(hasGivenBackTooMuch(paid({ refundedCents: 2_500 }))).toBe(false);
    expect(hasGivenBackTooMuch(paid())).toBe(false);
  });

  test.each(PAYMENT_STATUSES.filter((status) => status !== 'succeeded'))('is 0 for a %s payment', (status) => {
    expect(moneyAccount(payment({ status })).refundable).toBe(0);
    expect(refusalOf(() => requireRefundable(payment({ status }), 1))).toMatchObject({
      code: 'INVALID_STATE',
      message: 'Only a succeeded payment can be refunded',
      details: { payment_id: payment().id, status },
    });
  });

  test('can be refunded in whole or in part, but not exceeded', () => {
    const partly = paid({ refundedCents: 400, refundingCents: 300 });
    expect(requireRefundable(partly, undefined)).toBe(1_800);
    expect(requireRefundable(partly, 1_800)).toBe(1_800);
    expect(requireRefundable(partly, 1)).toBe(1);
    expect(refusalOf(() => requireRefundable(partly, 1_801))).toMatchObject({
      code: 'REFUND_EXCEEDS_PAYMENT',
      details: { payment_id: partly.id, refundable_cents: 1_800 },
    });
    expect(refusalOf(() => requireRefundable(paid({ refundedCents: 2_500 }), undefined))).toMatchObject({
      code: 'REFUND_EXCEEDS_PAYMENT',
      details: { refundable_cents: 0 },
    });
  });

  test('excludes lost disputes, and open disputes unless the refund is requested despite them', () => {
    const disputed = paid({ disputes: [{ id: 'dsp_1', amountCents: 1_000 }] });
    expect(moneyAccount(disputed)).toMatchObject({ captured: 2_500, disputed: 1_000, lost: 0, refundable: 1_500 });
    expect(moneyAccount(disputed, { despiteDispute: true }).refundable).toBe(2_500);
    const lost = paid({ disputes: [{ id: 'dsp_1', amountCents: 1_000, lostAt: iso(NOON) }] });
    expect(moneyAccount(lost)).toMatchObject({ disputed: 0, lost: 1_000, refundable: 1_500 });
    expect(moneyAccount(lost, { despiteDispute: true }).refundable).toBe(1_500);
    expect(requireRefundable(lost, undefined)).toBe(1_500);
    expect(requireRefundable(lost, 1_501)).toBeUndefined();
    expect(refusalOf(() => requireRefundable(lost, 2_501))).toMatchObject({ code: 'REFUND_EXCEEDS_PAYMENT' });
  });
});

describe('the refund sums of a payment', () => {
  const change = (was: Refund | undefined, next: Refund, of = paid()) => withRefund(of, { was, next, now: NOON + 1 });

  test('reserve a pending refund, and count the refund when it succeeds', () => {
    const reserved = change(undefined, refund());
    expect(reserved).toMatchObject({ refundingCents: 400, refundedCents: 0, refundedCount: 0 });
    const given = change(refund(), refund({ status: 'succeeded' }), reserved);
    expect(given).toMatchObject({ refundingCents: 0, refundedCents: 400, refundedCount: 1 });
    const returned = change(refund({ status: 'succeeded' }), refund({ status: 'failed' }), given);
    expect(returned).toMatchObject({ refundingCents: 0, refundedCents: 0, refundedCount: 0 });
  });

  test('name the refund that changed them, but no dispute', () => {
    const next = refund({ status: 'succeeded', reason: 'duplicate', completedAt: iso(NOON) });
    const changed = change(refund(), next, paid({ version: 3, dispute: { id: 'dsp_1' } }));
    expect(changed).toMatchObject({
      refund: {
        id: 'rfd_1',
        amountCents: 400,
        status: 'succeeded',
        was: 'pending',
        reason: 'duplicate',
        completedAt: iso(NOON),
      },
      cause: 'refund',
      version: 4,
      updatedAt: iso(NOON + 1),
    });
    expect(changed.dispute).toBeUndefined();
    expect(change(undefined, next).refund?.was).toBeUndefined();
  });

  test('release the reservation of a failed refund without an event', () => {
    const reserved = change(undefined, refund(), paid({ refundedCents: 100, refundedCount: 1, version: 3 }));
    expect(withoutRefund(reserved, refund(), NOON + 2)).toMatchObject({
      ...{ refundingCents: 0, refundedCents: 100, refundedCount: 1 },
      ...{ refund: undefined, cause: 'release', version: 5, updatedAt: iso(NOON + 2) },
    });
  });

  test('equal the sum of the refunds after any changes of them', () => {
    const states = fc.array(fc.constantFrom(...REFUND_STATUSES), { minLength: 1, maxLength: 5 });
    const refunds = fc.array(fc.record({ amountCents: fc.integer({ min: 1, max: 900 }), states }), { maxLength: 4 });
    fc.assert(
      fc.property(refunds, (all) => {
        let record = paid();
        const last = all.map(({ amountCents, states: path }) => {
          let was: Refund | undefined;
          for (const status of path) {
            const next = refund({ amountCents, status });
            record = withRefund(record, { was, next, now: NOON });
            was = next;
          }
          return { amountCents, status: path.at(-1) };
        });
        const sumOf = (wanted: string) =>
          last.reduce((sum, { status, amountCents }) => (status === wanted ? sum + amountCents : sum), 0);
        expect(record.refundedCents ?? 0).toBe(sumOf('succeeded'));
        expect(record.refundingCents ?? 0).toBe(sumOf('pending'));
        expect(record.refundedCount ?? 0).toBe(last.filter(({ status }) => status === 'succeeded').length);
      }),
    );
  });

  test('stay unchanged if neither status nor amount of the refund changes', () => {
    expect(isSameShare(refund(), refund({ description: 'other' }))).toBe(true);
    expect(isSameShare(refund(), refund({ status: 'failed' }))).toBe(false);
    expect(isSameShare(refund(), refund({ amountCents: 401 }))).toBe(false);
  });
});

describe('a report about a refund', () => {
  const ORDER = ['pending', 'canceled', 'succeeded', 'failed'] as const;

  test.each(ORDER.flatMap((from) => ORDER.map((to) => [from, to] as const)))(
    'moves a refund only forward if the provider knows the refund: %s to %s',
    (from, to) => {
      const known = refund({ status: from, providerRefundId: 're_1' });
      expect(isLaterRefund(known, to)).toBe(ORDER.indexOf(to) > ORDER.indexOf(from));
    },
  );

  test.each(ORDER)('may move a refund that failed here to any status: %s', (to) => {
    expect(isLaterRefund(refund({ status: 'failed' }), to)).toBe(true);
  });

  test('moves a pending refund only forward if the provider does not know the refund yet', () => {
    expect(isLaterRefund(refund(), 'pending')).toBe(false);
    expect(isLaterRefund(refund({ status: 'succeeded' }), 'pending')).toBe(false);
  });

  test.each([
    [{ amountCents: 400, currency: 'USD' }, undefined],
    [{ amountCents: 401, currency: 'USD' }, 'amount differs'],
    [{ amountCents: 400, currency: 'EUR' }, 'currency differs'],
  ])('is compared with the refund’s amount, and %j gives the mismatch %s', (report, mismatch) => {
    expect(refundMismatch(refund(), report)).toBe(mismatch);
  });
});
