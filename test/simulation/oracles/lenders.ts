/** @module An invariant about organizations' subscriptions paid by a member's own method. */
import { isCarriedOut, SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, Oracle, Person } from '../model/history.ts';
import { isOfMerchant } from '../model/merchants.ts';
import { type Model, modelOf } from '../model/owners.ts';
import { changesAndWithdrawals, plansStarted } from '../model/plans.ts';
import { at } from '../model/records.ts';

/** The user with an own method paying for an organization, according to a response. */
const lenderIn = ({ ownerOf }: Model, { body }: HistoryExchange): string | undefined => {
  const owner = body?.organization_id ? ownerOf(body.payment_method_id ?? '') : undefined;
  return owner?.organizationId === undefined ? owner?.userId : undefined;
};

/** The subscription's method in the last response before the request. */
const methodBefore = ({ exchanges }: History, id: string, { sentAt }: HistoryExchange): string | undefined =>
  exchanges.findLast(({ body, answeredAt }) => body?.id === id && answeredAt <= sentAt)?.body.payment_method_id;

const INTERVAL = ['billing_interval', 'interval_multiplier'] as const;

interface Lowering {
  readonly exchange: HistoryExchange;
  /** The merchant's user. Changes of other users are ignored, because they may begin within the clock tolerance. */
  readonly userId: string;
}

/** True if the merchant's change affects only the price, and does not raise the current price. */
const isLowering = (history: History, id: string, { exchange, userId }: Lowering): boolean => {
  const { method, sent, body, sentAt, answeredAt } = exchange;
  const isPriceAlone = sent?.product_id === undefined && INTERVAL.every((field) => sent?.[field] === undefined);
  if (method !== 'POST' || !isPriceAlone) return false;
  if (sent?.when !== 'now') return (body?.scheduled_change?.total_cents ?? 0) <= body?.total_cents;
  const started = plansStarted(history, id).findLast(
    ({ at: time, actor }) =>
      actor?.type !== 'provider' &&
      (actor?.type !== 'user' || actor.id === userId) &&
      at(time) >= sentAt - SKEW_MS &&
      at(time) <= answeredAt + SKEW_MS,
  );
  return started === undefined || started['plan'].totalCents <= started['wasPlan'].totalCents;
};

export const lenderChooses: Oracle = {
  sentence: 'A lent card pays what its lender chose, and the merchant at most lowers the price',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    return [...changesAndWithdrawals(history)].flatMap(([id, requests]) =>
      requests.filter(isCarriedOut).flatMap((exchange) => {
        const { number, method, path, body } = exchange;
        const lender = lenderIn(model, exchange);
        const person: Person | undefined = model.person(exchange.person);
        const wasLent = methodBefore(history, id, exchange) === body?.payment_method_id;
        if (lender === undefined || !wasLent || !person || person.userId === lender) return [];
        if (isOfMerchant(person) && isLowering(history, id, { exchange, userId: person.userId })) return [];
        return [`answer ${number}: ${person.name} did ${method} ${path}, and ${lender} lends the method`];
      }),
    );
  },
};
