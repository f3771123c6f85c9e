/** @module Invariants about strangers who know guests' e-mail addresses, Idempotency-Keys and ids. */
import { earlierUnderKey, isCarriedOut } from '../model/exchanges.ts';
import type { History, HistoryExchange, HistoryItem, Oracle } from '../model/history.ts';
import { guestIdOf, guestOfExchange, guestOfToken, modelOf } from '../model/owners.ts';
import { idOfKey, idsBeside } from '../model/plain-ids.ts';
import { recordsOf } from '../model/records.ts';

/** The first request that received a token of the guest. */
const firstRequests = ({ exchanges }: History): ReadonlyMap<string, HistoryExchange> => {
  const found = new Map<string, HistoryExchange>();
  for (const exchange of exchanges) {
    const guestId = guestIdOf(exchange.body?.guest_token);
    if (guestId !== undefined && !found.has(guestId)) found.set(guestId, exchange);
  }
  return found;
};

const NAMES = ['payment_method_id', 'provider_payment_method_token', 'customer_id', 'billing_address_id'] as const;

/** The ids in the path and in the body. */
const namedIn = ({ path, sent }: HistoryExchange): readonly string[] => [
  ...path.split('/'),
  ...NAMES.flatMap((name) => sent?.[name] ?? []),
];

/** True if the request succeeded or the bank declined. */
const isDone = (exchange: HistoryExchange): boolean => isCarriedOut(exchange) || exchange.status === 402;

/** The guests of records read or used by the request. A repeat under a guest's key shows only its own creation. */
const guestsUsed = (history: History, exchange: HistoryExchange): readonly string[] => {
  const { ownerOf } = modelOf(history);
  const given = guestIdOf(exchange.body?.guest_token);
  const isUse =
    isDone(exchange) && !exchange.path.includes('/guest/') && earlierUnderKey(history, exchange).length === 0;
  const used = isUse ? namedIn(exchange).flatMap((id) => ownerOf(id)?.guestId ?? []) : [];
  return given === undefined ? used : [given, ...used];
};

export const strangersRefused: Oracle = {
  sentence: 'Only the guest who made it opens, names or charges a guest’s record',
  atRestOnly: false,
  violations: (history) => {
    const first = firstRequests(history);
    const { person } = modelOf(history);
    return history.exchanges
      .filter((exchange) => person(exchange.person)?.kind === 'guest')
      .flatMap((exchange) => {
        const { number, person: name, method, path } = exchange;
        return guestsUsed(history, exchange).flatMap((guestId) => {
          const owner = first.get(guestId)?.person;
          return owner === undefined || owner === name
            ? []
            : [`answer ${number}: ${name} did ${method} ${path} with a record of ${owner}`];
        });
      });
  },
};

export const continuedOpensOne: Oracle = {
  sentence: 'A guest who goes on without a token gets one that opens the new record alone',
  atRestOnly: false,
  violations: (history) => {
    const first = firstRequests(history);
    return history.exchanges.flatMap((exchange) => {
      const { number, body } = exchange;
      const token = guestOfToken(body?.guest_token);
      if (token === undefined || guestOfExchange(exchange) === token.guest_id) return [];
      const before = first.get(token.guest_id);
      const isOfFirst = before === exchange || (before !== undefined && before.body.id === body.id);
      return isOfFirst || token.record === body.id
        ? []
        : [`answer ${number}: a token of ${token.guest_id} opens ${token.record ?? 'all its records'}`];
    });
  },
};

export const idsNotComputed: Oracle = {
  sentence: 'No one computes the id of a record from an Idempotency-Key or from another id',
  atRestOnly: false,
  violations: (history) => {
    const { person } = modelOf(history);
    const { payments, methods, customers, addresses, subscriptions } = recordsOf(history);
    const ofKeys = history.exchanges.flatMap((exchange) => {
      const asker = person(exchange.person);
      return asker ? idOfKey(exchange, asker) : [];
    });
    const beside = [...payments, ...methods].flatMap(({ id }: HistoryItem) => idsBeside(id));
    const computed = new Set([...ofKeys, ...beside]);
    return [...payments, ...methods, ...customers, ...addresses, ...subscriptions].flatMap(({ id }) =>
      computed.has(id) ? [`${id} is computed`] : [],
    );
  },
};
