/** @module Invariants about rate limits, for histories with rate limits on. */
import { firstUnderKey, organizationAsked, SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, Oracle } from '../model/history.ts';
import { modelOf } from '../model/owners.ts';

const HOUR_MS = 3_600_000;

/** A counted decline. A repeated response under the same key does not count. */
const declinesOf = (history: History): readonly HistoryExchange[] =>
  history.exchanges.filter(
    (one) => one.status === 402 && one.body?.code === 'PAYMENT_DECLINED' && firstUnderKey(history, one) === one,
  );

/** The hour of the request by the service's clock; undefined if the hour may have ended during the request. */
const windowOf = ({ sentAt, answeredAt }: HistoryExchange): number | undefined => {
  const [from, to] = [sentAt - SKEW_MS, answeredAt + SKEW_MS].map((time) => Math.floor(time / HOUR_MS));
  return from === to ? from : undefined;
};

/** The declines of requests sent after the permitted number of declines. */
const tooMany = (all: readonly HistoryExchange[], max: number): readonly HistoryExchange[] =>
  all.filter((one) => {
    const window = windowOf(one);
    const before = all.filter((other) => windowOf(other) === window && other.answeredAt < one.sentAt);
    return window !== undefined && before.length >= max;
  });

const DECLINES = { user: 20, guest: 10, payment: 5 } as const;
const CONFIRMED = /^\/payments\/confirm\/([^/]+)$/;

export const declinesLimited: Oracle = {
  sentence: 'With rate limits a user has 20 declines an hour on all routes together, a guest’s network 10, a payment 5',
  atRestOnly: false,
  violations: (history) => {
    if (!history.limits) return [];
    const { person } = modelOf(history);
    const all = declinesOf(history);
    const byNetwork = Map.groupBy(all, ({ network }) => network);
    const byPayment = Map.groupBy(all, ({ path }) => CONFIRMED.exec(path)?.[1]);
    return [
      ...[...byNetwork.values()].flatMap((own) =>
        tooMany(own, DECLINES[person(own[0]?.person ?? '')?.kind === 'guest' ? 'guest' : 'user']),
      ),
      ...[...byPayment].flatMap(([id, own]) => (id === undefined ? [] : tooMany(own, DECLINES.payment))),
    ].map(({ number, person: name, path }) => `answer ${number}: ${name} was declined once more at ${path}`);
  },
};

/** The number of requests that the smallest window of a person permits. */
const LEAST = 5;

/** A sliding window of an hour also counts a share of the previous hour. */
const SLIDING_MS = 2 * HOUR_MS;

/** Lists by e-mail address have a window per address, because only the address protects the list. */
const isOfAddress = ({ path }: HistoryExchange): boolean => path.includes('/guest/');

export const limitedByOwnRequests: Oracle = {
  sentence:
    'A person is refused with 429 only after requests of their own, whatever others do under their e-mail address',
  atRestOnly: false,
  violations: (history) => {
    const { ownerOf } = modelOf(history);
    /** True if the request counts in the windows of an organization, which its members share. */
    const isShared = (one: HistoryExchange): boolean =>
      organizationAsked(one) !== undefined || one.path.split('/').some((part) => ownerOf(part)?.organizationId);
    return history.exchanges
      .filter((one) => one.status === 429 && !isOfAddress(one) && !isShared(one))
      .filter(
        (one) =>
          history.exchanges.filter(
            ({ person, sentAt, method }) =>
              person === one.person &&
              method !== 'GET' &&
              sentAt < one.sentAt &&
              sentAt > one.sentAt - SLIDING_MS - SKEW_MS,
          ).length < LEAST,
      )
      .map(({ number, person, path }) => `answer ${number}: ${person} was refused at ${path}`);
  },
};
