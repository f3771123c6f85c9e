/** @module Invariants about customers and payment methods. At rest each record matches the provider's record. */
import type { History, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { recordsOf } from '../model/records.ts';

/** Providers that send an event after a change of a customer or card. */
const TELLING = new Set(['provider_a', 'provider_c']);

const byProviderId = (rows: readonly HistoryJson[]): ReadonlyMap<string, HistoryJson> =>
  new Map(rows.filter(({ provider }) => TELLING.has(provider)).map((row) => [`${row.provider} ${row.id}`, row]));

/** The providers refuse this phone number, so only our record has it. */
const UNFIT = /[a-z]/;

const contactOf = ({ email, name, phone }: HistoryItem): string => {
  const fit = UNFIT.test(phone ?? '') ? null : phone;
  return JSON.stringify([email?.toLowerCase(), name, fit].map((value) => value || null));
};

export const customersAgree: Oracle = {
  sentence: 'At rest the name, the e-mail address and the phone of a customer are those of its provider',
  atRestOnly: true,
  violations: (history: History) => {
    const there = byProviderId(history.ledger.customers.filter(({ deleted }) => !deleted));
    return recordsOf(history).customers.flatMap((customer) => {
      const { id, providerId, providerCustomerId } = customer;
      const row = there.get(`${providerId} ${providerCustomerId}`);
      if (!row || contactOf(customer) === contactOf(row)) return [];
      return [`${id} is ${contactOf(customer)}, ${row.id} is ${contactOf(row)}`];
    });
  },
};

const cardHere = ({ lastFour, expiryMonth, expiryYear }: HistoryItem): string =>
  `${lastFour} ${Number(expiryMonth)}/${expiryYear}`;

const cardThere = ({ last_four, exp_month, exp_year }: HistoryJson): string => `${last_four} ${exp_month}/${exp_year}`;

export const cardsAgree: Oracle = {
  sentence: 'At rest the last digits and the expiry of a stored card are those that its provider has',
  atRestOnly: true,
  violations: (history) => {
    const there = byProviderId(history.ledger.payment_methods);
    return recordsOf(history).methods.flatMap((method) => {
      const { id, type, setup, providerId, providerMethodId } = method;
      const row = there.get(`${providerId} ${providerMethodId}`);
      if (!row || type !== 'card' || setup !== undefined || cardHere(method) === cardThere(row)) return [];
      return [`${id} is ${cardHere(method)}, ${row.id} is ${cardThere(row)}`];
    });
  },
};
