/** @module Invariants about charges after a cancellation, a pause, a deletion or an erasure. */
import { paidByHand, paidByPayers } from '../model/acts.ts';
import { erasuresOf, isErasedBy } from '../model/erasures.ts';
import { firstUnderKey, isCarriedOut, UNDER_WAY_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, HistoryItem, Oracle } from '../model/history.ts';
import { actsOnSubscriptions, COLLECTING } from '../model/outside.ts';
import { modelOf } from '../model/owners.ts';
import { at, isChargeTaken, recordsOf } from '../model/records.ts';

interface Charge {
  readonly id: string;
  readonly at: number;
  readonly paymentId: string;
  readonly payment: HistoryItem | undefined;
}

/** The charges by the id of their payment, subscription or organization. */
type Charges = ReadonlyMap<string, readonly Charge[]>;

const chargesOf = (history: History): Charges => {
  const { payment } = recordsOf(history);
  const found = new Map<string, Charge[]>();
  for (const { id, payment_id, created_at } of history.ledger.charges.filter(isChargeTaken)) {
    const of = payment(payment_id ?? '');
    const charge = { id, at: at(created_at), paymentId: payment_id, payment: of };
    for (const key of [payment_id, of?.['subscriptionId'], of?.['organizationId']]) {
      if (key) found.set(key, [...(found.get(key) ?? []), charge]);
    }
  }
  return found;
};

/** The time during which a request's function may have run. A later ending also ends the results of the request. */
interface Running {
  readonly sentAt: number;
  readonly until: number;
}

/** The times at which people asked to continue a subscription or retry a payment, by its id. */
const goesOnOf = ({ exchanges }: History): ReadonlyMap<string, readonly Running[]> => {
  const found = new Map<string, Running[]>();
  for (const { path, status, sentAt, answeredAt } of exchanges) {
    const [, , one, other] =
      /^\/(payments\/confirm\/([^/]+)|subscriptions\/([^/]+)\/(?:reactivate|resume))$/.exec(path) ?? [];
    const id = one ?? other;
    if (id === undefined || (status >= 400 && status < 500)) continue;
    const until = status === 0 ? sentAt + UNDER_WAY_MS : answeredAt;
    found.set(id, [...(found.get(id) ?? []), { sentAt, until }]);
  }
  return found;
};

interface Ending {
  /** The record that has ended. */
  readonly id: string;
  /** The time of the end, after which nothing is charged. Times are epoch ms. */
  readonly at: number;
  /** The time of the request that ended the record. A request to continue that ran after this time permits a charge. */
  readonly sentAt: number;
}

type GoesOn = ReturnType<typeof goesOnOf>;

const isAskedFor = (goesOn: GoesOn, charge: Charge, since: number): boolean =>
  [charge.paymentId, charge.payment?.['subscriptionId']].some((id) =>
    (goesOn.get(id) ?? []).some(({ sentAt, until }) => until >= since && sentAt <= charge.at),
  );

interface Late {
  readonly charges: Charges;
  readonly goesOn: GoesOn;
  readonly byHand: ReturnType<typeof paidByHand>;
}

const lateOf = (history: History): Late => ({
  charges: chargesOf(history),
  goesOn: goesOnOf(history),
  byHand: paidByHand(history),
});

/** The charges by the service. An invoice paid by hand at the provider does not count. */
const lateCharges = ({ charges, goesOn, byHand }: Late, ending: Ending): readonly Charge[] =>
  (charges.get(ending.id) ?? []).filter(
    (charge) =>
      charge.at > ending.at + UNDER_WAY_MS && !isAskedFor(goesOn, charge, ending.sentAt) && !isByPayer(byHand, charge),
  );

/** The records whose end this kind of response reports. */
const endingsBy = (history: History, route: RegExp, isEnd: (exchange: HistoryExchange) => boolean): Ending[] => {
  return history.exchanges.flatMap((exchange) => {
    const id = route.exec(exchange.path)?.[1];
    if (id === undefined || !isCarriedOut(exchange) || !isEnd(exchange)) return [];
    return [{ id, at: exchange.answeredAt, sentAt: firstUnderKey(history, exchange).sentAt }];
  });
};

export const nothingAfterCancel: Oracle = {
  sentence: 'A canceled payment or subscription is no longer charged',
  atRestOnly: false,
  violations: (history) => {
    const late = lateOf(history);
    const route = /^\/(?:payments\/intents|subscriptions)\/([^/]+)\/cancel$/;
    return endingsBy(history, route, ({ body }) => body?.status === 'canceled').flatMap((ending) =>
      lateCharges(late, ending).map(({ id }) => `${id} charged ${ending.id} after its cancellation`),
    );
  },
};

export const nothingWhilePaused: Oracle = {
  sentence: 'A paused subscription is not charged before it is resumed',
  atRestOnly: false,
  violations: (history) => {
    const [late, acts] = [lateOf(history), actsOnSubscriptions(history)];
    const isResumedThere = (id: string, since: number, until: number): boolean =>
      (acts.get(id) ?? []).some((act) => act.name === COLLECTING && act.at >= since && act.at <= until);
    const route = /^\/subscriptions\/([^/]+)\/pause$/;
    return endingsBy(history, route, ({ body }) => body?.status === 'paused').flatMap((ending) =>
      lateCharges(late, ending)
        .filter((charge) => !isResumedThere(ending.id, ending.sentAt, charge.at))
        .map(({ id }) => `${id} charged ${ending.id} in its pause`),
    );
  },
};

/** True if the payer paid at the provider with credentials from before the end. */
const isByPayer = (byPayers: ReturnType<typeof paidByPayers>, charge: Charge): boolean =>
  (byPayers.get(charge.paymentId) ?? []).some((paidAt) => Math.abs(charge.at - paidAt) < UNDER_WAY_MS);

const isDeletion = ({ method }: HistoryExchange): boolean => method === 'DELETE';

/**
 * A deleted customer has no method left. Its payments can be paid with another method; its subscriptions have ended.
 * An organization's subscription on a member's own customer continues with another customer's method.
 */
export const nothingAfterDeletion: Oracle = {
  sentence: 'After its deletion, no payment of an organization and no subscription of a customer is charged',
  atRestOnly: false,
  violations: (history) => {
    const [late, byPayers] = [lateOf(history), paidByPayers(history)];
    const organizations = endingsBy(history, /^\/organizations\/([^/]+)$/, isDeletion).flatMap((ending) =>
      (late.charges.get(ending.id) ?? [])
        .filter((charge) => charge.at > ending.at + UNDER_WAY_MS && !isByPayer(byPayers, charge))
        .map(({ id }) => `${id} charged ${ending.id} after its deletion`),
    );
    const subscriptions = Map.groupBy(recordsOf(history).subscriptions, ({ customerId }) => String(customerId));
    const { ownerOf } = modelOf(history);
    const customers = endingsBy(history, /^\/customers\/([^/]+)$/, isDeletion).flatMap((ending) =>
      (subscriptions.get(ending.id) ?? [])
        .filter(({ organizationId }) => organizationId === undefined || ownerOf(ending.id)?.userId === undefined)
        .flatMap(({ id }) => lateCharges(late, { ...ending, id }))
        .map(({ id }) => `${id} charged ${ending.id} after its deletion`),
    );
    return [...organizations, ...customers];
  },
};

/** A guest's e-mail address at the creation of a record. An erasure removes the address from the record. */
const guestsOf = ({ exchanges, people }: History): ReadonlyMap<string, string> => {
  const emails = new Map(people.map(({ name, email }) => [name, email]));
  return new Map(
    exchanges
      .filter(({ credential, body }) => !['session', 'key'].includes(credential) && typeof body?.id === 'string')
      .map(({ body, sent, person }) => [body.id, sent?.guest_data?.email ?? emails.get(person)]),
  );
};

const hasFailed = (versions: readonly HistoryItem[]): boolean => versions.some(({ status }) => status === 'failed');

export const nothingAfterErasure: Oracle = {
  sentence: 'No payment of an erased person from before is charged after the erasure is done',
  atRestOnly: false,
  violations: (history) => {
    const [late, byPayers, guests] = [lateOf(history), paidByPayers(history), guestsOf(history)];
    const { payments, subscriptions, versionsOf } = recordsOf(history);
    const madeAt = new Map(subscriptions.map(({ id, createdAt }) => [id, at(createdAt)]));
    return erasuresOf(history).flatMap((erasure) => {
      const { doneAt } = erasure;
      const guestOf = ({ id, subscriptionId }: HistoryItem) => guests.get(id) ?? guests.get(subscriptionId);
      return (
        payments
          .filter((payment) => isErasedBy(erasure, { ...payment, guestEmail: guestOf(payment) }))
          .filter(({ createdAt, subscriptionId }) => (madeAt.get(subscriptionId) ?? at(createdAt)) < doneAt)
          .flatMap(({ id }) => lateCharges(late, { id, at: doneAt, sentAt: doneAt }))
          // An erasure also cancels an open payment at the provider, but a failed payment can still be paid at the
          // provider.
          .filter((charge) => !(isByPayer(byPayers, charge) && hasFailed(versionsOf(charge.paymentId))))
          .map(
            ({ id, paymentId }) => `${id} charged ${paymentId} after the erasure of ${erasure.userId ?? erasure.email}`,
          )
      );
    });
  },
};
