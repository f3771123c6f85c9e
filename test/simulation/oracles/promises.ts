/** @module Invariants about the promises of a response. */
import { firstUnderKey, isCarriedOut, SKEW_MS, UNDER_WAY_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { actsOnSubscriptions, ENDING, PRICING, TRIAL_MOVED } from '../model/outside.ts';
import { at, isChargeTaken, isVisible, recordsOf } from '../model/records.ts';

export const syncFinds: Oracle = {
  sentence: 'A payment is found by the id that its provider has given to it',
  atRestOnly: false,
  violations: (history) => {
    const payments = recordsOf(history).payments.filter(isVisible);
    const people = new Map(history.people.map((person) => [person.name, person]));
    return history.exchanges.flatMap(({ number, path, status, person, sentAt }) => {
      const externalId = /^\/payments\/sync\/([^/]+)$/.exec(path)?.[1];
      if (externalId === undefined || status !== 404) return [];
      const { userId, kind } = people.get(person) ?? {};
      const payment = payments.find(
        (one) => one['providerPaymentId'] === externalId || one['providerIntentId'] === externalId,
      );
      const mayRead = kind === 'admin' || (payment?.['userId'] === userId && payment?.['organizationId'] === undefined);
      const isKnown = payment !== undefined && mayRead && at(payment['createdAt']) < sentAt;
      return isKnown ? [`answer ${number}: ${externalId} of ${payment['id']} is not found`] : [];
    });
  },
};

/** Excludes failed and canceled refunds, because a sync may have counted such a refund before its failure. */
const isGivenBack = ({ status }: HistoryJson): boolean => status === 'succeeded' || status === 'pending';

export const syncShows: Oracle = {
  sentence: 'A sync that returns 200 shows the refunds that the provider made before it',
  atRestOnly: false,
  violations: (history) => {
    const refunds = Map.groupBy(history.ledger.refunds.filter(isGivenBack), ({ payment_id }) => String(payment_id));
    return history.exchanges.flatMap((exchange) => {
      const { number, path, body } = exchange;
      const { sentAt } = firstUnderKey(history, exchange);
      if (!path.startsWith('/payments/sync/') || !isCarriedOut(exchange) || body?.status !== 'succeeded') return [];
      const before = (refunds.get(body.id) ?? []).filter(({ created_at }) => at(created_at) < sentAt - SKEW_MS);
      const wanted = before.reduce((sum, { amount }) => sum + amount, 0);
      const shown = body.total_cents - body.refundable_cents;
      return shown < wanted ? [`answer ${number} shows ${shown} of ${wanted} that went back of ${body.id}`] : [];
    });
  },
};

/** The provider's refunds may be ahead of ours only after a refund on its dashboard. */
export const refundsFit: Oracle = {
  sentence: 'The service requests no refund above the remaining amount of the charge',
  atRestOnly: false,
  violations: (history) => {
    const { refunds } = recordsOf(history);
    const byPayment = Map.groupBy(refunds, ({ paymentId }) => String(paymentId));
    return [...byPayment].flatMap(([paymentId, own]) => {
      if (own.some(({ source }) => source === 'provider')) return [];
      return own
        .filter(({ status, failureCode }) => status === 'failed' && failureCode === 'refund_exceeds')
        .map(({ id }) => `${id} of ${paymentId} was refused by the provider`);
    });
  },
};

const isRefused = ({ status }: HistoryExchange): boolean => status >= 400 && status < 500;

/** Requests that may move a default by setting it, by removing it or by removing methods. */
const mayMoveDefault = (exchange: HistoryExchange): boolean => {
  const { method, path, sent } = exchange;
  if (method === 'GET' || isRefused(exchange)) return false;
  if (/^\/payment-methods(\/[^/]+)?$/.test(path)) return method === 'DELETE' || sent?.is_default !== undefined;
  if (/^\/(payment-methods\/[^/]+\/set-default|admin\/erasures)$/.test(path)) return true;
  return method === 'DELETE' && /^\/(customers|organizations)\/[^/]+$/.test(path);
};

export const defaultKept: Oracle = {
  sentence: 'The default that was set last is the default',
  atRestOnly: true,
  violations: (history) => {
    const pointers = new Map(
      history.items.filter(({ sk }) => sk === 'DEFAULT#PM').map((item) => [String(item['pk']), item['recordId']]),
    );
    const methods = new Map(recordsOf(history).methods.map((method) => [method['id'], method]));
    const removedThere = history.acts.filter(({ name }) => name === 'remove a method at the provider');
    return history.exchanges.flatMap((exchange) => {
      const id = /^\/payment-methods\/([^/]+)\/set-default$/.exec(exchange.path)?.[1] ?? '';
      const method = methods.get(id);
      const isRemovedThere = removedThere.some((act) => act.at + UNDER_WAY_MS > exchange.sentAt);
      if (!isCarriedOut(exchange) || method === undefined || isRemovedThere) return [];
      // A repeat under a key only returns the result of the first request.
      const first = history.exchanges.find((one) => isSameRequest(one, exchange)) ?? exchange;
      const later = history.exchanges.some(
        (one) => !isSameRequest(one, exchange) && mayMoveDefault(one) && one.answeredAt + UNDER_WAY_MS > first.sentAt,
      );
      const pointer = pointers.get(`OWNER#${ownerOf(method)}`);
      return later || pointer === id ? [] : [`${id} of answer ${exchange.number}, the default is ${pointer ?? 'none'}`];
    });
  },
};

const isSameRequest = (one: HistoryExchange, other: HistoryExchange): boolean =>
  one === other ||
  (one.idempotencyKey !== undefined &&
    one.idempotencyKey === other.idempotencyKey &&
    one.person === other.person &&
    one.path === other.path);

const ownerOf = ({ organizationId, userId, guestId }: HistoryItem): string => {
  if (organizationId !== undefined) return `ORG#${organizationId}`;
  return userId === undefined ? `GUEST#${guestId}` : `USER#${userId}`;
};

export const erasedIsNameless: Oracle = {
  sentence: 'At rest no payment of an erased person names the person',
  atRestOnly: true,
  violations: (history) => {
    const { payments } = recordsOf(history);
    const erasures = history.exchanges.filter((one) => one.path === '/admin/erasures' && one.status === 202);
    return erasures.flatMap(({ sent, sentAt }) =>
      payments
        .filter((payment) => isVisible(payment) && payment['organizationId'] === undefined)
        .filter(({ createdAt }) => at(createdAt) < sentAt - UNDER_WAY_MS)
        .filter(({ userId, guestEmail, userEmail }) =>
          sent.user_id === undefined ? guestEmail === sent.email : userId === sent.user_id && userEmail !== undefined,
        )
        .map(({ id }) => `${id} of ${sent.user_id ?? sent.email}`),
    );
  },
};

/** Dashboard changes may move the end, or begin another period before the end. */
const MOVES_END = new Set<string>([ENDING, TRIAL_MOVED, PRICING]);

/** Requests after which a subscription continues. */
const GOES_ON = /^\/subscriptions\/[^/]+\/(reactivate|resume|change)$/;

export const nothingAfterScheduledEnd: Oracle = {
  sentence: 'A subscription that was canceled for the end of its period is not charged for the next one',
  atRestOnly: false,
  violations: (history) => {
    const { payment } = recordsOf(history);
    const charges = history.ledger.charges.filter(isChargeTaken);
    const acts = actsOnSubscriptions(history);
    return history.exchanges.flatMap((exchange) => {
      const { path, body, sentAt, answeredAt } = exchange;
      const id = /^\/subscriptions\/([^/]+)\/cancel$/.exec(path)?.[1] ?? '';
      const isRunning = body?.status === 'active' || body?.status === 'trialing';
      if (!isCarriedOut(exchange) || !body?.cancel_at_period_end || !isRunning) return [];
      const goesOn = history.exchanges.some(
        (one) =>
          one.path.startsWith(`/subscriptions/${id}`) &&
          GOES_ON.test(one.path) &&
          !isRefused(one) &&
          one.answeredAt + UNDER_WAY_MS > sentAt,
      );
      const isMoved = (acts.get(id) ?? []).some((act) => MOVES_END.has(act.name) && act.at >= sentAt);
      const end = at(body.current_period_end);
      if (goesOn || isMoved || end < answeredAt) return [];
      return charges
        .filter(({ payment_id }) => payment(payment_id ?? '')?.['subscriptionId'] === id)
        .filter(({ created_at }: HistoryJson) => at(created_at) > Math.max(answeredAt, end - UNDER_WAY_MS))
        .map((charge) => `${charge.id} charged ${id} after its last period`);
    });
  },
};

const DAYS: Readonly<Record<string, readonly [number, number]>> = {
  daily: [1, 1],
  weekly: [7, 7],
  monthly: [28, 31],
  quarterly: [89, 92],
  yearly: [365, 366],
};
const DAY_MS = 86_400_000;

/** Checks only service-billed subscriptions. A trial has its own length. */
export const periodsFit: Oracle = {
  sentence: 'A period that the service bills is as long as its interval',
  atRestOnly: false,
  violations: (history: History) =>
    recordsOf(history).subscriptions.flatMap((subscription) => {
      const { id, status, billingOwner, billingInterval, currentPeriodStart, currentPeriodEnd } = subscription;
      const { period, intervalMultiplier = 1 } = subscription;
      if (billingOwner !== 'service' || !(period >= 0) || ['creating', 'declined', 'trialing'].includes(status))
        return [];
      const [least, most] = DAYS[billingInterval] ?? [0, 0];
      const days = (at(currentPeriodEnd) - at(currentPeriodStart)) / DAY_MS;
      if (days >= least * intervalMultiplier && days <= most * intervalMultiplier) return [];
      return [`${id}, ${billingInterval}, has a period of ${days} days`];
    }),
};
