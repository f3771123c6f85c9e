/** @module Histories of the simulation, empty by default. Times are seconds after the start. */
import type { History, HistoryExchange, HistoryItem, HistoryJson, Ledger } from '../simulation/model/history.ts';
import { ADA, BEN, GUS, ROOT } from '../simulation/world/people.ts';

const START = Date.parse('2026-01-05T09:00:00.000Z');
const LATER_S = 10 * 86_400;

export const historyTime = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

const NO_LEDGER: Ledger = {
  charges: [],
  refunds: [],
  disputes: [],
  payment_intents: [],
  customers: [],
  payment_methods: [],
  subscriptions: [],
  invoices: [],
};

export const historyWith = ({
  ledger,
  ...parts
}: Partial<Omit<History, 'ledger'>> & { ledger?: Partial<Ledger> }): History => ({
  startedAt: START,
  now: START + LATER_S * 1_000,
  atRest: true,
  isCalm: true,
  limits: false,
  people: [ADA, BEN, ROOT, GUS],
  exchanges: [],
  acts: [],
  outage: undefined,
  items: [],
  claims: [],
  providerCalls: [],
  bus: [],
  deliveries: [],
  logs: [],
  givenUp: [],
  queues: {},
  canaries: [],
  audit: undefined,
  ledger: { ...NO_LEDGER, ...ledger },
  ...parts,
});

export const PAYMENT = `pay_${'1'.repeat(24)}`;
export const METHOD = `pmt_${'2'.repeat(24)}`;
export const SUBSCRIPTION = `subs_${'3'.repeat(24)}`;
export const ORGANIZATION = `org_${'4'.repeat(24)}`;
export const MEMBER_OF_HISTORY = `mem_${'5'.repeat(24)}`;
export const CUSTOMER = `cust_${'6'.repeat(24)}`;

/** Ada's request, with a 200 response one second later. */
export const exchangeOf = (parts: Partial<HistoryExchange> & { readonly at?: number }): HistoryExchange => {
  const { at = 0, ...rest } = parts;
  return {
    number: at,
    operation: 'an operation',
    person: ADA.name,
    credential: 'session',
    sessionOrganizationId: undefined,
    guestId: undefined,
    guestRecord: undefined,
    network: parts.person ?? ADA.name,
    method: 'GET',
    path: '/payments',
    query: {},
    sent: undefined,
    idempotencyKey: undefined,
    status: 200,
    body: undefined,
    sentAt: START + at * 1_000,
    answeredAt: START + (at + 1) * 1_000,
    ...rest,
  };
};

const stored = (kind: string, id: string, fields: HistoryJson): HistoryItem => ({
  pk: `${kind}#${id}`,
  sk: kind,
  createdAt: historyTime(0),
  updatedAt: historyTime(0),
  userId: ADA.userId,
  ...fields,
});

/** Ada's paid payment of 10.00 USD. */
export const historyPayment = (fields: HistoryJson = {}): HistoryItem =>
  stored('PAY', PAYMENT, {
    ...{
      status: 'succeeded',
      totalCents: 1_000,
      currency: 'USD',
      providerId: 'provider_a',
      owner: 'USER#user_ada#PAY',
    },
    ...fields,
  });

export const methodItem = (fields: HistoryJson = {}): HistoryItem =>
  stored('PM', METHOD, { providerId: 'provider_a', providerMethodId: 'pm_1', owner: 'USER#user_ada#PM', ...fields });

export const subscriptionItem = (fields: HistoryJson = {}): HistoryItem =>
  stored('SUB', SUBSCRIPTION, {
    ...{ status: 'active', billingInterval: 'monthly', totalCents: 1_000, currentPeriodEnd: historyTime(30 * 86_400) },
    ...fields,
  });

export const customerItem = (fields: HistoryJson = {}): HistoryItem =>
  stored('CUS', CUSTOMER, { providerId: 'provider_a', providerCustomerId: 'cus_1', ...fields });

/** A version of the payment in its history. */
export const versionItem = (version: number, fields: HistoryJson): HistoryItem => ({
  pk: `PAY#${PAYMENT}`,
  sk: `HIST#${String(version).padStart(6, '0')}`,
  at: historyTime(version),
  actor: { type: 'user', id: ADA.userId },
  ...fields,
});

/** A charge of the payment's intent at its provider. */
export const chargeRow = (fields: HistoryJson = {}) => ({
  provider: 'provider_a',
  id: 'ch_1',
  payment_id: PAYMENT,
  payment_intent: 'pi_1',
  amount: 1_000,
  currency: 'USD',
  status: 'succeeded',
  amount_refunded: 0,
  created_at: historyTime(10),
  ...fields,
});

export const intentRow = (fields: HistoryJson = {}) => ({
  provider: 'provider_a',
  id: 'pi_1',
  payment_id: PAYMENT,
  payment_method: 'pm_1',
  ...fields,
});

export const historyEvent = (id: string, data: HistoryJson = { amount: 1_000, currency: 'USD' }) => {
  const name = id.split(':')[2] ?? '';
  return { source: 'payments', 'detail-type': name, detail: { id, payload: { event: name, data } } };
};
