/**
 * @module Each invariant of the simulation fails for a small broken history, and holds for a similar correct history.
 */
import { describe, expect, test } from 'vitest';
import { DECIDER_CASES, MORE_DECIDER_CASES } from '../builders/decider-cases.ts';
import { DISCOUNT_CASES, MORE_DISCOUNT_CASES } from '../builders/discount-cases.ts';
import { DISPUTE_CASES, MORE_DISPUTE_CASES } from '../builders/dispute-cases.ts';
import { EVENT_CASES, MORE_CASES } from '../builders/event-cases.ts';
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
  MEMBER_OF_HISTORY,
  METHOD,
  methodItem,
  ORGANIZATION,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from '../builders/history.ts';
import { HOLD_CASES, MORE_HOLD_CASES } from '../builders/hold-cases.ts';
import { LIMIT_CASES, MORE_LIMIT_CASES } from '../builders/limit-cases.ts';
import { MIRROR_CASES, MORE_MIRROR_CASES } from '../builders/mirror-cases.ts';
import { MORE_NATIVE_CASES, NATIVE_CASES } from '../builders/native-cases.ts';
import { MORE_NOTICE_CASES, NOTICE_CASES } from '../builders/notice-cases.ts';
import { MORE_PLAN_CASES, PLAN_CASES } from '../builders/plan-cases.ts';
import { type Case, PROMISE_CASES } from '../builders/promise-cases.ts';
import { RIGHTS_CASES } from '../builders/rights-cases.ts';
import { FURTHER_BROKEN, GIVEN_UP, renewal, STATE_CASES } from '../builders/state-cases.ts';
import { MORE_STRANGER_CASES, STRANGER_CASES } from '../builders/stranger-cases.ts';
import type { HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { ORACLES } from '../simulation/oracles/oracles.ts';
import { BEN } from '../simulation/world/people.ts';

const DAY_SECONDS = 86_400;
const CREATED = `${PAYMENT}:1:payment.created`;
const PAID = `${PAYMENT}:2:payment.succeeded`;
const versions = [versionItem(1, { status: 'created' }), versionItem(2, { status: 'succeeded' })];
const refundRow = (fields: object = {}) => ({
  ...{ provider: 'provider_a', id: 're_1', payment_id: PAYMENT, charge: 'ch_1', amount: 600, status: 'succeeded' },
  ...fields,
});
const founding = exchangeOf({
  method: 'POST',
  path: '/organizations',
  body: { data: { id: ORGANIZATION, owner_user_id: 'user_ada' } },
});
const joining = exchangeOf({
  at: 10,
  method: 'POST',
  path: `/organizations/${ORGANIZATION}/members`,
  sent: { email: BEN.email, role: 'admin' },
  body: { data: { id: MEMBER_OF_HISTORY, user_id: BEN.userId } },
});
const OF_ORGANIZATION = { organization_id: ORGANIZATION };
const leaving = exchangeOf({
  at: 100,
  method: 'DELETE',
  path: `/organizations/${ORGANIZATION}/members/${MEMBER_OF_HISTORY}`,
});
const paidForOrganization = historyPayment({ organizationId: ORGANIZATION, userId: BEN.userId });
const lent = methodItem({ userId: BEN.userId, owner: `USER#${BEN.userId}#PM` });
const chargedAt = (seconds: number) => ({
  charges: [chargeRow({ created_at: historyTime(seconds) })],
  payment_intents: [intentRow()],
});
const removal = { method: 'DELETE', path: `/payment-methods/${METHOD}`, status: 204 } as const;
const saving = exchangeOf({
  method: 'POST',
  path: '/payment-methods',
  status: 201,
  body: { id: METHOD, provider_id: 'provider_a', provider_payment_method_id: 'pm_1' },
});
const secret = { what: 'a planted secret', value: 'canary123x', belongs: [] };
const canceled = exchangeOf({
  at: 20,
  method: 'POST',
  path: `/payments/intents/${PAYMENT}/cancel`,
  body: { id: PAYMENT, status: 'canceled' },
});
const confirmBy = (person: string) =>
  exchangeOf({ at: 1, person, method: 'POST', path: `/payments/confirm/${PAYMENT}` });
const deliveryOf = (id: string, raw: string) => ({
  received_at: historyTime(20),
  headers: { 'webhook-id': id, 'webhook-event': 'payment.succeeded' },
  body: JSON.parse(raw),
  raw,
});
const body = JSON.stringify(historyEvent(PAID).detail.payload);
const list = (ids: readonly string[], total: number) => ({
  lists: [{ kind: 'payments' as const, owner: 'USER#user_ada', ids, limit: 50, total }],
  sums: [],
});
const pageOf = (more: object) =>
  exchangeOf({ path: '/payments', query: { limit: '2' }, body: { data: [{ id: PAYMENT }, { id: 'pay_2' }], ...more } });
const sums = (count: number) => ({ lists: [], sums: [{ currency: 'USD', count, amount: 1_000 * count, refunded: 0 }] });
const queue = (visible: number) => ({ 'run-due-dlq': { visible, delayed: 0, in_flight: 0 } });
const claims = (...days: readonly number[]) => [
  historyPayment({ subscriptionId: SUBSCRIPTION, status: 'failed' }),
  ...days.map((day, index) => ({
    ...versionItem(index + 1, { status: 'processing', cause: 'claim', actor: { type: 'system', id: 'run-due' } }),
    at: historyTime(day * DAY_SECONDS),
  })),
];

const CASES: Readonly<Record<string, Case>> = {
  ...PROMISE_CASES,
  ...EVENT_CASES,
  ...RIGHTS_CASES,
  ...LIMIT_CASES,
  ...DISCOUNT_CASES,
  ...DISPUTE_CASES,
  ...MIRROR_CASES,
  ...NATIVE_CASES,
  ...NOTICE_CASES,
  ...STATE_CASES,
  ...PLAN_CASES,
  ...HOLD_CASES,
  ...DECIDER_CASES,
  ...STRANGER_CASES,
  'A payment is charged at most once': {
    broken: historyWith({ ledger: { charges: [chargeRow(), chargeRow({ id: 'ch_2', payment_intent: 'pi_2' })] } }),
    sound: historyWith({ ledger: { charges: [chargeRow({ status: 'failed' }), chargeRow({ id: 'ch_2' })] } }),
  },
  'A period of a subscription is paid at most once': {
    broken: historyWith({
      items: [
        subscriptionItem(),
        historyPayment({ subscriptionId: SUBSCRIPTION }),
        { ...historyPayment({ subscriptionId: SUBSCRIPTION }), pk: 'PAY#other' },
      ],
      ledger: { charges: [chargeRow(), chargeRow({ id: 'ch_2', payment_id: 'other' })] },
    }),
    sound: historyWith({
      items: [
        subscriptionItem(),
        historyPayment({ subscriptionId: SUBSCRIPTION }),
        { pk: `SUB#${SUBSCRIPTION}`, sk: 'PERIOD#1', paymentId: PAYMENT, start: historyTime(0), end: historyTime(1) },
      ],
      ledger: { charges: [chargeRow()] },
    }),
  },
  'Amount and currency of a charge are those of its payment': {
    broken: historyWith({ items: [historyPayment()], ledger: { charges: [chargeRow({ amount: 900 })] } }),
    sound: historyWith({ items: [historyPayment()], ledger: { charges: [chargeRow()] } }),
  },
  'The refunds of a charge never exceed it': {
    broken: historyWith({ ledger: { charges: [chargeRow()], refunds: [refundRow(), refundRow({ id: 're_2' })] } }),
    sound: historyWith({
      ledger: { charges: [chargeRow()], refunds: [refundRow(), refundRow({ id: 're_2', status: 'failed' })] },
    }),
  },
  'At rest the refunds of a payment are those that its provider holds': {
    broken: historyWith({ items: [historyPayment()], ledger: { refunds: [refundRow()] } }),
    sound: historyWith({
      items: [
        historyPayment({ refundedCents: 600 }),
        {
          ...{ pk: 'RFD#ref_1', sk: 'RFD', paymentId: PAYMENT, providerRefundId: 're_1' },
          ...{ status: 'succeeded', amountCents: 600 },
        },
      ],
      ledger: { refunds: [refundRow()] },
    }),
  },
  'At rest the summary is the sum of the payments': {
    broken: historyWith({ items: [historyPayment()], audit: sums(2) }),
    sound: historyWith({ items: [historyPayment()], audit: sums(1) }),
  },
  'At rest a payment has succeeded if and only if its provider has collected the money': {
    broken: historyWith({ items: [historyPayment({ status: 'failed' })], ledger: { charges: [chargeRow()] } }),
    sound: historyWith({ items: [historyPayment()], ledger: { charges: [chargeRow()] } }),
  },
  'At rest every charge belongs to a payment that readers see': {
    broken: historyWith({ ledger: { charges: [chargeRow()] } }),
    sound: historyWith({ items: [historyPayment()], ledger: { charges: [chargeRow()] } }),
  },
  'Nothing waits for ever: at rest no outcome is unclear': {
    broken: historyWith({ items: [historyPayment({ status: 'processing' })] }),
    sound: historyWith({
      items: [historyPayment({ status: 'processing', claimedAt: historyTime(9.5 * DAY_SECONDS) })],
    }),
  },
  'At rest no queue holds a message, and no work was given up': {
    broken: historyWith({ queues: queue(1) }),
    sound: historyWith({ queues: queue(0) }),
  },
  'In calm weather no work is given up': {
    broken: { ...historyWith({ givenUp: ['1 messages of webhook-delivery-dlq'] }), isCalm: true },
    sound: { ...historyWith({ givenUp: ['1 messages of webhook-delivery-dlq'] }), isCalm: false },
  },
  'A membership is active if and only if its subscription is paid': {
    broken: historyWith({
      items: [
        subscriptionItem({ status: 'canceled', tierId: 'tier_gold' }),
        { pk: 'MBR#mbr_1', sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'active' },
      ],
    }),
    sound: historyWith({
      items: [
        subscriptionItem({ tierId: 'tier_gold' }),
        { pk: 'MBR#mbr_1', sk: 'MBR', subscriptionId: SUBSCRIPTION, status: 'active' },
      ],
    }),
  },
  'At rest an active subscription has a paid period that is not over': {
    broken: historyWith({
      items: [subscriptionItem({ latestPaymentId: PAYMENT }), historyPayment({ status: 'failed' })],
    }),
    sound: historyWith({ items: [subscriptionItem({ latestPaymentId: PAYMENT }), historyPayment()] }),
  },
  'An event that is published twice has the same id and the same content': {
    broken: historyWith({ bus: [historyEvent(PAID), historyEvent(PAID, { amount: 2 })] }),
    sound: historyWith({ bus: [historyEvent(PAID), historyEvent(PAID)] }),
  },
  'At rest every change of a payment has its event, and every event its change': {
    broken: historyWith({ items: [historyPayment(), ...versions], bus: [historyEvent(CREATED)] }),
    sound: historyWith({
      items: [historyPayment(), ...versions],
      bus: [historyEvent(CREATED), historyEvent(PAID), historyEvent(PAID)],
    }),
  },
  'At rest every event has reached the webhook target': {
    broken: historyWith({ bus: [historyEvent(PAID)] }),
    sound: historyWith({ bus: [historyEvent(PAID)], deliveries: [deliveryOf('msg_1', body)] }),
  },
  'A webhook that is sent again keeps its id and its content': {
    broken: historyWith({
      bus: [historyEvent(PAID)],
      deliveries: [deliveryOf('msg_1', body), deliveryOf('msg_2', body)],
    }),
    sound: historyWith({
      bus: [historyEvent(PAID)],
      deliveries: [deliveryOf('msg_1', body), deliveryOf('msg_1', body)],
    }),
  },
  'No response shows a record that its reader may not read': {
    broken: historyWith({
      items: [historyPayment()],
      exchanges: [exchangeOf({ person: BEN.name, body: { data: [{ id: PAYMENT }] } })],
    }),
    sound: historyWith({ items: [historyPayment()], exchanges: [exchangeOf({ body: { data: [{ id: PAYMENT }] } })] }),
  },
  'A saved method pays for its owner only, and not after its removal or the end of a membership': {
    broken: historyWith({
      exchanges: [founding, joining, leaving],
      items: [paidForOrganization, lent],
      ledger: chargedAt(1_000),
    }),
    sound: historyWith({
      exchanges: [founding, joining, leaving],
      items: [paidForOrganization, lent],
      ledger: chargedAt(90),
    }),
  },
  'An attempt that a person has claimed was requested by a person who was allowed to charge': {
    broken: historyWith({
      items: [historyPayment(), versionItem(2, { status: 'processing', cause: 'claim' })],
      exchanges: [confirmBy(BEN.name)],
    }),
    sound: historyWith({
      items: [historyPayment(), versionItem(2, { status: 'processing', cause: 'claim' })],
      exchanges: [confirmBy('ada')],
    }),
  },
  'A payment without a subscription is charged only after its payer has confirmed it, or paid it at the provider': {
    broken: historyWith({ items: [historyPayment()], ledger: { charges: [chargeRow()] } }),
    sound: historyWith({
      items: [historyPayment()],
      exchanges: [confirmBy('ada')],
      ledger: { charges: [chargeRow()] },
    }),
  },
  'A canceled payment or subscription is no longer charged': {
    broken: historyWith({ exchanges: [canceled], ledger: chargedAt(1_000) }),
    sound: historyWith({ exchanges: [canceled], ledger: chargedAt(10) }),
  },
  'At rest nothing that was deleted here is left at its provider': {
    broken: historyWith({
      exchanges: [saving, exchangeOf(removal)],
      ledger: { payment_methods: [{ provider: 'provider_a', id: 'pm_1', customer: 'cus_1' }] },
    }),
    sound: historyWith({
      exchanges: [saving, exchangeOf(removal)],
      ledger: { payment_methods: [{ provider: 'provider_a', id: 'pm_1', customer: null }] },
    }),
  },
  'At rest nothing of a deleted organization is left but its payments': {
    broken: historyWith({
      exchanges: [exchangeOf({ method: 'DELETE', path: `/organizations/${ORGANIZATION}` })],
      items: [methodItem({ organizationId: ORGANIZATION })],
    }),
    sound: historyWith({
      exchanges: [exchangeOf({ method: 'DELETE', path: `/organizations/${ORGANIZATION}` })],
      items: [paidForOrganization],
    }),
  },
  'At rest no saved method, customer, address or live subscription of an erased person is left from before': {
    broken: historyWith({
      exchanges: [exchangeOf({ at: 500, path: '/admin/erasures', status: 202, sent: { user_id: 'user_ada' } })],
      items: [customerItem()],
    }),
    sound: historyWith({
      exchanges: [exchangeOf({ at: 500, path: '/admin/erasures', status: 202, sent: { user_id: 'user_ada' } })],
      items: [customerItem({ createdAt: historyTime(600) })],
    }),
  },
  'Every acknowledged create exists': {
    broken: historyWith({
      exchanges: [exchangeOf({ method: 'POST', path: '/payments', status: 201, body: { id: PAYMENT } })],
    }),
    sound: historyWith({
      items: [historyPayment()],
      exchanges: [exchangeOf({ method: 'POST', path: '/payments', status: 201, body: { id: PAYMENT } })],
    }),
  },
  'If nothing goes wrong, every request gets a response, and none is an internal error': {
    broken: historyWith({ exchanges: [exchangeOf({ status: 500 })] }),
    sound: historyWith({ isCalm: false, exchanges: [exchangeOf({ status: 500 })] }),
  },
  'Requests under one idempotency key create one record': {
    broken: historyWith({
      exchanges: [PAYMENT, 'pay_other'].map((id) =>
        exchangeOf({ method: 'POST', status: 201, idempotencyKey: 'k', body: { id } }),
      ),
    }),
    sound: historyWith({
      exchanges: [PAYMENT, PAYMENT].map((id) =>
        exchangeOf({ method: 'POST', status: 201, idempotencyKey: 'k', body: { id } }),
      ),
    }),
  },
  'At rest a list shows exactly the records of its owner, and counts them': {
    broken: historyWith({ items: [historyPayment()], audit: list([PAYMENT], 2) }),
    sound: historyWith({ items: [historyPayment()], audit: list([PAYMENT], 1) }),
  },
  'The total of a list is never below what its page shows': {
    broken: historyWith({ exchanges: [pageOf({ meta: { limit: 2, total: 2, hasMore: true } })] }),
    sound: historyWith({ exchanges: [pageOf({ meta: { limit: 2, total: 3, hasMore: true } })] }),
  },
  'An owner has at most one default method, and one default address of a type, each of the owner’s own': {
    broken: historyWith({ items: [methodItem(), { pk: 'OWNER#USER#user_ben', sk: 'DEFAULT#PM', recordId: METHOD }] }),
    sound: historyWith({ items: [methodItem(), { pk: 'OWNER#USER#user_ada', sk: 'DEFAULT#PM', recordId: METHOD }] }),
  },
  'No secret, token or key appears in a log, an event, a stored item or a webhook': {
    broken: historyWith({ canaries: [secret], logs: ['paid with canary123x'] }),
    sound: historyWith({ canaries: [secret], logs: ['paid'] }),
  },
  'No response holds a secret of the service, or a session or an idempotency key': {
    broken: historyWith({ canaries: [secret], exchanges: [exchangeOf({ body: { error: 'canary123x' } })] }),
    sound: historyWith({ canaries: [secret], exchanges: [exchangeOf({ body: { error: 'refused' } })] }),
  },
  'A client secret is in no list, no event and no response to a person of the merchant who does not pay': {
    broken: historyWith({ exchanges: [exchangeOf({ body: { data: [{ client_secret: 'pi_1_secret_2' }] } })] }),
    sound: historyWith({ exchanges: [exchangeOf({ body: { client_secret: 'pi_1_secret_2' } })] }),
  },
};

describe('the invariants of the simulation', () => {
  test('each have a failing and a passing history', () => {
    expect(Object.keys(CASES).sort()).toEqual(ORACLES.map(({ sentence }) => sentence).sort());
  });

  test.each(ORACLES)('$sentence', ({ sentence, violations }) => {
    expect(violations(CASES[sentence]?.broken ?? historyWith({}))).not.toEqual([]);
    expect(violations(CASES[sentence]?.sound ?? historyWith({}))).toEqual([]);
  });

  test.each([
    ...MORE_CASES,
    ...MORE_DISCOUNT_CASES,
    ...MORE_DISPUTE_CASES,
    ...MORE_HOLD_CASES,
    ...MORE_MIRROR_CASES,
    ...MORE_NATIVE_CASES,
    ...MORE_NOTICE_CASES,
    ...MORE_PLAN_CASES,
    ...MORE_LIMIT_CASES,
    ...MORE_DECIDER_CASES,
    ...MORE_STRANGER_CASES,
  ])('%s: %s', (_, sentence, { broken, sound }) => {
    const [asked] = ORACLES.filter((one) => one.sentence === sentence);
    expect(asked?.violations(broken)).not.toEqual([]);
    expect(asked?.violations(sound)).toEqual([]);
  });

  test.each(FURTHER_BROKEN)('%s: is broken by %s', (sentence, _what, history) => {
    const [oracle] = ORACLES.filter((one) => one.sentence === sentence);
    expect(oracle?.violations(history)).not.toEqual([]);
  });

  test('count the days of a retry from the failure, which can be found hours after its attempt', () => {
    const failed = { ...versionItem(2, { status: 'failed', cause: 'reconcile' }), at: historyTime(DAY_SECONDS / 8) };
    const [payment = {}, claim = {}, retry = {}] = claims(0, 1);
    const retried = (days: number) =>
      historyWith({ items: [payment, claim, failed, { ...retry, at: historyTime(days * DAY_SECONDS) }] });
    const [dunning] = ORACLES.filter(({ sentence }) => sentence.includes('retried 1, 3, 7 and 14 days'));
    expect(dunning?.violations(retried(1.125))).toEqual([]);
    expect(dunning?.violations(retried(1.25))).not.toEqual([]);
  });

  test('forbid a renewal’s retry after its method was removed, and require a retry with another method', () => {
    const changed = (change: { readonly day: number; readonly to?: string }) =>
      renewal({ days: [1, 3, 7], until: 14, end: GIVEN_UP, change });
    const [dunning] = ORACLES.filter(({ sentence }) => sentence.includes('on each planned day that has passed'));
    expect(dunning?.violations(changed({ day: 13 }))).toEqual([]);
    expect(dunning?.violations(changed({ day: 13, to: METHOD }))).not.toEqual([]);
  });

  test('accept a provider refund that overlaps a refund reserved here, until the run is at rest', () => {
    const refundOf = (id: string, fields: HistoryJson): HistoryItem => ({
      ...{ pk: `RFD#${id}`, sk: 'RFD', paymentId: PAYMENT, ...fields },
    });
    const crossing = (source: 'api' | 'provider', atRest: boolean) => ({
      ...historyWith({
        items: [
          historyPayment({ refundedCents: 600, refundingCents: 700 }),
          refundOf('ref_1', { source, status: 'succeeded', amountCents: 600 }),
          refundOf('ref_2', { source: 'api', status: 'pending', amountCents: 700 }),
        ],
      }),
      atRest,
    });
    const [within] = ORACLES.filter(({ sentence }) => sentence.includes('never exceed'));
    expect(within?.violations(crossing('provider', false))).toEqual([]);
    expect(within?.violations(crossing('api', false))).not.toEqual([]);
    expect(within?.violations(crossing('provider', true))).not.toEqual([]);
  });

  test('forbid that a former member reads an organization’s list after the cached membership has expired', () => {
    const asked = (at: number) =>
      historyWith({
        exchanges: [founding, joining, leaving, exchangeOf({ at, person: BEN.name, query: OF_ORGANIZATION })],
      });
    const [readers] = ORACLES.filter(({ sentence }) => sentence.includes('its reader may not read'));
    expect(readers?.violations(asked(300))).toEqual([]);
    expect(readers?.violations(asked(1_000))).toHaveLength(1);
  });

  test('name the record that breaks an invariant', () => {
    const [deleted] = ORACLES.filter(({ sentence }) => sentence.includes('organization is left'));
    const broken = deleted?.violations(CASES[deleted.sentence]?.broken ?? historyWith({}));
    expect(broken?.[0]).toContain(METHOD);
    expect(broken?.[0]).not.toContain(CUSTOMER);
  });
});
