import type { History, HistoryAct, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { BEN, GUS, ROOT } from '../simulation/world/people.ts';
import {
  CUSTOMER,
  chargeRow,
  customerItem,
  exchangeOf,
  historyEvent,
  historyPayment,
  historyTime,
  historyWith,
  intentRow,
  METHOD,
  ORGANIZATION,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

const DAY_SECONDS = 86_400;
const MEMBERSHIP = `mbr_${'7'.repeat(24)}`;
const REFUND = `ref_${'8'.repeat(24)}`;
const DISPUTE = `dsp_${'9'.repeat(24)}`;
const OTHER = `pay_${'2'.repeat(24)}`;
const ERASURE = 'ers_1';

/** An erasure, requested at second 500 and done at second 1000. */
const erasing = (sent: HistoryJson) => ({
  exchange: exchangeOf({
    ...{ at: 500, person: ROOT.name, method: 'POST', path: '/admin/erasures', status: 202 },
    ...{ sent, body: { data: { id: ERASURE } } },
  }),
  item: { pk: `ERA#${ERASURE}`, sk: 'ERA', status: 'done', completedAt: historyTime(1_000) },
});
const erasedThenCharged = (sent: HistoryJson, seconds: number, fields: HistoryJson = {}): History => {
  const { exchange, item } = erasing(sent);
  return historyWith({
    exchanges: [exchange],
    items: [item, historyPayment(fields)],
    ledger: { charges: [chargeRow({ created_at: historyTime(seconds) })] },
  });
};
const endedThenCharged = (path: string, seconds: number, more: Parameters<typeof exchangeOf>[0] = {}): History =>
  historyWith({
    items: [
      historyPayment({ subscriptionId: SUBSCRIPTION, organizationId: ORGANIZATION }),
      subscriptionItem({ customerId: CUSTOMER, organizationId: ORGANIZATION }),
    ],
    exchanges: [exchangeOf({ at: 100, method: 'DELETE', path, ...more })],
    ledger: { charges: [chargeRow({ created_at: historyTime(seconds) })] },
  });
const withCustomer = (history: History, fields: HistoryJson): History => ({
  ...history,
  items: [...history.items, customerItem(fields)],
});
const pausedThenCharged = (...later: readonly Parameters<typeof exchangeOf>[0][]): History => {
  const pause = { method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/pause`, body: { status: 'paused' } } as const;
  const charged = endedThenCharged('', 2 * DAY_SECONDS, pause);
  return { ...charged, exchanges: [...charged.exchanges, ...later.map((one) => exchangeOf(one))] };
};
const resume = (at: number, status: number) =>
  ({ at, method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/resume`, status }) as const;

const entry = (version: number, fields: HistoryJson): HistoryItem => ({
  ...versionItem(version, { periodEnd: historyTime(30 * DAY_SECONDS * version), ...fields }),
  pk: `SUB#${SUBSCRIPTION}`,
});
/** A subscription with a membership and a customer. It was created, renewed once, and canceled. */
const subscribed = (...names: readonly string[]): History =>
  historyWith({
    items: [
      subscriptionItem({ version: 3, status: 'canceled', tierId: 'tier_gold' }),
      entry(1, { status: 'active', cause: 'created', paymentId: PAYMENT }),
      entry(2, { status: 'active', cause: 'renewed', paymentId: OTHER }),
      entry(3, { status: 'canceled', cause: 'canceled' }),
      { pk: `MBR#${MEMBERSHIP}`, sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'cancelled' },
      customerItem({ version: 1 }),
    ],
    bus: names.map((name) => historyEvent(name)),
  });
const ALL_OF_SUBSCRIPTION = [
  `${SUBSCRIPTION}:1:subscription.created`,
  `${SUBSCRIPTION}:2:subscription.updated`,
  `${SUBSCRIPTION}:3:subscription.cancelled`,
  `${MEMBERSHIP}:1:membership.activated`,
  `${MEMBERSHIP}:2:membership.extended`,
  `${MEMBERSHIP}:3:membership.cancelled`,
  `${CUSTOMER}:1:customer.created`,
];

/** A subscription without a membership changes to a plan with a tier while the subscription has this status. */
const joinedIn = (status: string): History =>
  historyWith({
    items: [
      subscriptionItem({ version: 2, status, tierId: 'tier_gold' }),
      entry(1, { status: 'active', cause: 'created', paymentId: PAYMENT }),
      entry(2, { status, cause: 'plan_changed' }),
      { pk: `MBR#${MEMBERSHIP}`, sk: 'MBR', id: MEMBERSHIP, subscriptionId: SUBSCRIPTION, status: 'expired' },
    ],
    bus: [`${SUBSCRIPTION}:1:subscription.created`, `${SUBSCRIPTION}:2:subscription.updated`].map((id) =>
      historyEvent(id),
    ),
  });

/** A payment with a succeeded refund of 6.00, and a dispute lost, won, reopened and changed. */
const moneyBack = (...names: readonly string[]): History =>
  historyWith({
    items: [
      historyPayment(),
      ...[
        { cause: 'refund', refund: { id: REFUND, status: 'pending', amountCents: 600 } },
        { cause: 'refund', refund: { id: REFUND, status: 'succeeded', amountCents: 600 } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'needs_response', amountCents: 1_000 } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'lost', amountCents: 1_000 } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'won', amountCents: 1_000 } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'under_review', amountCents: 900 } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'under_review', amountCents: 900, reason: 'other' } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'needs_response', amountCents: 900, reason: 'other' } },
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'needs_response', amountCents: 1_000 } },
      ].map((fields, index) => versionItem(index + 1, { status: 'succeeded', ...fields })),
      { pk: `RFD#${REFUND}`, sk: 'RFD', paymentId: PAYMENT, status: 'succeeded', amountCents: 600 },
      { pk: `DSP#${DISPUTE}`, sk: 'DSP', paymentId: PAYMENT, status: 'needs_response', amountCents: 1_000 },
    ],
    bus: names.map((name) => historyEvent(name)),
  });
const ALL_OF_MONEY_BACK = [
  `${PAYMENT}:2:payment.refunded`,
  `${PAYMENT}:3:payment.dispute_opened`,
  `${PAYMENT}:4:payment.dispute_closed`,
  `${PAYMENT}:5:payment.dispute_closed`,
  `${PAYMENT}:6:payment.dispute_opened`,
  `${PAYMENT}:8:payment.dispute_updated`,
  `${PAYMENT}:9:payment.dispute_updated`,
];
const refundedBy = (amount: number): History => ({
  ...moneyBack(),
  bus: [
    historyEvent(`${PAYMENT}:2:payment.refunded`, { amount: 1_000, currency: 'USD', refund: { id: REFUND, amount } }),
  ],
});
const billedBy = (amount: number): History =>
  historyWith({
    items: [subscriptionItem({ currency: 'USD' })],
    bus: [historyEvent(`${SUBSCRIPTION}:1:subscription.created`, { amount, currency: 'USD' })],
  });
/** A subscription with the price 9.00 at its creation and 10.00 now. Its history contains `shown` versions. */
const repricedAt = (version: number, shown: number): History =>
  historyWith({
    items: [
      subscriptionItem({ version, currency: 'USD' }),
      ...Array.from({ length: shown }, (_, index) => entry(index + 1, { status: 'active', cause: 'created' })),
    ],
    bus: [historyEvent(`${SUBSCRIPTION}:1:subscription.created`, { amount: 900, currency: 'USD' })],
  });
const published = (id: string, seconds: number) => {
  const event = historyEvent(id);
  const payload = { ...event.detail.payload, timestamp: historyTime(seconds) };
  return { ...event, detail: { ...event.detail, payload } };
};
const inOrder = (created: string, paid: string, [first, second]: readonly [number, number]): History =>
  historyWith({ bus: [published(`${PAYMENT}:${paid}`, second), published(`${PAYMENT}:${created}`, first)] });

export const EVENT_CASES: Readonly<Record<string, Case>> = {
  'A paused subscription is not charged before it is resumed': {
    broken: pausedThenCharged(),
    sound: pausedThenCharged(resume(DAY_SECONDS, 200)),
  },
  'After its deletion, no payment of an organization and no subscription of a customer is charged': {
    broken: endedThenCharged(`/organizations/${ORGANIZATION}`, 2 * DAY_SECONDS),
    sound: endedThenCharged(`/organizations/${ORGANIZATION}`, 90),
  },
  'No payment of an erased person from before is charged after the erasure is done': {
    broken: erasedThenCharged({ user_id: 'user_ada' }, 2 * DAY_SECONDS),
    sound: erasedThenCharged({ user_id: BEN.userId }, 2 * DAY_SECONDS),
  },
  'At rest every change of a subscription, a membership or a customer has its event, and every event its change': {
    broken: subscribed(),
    sound: subscribed(...ALL_OF_SUBSCRIPTION),
  },
  'At rest every outcome of a refund or a dispute has its event, and every event its outcome': {
    broken: moneyBack(),
    sound: moneyBack(...ALL_OF_MONEY_BACK),
  },
  'An event states the amount and currency of its payment or subscription, refund or dispute': {
    broken: refundedBy(9_999),
    sound: refundedBy(600),
  },
  'The events of a record begin with its creation, and a later version has no earlier timestamp': {
    broken: inOrder('2:payment.created', '1:payment.succeeded', [1, 2]),
    sound: inOrder('1:payment.created', '2:payment.succeeded', [2, 3]),
  },
};

const paidFrom = (...starts: readonly number[]): History => {
  const rows = starts.map((start, index) => ({ start, id: index === 0 ? PAYMENT : OTHER }));
  return historyWith({
    items: [
      subscriptionItem({ status: 'canceled' }),
      ...rows.map(({ id }) => ({ ...historyPayment({ subscriptionId: SUBSCRIPTION }), pk: `PAY#${id}` })),
      ...rows.map(({ id, start }) => ({
        ...{ pk: `SUB#${SUBSCRIPTION}`, sk: `PERIOD#${historyTime(start)}`, paymentId: id },
        ...{ start: historyTime(start), end: historyTime(start + 30 * DAY_SECONDS) },
      })),
    ],
    ledger: { charges: rows.map(({ id }) => chargeRow({ id: `ch_${id}`, payment_id: id, payment_intent: id })) },
  });
};
const invoiced = (second: string): History => {
  const [period_start, period_end] = [historyTime(0), historyTime(30 * DAY_SECONDS)];
  return historyWith({
    ledger: {
      subscriptions: ['sub_1', 'sub_2'].map((id) => ({ id, subscription_id: SUBSCRIPTION, status: 'active' })),
      invoices: ['sub_1', 'sub_2'].map((subscription, index) => ({
        ...{ id: `in_${index}`, subscription, amount: 1_000, period_start, period_end },
        status: index === 0 ? 'paid' : second,
      })),
    },
  });
};
const created = (path: string, id: string, by = exchangeOf({})): HistoryJson => ({
  ...by,
  ...{ method: 'POST', path, status: 201, body: { id } },
});
const goneAfter = (sent: HistoryJson, by = exchangeOf({})): History => {
  const { exchange, item } = erasing(sent);
  return historyWith({ exchanges: [created('/payment-methods', METHOD, by), exchange], items: [item] });
};
const ofGus = exchangeOf({ person: GUS.name, credential: 'none' });
const goneAfterDeletionBy = (person: string): History =>
  historyWith({
    exchanges: [
      created('/payment-methods', METHOD),
      exchangeOf({ at: 100, person, method: 'DELETE', path: `/payment-methods/${METHOD}`, status: 404 }),
    ],
  });
const sentTwice = (sent: HistoryJson, again: HistoryJson): History => {
  const bodies = ['ada@shop.example.com', null].map((email, index) =>
    index === 0
      ? { data: { amount: 1_000, user: { id: 'user_ada', email } } }
      : { data: { amount: 1_000, user: { id: 'user_ada', email }, ...again } },
  );
  return historyWith({
    exchanges: [erasing(sent).exchange],
    deliveries: bodies.map((body) => ({
      received_at: historyTime(20),
      headers: { 'webhook-id': 'msg_1', 'webhook-event': 'payment.succeeded' },
      ...{ body, raw: JSON.stringify(body) },
    })),
  });
};
/**
 * Two deliveries of one provider event with the erased person's e-mail address, but without ids of the person's
 * records. `again` changes the body of the second delivery.
 */
const sentAsReceived = (again: HistoryJson): History => {
  const object = { email: 'ada@shop.example.com', name: 'Ada', balance: 0 };
  const bodies = [object, { ...object, ...again }].map((data) => ({ data }));
  return historyWith({
    exchanges: [erasing({ user_id: 'user_ada' }).exchange],
    deliveries: bodies.map((body) => ({
      received_at: historyTime(20),
      headers: { 'webhook-id': 'msg_1', 'webhook-event': 'provider_a:customer.deleted' },
      ...{ body, raw: JSON.stringify(body) },
    })),
  });
};
const chargedUnseen = (): History =>
  historyWith({ items: [erasing({ user_id: BEN.userId }).item], ledger: { charges: [chargeRow()] } });
/** The payer pays in the browser at this second. */
const paidInBrowser = (history: History, seconds: number, fields: Partial<HistoryAct> = {}): History => ({
  ...history,
  acts: [
    {
      ...{ name: 'pay in the browser', path: '/providers/stripe/v1/payment_intents/pi_1/confirm', status: 200 },
      ...{ at: Date.parse(historyTime(seconds)), isFailure: false, ...fields },
    },
  ],
  ledger: { ...history.ledger, payment_intents: [intentRow()] },
});
/** A failed attempt that later succeeds. Its charge is at second 200. */
const failedThenSucceeded = (): History =>
  historyWith({
    ledger: { charges: [chargeRow({ created_at: historyTime(200) })] },
    items: [
      historyPayment(),
      versionItem(1, { status: 'failed', at: historyTime(200) }),
      versionItem(2, { status: 'succeeded', at: historyTime(300) }),
    ],
  });
const chargedAlone = (): History => historyWith({ items: [historyPayment()], ledger: { charges: [chargeRow()] } });
/** A direct debit is pending when an actor of this type starts a second attempt. */
const claimedWhilePending = (type: string): History =>
  historyWith({
    items: [
      historyPayment(),
      versionItem(1, { status: 'pending', cause: 'answer', attempt: 1 }),
      versionItem(2, { status: 'processing', cause: 'claim', attempt: 2, actor: { type, id: 'someone' } }),
    ],
  });
const waiting = (fields: HistoryJson): History => historyWith({ items: [historyPayment(fields)] });
const failedOnce = (history: History): History => ({
  ...history,
  items: [...history.items, versionItem(1, { status: 'failed' })],
});

/**
 * Further histories, each with its content and its invariant. The first histories of these invariants are in other
 * tables.
 */
export const MORE_CASES: readonly (readonly [shows: string, sentence: string, Case])[] = [
  [
    'two payments for one month, ten seconds apart',
    'A period of a subscription is paid at most once',
    { broken: paidFrom(0, 10), sound: paidFrom(0, 30 * DAY_SECONDS) },
  ],
  [
    'two subscriptions at the provider for one here',
    'A period of a subscription is paid at most once',
    { broken: invoiced('paid'), sound: invoiced('void') },
  ],
  [
    'a method that is gone after the erasure of another person',
    'Every acknowledged create exists',
    { broken: goneAfter({ user_id: BEN.userId }), sound: goneAfter({ user_id: 'user_ada' }) },
  ],
  [
    'a method of a guest that is gone after the erasure of another guest',
    'Every acknowledged create exists',
    { broken: goneAfter({ email: 'gia@guest.example.com' }, ofGus), sound: goneAfter({ email: GUS.email }, ofGus) },
  ],
  [
    'a method that is gone after another person got 404 for its deletion',
    'Every acknowledged create exists',
    { broken: goneAfterDeletionBy(BEN.name), sound: goneAfterDeletionBy('ada') },
  ],
  [
    'a charge without a payment after the erasure of another person',
    'At rest every charge belongs to a payment that readers see',
    { broken: chargedUnseen(), sound: { ...chargedUnseen(), items: [historyPayment()] } },
  ],
  [
    'a webhook that changes after the erasure of another person',
    'A webhook that is sent again keeps its id and its content',
    { broken: sentTwice({ user_id: BEN.userId }, {}), sound: sentTwice({ user_id: 'user_ada' }, {}) },
  ],
  [
    'a webhook that loses more than its person by an erasure',
    'A webhook that is sent again keeps its id and its content',
    { broken: sentTwice({ user_id: 'user_ada' }, { amount: 1 }), sound: sentTwice({ user_id: 'user_ada' }, {}) },
  ],
  [
    'an event of a provider in which the e-mail address of an erased person is replaced, or another text',
    'A webhook that is sent again keeps its id and its content',
    { broken: sentAsReceived({ name: '[erased]' }), sound: sentAsReceived({ email: '[erased]' }) },
  ],
  [
    'the subscription of a deleted customer',
    'After its deletion, no payment of an organization and no subscription of a customer is charged',
    {
      broken: endedThenCharged(`/customers/${CUSTOMER}`, 2 * DAY_SECONDS),
      sound: endedThenCharged(`/customers/${CUSTOMER}`, 2 * DAY_SECONDS, { status: 409 }),
    },
  ],
  [
    'the subscription of an organization without the customer of a member',
    'After its deletion, no payment of an organization and no subscription of a customer is charged',
    {
      broken: withCustomer(endedThenCharged(`/customers/${CUSTOMER}`, 2 * DAY_SECONDS), {
        organizationId: ORGANIZATION,
        userId: undefined,
      }),
      sound: withCustomer(endedThenCharged(`/customers/${CUSTOMER}`, 2 * DAY_SECONDS), { userId: 'user_ada' }),
    },
  ],
  [
    'a pause that a refused request does not end',
    'A paused subscription is not charged before it is resumed',
    { broken: pausedThenCharged(resume(DAY_SECONDS, 409)), sound: pausedThenCharged(resume(DAY_SECONDS, 502)) },
  ],
  [
    'an open payment that an erased person still pays in the browser',
    'No payment of an erased person from before is charged after the erasure is done',
    {
      broken: paidInBrowser(erasedThenCharged({ user_id: 'user_ada' }, 2 * DAY_SECONDS), 2 * DAY_SECONDS),
      sound: failedOnce(paidInBrowser(erasedThenCharged({ user_id: 'user_ada' }, 2 * DAY_SECONDS), 2 * DAY_SECONDS)),
    },
  ],
  [
    'a payer who paid in the browser long before',
    'No payment of an erased person from before is charged after the erasure is done',
    {
      broken: failedOnce(paidInBrowser(erasedThenCharged({ user_id: 'user_ada' }, 2 * DAY_SECONDS), DAY_SECONDS)),
      sound: failedOnce(paidInBrowser(erasedThenCharged({ user_id: 'user_ada' }, 2 * DAY_SECONDS), 2 * DAY_SECONDS)),
    },
  ],
  [
    'a payer who paid in the browser long before the charge, and one whose charge it is',
    'An attempt that has failed does not succeed later, unless its payer pays in the browser',
    { broken: paidInBrowser(failedThenSucceeded(), 100), sound: paidInBrowser(failedThenSucceeded(), 201) },
  ],
  [
    'a payer who did not pass a step, and one who did',
    'A payment without a subscription is charged only after its payer has confirmed it, or paid it at the provider',
    { broken: paidInBrowser(chargedAlone(), 9, { isFailure: true }), sound: paidInBrowser(chargedAlone(), 9) },
  ],
  [
    'a payer whose payment the provider refused',
    'A payment without a subscription is charged only after its payer has confirmed it, or paid it at the provider',
    { broken: paidInBrowser(chargedAlone(), 9, { status: 402 }), sound: paidInBrowser(chargedAlone(), 9) },
  ],
  [
    'a second attempt of a payer beside a direct debit, and the capture of an approved order',
    'No attempt begins while another attempt of the payment is open',
    { broken: claimedWhilePending('user'), sound: claimedWhilePending('provider') },
  ],
  [
    'an update without an outcome',
    'Nothing waits for ever: at rest no outcome is unclear',
    { broken: waiting({ status: 'failed', draft: {} }), sound: waiting({ status: 'failed' }) },
  ],
  [
    'an intent without a confirmation',
    'Nothing waits for ever: at rest no outcome is unclear',
    { broken: waiting({ status: 'created' }), sound: waiting({ status: 'canceled' }) },
  ],
  [
    'the payment of a guest, which has lost the e-mail address',
    'No payment of an erased person from before is charged after the erasure is done',
    {
      broken: {
        ...erasedThenCharged({ email: GUS.email }, 2 * DAY_SECONDS, { userId: undefined, guestId: 'gst_1' }),
        exchanges: [created('/payments', PAYMENT, ofGus), erasing({ email: GUS.email }).exchange],
      },
      sound: erasedThenCharged({ email: GUS.email }, 2 * DAY_SECONDS),
    },
  ],
  [
    'a lost event of a membership',
    'At rest every change of a subscription, a membership or a customer has its event, and every event its change',
    {
      broken: subscribed(...ALL_OF_SUBSCRIPTION.filter((event) => !event.endsWith('extended'))),
      sound: subscribed(...ALL_OF_SUBSCRIPTION, ...ALL_OF_SUBSCRIPTION),
    },
  ],
  [
    'a membership that begins in a pause',
    'At rest every change of a subscription, a membership or a customer has its event, and every event its change',
    { broken: joinedIn('active'), sound: joinedIn('paused') },
  ],
  [
    'an event for another reason of a dispute',
    'At rest every outcome of a refund or a dispute has its event, and every event its outcome',
    {
      broken: moneyBack(...ALL_OF_MONEY_BACK, `${PAYMENT}:7:payment.dispute_updated`),
      sound: moneyBack(...ALL_OF_MONEY_BACK, ...ALL_OF_MONEY_BACK),
    },
  ],
  [
    'the amount of a subscription',
    'An event states the amount and currency of its payment or subscription, refund or dispute',
    { broken: billedBy(900), sound: billedBy(1_000) },
  ],
  [
    'a change of the plan that the history does not show yet',
    'An event states the amount and currency of its payment or subscription, refund or dispute',
    { broken: repricedAt(1, 1), sound: repricedAt(2, 1) },
  ],
  [
    'a timestamp that goes back',
    'The events of a record begin with its creation, and a later version has no earlier timestamp',
    {
      broken: inOrder('1:payment.created', '2:payment.succeeded', [3, 2]),
      sound: inOrder('1:payment.created', '2:payment.succeeded', [2, 2]),
    },
  ],
];
