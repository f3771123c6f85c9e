/** @module Histories of customers and payment methods changed at their provider. */
import type { History, HistoryJson } from '../simulation/model/history.ts';
import { CUSTOMER, customerItem, historyTime, historyWith, methodItem } from './history.ts';
import type { Case } from './promise-cases.ts';

const CONTACT = { email: 'ada@example.com', name: 'Ada', phone: '+15550100123' };

const customerIs = (here: HistoryJson, there: HistoryJson = {}): History =>
  historyWith({
    items: [customerItem({ ...CONTACT, ...here })],
    ledger: { customers: [{ provider: 'provider_a', id: 'cus_1', deleted: false, ...CONTACT, ...there }] },
  });

const cardIs = (here: HistoryJson, there: HistoryJson = {}): History =>
  historyWith({
    items: [methodItem({ type: 'card', lastFour: '4242', expiryMonth: '03', expiryYear: '2040', ...here })],
    ledger: {
      payment_methods: [
        {
          ...{ provider: 'provider_a', id: 'pm_1', customer: 'cus_1', last_four: '4242', exp_month: 3, exp_year: 2040 },
          ...there,
        },
      ],
    },
  });

const customerStoredWith = (fields: HistoryJson): History => {
  const times = { version: 1, createdAt: historyTime(0), updatedAt: historyTime(0) };
  return historyWith({ items: [{ ...customerItem({ id: CUSTOMER, ...times, ...fields }) }] });
};

const CUSTOMERS = 'At rest the name, the e-mail address and the phone of a customer are those of its provider';
const CARDS = 'At rest the last digits and the expiry of a stored card are those that its provider has';
const DECLARED = 'Every stored record has the fields and values that its schema declares';
const EXTENSION = '+1 780-459-5656 ext. 725';

export const MIRROR_CASES: Readonly<Record<string, Case>> = {
  [CUSTOMERS]: { broken: customerIs({}, { phone: null }), sound: customerIs({ phone: undefined }, { phone: null }) },
  [CARDS]: { broken: cardIs({}, { exp_year: 2041 }), sound: cardIs({}) },
  [DECLARED]: { broken: customerStoredWith({ phone: 42 }), sound: customerStoredWith({ phone: '+15550100123' }) },
};

export const MORE_MIRROR_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  ['a name', CUSTOMERS, { broken: customerIs({}, { name: 'Ada Byron' }), sound: customerIs({}) }],
  [
    'a phone number that its provider refuses',
    CUSTOMERS,
    { broken: customerIs({ phone: EXTENSION }), sound: customerIs({ phone: EXTENSION }, { phone: null }) },
  ],
  ['the last digits', CARDS, { broken: cardIs({ lastFour: '1881' }), sound: cardIs({}) }],
];
