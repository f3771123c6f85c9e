/** @module Histories of the notice before a renewal. The renewal is on day 10. */
import type { History, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import {
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
const RENEWAL = historyTime(10 * DAY_SECONDS);

const notice = (id: string, days: number, fields: HistoryJson = {}) => ({
  source: 'payments',
  'detail-type': 'subscription.updated',
  detail: {
    id,
    payload: {
      ...{ event: 'subscription.updated', timestamp: historyTime(days * DAY_SECONDS) },
      data: {
        ...{ subscription_id: SUBSCRIPTION, reason: 'renewal_due', status: 'active', cancel_at_period_end: false },
        ...{ billing_interval: 'monthly', amount: 1_000, next_billing_date: RENEWAL },
        ...fields,
      },
    },
  },
});

const renewed: readonly HistoryItem[] = [
  subscriptionItem(),
  {
    pk: `SUB#${SUBSCRIPTION}`,
    sk: 'PERIOD#0',
    paymentId: 'pay_0',
    start: historyTime(-20 * DAY_SECONDS),
    end: RENEWAL,
  },
  historyPayment({ subscriptionId: SUBSCRIPTION, billingReason: 'subscription_cycle' }),
  { pk: `SUB#${SUBSCRIPTION}`, sk: 'PERIOD#1', paymentId: PAYMENT, start: RENEWAL, end: historyTime(40 * DAY_SECONDS) },
];
const version = (second: number, fields: HistoryJson = {}): HistoryItem => ({
  ...versionItem(second, { status: 'active', cancelAtPeriodEnd: false, ...fields }),
  pk: `SUB#${SUBSCRIPTION}`,
});
const renewedWith = (bus: History['bus'], ...versions: readonly HistoryItem[]): History =>
  historyWith({ items: [...renewed, ...versions], bus });

const ONCE = 'A renewal has at most one notice, in the days before it';
const AMOUNT = 'A notice says what its renewal costs, unless the plan changes in between';
const NOTICED = 'A monthly renewal by the service has a notice';

export const NOTICE_CASES: Readonly<Record<string, Case>> = {
  [ONCE]: {
    broken: historyWith({ bus: [notice('1', 8), notice('2', 8.5)] }),
    sound: historyWith({ bus: [notice('1', 8), notice('1', 8)] }),
  },
  [AMOUNT]: {
    broken: renewedWith([notice('1', 8, { amount: 500 })]),
    sound: renewedWith([notice('1', 8)]),
  },
  [NOTICED]: {
    broken: renewedWith([], version(1)),
    sound: renewedWith([notice('1', 8)], version(1)),
  },
};

/** Further histories, each with its content and its invariant. */
export const MORE_NOTICE_CASES: readonly (readonly [string, string, Case])[] = [
  ['a time', ONCE, { broken: historyWith({ bus: [notice('1', 7)] }), sound: historyWith({ bus: [notice('1', 9.9)] }) }],
  [
    'a canceled plan',
    ONCE,
    {
      broken: historyWith({ bus: [notice('1', 9, { cancel_at_period_end: true })] }),
      sound: historyWith({ bus: [notice('1', 9)] }),
    },
  ],
  [
    'another plan',
    AMOUNT,
    {
      broken: renewedWith([notice('1', 8, { amount: 500 })], version(7 * DAY_SECONDS, { cause: 'plan_changed' })),
      sound: renewedWith([notice('1', 8, { amount: 500 })], version(9 * DAY_SECONDS, { cause: 'plan_changed' })),
    },
  ],
  [
    'a pause',
    NOTICED,
    {
      broken: renewedWith([], version(1), version(5, { status: 'active' })),
      sound: renewedWith([], version(1), version(5, { status: 'paused' })),
    },
  ],
];
