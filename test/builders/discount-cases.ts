/** @module Histories of discount codes. */
import type { History, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { exchangeOf, historyPayment, historyWith, SUBSCRIPTION, subscriptionItem, versionItem } from './history.ts';
import type { Case } from './promise-cases.ts';

const FEW = { code: 'FEW', percentBp: 3_333, cents: 666, redemption: 'rdm_1', payer: 'USER#user_ada' };
const PRICES = { subtotalCents: 1_999, taxCents: 0, discountCents: 666, totalCents: 1_333 };

/** A payment with the code's discount. */
const coded = (fields: HistoryJson = {}): HistoryItem => historyPayment({ discount: FEW, ...PRICES, ...fields });
const another = (number: number, fields: HistoryJson = {}): HistoryItem => ({
  ...coded({ ...fields, discount: { ...FEW, redemption: `rdm_${number}` } }),
  pk: `PAY#pay_${number}`,
});

const counted = (taken: number, redeemed: number, uses = taken): readonly HistoryItem[] => [
  { pk: 'DISCOUNTCOUNT#FEW', sk: 'DISCOUNTCOUNT', taken, redeemed },
  { pk: 'DISCOUNTUSE#FEW#USER#user_ada', sk: 'DISCOUNTUSE', count: uses },
];

const began = {
  source: 'payments',
  'detail-type': 'subscription.created',
  detail: {
    id: '1',
    payload: { event: 'subscription.created', data: { subscription_id: SUBSCRIPTION, discount_code: 'FEW' } },
  },
};
const ran = { ...versionItem(1, { status: 'active' }), pk: `SUB#${SUBSCRIPTION}` };
const holds = (...items: readonly HistoryItem[]): History => historyWith({ items });

/**
 * A subscription that began with the code changes to three units of the monthly product. Its new total is `totalCents`.
 */
const changedTo = (totalCents: number): History =>
  historyWith({
    items: [
      subscriptionItem(),
      {
        ...versionItem(5, { status: 'active', cause: 'plan_changed' }),
        pk: `SUB#${SUBSCRIPTION}`,
        wasPlan: { productId: 'prod_monthly', quantity: 1, totalCents: 1_267 },
        plan: { productId: 'prod_monthly', quantity: 3, totalCents },
      },
    ],
    exchanges: [
      exchangeOf({
        ...{ method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/change`, at: 2 },
        sent: { product_id: 'prod_monthly', quantity: 3 },
      }),
    ],
    bus: [began],
  });

const COUNTERS = 'At rest the counters of a discount code are the uses of its payments and subscriptions';
const LIMITS = 'No discount code is used more often than it allows, unless late money takes a use that was given back';
const CUT = 'A discount code cuts exactly its part of a price';
const PERIODS = 'A discount code reduces no more periods than it lasts';

const full = { subtotalCents: 1_900, taxCents: 0, discountCents: 0, totalCents: 1_900 };
const subscribed = (fields: HistoryJson): HistoryItem =>
  subscriptionItem({ discount: { code: 'TWICE', percentBp: 5_000, periodsLeft: 1, full }, ...fields });
const half = { subtotalCents: 1_900, taxCents: 0, discountCents: 950, totalCents: 950 };

const period = (number: number, code = 'FEW', fields: HistoryJson = {}): HistoryItem => ({
  ...coded({ subscriptionId: SUBSCRIPTION, discount: { code, cents: 666 }, ...fields }),
  pk: `PAY#pay_${number}`,
});

export const DISCOUNT_CASES: Readonly<Record<string, Case>> = {
  [COUNTERS]: {
    broken: holds(coded(), ...counted(1, 0)),
    sound: holds(coded(), ...counted(1, 1)),
  },
  [LIMITS]: {
    broken: holds(coded(), another(2), another(3), another(4)),
    sound: holds(coded(), another(2), another(3), another(4, { status: 'canceled' })),
  },
  [CUT]: {
    broken: holds(coded({ discountCents: 667, totalCents: 1_332, discount: { ...FEW, cents: 667 } })),
    sound: holds(coded()),
  },
  [PERIODS]: {
    broken: holds(period(1), period(2)),
    sound: holds(period(1), period(2, 'FEW', { status: 'failed' }), period(3, 'LASTING'), period(4, 'LASTING')),
  },
};

/** Further histories, each with its content and its invariant. */
export const MORE_DISCOUNT_CASES: readonly (readonly [string, string, Case])[] = [
  [
    'the uses of a payer',
    COUNTERS,
    { broken: holds(coded(), ...counted(1, 1, 2)), sound: holds(coded({ status: 'failed' }), ...counted(1, 0)) },
  ],
  [
    'a subscription whose code has ended',
    COUNTERS,
    {
      broken: historyWith({ items: [subscriptionItem(), ran], bus: [began] }),
      sound: historyWith({ items: [subscriptionItem(), ran, ...counted(1, 1)], bus: [began] }),
    },
  ],
  [
    'a canceled payment',
    COUNTERS,
    {
      broken: holds(coded({ status: 'canceled' }), ...counted(1, 0)),
      sound: holds(coded({ status: 'canceled' }), ...counted(0, 0)),
    },
  ],
  [
    'a subscription',
    CUT,
    {
      broken: holds(subscribed({ ...half, discountCents: 900, totalCents: 1_000 })),
      sound: holds(subscribed(half)),
    },
  ],
  [
    'a plan with a code',
    'A change of a plan brings the product, the quantity and the price that a request has asked for',
    { broken: changedTo(3_801), sound: changedTo(3_800) },
  ],
  [
    'the price of a product before the code',
    CUT,
    {
      broken: holds(subscribed({ ...half, productId: 'prod_trial' })),
      sound: holds(subscribed({ ...half, productId: 'prod_monthly' })),
    },
  ],
];
