import type { History, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import {
  chargeRow,
  historyPayment,
  historyTime,
  historyWith,
  intentRow,
  METHOD,
  methodItem,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

const DAY_SECONDS = 86_400;
const SYSTEM = { type: 'system', id: 'run-due' };

/** A renewal with failed attempts on day 0 and on these days. Each attempt fails after one second. */
const triedOn = (days: readonly number[], code = 'insufficient_funds'): readonly HistoryItem[] =>
  [0, ...days].flatMap((day, index) => [
    {
      ...versionItem(2 * index + 1, { status: 'processing', cause: 'claim', actor: SYSTEM }),
      at: historyTime(day * DAY_SECONDS),
    },
    {
      ...versionItem(2 * index + 2, { status: 'failed', cause: 'answer', failureCode: code }),
      at: historyTime(day * DAY_SECONDS + 1),
    },
  ]);

const subscriptionVersion = (version: number, day: number, fields: HistoryJson): HistoryItem => ({
  ...versionItem(version, fields),
  pk: `SUB#${SUBSCRIPTION}`,
  at: historyTime(day * DAY_SECONDS + 1),
});

interface Renewal {
  readonly days: readonly number[];
  readonly code?: string;
  /** The end of the dunning or of the history, in days after the first failure. */
  readonly until: number;
  readonly end?: HistoryJson;
  /** The day of the method's change, and the new method if the record names it. */
  readonly change?: { readonly day: number; readonly to?: string };
}

/** A service-billed subscription that is past due from day 0. */
export const renewal = ({ days, code = 'insufficient_funds', until, end, change }: Renewal): History => {
  const start = historyWith({}).startedAt;
  return {
    ...historyWith({
      items: [
        subscriptionItem({
          ...{ status: end?.status ?? 'past_due', billingOwner: 'service' },
          ...(change?.to && { paymentMethodId: change.to }),
        }),
        subscriptionVersion(1, -7, { status: 'active', cause: 'created' }),
        subscriptionVersion(2, 0, {
          ...{ status: 'past_due', was: 'active', cause: 'payment_failed', failureCode: code },
        }),
        ...(change ? [subscriptionVersion(3, change.day, { status: 'past_due', cause: 'method_changed' })] : []),
        ...(end ? [subscriptionVersion(4, until, { was: 'past_due', ...end })] : []),
        historyPayment({ subscriptionId: SUBSCRIPTION, status: 'failed' }),
        ...triedOn(days, code),
      ],
    }),
    now: start + until * DAY_SECONDS * 1_000 + 3_600_000,
  };
};

const intentIs = (status: string, intent: string): History =>
  historyWith({
    items: [historyPayment({ status, providerIntentId: 'pi_1' })],
    ledger: { payment_intents: [intentRow({ status: intent })] },
  });

const disputeIs = (status: string | undefined): History =>
  historyWith({
    items: [
      historyPayment(),
      ...(status === undefined
        ? []
        : [{ pk: 'DSP#dsp_1', sk: 'DSP', providerId: 'provider_a', providerDisputeId: 'dp_1', status }]),
    ],
    ledger: {
      charges: [chargeRow()],
      disputes: [{ provider: 'provider_a', id: 'dp_1', payment_id: PAYMENT, status: 'lost' }],
    },
  });

const methodAt = (customer: string | null): History =>
  historyWith({
    items: [methodItem()],
    ledger: { payment_methods: [{ provider: 'provider_a', id: 'pm_1', customer }] },
  });

const native = (status: string): History =>
  historyWith({
    items: [subscriptionItem({ status, providerSubscriptionId: 'sub_1' })],
    ledger: { subscriptions: [{ id: 'sub_1', status: 'active' }] },
  });

const nativeMethod = (payment_method: string): History =>
  historyWith({
    items: [
      subscriptionItem({
        providerSubscriptionId: 'sub_1',
        status: 'active',
        paymentMethodId: METHOD,
        methodRef: 'pm_1',
      }),
    ],
    ledger: {
      subscriptions: [{ id: 'sub_1', status: 'active', payment_method }],
      payment_methods: ['pm_1', 'pm_2'].map((id) => ({ provider: 'provider_a', id, customer: 'cus_1' })),
    },
  });

export const GIVEN_UP = { status: 'canceled', cause: 'payment_failed' };

export const STATE_CASES: Readonly<Record<string, Case>> = {
  'A failed renewal is retried 1, 3, 7 and 14 days later, and not in between': {
    broken: renewal({ days: [1, 2], until: 2.5 }),
    sound: renewal({ days: [1, 3, 7], until: 8 }),
  },
  'At rest a failed renewal has been retried on each planned day that has passed': {
    broken: renewal({ days: [], until: 14, end: GIVEN_UP }),
    sound: renewal({ days: [1, 3, 7, 14], until: 14.1, end: GIVEN_UP }),
  },
  'A renewal is past due for 14 days: not longer, and not given up before': {
    broken: renewal({ days: [1, 3, 7, 14], until: 40 }),
    sound: renewal({ days: [1, 3, 7], until: 13 }),
  },
  'A renewal whose card was lost or stolen is not retried until the method changes': {
    broken: renewal({ days: [1], code: 'lost_card', until: 2 }),
    sound: renewal({ days: [], code: 'lost_card', until: 14, end: GIVEN_UP }),
  },
  'At rest a subscription that its provider bills has the status that it has there': {
    broken: native('past_due'),
    sound: native('active'),
  },
  'At rest a subscription that its provider bills charges the method that its record names': {
    broken: nativeMethod('pm_2'),
    sound: nativeMethod('pm_1'),
  },
  'At rest a payment is canceled if and only if its intent at the provider is canceled': {
    broken: intentIs('pending', 'canceled'),
    sound: intentIs('canceled', 'canceled'),
  },
  'At rest a dispute has the status that its provider decided': {
    broken: disputeIs('needs_response'),
    sound: disputeIs('lost'),
  },
  'At rest a method that is stored here is attached at its provider': {
    broken: methodAt(null),
    sound: methodAt('cus_1'),
  },
};

/** Further histories that violate an invariant. */
export const FURTHER_BROKEN: readonly (readonly [sentence: string, what: string, history: History])[] = [
  [
    'A failed renewal is retried 1, 3, 7 and 14 days later, and not in between',
    'four attempts on the first day',
    renewal({ days: [0.1, 0.2, 0.3, 0.4], until: 0.5 }),
  ],
  [
    'A failed renewal is retried 1, 3, 7 and 14 days later, and not in between',
    'two attempts in one window',
    renewal({ days: [1, 1.01], until: 1.5 }),
  ],
  [
    'A renewal is past due for 14 days: not longer, and not given up before',
    'the end after three days',
    renewal({ days: [1, 3], until: 3, end: GIVEN_UP }),
  ],
  [
    'At rest a failed renewal has been retried on each planned day that has passed',
    'one attempt, and past due for 40 days',
    renewal({ days: [], until: 40 }),
  ],
  [
    'At rest a payment is canceled if and only if its intent at the provider is canceled',
    'an intent that can still be paid',
    intentIs('canceled', 'requires_payment_method'),
  ],
  ['At rest a dispute has the status that its provider decided', 'a dispute unknown here', disputeIs(undefined)],
  [
    'At rest a method that is stored here is attached at its provider',
    'a method that is gone there',
    historyWith({ items: [methodItem()] }),
  ],
  [
    'A membership is active if and only if its subscription is paid',
    'a membership without a subscription',
    historyWith({ items: [{ pk: 'MBR#mbr_1', sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'active' }] }),
  ],
  [
    'A membership is active if and only if its subscription is paid',
    'a membership before the first payment',
    historyWith({
      items: [
        subscriptionItem({ status: 'past_due', tierId: 'tier_gold', paymentMethodId: METHOD }),
        { pk: 'MBR#mbr_1', sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'active' },
      ],
    }),
  ],
];
