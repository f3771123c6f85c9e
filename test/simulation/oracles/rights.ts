/** @module Invariants about the right to charge at each moment. */
import { actingPerson } from '../model/acting.ts';
import { paidByHand, paidByPayers } from '../model/acts.ts';
import { SKEW_MS, UNDER_WAY_MS } from '../model/exchanges.ts';
import { guestsOf } from '../model/guests.ts';
import type { History, HistoryExchange, HistoryItem, Oracle, Person } from '../model/history.ts';
import { type Model, modelOf, type OwnerAndProject } from '../model/owners.ts';
import { at, isChargeTaken, recordsOf } from '../model/records.ts';
import { mayManage } from '../model/standing.ts';

/** A charge of the ledger with its payment and its method. */
interface Charge {
  readonly id: string;
  readonly at: number;
  readonly payment: HistoryItem;
  readonly providerMethodId: string | null;
}

const chargesOf = (history: History): readonly Charge[] => {
  const { payment } = recordsOf(history);
  const methods = new Map(
    history.ledger.payment_intents.map((intent) => [`${intent.provider} ${intent.id}`, intent.payment_method]),
  );
  return history.ledger.charges.filter(isChargeTaken).flatMap((charge) => {
    const of = payment(charge.payment_id ?? '');
    const providerMethodId = methods.get(`${charge.provider} ${charge.payment_intent}`) ?? null;
    return of ? [{ id: charge.id, at: at(charge.created_at), payment: of, providerMethodId }] : [];
  });
};

/** A saved method with its owner and the time of a sure deletion (Infinity without one). */
interface SavedMethod {
  readonly id: string;
  readonly owner: OwnerAndProject;
  readonly deletedAt: number;
}

const savedMethods = (history: History, model: Model): ReadonlyMap<string, SavedMethod> => {
  const found = new Map<string, SavedMethod>();
  const deletedAt = (id: string): number =>
    history.exchanges.find(
      ({ method, path, status }) => method === 'DELETE' && status === 204 && path === `/payment-methods/${id}`,
    )?.answeredAt ?? Number.POSITIVE_INFINITY;
  const keep = (id: string, ref: string): void => {
    const owner = model.ownerOf(id);
    if (owner) found.set(ref, { id, owner, deletedAt: deletedAt(id) });
  };
  for (const { path, method, status, body } of history.exchanges) {
    if (method === 'POST' && path === '/payment-methods' && status < 300 && body?.provider_payment_method_id) {
      keep(body.id, body.provider_payment_method_id);
    }
  }
  for (const { id, providerMethodId } of recordsOf(history).methods) keep(id, providerMethodId);
  return found;
};

const mayPay = (model: Model, charge: Charge, method: SavedMethod): boolean => {
  const { payment, at: time } = charge;
  const { owner } = method;
  const { organizationId, userId, guestId } = payment;
  if (organizationId !== undefined) {
    if (owner.organizationId !== undefined) return owner.organizationId === organizationId;
    const from = time - UNDER_WAY_MS - SKEW_MS;
    return model.standing.rolesBetween({ userId: owner.userId ?? '', organizationId }, from, time + SKEW_MS).size > 0;
  }
  if (owner.organizationId !== undefined) return false;
  return userId === undefined ? owner.guestId === guestId : owner.userId === userId;
};

export const methodsPermitted: Oracle = {
  sentence: 'A saved method pays for its owner only, and not after its removal or the end of a membership',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    const [methods, byHand] = [savedMethods(history, model), paidByHand(history)];
    return chargesOf(history).flatMap((charge) => {
      const method = methods.get(charge.providerMethodId ?? '');
      const { id } = charge.payment;
      const isByHand = byHand.get(id)?.some((paidAt) => Math.abs(paidAt - charge.at) < UNDER_WAY_MS) ?? false;
      if (!method || isByHand) return [];
      if (charge.at > method.deletedAt + UNDER_WAY_MS)
        return [`${charge.id} charged ${method.id} for ${id} after its deletion`];
      return mayPay(model, charge, method) ? [] : [`${charge.id} charged ${method.id}, which may not pay for ${id}`];
    });
  },
};

interface Claim {
  readonly payment: HistoryItem;
  readonly claim: HistoryItem;
  /** The requests that may have caused the charge. */
  readonly requests: readonly HistoryExchange[];
}

/** True if the person could charge the payment at some moment between the request and its claim. */
const mayCharge = (model: Model, person: Person, { payment, claim, exchange, guests }: Backing): boolean => {
  const { organizationId, userId, guestId } = payment;
  if (person.kind === 'guest') return guestId !== undefined && guests.includes(guestId);
  if (organizationId === undefined) return person.userId === userId && userId !== undefined;
  const until = Math.min(exchange.answeredAt, at(claim['at']) + SKEW_MS);
  return mayManage(
    model.standing.rolesBetween({ userId: person.userId, organizationId }, exchange.sentAt - SKEW_MS, until),
  );
};

type Backing = Omit<Claim, 'requests'> & {
  readonly exchange: HistoryExchange;
  /** The guest_ids for which the request may act. */
  readonly guests: readonly string[];
};

/** The statuses of a refusal without any effect. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/** True if the person had lost the right when the response came, so the request was refused after its claim. */
const lostRight = (
  model: Model,
  person: Person,
  { payment, exchange }: Pick<Backing, 'payment' | 'exchange'>,
): boolean => {
  const { organizationId } = payment;
  const { answeredAt, status } = exchange;
  if (organizationId === undefined || status === 401) return false;
  return !mayManage(model.standing.rolesBetween({ userId: person.userId, organizationId }, answeredAt, answeredAt));
};

const isBacked = (history: History, { payment, claim, requests }: Claim): boolean => {
  const model = modelOf(history);
  const { type = '', id = '' } = actingPerson(claim['actor']) ?? {};
  const claimedAt = at(claim['at']);
  return requests.some((exchange) => {
    const person = model.person(exchange.person);
    if (!person || exchange.sentAt > claimedAt + SKEW_MS) return false;
    if (REFUSALS.has(exchange.status) && !lostRight(model, person, { payment, exchange })) return false;
    if (exchange.answeredAt + UNDER_WAY_MS + SKEW_MS < claimedAt) return false;
    const guests = guestsOf(history, exchange);
    const isSame = type === 'guest' ? guests.includes(id) : person.userId === id;
    return isSame && mayCharge(model, person, { payment, claim, exchange, guests });
  });
};

const CHARGES = /^\/(?:payments\/confirm\/([^/]+)|subscriptions(?:\/([^/]+)(?:\/(?:resume|reactivate|change))?)?)$/;

/** The charging requests by the id of their payment or subscription; '' for new subscriptions. */
const chargingRequests = (history: History): ReadonlyMap<string, readonly HistoryExchange[]> =>
  Map.groupBy(
    history.exchanges.filter(({ method, path }) => method !== 'GET' && CHARGES.test(path)),
    ({ path }) => {
      const [, payment, subscription] = CHARGES.exec(path) ?? [];
      return payment ?? subscription ?? '';
    },
  );

/** True if the response does not show whether the key was refused, such as after a lost connection. */
const isUndecided = ({ status }: HistoryExchange): boolean => status === 0 || status === 429 || status >= 500;

export const leakedKeysRefused: Oracle = {
  sentence: 'A service key that was revoked, or lacks the scope, is refused',
  atRestOnly: false,
  violations: ({ exchanges }) =>
    exchanges
      .filter(({ credential }) => credential === 'leaked key')
      .filter((one) => one.status !== 401 && one.status !== 403 && !isUndecided(one))
      .filter(({ answeredAt }) => Number.isFinite(answeredAt))
      .map(({ number, method, path, status }) => `answer ${number}: ${method} ${path} with such a key: ${status}`),
};

export const claimsPermitted: Oracle = {
  sentence: 'An attempt that a person has claimed was requested by a person who was allowed to charge',
  atRestOnly: false,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    const charging = chargingRequests(history);
    return payments.flatMap((payment) => {
      const { id, subscriptionId } = payment;
      const names = subscriptionId === undefined ? [id] : [id, subscriptionId, ''];
      const requests = names.flatMap((name) => charging.get(name) ?? []);
      return versionsOf(id)
        .filter(({ cause, actor }) => cause === 'claim' && ['user', 'guest'].includes(actingPerson(actor)?.type ?? ''))
        .filter((claim) => !isBacked(history, { payment, claim, requests }))
        .map((claim) => `${id} was charged by ${claim['actor'].type} ${claim['actor'].id}`);
    });
  },
};

/** A worker may only continue work started by its payer. */
export const chargedOnRequest: Oracle = {
  sentence:
    'A payment without a subscription is charged only after its payer has confirmed it, or paid it at the provider',
  atRestOnly: false,
  violations: (history) => {
    const { payment } = recordsOf(history);
    const byPayers = paidByPayers(history);
    const confirmed = chargingRequests(history);
    return history.ledger.charges.filter(isChargeTaken).flatMap(({ id, payment_id, created_at }) => {
      const charged = payment(payment_id ?? '');
      if (!charged || charged['subscriptionId'] !== undefined) return [];
      const isBefore = (time: number): boolean => time <= at(created_at) + SKEW_MS;
      const isConfirmed = (confirmed.get(payment_id) ?? []).some(
        ({ status, sentAt }) => !REFUSALS.has(status) && isBefore(sentAt),
      );
      const isPaid = (byPayers.get(payment_id) ?? []).some((paidAt) => isBefore(paidAt - UNDER_WAY_MS));
      return isConfirmed || isPaid ? [] : [`${id} charged ${payment_id} without a request`];
    });
  },
};
