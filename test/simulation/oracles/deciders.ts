/** @module Invariants about paying people of the merchant. */
import { type Decider, type Decision, decisionsOf } from '../model/decisions.ts';
import { SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryItem, Oracle } from '../model/history.ts';
import { type Model, modelOf } from '../model/owners.ts';
import { recordsOf } from '../model/records.ts';

/** True if the record's payer is the decider or the maker of the deciding key. */
const isPayer = ({ person }: Pick<Decider, 'person'>, { userId, guestEmail }: HistoryItem): boolean =>
  userId === person.userId || (guestEmail !== undefined && guestEmail === person.email);

/** True if the decider surely belonged to the paying organization at the decision. A key counts only as its owner. */
const surelyBelongs = ({ standing }: Model, { decider, record, from, to }: Decision): boolean => {
  const { organizationId } = record;
  if (organizationId === undefined) return false;
  const user = { userId: decider.person.userId, organizationId };
  const isBinding = !decider.byKey || standing.rolesBetween(user, from, to).has('owner');
  return isBinding && standing.isMemberThroughout(user, from, to);
};

export const othersDecide: Oracle = {
  sentence: 'No one decides on their own payment',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    return decisionsOf(history)
      .filter((decision) => isPayer(decision.decider, decision.record) || surelyBelongs(model, decision))
      .map(({ what, decider }) => `${what} was decided by ${decider.byKey ? 'a key of ' : ''}${decider.person.name}`);
  },
};

const NAMED = /^\/(?:payments|payments\/intents|subscriptions)\/([^/]+)\//;

/** The payment or subscription in the path. */
const recordNamed = (history: History, path: string): HistoryItem | undefined => {
  const id = NAMED.exec(path)?.[1];
  const { payment, subscriptions } = recordsOf(history);
  return id === undefined ? undefined : (payment(id) ?? subscriptions.find((one) => one['id'] === id));
};

export const onlyPayersRefused: Oracle = {
  sentence: 'Only those who pay are refused as payers, and a key only as the owner of what pays',
  atRestOnly: false,
  violations: (history) => {
    const { standing, person: personOf } = modelOf(history);
    return history.exchanges
      .filter(({ status, body }) => status === 403 && body?.details?.reason === 'own_payment')
      .flatMap(({ number, path, person: name, credential, sentAt, answeredAt }) => {
        const [person, record] = [personOf(name), recordNamed(history, path)];
        if (!person || !record) return [];
        const byKey = credential === 'merchant key';
        const { organizationId } = record;
        const roles =
          organizationId === undefined
            ? new Set<string>()
            : standing.rolesBetween({ userId: person.userId, organizationId }, sentAt - SKEW_MS, answeredAt);
        const belongs = byKey ? roles.has('owner') : roles.size > 0;
        return belongs || isPayer({ person }, record)
          ? []
          : [`answer ${number}: ${byKey ? 'a key of ' : ''}${name} is refused as a payer of ${record['id']}`];
      });
  },
};
