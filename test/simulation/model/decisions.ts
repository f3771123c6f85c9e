/**
 * @module Decisions reserved for the merchant: refunds, captures, releases, prices, waived differences and early
 * downgrades. Each decision names its maker.
 */
import { firstUnderKey, isCarriedOut, SKEW_MS, UNDER_WAY_MS } from './exchanges.ts';
import type { History, HistoryExchange, HistoryItem, HistoryJson, Person } from './history.ts';
import { actsOnSubscriptions, PRICING } from './outside.ts';
import { changeRequests, isMerchantsChange, plansStarted } from './plans.ts';
import { at, recordsOf } from './records.ts';

export interface Decision {
  /** In plain words, such as `the capture of pay_1`. */
  readonly what: string;
  readonly decider: Decider;
  /** The payment or subscription. */
  readonly record: HistoryItem;
  /** Epoch ms, true time. The decision was written between both times. */
  readonly from: number;
  readonly to: number;
}

export interface Decider {
  readonly person: Person;
  /** True if the person decided by a key that acted for no payer. */
  readonly byKey: boolean;
}

export const decisionsOf = (history: History): readonly Decision[] => [
  ...refunds(history),
  ...endsOfHolds(history),
  ...changes(history),
  ...downgrades(history),
];

/** The persons by user id, and the makers of keys by key id. */
const decidersOf = ({ people, exchanges }: History): ReadonlyMap<string, Decider> => {
  const byName = new Map(people.map((person) => [person.name, person]));
  const makers = exchanges.flatMap(({ path, method, body, person: name }): [string, Decider][] => {
    const person = byName.get(name);
    const id: string | undefined = body?.data?.id;
    return method === 'POST' && path === '/admin/keys' && id && person ? [[id, { person, byKey: true }]] : [];
  });
  const users = people
    .filter(({ userId }) => userId !== '')
    .map((person): [string, Decider] => [person.userId, { person, byKey: false }]);
  return new Map([...users, ...makers]);
};

type Found = Omit<Decision, 'from' | 'to' | 'decider'> & {
  readonly decider: Decider | undefined;
  /** The time of the decision by the clock of the deciding function. */
  readonly decidedAt: string;
};

/** The period of the decision's write, because a write may happen long after its stated time. */
const decided = ({ decidedAt, decider, ...found }: Found): readonly Decision[] =>
  decider === undefined
    ? []
    : [{ ...found, decider, from: at(decidedAt) - SKEW_MS, to: at(decidedAt) + UNDER_WAY_MS + SKEW_MS }];

const refunds = (history: History): readonly Decision[] => {
  const { refunds: all, payment } = recordsOf(history);
  const deciders = decidersOf(history);
  return all.flatMap(({ id, paymentId, createdBy, createdAt }) => {
    const record = payment(paymentId);
    const decider = deciders.get(createdBy);
    return record ? decided({ what: `the refund ${id} of ${paymentId}`, record, decider, decidedAt: createdAt }) : [];
  });
};

const endsOfHolds = (history: History): readonly Decision[] => {
  const { payments, versionsOf } = recordsOf(history);
  const deciders = decidersOf(history);
  return payments.flatMap((record) =>
    versionsOf(record['id'])
      .filter(({ holdCall }) => holdCall !== undefined)
      .flatMap(({ holdCall, actor, at: decidedAt }) =>
        decided({
          what: `the ${holdCall.kind} of ${record['id']}`,
          record,
          decider: deciderBy(deciders, actor),
          decidedAt,
        }),
      ),
  );
};

/** The decider for an actor. A key that acts for a payer counts as that payer. */
const deciderBy = (deciders: ReadonlyMap<string, Decider>, actor: HistoryJson): Decider | undefined =>
  deciders.get(actor?.onBehalfOf?.id ?? actor?.id);

/** The person of the requesting session or key. */
const deciderOfRequest = ({ people }: History, { person: name, credential }: HistoryExchange): Decider | undefined => {
  const person = people.find((one) => one.name === name);
  return person && { person, byKey: credential === 'merchant key' };
};

const subscriptionsOf = (history: History): ReadonlyMap<string, HistoryItem> =>
  new Map(recordsOf(history).subscriptions.map((one) => [one['id'], one]));

const changes = (history: History): readonly Decision[] => {
  const subscriptions = subscriptionsOf(history);
  return [...changeRequests(history)].flatMap(([id, requests]) =>
    requests.flatMap((exchange) => {
      const decider = deciderOfRequest(history, exchange);
      const record = subscriptions.get(id);
      if (!isCarriedOut(exchange) || !isMerchantsChange(exchange.sent) || !decider || !record) return [];
      const { sentAt, answeredAt } = firstUnderKey(history, exchange);
      return [
        { what: `the price of ${id} by answer ${exchange.number}`, decider, record, from: sentAt, to: answeredAt },
      ];
    }),
  );
};

const LONGEST_PERIOD_MS = 31 * 86_400_000;
/**
 * Smaller differences between the totals of whole periods do not count, because they may round to 0 for the rest of a
 * period.
 */
const LEAST_CENTS = 2;

/** A cheaper plan that began before the end of a paid period, without a payment. */
const isDowngrade = ({ plan, wasPlan, dueCents, was, status, periodEnd, at: time }: HistoryItem): boolean => {
  const left = (at(periodEnd) - at(time)) / LONGEST_PERIOD_MS;
  return (
    dueCents === 0 &&
    was !== 'trialing' &&
    status === 'active' &&
    (wasPlan.totalCents - plan.totalCents) * left >= LEAST_CENTS
  );
};

/** The statuses proving that a request claimed no change. Other refusals may come after a claim. */
const UNCLAIMED: ReadonlySet<number> = new Set([400, 401, 403, 404, 429]);

/**
 * True if the price is a merchant's, although another request, such as a cancellation, completed the change. `changes`
 * lists the merchant's decision.
 */
const isMerchantsPrice = (history: History, { id, userId }: HistoryItem, { plan, at: time }: HistoryItem): boolean =>
  (changeRequests(history).get(id) ?? []).some(
    (exchange) =>
      isMerchantsChange(exchange.sent) &&
      exchange.sent?.total_cents === plan.totalCents &&
      exchange.sentAt <= at(time) + SKEW_MS &&
      !UNCLAIMED.has(exchange.status) &&
      deciderOfRequest(history, exchange)?.person.userId !== userId,
  );

/**
 * True if the price was set at the provider within the period. Such a price is not paid yet, so the change loses no
 * paid amount.
 */
const isPricedInPeriod = (history: History, { id }: HistoryItem, { at: time, periodEnd }: HistoryItem): boolean =>
  (actsOnSubscriptions(history).get(id) ?? []).some(
    (act) => act.name === PRICING && act.at >= at(periodEnd) - LONGEST_PERIOD_MS && act.at <= at(time) + SKEW_MS,
  );

const downgrades = (history: History): readonly Decision[] => {
  const deciders = decidersOf(history);
  return [...subscriptionsOf(history)].flatMap(([id, record]) =>
    plansStarted(history, id)
      .filter((started) => isDowngrade(started) && !isPricedInPeriod(history, record, started))
      .filter((started) => !isMerchantsPrice(history, record, started))
      .flatMap(({ actor, at: decidedAt }) =>
        decided({ what: `the downgrade of ${id} now`, record, decider: deciderBy(deciders, actor), decidedAt }),
      ),
  );
};
