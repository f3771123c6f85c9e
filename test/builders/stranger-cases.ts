/** @module Histories of guests who return without a token, and of a stranger who knows their e-mails, keys and ids. */
import type { History, HistoryItem, HistoryJson } from '../simulation/model/history.ts';
import { idOfKey, idsBeside } from '../simulation/model/plain-ids.ts';
import { GUS, STRANGER } from '../simulation/world/people.ts';
import { exchangeOf, historyPayment, historyWith, METHOD, methodItem, PAYMENT } from './history.ts';
import type { Case } from './promise-cases.ts';

const PAID = `pay_${'8'.repeat(24)}`;

const tokenOf = (guest_id: string, record?: string): string =>
  `head.${Buffer.from(JSON.stringify({ guest_id, email: GUS.email, record })).toString('base64url')}.signature`;

const guest_data = { email: GUS.email, name: GUS.name };
const byEmail = {
  person: GUS.name,
  credential: 'none',
  method: 'POST',
  status: 201,
  idempotencyKey: 'order-1',
} as const;

/** Gus saves a method without a token, and receives a token. */
const SAVED = exchangeOf({
  ...{ ...byEmail, path: '/payment-methods', sent: { guest_data } },
  body: { id: METHOD, guest_token: tokenOf('guest_1') },
});

const GUESTS_METHOD = methodItem({ userId: undefined, guestId: 'guest_1', guestEmail: GUS.email });

type Parts = HistoryJson;

/** Gus pays with the saved method at second 60, unless `parts` name another person or another request. */
const namedBy = (parts: Parts): History =>
  historyWith({
    people: [GUS, STRANGER],
    items: [GUESTS_METHOD],
    exchanges: [
      SAVED,
      exchangeOf({
        ...{ ...byEmail, at: 60, path: '/payments/intents', idempotencyKey: 'order-2' },
        ...{ sent: { payment_method_id: METHOD, guest_data }, body: { id: PAID }, ...parts },
      }),
    ],
  });

const repeated = (body: HistoryJson): History =>
  namedBy({ person: STRANGER.name, path: '/payment-methods', idempotencyKey: 'order-1', sent: SAVED.sent, body });

const withIds = (...items: readonly HistoryItem[]): History =>
  historyWith({ people: [GUS, STRANGER], items, exchanges: [SAVED] });

const [OF_KEY = ''] = idOfKey(SAVED, GUS);
const [OF_PAYMENT = '', CUSTOMER_OF_PAYMENT = ''] = idsBeside(PAYMENT);
const method = (id: string): HistoryItem => ({ ...GUESTS_METHOD, pk: `PM#${id}` });

const OWN = 'Only the guest who made it opens, names or charges a guest’s record';
const ONE = 'A guest who goes on without a token gets one that opens the new record alone';
const COMPUTED = 'No one computes the id of a record from an Idempotency-Key or from another id';

export const STRANGER_CASES: Readonly<Record<string, Case>> = {
  [OWN]: {
    broken: namedBy({ person: STRANGER.name }),
    sound: namedBy({ person: STRANGER.name, status: 404 }),
  },
  [ONE]: {
    broken: namedBy({ body: { id: PAID, guest_token: tokenOf('guest_1') } }),
    sound: namedBy({ body: { id: PAID, guest_token: tokenOf('guest_1', PAID) } }),
  },
  [COMPUTED]: { broken: withIds(method(OF_KEY)), sound: withIds(method(METHOD)) },
};

export const MORE_STRANGER_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  [
    'a declined charge',
    OWN,
    {
      broken: namedBy({ person: STRANGER.name, path: '/subscriptions', status: 402, body: {} }),
      sound: namedBy({ path: '/subscriptions', status: 402, body: {} }),
    },
  ],
  [
    'a repeat under the key of the guest',
    OWN,
    { broken: repeated({ id: METHOD, guest_token: tokenOf('guest_1') }), sound: repeated({ id: METHOD }) },
  ],
  [
    'a token that was sent',
    ONE,
    {
      broken: namedBy({ guestId: 'guest_1', guestRecord: METHOD, body: { id: PAID, guest_token: tokenOf('guest_1') } }),
      sound: namedBy({ guestId: 'guest_1', body: { id: PAID, guest_token: tokenOf('guest_1') } }),
    },
  ],
  [
    'a card that is saved while paying, and a customer',
    COMPUTED,
    {
      broken: withIds(historyPayment(), method(OF_PAYMENT)),
      sound: withIds(method(OF_PAYMENT)),
    },
  ],
  [
    'a customer of a payment',
    COMPUTED,
    {
      broken: withIds(historyPayment(), { ...GUESTS_METHOD, pk: `CUS#${CUSTOMER_OF_PAYMENT}`, sk: 'CUS' }),
      sound: withIds(historyPayment()),
    },
  ],
];
