/** @module Histories of plan changes. */
import type { History, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { PRICING } from '../simulation/model/outside.ts';
import { ROOT } from '../simulation/world/people.ts';
import {
  chargeRow,
  exchangeOf,
  historyPayment,
  historyTime,
  historyWith,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

const DAY_SECONDS = 86_400;
const ENDS = historyTime(30 * DAY_SECONDS);
const MONTHLY = 'prod_monthly';
const WAS = { productId: MONTHLY, quantity: 1, totalCents: 1_900 };
const PLAN = { productId: MONTHLY, quantity: 3, totalCents: 5_700 };

/** A version of the subscription at this second. */
const version = (second: number, fields: HistoryJson): HistoryItem => ({
  ...versionItem(second, { status: 'active', periodEnd: ENDS, ...fields }),
  pk: `SUB#${SUBSCRIPTION}`,
});

const changed = (fields: HistoryJson = {}): HistoryItem =>
  version(5, {
    ...{ cause: 'plan_changed', paymentId: PAYMENT, dueCents: 1_000, wasPlan: WAS, plan: PLAN },
    ...fields,
  });

const difference = historyPayment({ subscriptionId: SUBSCRIPTION, billingReason: 'subscription_change' });

const changing = (sent: HistoryJson, fields: HistoryJson = {}) =>
  exchangeOf({ method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/change`, sent, at: 2, ...fields });

const charged = (versions: readonly HistoryItem[], fields: HistoryJson = {}): History =>
  historyWith({
    items: [subscriptionItem(), difference, ...versions],
    ledger: { charges: [chargeRow(fields)] },
  });

const asked = (sent: HistoryJson, fields: HistoryJson = {}): History =>
  historyWith({ items: [subscriptionItem(), changed(fields)], exchanges: [changing(sent)] });

const previewed = (cents: number, body: HistoryJson): History => {
  const proration_at = historyTime(1);
  const preview = exchangeOf({
    ...{ method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/change/preview` },
    body: { proration_at, due_now_cents: cents },
  });
  const paid = { ...difference, createdAt: historyTime(2) };
  return historyWith({ items: [paid], exchanges: [preview, changing({ proration_at }, { body })] });
};

const SCHEDULED = { cause: 'plan_change_scheduled' };
const OPENED = { cause: 'plan_changed', actor: { type: 'system', id: 'run-due' } };

const NOW = { cause: 'plan_changed', dueCents: 1_000 };

const scheduled = (...versions: readonly HistoryItem[]): History =>
  historyWith({ items: [subscriptionItem(), ...versions] });

const tried = (sent: HistoryJson, fields: HistoryJson = {}): History =>
  historyWith({ exchanges: [changing(sent, fields)] });

const MEMBERSHIP = { pk: 'MBR#mbr_1', sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'active' };

/** A membership and one payment of a subscription after a scheduled plan change took effect. */
const tierPaidBy = (payment: HistoryJson, fields: HistoryJson = {}): History =>
  historyWith({
    items: [
      subscriptionItem({ tierId: 'tier_gold', productId: MONTHLY, ...fields }),
      historyPayment({ subscriptionId: SUBSCRIPTION, ...payment }),
      version(1, SCHEDULED),
      version(30 * DAY_SECONDS, OPENED),
      MEMBERSHIP,
    ],
  });

const tierOf = (plan: HistoryJson): History =>
  historyWith({ items: [subscriptionItem({ tierId: 'tier_gold', productId: MONTHLY }), version(5, plan), MEMBERSHIP] });

const tierBilledBy = (invoice: HistoryJson): History =>
  historyWith({
    items: [subscriptionItem({ tierId: 'tier_gold', productId: MONTHLY }), MEMBERSHIP],
    ledger: {
      subscriptions: [{ id: 'sub_1', subscription_id: SUBSCRIPTION }],
      invoices: [{ subscription: 'sub_1', status: 'paid', subtotal: 1_900, amount: 0, ...invoice }],
    },
  });

const trying = (productId: string | undefined, days: number, nowDays = 1): History =>
  historyWith({
    now: Date.parse(historyTime(nowDays * DAY_SECONDS)),
    items: [subscriptionItem({ status: 'trialing', productId, trialEnd: historyTime(days * DAY_SECONDS) })],
  });

/** A mid-month plan change that credits `cents`, after a refund of `back` on the period's payment of 10.00. */
const credited = (cents: number, back: number): History => {
  const half = historyTime(15 * DAY_SECONDS);
  const unused = { kind: 'unused', amountCents: -cents, periodStart: half, periodEnd: ENDS };
  const period = { pk: `SUB#${SUBSCRIPTION}`, sk: 'PERIOD#1', start: historyTime(0), end: ENDS, paymentId: PAYMENT };
  return historyWith({
    items: [
      ...[subscriptionItem(), historyPayment({ subscriptionId: SUBSCRIPTION }), period],
      ...(back > 0 ? [versionItem(60, { cause: 'refund', refundedBy: back })] : []),
      version(15 * DAY_SECONDS, { cause: 'plan_changed', dueCents: 1_000, lines: [unused] }),
    ],
  });
};

const waitingUntil = (second: number): History =>
  historyWith({
    items: [
      subscriptionItem({
        change: { step: 'awaiting_payment', expiresAt: historyTime(second) },
        currentPeriodEnd: ENDS,
      }),
    ],
  });

const shownUntil = (second: number): History => {
  const pending_change = { status: 'awaiting_payment', expires_at: historyTime(second) };
  const shown = { id: SUBSCRIPTION, pending_change, current_period_end: ENDS };
  return historyWith({ exchanges: [exchangeOf({ path: '/subscriptions', body: [shown] })] });
};

const CREDIT = 'A change of a plan credits nothing that was not paid, or that had come back';
const APPLIED = 'At rest what a change of a plan has charged is applied once, unless the subscription has ended';
const PAID = 'A change of a plan that costs something takes effect only if exactly that was paid';
const ASKED = 'A change of a plan brings the product, the quantity and the price that a request has asked for';
const PREVIEW = 'A change of a plan costs what its preview has said, to the cent';
const SCHEDULE = 'A scheduled change takes effect once, when the next period opens';
const WAITS = 'A change of a plan that waits for its payer expires 10 minutes before the period ends';
const TIER = 'No tier is active without its money';
const TRIAL = 'A trial of a product is never longer than the product gives, unless a person extends it at the provider';
const MERCHANT = 'Only the merchant sets a price, or changes a plan without its difference';
const AGREES =
  'At rest period, trial, end and price of a subscription that its provider bills are those that it has there';

export const PLAN_CASES: Readonly<Record<string, Case>> = {
  [APPLIED]: { broken: charged([]), sound: charged([changed()]) },
  [PAID]: { broken: charged([changed({ dueCents: 1_001 })]), sound: charged([changed()]) },
  [ASKED]: { broken: asked({ quantity: 2 }), sound: asked({ quantity: 3 }) },
  [PREVIEW]: {
    broken: previewed(999, { latest_payment_id: PAYMENT }),
    sound: previewed(1_000, { latest_payment_id: PAYMENT }),
  },
  [SCHEDULE]: {
    broken: scheduled(version(1, SCHEDULED), version(DAY_SECONDS, OPENED)),
    sound: scheduled(version(1, SCHEDULED), version(30 * DAY_SECONDS, OPENED)),
  },
  [WAITS]: {
    broken: waitingUntil(30 * DAY_SECONDS - 599),
    sound: waitingUntil(30 * DAY_SECONDS - 600),
  },
  [CREDIT]: { broken: credited(500, 1_000), sound: credited(500, 0) },
  [TIER]: { broken: tierPaidBy({}), sound: tierPaidBy({ productId: MONTHLY }) },
  [TRIAL]: { broken: trying('prod_trial', 6), sound: trying('prod_trial', 5) },
  [MERCHANT]: {
    broken: tried({ total_cents: 1 }),
    sound: tried({ total_cents: 1 }, { person: ROOT.name }),
  },
};

interface Since {
  readonly acts?: readonly string[];
  readonly causes?: readonly string[];
}

const native = (here: HistoryJson, there: HistoryJson, { acts = [], causes = [] }: Since = {}): History =>
  historyWith({
    items: [
      subscriptionItem({
        ...{ billingOwner: 'provider', providerSubscriptionId: 'sub_1', currency: 'USD', cancelAtPeriodEnd: false },
        ...{ currentPeriodStart: historyTime(0), currentPeriodEnd: ENDS, ...here },
      }),
      ...causes.map((cause) => version(1, { cause })),
    ],
    acts: acts.map((name) => ({
      ...{ name, path: '/simulator/subscriptions/sub_1', status: 200, isFailure: false },
      at: Date.parse(historyTime(5)),
    })),
    ledger: {
      subscriptions: [
        {
          ...{ provider: 'provider_a', id: 'sub_1', subscription_id: SUBSCRIPTION, status: 'active', amount: 1_000 },
          ...{ currency: 'USD', current_period_start: historyTime(0), current_period_end: ENDS, trial_end: null },
          ...{ cancel_at: null, cancel_at_period_end: false, customer: 'cus_1', ...there },
        },
      ],
    },
  });

const NEXT = { scheduledChange: { id: 'chg_1', plan: { totalCents: 500 } } };
const BRIDGE = { status: 'trialing', trial_end: ENDS, current_period_start: historyTime(5) };

const withMembership = (subscription: HistoryJson): History =>
  historyWith({
    items: [
      subscriptionItem({ tierId: 'tier_gold', ...subscription }),
      { pk: 'MBR#mbr_1', sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'active' },
    ],
  });

export const MORE_PLAN_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  ['a trial that has ended', TRIAL, { broken: trying('prod_trial', 6), sound: trying('prod_trial', 6, 7) }],
  [
    'a trial of a price that the merchant has set to 0',
    'A membership is active if and only if its subscription is paid',
    { broken: withMembership({ status: 'trialing' }), sound: withMembership({ status: 'trialing', totalCents: 0 }) },
  ],
  [
    'a payment that is applied twice',
    APPLIED,
    {
      broken: charged([changed(), { ...changed(), sk: 'HIST#000006' }]),
      sound: charged([version(5, { cause: 'canceled', status: 'canceled' })]),
    },
  ],
  ['a payment without a charge', PAID, { broken: charged([changed()], { status: 'failed' }), sound: charged([]) }],
  [
    'another product',
    ASKED,
    { broken: asked({ product_id: 'prod_weekly' }), sound: asked({ product_id: MONTHLY, quantity: 3 }) },
  ],
  [
    'another price',
    ASKED,
    {
      broken: asked({ quantity: 3 }, { plan: { ...PLAN, totalCents: 1_900 } }),
      sound: asked({ total_cents: 900 }, { plan: { ...PLAN, totalCents: 900 } }),
    },
  ],
  [
    'a change under way',
    PREVIEW,
    {
      broken: previewed(999, { pending_change: { due_now_cents: 1_000 } }),
      sound: previewed(1_000, { pending_change: { due_now_cents: 1_000 } }),
    },
  ],
  [
    'a change that takes effect again',
    SCHEDULE,
    {
      broken: scheduled(version(1, SCHEDULED), ...[30, 31].map((day) => version(day * DAY_SECONDS, OPENED))),
      sound: scheduled(version(1, SCHEDULED), version(30 * DAY_SECONDS, OPENED), version(31 * DAY_SECONDS, NOW)),
    },
  ],
  [
    'a change that a response shows as open for too long',
    WAITS,
    { broken: shownUntil(30 * DAY_SECONDS - 599), sound: shownUntil(30 * DAY_SECONDS - 600) },
  ],
  [
    'a tier whose payment has failed',
    TIER,
    {
      broken: tierPaidBy({ productId: MONTHLY, status: 'failed' }),
      sound: tierPaidBy({ productId: MONTHLY, status: 'failed' }, { totalCents: 0 }),
    },
  ],
  [
    'a tier that a change now has brought',
    TIER,
    {
      broken: tierOf({ cause: 'plan_changed', dueCents: 0, status: 'trialing' }),
      sound: tierOf({ cause: 'plan_changed', dueCents: 0 }),
    },
  ],
  [
    'a tier that a balance has paid for at the provider',
    TIER,
    { broken: tierBilledBy({ subtotal: 0 }), sound: tierBilledBy({}) },
  ],
  ['a long trial of a product', TRIAL, { broken: trying(MONTHLY, 700), sound: trying(undefined, 700) }],
  [
    'a change without its difference',
    MERCHANT,
    {
      broken: tried({ quantity: 3, when: 'now', proration: 'none' }),
      sound: tried({ quantity: 3, when: 'now', proration: 'none' }, { status: 403 }),
    },
  ],
  ['the price of the next period', AGREES, { broken: native(NEXT, {}), sound: native(NEXT, { amount: 500 }) }],
  [
    'a price that a seller changes before the next period',
    AGREES,
    {
      broken: native({}, { amount: 700 }, { acts: [PRICING] }),
      sound: native(NEXT, { amount: 700 }, { acts: [PRICING] }),
    },
  ],
  [
    'a trial that covers the paid time before another interval',
    AGREES,
    { broken: native({}, BRIDGE), sound: native({}, BRIDGE, { causes: ['plan_changed'] }) },
  ],
  [
    'a change that never ends',
    'Nothing waits for ever: at rest no outcome is unclear',
    {
      broken: historyWith({ items: [subscriptionItem({ change: { step: 'paid' } })] }),
      sound: historyWith({ items: [subscriptionItem(NEXT)] }),
    },
  ],
];
