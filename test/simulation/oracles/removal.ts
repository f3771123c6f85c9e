/** @module Invariants about deleted and erased records. */
import { gunzipSync } from 'node:zlib';
import { erasuresOf } from '../model/erasures.ts';
import { attachedMethods, isCarriedOut, UNDER_WAY_MS } from '../model/exchanges.ts';
import type { History, HistoryJson, Oracle } from '../model/history.ts';
import { at, recordsOf } from '../model/records.ts';

export const nothingLeftAtProvider: Oracle = {
  sentence: 'At rest nothing that was deleted here is left at its provider',
  atRestOnly: true,
  violations: (history) => {
    const { methods, customers } = recordsOf(history);
    const held = new Map(methods.map((one) => [`${one['providerId']} ${one['providerMethodId']}`, one]));
    const keptCustomers = new Set(customers.map((one) => `${one['providerId']} ${one['providerCustomerId']}`));
    const deleted = deletedIds(history);
    const attached = attachedMethods(history);
    const living = new Set(
      history.ledger.customers.filter((one) => !one.deleted).map(({ provider, id }) => `${provider} ${id}`),
    );
    return deleted.flatMap(({ id, method, customer }) => [
      ...(method && attached.has(method) && !held.has(method) ? [`${method} of ${id} is still attached`] : []),
      ...(customer && living.has(customer) && !keptCustomers.has(customer)
        ? [`${customer} of ${id} still exists`]
        : []),
    ]);
  },
};

interface Deleted {
  readonly id: string;
  readonly method?: string;
  readonly customer?: string;
}

/** The records of acknowledged DELETE requests, with their provider ids from responses. */
const deletedIds = (history: History): readonly Deleted[] => {
  const shown = new Map<string, Deleted>();
  const learn = (record: HistoryJson): void => {
    const { id, provider_id, provider_payment_method_id, provider_customer_id } = record ?? {};
    if (provider_payment_method_id) shown.set(id, { id, method: `${provider_id} ${provider_payment_method_id}` });
    // PayPal has no customers.
    else if (provider_customer_id && provider_id !== 'provider_b')
      shown.set(id, { id, customer: `${provider_id} ${provider_customer_id}` });
  };
  for (const { path, body } of history.exchanges) {
    if (/^\/(payment-methods|customers)(\/|$)/.test(path)) for (const record of [body].flat()) learn(record);
  }
  return history.exchanges
    .filter(({ method, status }) => method === 'DELETE' && status === 204)
    .flatMap(({ path }) => shown.get(path.split('/').at(-1) ?? '') ?? []);
};

export const organizationsGone: Oracle = {
  sentence: 'At rest nothing of a deleted organization is left but its payments',
  atRestOnly: true,
  violations: (history) => {
    const records = recordsOf(history);
    const deleted = history.exchanges
      .filter((one) => one.method === 'DELETE' && isCarriedOut(one) && /^\/organizations\/[^/]+$/.test(one.path))
      .map(({ path }) => path.split('/').at(-1));
    const { organizations, members, customers, methods, subscriptions, addresses } = records;
    const left = [...members, ...customers, ...methods, ...subscriptions, ...addresses]
      .filter(({ organizationId }) => deleted.includes(organizationId))
      .map(({ id, organizationId }) => `${id} of ${organizationId}`);
    return [...organizations.filter(({ id }) => deleted.includes(id)).map(({ id }) => `${id} itself`), ...left];
  },
};

const MINUTE_MS = 60_000;

/** Checks only events from before the erasure, because later events may be about a returned person. */
export const erasedEventsAreNameless: Oracle = {
  sentence: 'At rest an event of an erased record that a provider sent before the erasure does not name the person',
  atRestOnly: true,
  violations: (history) => {
    const done = erasuresOf(history).filter(({ doneAt }) => Number.isFinite(doneAt));
    const names = history.people
      .filter(({ email }) => done.some((one) => one.email === email))
      .flatMap(({ email, name }) => [`"${email}"`, `"name":"${name}"`]);
    if (names.length === 0) return [];
    const erased = history.items
      .filter(({ sk, sort }) => sk === 'GONE' && typeof sort === 'string')
      .map(({ pk, sort }) => ({ id: String(pk).slice('GONE#'.length), markedAt: at(sort.split('#')[0]) }));
    return history.items
      .filter(({ sk, raw, isBlanked }) => sk === 'EVT' && raw instanceof Uint8Array && isBlanked !== true)
      .flatMap(({ pk, raw, receivedAt }) => {
        const text = gunzipSync(raw).toString('utf8');
        const isErased = erased.some(
          ({ id, markedAt }) => at(receivedAt) < markedAt - MINUTE_MS && text.includes(`"${id}"`),
        );
        return isErased ? names.filter((name) => text.includes(name)).map((name) => `${pk} holds ${name}`) : [];
      });
  },
};

export const erasedIsGone: Oracle = {
  sentence: 'At rest no saved method, customer, address or live subscription of an erased person is left from before',
  atRestOnly: true,
  violations: (history) => {
    const { methods, customers, subscriptions, addresses } = recordsOf(history);
    return history.exchanges
      .filter((one) => one.path === '/admin/erasures' && one.status === 202)
      .flatMap(({ sent, sentAt }) => {
        const isTheirs = ({ userId, organizationId, createdAt }: HistoryJson): boolean =>
          sent.user_id !== undefined &&
          userId === sent.user_id &&
          organizationId === undefined &&
          at(createdAt) < sentAt - UNDER_WAY_MS;
        const living = subscriptions.filter(({ status }) => !['canceled', 'declined'].includes(status));
        return [...methods, ...customers, ...addresses, ...living]
          .filter(isTheirs)
          .map(({ id }) => `${id} of ${sent.user_id}`);
      });
  },
};
