/** @module Histories of paying merchant staff, and of members lending their cards to an organization. */
import type { History, HistoryExchange, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { ADA, BEN, FAY, ROOT } from '../simulation/world/people.ts';
import {
  exchangeOf,
  historyPayment,
  historyTime,
  historyWith,
  MEMBER_OF_HISTORY,
  METHOD,
  methodItem,
  ORGANIZATION,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

const KEY = 'key_1';

/** Ada creates the organization. Fay and Root become members at second 10. */
const JOINED: readonly HistoryExchange[] = [
  exchangeOf({
    ...{ method: 'POST', path: '/organizations' },
    body: { data: { id: ORGANIZATION, owner_user_id: ADA.userId } },
  }),
  ...[FAY, ROOT].map(({ email, userId }, index) =>
    exchangeOf({
      ...{ at: 10, method: 'POST', path: `/organizations/${ORGANIZATION}/members`, sent: { email, role: 'member' } },
      body: { data: { id: `${MEMBER_OF_HISTORY}${index}`, user_id: userId } },
    }),
  ),
];
const removal = (at: number): HistoryExchange =>
  exchangeOf({ at, method: 'DELETE', path: `/organizations/${ORGANIZATION}/members/${MEMBER_OF_HISTORY}0` });

/** Root creates the key. */
const KEY_MADE = exchangeOf({
  ...{ person: ROOT.name, method: 'POST', path: '/admin/keys', status: 201, body: { data: { id: KEY } } },
});

const PEOPLE = [ADA, BEN, ROOT, FAY];

const withPeople = (parts: Parameters<typeof historyWith>[0]): History => historyWith({ people: PEOPLE, ...parts });

const OF_ORGANIZATION = { organizationId: ORGANIZATION, userId: BEN.userId };

/** A refund of the payment, created at second 200 by this user or key. */
const refunded = (createdBy: string, payment: HistoryJson, exchanges: readonly HistoryExchange[] = []): History =>
  withPeople({
    exchanges: [...JOINED, KEY_MADE, ...exchanges],
    items: [
      historyPayment(payment),
      { pk: 'RFD#ref_1', sk: 'RFD', paymentId: PAYMENT, createdBy, createdAt: historyTime(200), amountCents: 100 },
    ],
  });

const endedBy = (actor: HistoryJson, payment: HistoryJson = {}): History =>
  withPeople({
    exchanges: [KEY_MADE],
    items: [
      historyPayment(payment),
      { ...versionItem(2, { status: 'requires_capture', cause: 'capture', holdCall: { kind: 'release' } }), actor },
    ],
  });

const change = { method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/change` } as const;

const priced = (sent: HistoryJson, parts: HistoryJson = {}): History =>
  withPeople({
    items: [subscriptionItem({ userId: FAY.userId })],
    exchanges: [exchangeOf({ ...change, person: FAY.name, sent, ...parts })],
  });

const PLAN = { productId: 'prod_monthly', quantity: 2, totalCents: 3_800 };

const lowered = (fields: HistoryJson): History =>
  withPeople({
    items: [
      subscriptionItem(),
      {
        ...versionItem(5, { cause: 'plan_changed', status: 'active', was: 'active', dueCents: 0, wasPlan: PLAN }),
        ...{ plan: { ...PLAN, totalCents: 1_900 }, periodEnd: historyTime(20 * 86_400), ...fields },
        pk: `SUB#${SUBSCRIPTION}`,
      },
    ],
  });

const refused = (record: HistoryItem, parts: HistoryJson): History =>
  withPeople({
    items: [record],
    exchanges: [
      ...JOINED,
      exchangeOf({
        ...{ at: 100, method: 'POST', path: `/payments/${PAYMENT}/refunds`, status: 403 },
        ...{ body: { details: { reason: 'own_payment' } }, ...parts },
      }),
    ],
  });

const LENT = { id: SUBSCRIPTION, organization_id: ORGANIZATION, payment_method_id: METHOD };

interface Changed {
  readonly person?: string;
  readonly parts?: HistoryJson;
  readonly body?: HistoryJson;
  readonly method?: HistoryJson;
  readonly before?: HistoryJson;
  readonly version?: HistoryJson;
}

/** Ada's card pays the organization's subscription, and another person changes the plan at second 100. */
const changed = ({ person = BEN.name, parts, body, method = {}, before = LENT, version }: Changed = {}): History =>
  withPeople({
    items: [
      subscriptionItem({ organizationId: ORGANIZATION }),
      methodItem(method),
      ...(version ? [{ ...versionItem(100, { cause: 'plan_changed', ...version }), pk: `SUB#${SUBSCRIPTION}` }] : []),
    ],
    exchanges: [
      exchangeOf({ path: `/subscriptions/${SUBSCRIPTION}`, body: before }),
      exchangeOf({ ...change, at: 100, person, sent: { quantity: 2 }, body: { ...LENT, ...body }, ...parts }),
    ],
  });

const byMerchant = (sent: HistoryJson, more: Changed = {}): History =>
  changed({ person: ROOT.name, parts: { sent }, ...more });

const FREE_LATER = { total_cents: 900, when: 'period_end' };
const FREE_NOW = { total_cents: 900, when: 'now', proration: 'none' };
const next = (total_cents: number): HistoryJson => ({ total_cents: 1_000, scheduled_change: { total_cents } });
const from = (totalCents: number, userId = ROOT.userId): HistoryJson => ({
  ...{ wasPlan: { totalCents }, plan: { totalCents: 900 } },
  actor: { type: 'user', id: userId },
});

const NO_ONE = 'No one decides on their own payment';
const REFUSED = 'Only those who pay are refused as payers, and a key only as the owner of what pays';
const LENDER = 'A lent card pays what its lender chose, and the merchant at most lowers the price';

export const DECIDER_CASES: Readonly<Record<string, Case>> = {
  [NO_ONE]: {
    broken: refunded(FAY.userId, { userId: FAY.userId }),
    sound: refunded(FAY.userId, { userId: ADA.userId }),
  },
  [REFUSED]: {
    broken: refused(historyPayment(), { person: FAY.name }),
    sound: refused(historyPayment({ userId: FAY.userId }), { person: FAY.name }),
  },
  [LENDER]: { broken: changed(), sound: changed({ person: ADA.name }) },
};

const GUESTS = { userId: undefined, guestId: 'guest_1', guestEmail: FAY.email };
const byKey = { type: 'key', id: KEY };

export const MORE_DECIDER_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  [
    'a payment as a guest with the e-mail of the session',
    NO_ONE,
    { broken: refunded(FAY.userId, GUESTS), sound: refunded(ROOT.userId, GUESTS) },
  ],
  [
    'a payment of an organization with the person as a member',
    NO_ONE,
    {
      broken: refunded(FAY.userId, OF_ORGANIZATION),
      sound: refunded(FAY.userId, OF_ORGANIZATION, [removal(100)]),
    },
  ],
  [
    'a removal whose response was lost',
    NO_ONE,
    {
      broken: refunded(FAY.userId, OF_ORGANIZATION, [{ ...removal(100), status: 403 }]),
      sound: refunded(FAY.userId, OF_ORGANIZATION, [{ ...removal(100), status: 0 }]),
    },
  ],
  [
    'the key of the person who pays',
    NO_ONE,
    { broken: refunded(KEY, { userId: ROOT.userId }), sound: refunded(KEY, OF_ORGANIZATION) },
  ],
  [
    'a payment as a guest with the e-mail of the key’s person',
    NO_ONE,
    { broken: refunded(KEY, { ...GUESTS, guestEmail: ROOT.email }), sound: refunded(KEY, GUESTS) },
  ],
  [
    'a hold',
    NO_ONE,
    {
      broken: endedBy({ type: 'user', id: ADA.userId }),
      sound: endedBy({ type: 'admin', id: FAY.userId }),
    },
  ],
  [
    'a hold by a key',
    NO_ONE,
    {
      broken: endedBy(byKey, { userId: ROOT.userId }),
      sound: endedBy(byKey),
    },
  ],
  ['a price', NO_ONE, { broken: priced({ total_cents: 50 }), sound: priced({ total_cents: 50 }, { status: 403 }) }],
  [
    'a change without its difference',
    NO_ONE,
    {
      broken: priced({ quantity: 9, when: 'now', proration: 'none' }),
      sound: priced({ quantity: 9, when: 'now' }),
    },
  ],
  ['a downgrade now', NO_ONE, { broken: lowered({}), sound: lowered({ actor: { type: 'admin', id: FAY.userId } }) }],
  ['a downgrade in a trial', NO_ONE, { broken: lowered({}), sound: lowered({ was: 'trialing' }) }],
  [
    'a member of the organization that pays',
    REFUSED,
    {
      broken: refused(historyPayment(OF_ORGANIZATION), { person: ROOT.name, credential: 'merchant key' }),
      sound: refused(historyPayment(OF_ORGANIZATION), { person: ROOT.name }),
    },
  ],
  [
    'a withdrawal',
    LENDER,
    {
      broken: changed({ parts: { method: 'DELETE', sent: undefined } }),
      sound: changed({ parts: { method: 'DELETE', sent: undefined, status: 403 } }),
    },
  ],
  ['a method of the organization', LENDER, { broken: changed(), sound: changed({ method: OF_ORGANIZATION }) }],
  [
    'a method that is set meanwhile',
    LENDER,
    { broken: changed(), sound: changed({ before: { ...LENT, payment_method_id: 'pmt_other' } }) },
  ],
  [
    'a price for the next period',
    LENDER,
    {
      broken: byMerchant(FREE_LATER, { body: next(1_001) }),
      sound: byMerchant(FREE_LATER, { body: next(900) }),
    },
  ],
  [
    'a price that holds now',
    LENDER,
    { broken: byMerchant(FREE_NOW, { version: from(800) }), sound: byMerchant(FREE_NOW, { version: from(900) }) },
  ],
  [
    'a price that holds now, not that of the lender',
    LENDER,
    {
      broken: byMerchant(FREE_NOW, { version: from(800) }),
      sound: byMerchant(FREE_NOW, { version: from(800, ADA.userId) }),
    },
  ],
  [
    'an interval',
    LENDER,
    {
      broken: byMerchant({ billing_interval: 'weekly', when: 'period_end' }, { body: next(900) }),
      sound: byMerchant(FREE_LATER, { body: next(900) }),
    },
  ],
];
