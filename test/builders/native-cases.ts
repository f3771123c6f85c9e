/** @module Histories of provider-billed subscriptions that change in dashboards. */
import type { History, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { COLLECTING, INVOICE_PAID, TRIAL_MOVED } from '../simulation/model/outside.ts';
import {
  chargeRow,
  exchangeOf,
  historyPayment,
  historyTime,
  historyWith,
  intentRow,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

const DAY_SECONDS = 86_400;
const ENDS = historyTime(30 * DAY_SECONDS);

const row = (fields: HistoryJson = {}): HistoryJson => ({
  ...{ provider: 'provider_a', id: 'sub_1', subscription_id: SUBSCRIPTION, status: 'active', amount: 1_000 },
  ...{ currency: 'USD', current_period_start: historyTime(0), current_period_end: ENDS, trial_end: null },
  ...{ cancel_at: null, cancel_at_period_end: false, customer: 'cus_1', ...fields },
});

const item = (fields: HistoryJson = {}): HistoryItem =>
  subscriptionItem({
    ...{ billingOwner: 'provider', providerSubscriptionId: 'sub_1', currency: 'USD', cancelAtPeriodEnd: false },
    ...{ currentPeriodStart: historyTime(0), currentPeriodEnd: ENDS, ...fields },
  });

const both = (here: HistoryJson, there: HistoryJson): History =>
  historyWith({ items: [item(here)], ledger: { subscriptions: [row(there)] } });

const FIELDS =
  'At rest period, trial, end and price of a subscription that its provider bills are those that it has there';
const ONCE = 'A renewal or recovery of a subscription is announced once';
const PAUSED = 'A paused subscription is not charged before it is resumed';
const CANCELED = 'A canceled payment or subscription is no longer charged';
const PERIOD = 'A period of a subscription is paid at most once';

const renewed = (...ends: readonly number[]): History =>
  historyWith({
    items: [
      item(),
      ...ends.map((days, index) => ({
        ...versionItem(index + 1, { status: 'active', cause: 'renewed', periodEnd: historyTime(days * DAY_SECONDS) }),
        pk: `SUB#${SUBSCRIPTION}`,
      })),
    ],
  });

/** Two renewals until day 30, with one paid invoice for each given period. */
const renewedFor = (...periods: readonly (readonly [start: number, end: number])[]): History => ({
  ...renewed(30, 30),
  ledger: historyWith({
    ledger: {
      invoices: periods.map(([start, end], index) => ({
        ...{ id: `in_${index}`, subscription: item()['providerSubscriptionId'], status: 'paid', amount: 1_000 },
        ...{ period_start: historyTime(start * DAY_SECONDS), period_end: historyTime(end * DAY_SECONDS) },
      })),
    },
  }).ledger,
});

const act = (name: string, path: string, seconds: number) => ({
  ...{ name, path, status: 200, isFailure: false },
  at: Date.parse(historyTime(seconds)),
});

/** A pause or cancellation on day 0, a dashboard act at this second, and a charge of an invoice on day 2. */
const chargedAfter = (tail: 'pause' | 'cancel', name: string, seconds: number): History =>
  historyWith({
    items: [item(), historyPayment({ subscriptionId: SUBSCRIPTION })],
    exchanges: [
      exchangeOf({
        ...{ method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/${tail}` },
        body: { id: SUBSCRIPTION, status: tail === 'pause' ? 'paused' : 'canceled' },
      }),
    ],
    acts: [act(name, name.includes('invoice') ? OF_INVOICE : OF_SUBSCRIPTION, seconds)],
    ledger: {
      charges: [chargeRow({ created_at: historyTime(2 * DAY_SECONDS) })],
      payment_intents: [intentRow()],
      subscriptions: [row()],
      invoices: [{ id: 'in_1', subscription: 'sub_1', payment_intent: 'pi_1', status: 'paid', amount: 1_000 }],
    },
  });

const OF_SUBSCRIPTION = '/simulator/subscriptions/sub_1';
const OF_INVOICE = '/simulator/invoices/in_1';
const AT_CHARGE = 2 * DAY_SECONDS;

const invoice = (id: string, start: number): HistoryJson => ({
  ...{ id, subscription: 'sub_1', payment_intent: `pi_${id}`, status: 'paid', amount: 1_000 },
  ...{ period_start: historyTime(start * DAY_SECONDS), period_end: historyTime((start + 30) * DAY_SECONDS) },
});

const startedAgain = (name: string): History =>
  historyWith({
    items: [item()],
    acts: [act(name, OF_SUBSCRIPTION, 10 * DAY_SECONDS)],
    ledger: { subscriptions: [row()], invoices: [invoice('in_1', 0), invoice('in_2', 10)] },
  });

const owing = (here: HistoryJson, fields: HistoryJson, acts: History['acts'] = []): History =>
  historyWith({
    items: [item(here), { ...versionItem(1, { status: 'paused', cause: 'paused' }), pk: `SUB#${SUBSCRIPTION}` }],
    acts,
    ledger: { subscriptions: [row()], invoices: [{ ...invoice('in_1', 0), status: 'open', ...fields }] },
  });

const OWED = 'At rest no invoice is open at the provider for a subscription that was canceled, or paused here';
const FINALIZED = [act(INVOICE_PAID, OF_INVOICE, DAY_SECONDS)];

export const NATIVE_CASES: Readonly<Record<string, Case>> = {
  [FIELDS]: {
    broken: both({}, { cancel_at: ENDS }),
    sound: both({ cancelAtPeriodEnd: true, cancelAt: ENDS }, { cancel_at: ENDS }),
  },
  [OWED]: { broken: owing({ status: 'paused' }, {}), sound: owing({ status: 'paused' }, { status: 'void' }) },
  [ONCE]: { broken: renewed(30, 30), sound: renewed(30, 60) },
};

export const MORE_NATIVE_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  ['a price', FIELDS, { broken: both({}, { amount: 2_000 }), sound: both({ totalCents: 2_000 }, { amount: 2_000 }) }],
  [
    'another period that the provider began',
    ONCE,
    { broken: renewedFor([-30, 0], [0, 30]), sound: renewedFor([0, 29], [1, 30]) },
  ],
  [
    'the end of a trial',
    FIELDS,
    {
      broken: both({ status: 'trialing' }, { status: 'trialing', trial_end: ENDS }),
      sound: both({ status: 'trialing', trialEnd: ENDS }, { status: 'trialing', trial_end: ENDS }),
    },
  ],
  [
    'a trial that covers paid time',
    FIELDS,
    {
      broken: both({ currentPeriodEnd: historyTime(0) }, {}),
      sound: both({ formerProviderIds: ['sub_0'], currentPeriodEnd: historyTime(0) }, { trial_end: ENDS }),
    },
  ],
  [
    'a collection that was given up',
    FIELDS,
    {
      broken: both({ status: 'past_due' }, { status: 'unpaid' }),
      sound: both({ status: 'past_due', isUnpaid: true }, { status: 'unpaid' }),
    },
  ],
  [
    'an invoice of an earlier subscription there',
    OWED,
    {
      broken: owing({ status: 'canceled', formerProviderIds: ['sub_0'] }, { subscription: 'sub_0' }),
      sound: owing({ status: 'active' }, {}),
    },
  ],
  [
    'an invoice that was finalized by hand',
    OWED,
    { broken: owing({ status: 'canceled' }, {}), sound: owing({ status: 'canceled' }, {}, FINALIZED) },
  ],
  [
    'a pause that the dashboard ends',
    PAUSED,
    {
      broken: chargedAfter('pause', 'change a price at the provider', DAY_SECONDS),
      sound: chargedAfter('pause', COLLECTING, DAY_SECONDS),
    },
  ],
  [
    'an invoice that is paid by hand',
    CANCELED,
    {
      broken: chargedAfter('cancel', 'change an invoice at the provider', AT_CHARGE),
      sound: chargedAfter('cancel', INVOICE_PAID, AT_CHARGE),
    },
  ],
  [
    'a payment by hand that was on another day',
    CANCELED,
    {
      broken: chargedAfter('cancel', INVOICE_PAID, DAY_SECONDS),
      sound: chargedAfter('cancel', INVOICE_PAID, AT_CHARGE),
    },
  ],
  [
    'a trial that begins another period',
    PERIOD,
    { broken: startedAgain('change a balance at the provider'), sound: startedAgain(TRIAL_MOVED) },
  ],
];
