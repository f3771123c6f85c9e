import { describe, expect, test } from 'vitest';
import { type Adopting, planRow, type RowReads, refusedNeedOf } from '../../shared/admin/import-plan.ts';
import { instant } from '../../shared/core/time.ts';
import type { HeldSubscription, HeldTerms } from '../../shared/providers/holdings-port.ts';
import type { ProviderSubscription } from '../../shared/providers/subscription-port.ts';
import { adoptedPlan, adoptedSubscription } from '../../shared/subscriptions/at-provider/adopted-record.ts';
import { intervalOf } from '../../shared/subscriptions/at-provider/provider-biller.ts';

const seconds = (iso: string): number => instant(iso) / 1_000;

const TERMS: HeldTerms = {
  obstacle: undefined,
  priceId: 'price_1',
  quantity: 3,
  listCents: 8_700,
  currency: 'USD',
  unit: 'month',
  count: 1,
  pricing: { kind: 'list' },
  isTaxed: false,
  methodId: undefined,
  anchor: seconds('2026-01-31T10:00:00Z'),
  startedAt: seconds('2026-01-31T10:00:00Z'),
  openedBy: { invoice: 'in_1', paidCents: 8_700 },
};

const REPORT: ProviderSubscription = {
  subscriptionId: 'sub_1',
  ourSubscriptionId: undefined,
  status: 'active',
  currentPeriodStart: seconds('2026-10-31T10:00:00Z'),
  currentPeriodEnd: seconds('2026-11-30T10:00:00Z'),
  trialEnd: undefined,
  isBridge: false,
  cancelAtPeriodEnd: false,
  cancelAt: null,
  isUnpaid: false,
  price: { amountCents: 8_700, currency: 'USD' },
  methodId: undefined,
  isIncomplete: false,
  latestInvoice: undefined,
  owed: [],
};

const held = (terms: Partial<HeldTerms> = {}, report: Partial<ProviderSubscription> = {}): HeldSubscription => ({
  report: { ...REPORT, ...report },
  terms: { ...TERMS, ...terms },
});

const adopted = (one: HeldSubscription) => {
  const plan = adoptedPlan(one, undefined);
  if (typeof plan === 'string') throw new Error(plan);
  const at = instant('2026-11-12T09:00:00Z');
  const as = { id: 'subs_1', slot: 'provider_a', owner: { userId: 'u1' }, customerId: 'cust_1' } as const;
  const method = { id: 'pmt_1', methodRef: 'pm_1' };
  return adoptedSubscription(one, { ...as, providerCustomerId: 'cus_9', method, plan, readAt: at }, at);
};

describe('the interval of an imported subscription', () => {
  test.each([
    ['day', 1, 'daily', 1],
    ['week', 2, 'weekly', 2],
    ['month', 1, 'monthly', 1],
    ['month', 2, 'monthly', 2],
    ['month', 3, 'quarterly', 1],
    ['month', 6, 'quarterly', 2],
    ['month', 12, 'yearly', 1],
    ['month', 24, 'yearly', 2],
    ['year', 1, 'yearly', 1],
  ] as const)('of %s × %i is %s × %i', (unit, count, billingInterval, intervalMultiplier) => {
    expect(intervalOf({ unit, count })).toEqual({ billingInterval, intervalMultiplier });
  });

  test('of more than a hundred units cannot be stored', () => {
    expect(intervalOf({ unit: 'day', count: 365 })).toBeUndefined();
  });
});

describe('an imported subscription', () => {
  test('keeps the anchor on the last day of a month, and is paid until Stripe charges again', () => {
    expect(adopted(held())).toMatchObject({
      status: 'active',
      reason: 'imported',
      billingOwner: 'provider',
      totalCents: 8_700,
      anchor: '2026-01-31T10:00:00.000Z',
      period: 9,
      currentPeriodEnd: '2026-11-30T10:00:00.000Z',
      paidUntil: '2026-11-30T10:00:00.000Z',
      paidPeriod: { totalCents: 8_700, payments: [] },
    });
  });

  test('is anchored at its current period if the old anchor does not lead to that period', () => {
    const moved = {
      currentPeriodStart: seconds('2026-11-05T10:00:00Z'),
      currentPeriodEnd: seconds('2026-12-05T10:00:00Z'),
    };
    expect(adopted(held({}, moved))).toMatchObject({ anchor: '2026-11-05T10:00:00.000Z', period: 0 });
  });

  test('counts the paid amount minus the refunds as paid for its period', () => {
    const opened = adopted(held({ openedBy: { invoice: 'in_1', paidCents: 7_700 } }));
    expect(opened.paidPeriod).toMatchObject({ totalCents: 7_700, payments: [] });
  });

  test('counts as paid until the start of its period if it is past due', () => {
    const behind = adopted(held({ openedBy: undefined }, { status: 'past_due' }));
    expect(behind).toMatchObject({ status: 'past_due', paidUntil: '2026-10-31T10:00:00.000Z' });
    expect(behind.paidPeriod).toBeUndefined();
  });

  test('has a total below its list price if its discount is permanent, and cannot be adopted with another discount or tax', () => {
    const plan = adoptedPlan(held({ pricing: { kind: 'percent', percent: 10 } }), undefined);
    expect(plan).toMatchObject({ subtotalCents: 8_700, discountCents: 870, totalCents: 7_830, listCents: 8_700 });
    expect(adoptedPlan(held({ pricing: { kind: 'other' } }), undefined)).toBe('discount_ends');
    expect(adoptedPlan(held({ pricing: { kind: 'other' }, isTaxed: true }), undefined)).toBe('tax');
  });
});

describe('the plan of a row', () => {
  const reads: RowReads = {
    providerCustomerId: 'cus_9',
    owner: { kind: 'user', userId: 'u1' },
    holdings: { contact: {}, defaultMethodId: undefined, methods: [], subscriptions: [held()] },
    known: new Map(),
    refusedCurrencies: new Set(),
    start: undefined,
  };
  const options = { products: new Map(), overwritesMetadata: false, now: instant('2026-11-12T09:00:00Z') };
  const outcomes = (changed: Partial<RowReads>) =>
    planRow({ ...reads, ...changed }, options).map((one) => [one.outcome, 'reason' in one ? one.reason : undefined]);

  test('leaves a subscription without a payment method to manual work', () => {
    expect(outcomes({})).toEqual([
      ['adopted', undefined],
      ['manual', 'no_method'],
    ]);
  });

  test('refuses every record if one belongs to another owner', () => {
    const known = new Map([['sub_1', { id: 'subs_9', owner: { kind: 'user', userId: 'u2' } as const }]]);
    expect(outcomes({ known })).toEqual([
      ['refused', 'other_owner'],
      ['refused', 'other_owner'],
    ]);
  });
});

describe('a record of an imported row', () => {
  const done = (kind: 'customer' | 'payment_method', provider_id: string, outcome: 'adopted' | 'refused') => ({
    ...{ kind, provider_id, outcome },
    ...{ id: null, reason: outcome === 'refused' ? ('not_reached' as const) : null },
  });
  const plan = adoptedPlan(held(), undefined);
  const subscription = {
    ...({ kind: 'subscription', providerId: 'sub_1', outcome: 'adopted' } as const),
    adopting: { kind: 'subscription', held: held(), plan, methodRef: 'pm_1' } as Adopting,
  };

  test.each([
    ['its customer', [done('customer', 'cus_9', 'refused')], true],
    ['its method', [done('customer', 'cus_9', 'adopted'), done('payment_method', 'pm_1', 'refused')], true],
    ['another method', [done('customer', 'cus_9', 'adopted'), done('payment_method', 'pm_2', 'refused')], false],
  ])('is refused exactly if a record that it needs is refused: %s', (_, before, isRefused) => {
    expect(refusedNeedOf(subscription, before) !== undefined).toBe(isRefused);
  });
});
