import type { Exchange, History, Item, Json, Ledger } from '../simulation/model/history.ts';
import { ADA, BEN, GUS, ROOT } from '../simulation/world/people.ts';

/** A history of the simulation in which nothing has happened. Times are seconds after its start. */
const START = Date.parse('2026-01-05T09:00:00.000Z');
const LATER_S = 10 * 86_400;

export const iso = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

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

export const historyOf = ({
  ledger,
  ...parts
}: Partial<Omit<History, 'ledger'>> & { ledger?: Partial<Ledger> }): History => ({
  startedAt: START,
  now: START + LATER_S * 1_000,
  atRest: true,
  isCalm: true,
  people: [ADA, BEN, ROOT, GUS],
  exchanges: [],
  acts: [],
  items: [],
  bus: [],
  deliveries: [],
  logs: [],
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
export const MEMBER = `mem_${'5'.repeat(24)}`;
export const CUSTOMER = `cust_${'6'.repeat(24)}`;

/** A request of Ada that was answered with 200 one second later. */
export const exchangeOf = (parts: Partial<Exchange> & { readonly at?: number }): Exchange => {
  const { at = 0, ...rest } = parts;
  return {
    number: at,
    operation: 'an operation',
    person: ADA.name,
    credential: 'session',
    guestId: undefined,
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

const stored = (kind: string, id: string, fields: Json): Item => ({
  pk: `${kind}#${id}`,
  sk: kind,
  createdAt: iso(0),
  updatedAt: iso(0),
  userId: ADA.userId,
  ...fields,
});

/** A paid payment of Ada over 10.00 USD. */
export const paymentItem = (fields: Json = {}): Item =>
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

export const methodItem = (fields: Json = {}): Item =>
  stored('PM', METHOD, { providerId: 'provider_a', providerMethodId: 'pm_1', owner: 'USER#user_ada#PM', ...fields });

export const subscriptionItem = (fields: Json = {}): Item =>
  stored('SUB', SUBSCRIPTION, {
    ...{ status: 'active', billingInterval: 'monthly', totalCents: 1_000, currentPeriodEnd: iso(30 * 86_400) },
    ...fields,
  });

export const customerItem = (fields: Json = {}): Item =>
  stored('CUS', CUSTOMER, { providerId: 'provider_a', providerCustomerId: 'cus_1', ...fields });

/** A version of the payment, as its history keeps it. */
export const versionItem = (version: number, fields: Json): Item => ({
  pk: `PAY#${PAYMENT}`,
  sk: `HIST#${String(version).padStart(6, '0')}`,
  at: iso(version),
  actor: { type: 'user', id: ADA.userId },
  ...fields,
});

/** A charge of the payment at its provider, with its intent. */
export const chargeRow = (fields: Json = {}) => ({
  provider: 'provider_a',
  id: 'ch_1',
  payment_id: PAYMENT,
  payment_intent: 'pi_1',
  amount: 1_000,
  currency: 'USD',
  status: 'succeeded',
  amount_refunded: 0,
  created_at: iso(10),
  ...fields,
});

export const intentRow = (fields: Json = {}) => ({
  provider: 'provider_a',
  id: 'pi_1',
  payment_id: PAYMENT,
  payment_method: 'pm_1',
  ...fields,
});

export const eventOf = (id: string, data: Json = { amount: 1_000, currency: 'USD' }) => {
  const name = id.split(':')[2] ?? '';
  return { source: 'payments', 'detail-type': name, detail: { id, payload: { event: name, data } } };
};
