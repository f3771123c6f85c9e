/**
 * @module The guests whom a request may speak for. A guest token names its guest_id. Without one, and with the token of
 * another e-mail, a create continues the guest_id of a customer, method or address that it names, by the same e-mail and
 * within an hour of the creation.
 */
import { firstUnderKey, SKEW_MS } from './exchanges.ts';
import type { History, HistoryExchange, HistoryItem } from './history.ts';
import { CREATES, guestIdOf, guestOfToken } from './owners.ts';
import { at, recordsOf } from './records.ts';

const CONTINUE_MS = 3_600_000;

interface GuestRecord {
  readonly guestId: string;
  readonly email: string;
  /** Epoch ms; the record is not newer. */
  readonly madeBy: number;
}

export const guestsOf = (history: History, exchange: HistoryExchange): readonly string[] => {
  const { path, method, sent, credential, guestId } = exchange;
  const email: string | undefined = sent?.guest_data?.email;
  if (guestId !== undefined && (email === undefined || emailsOfTokens(history).get(guestId) === email))
    return [guestId];
  if (method !== 'POST' || !['none', 'guest token'].includes(credential) || !CREATES.test(path)) return [];
  const since = firstUnderKey(history, exchange).sentAt - CONTINUE_MS - SKEW_MS;
  const ids: readonly string[] = NAMES.flatMap((name) => sent?.[name] ?? []);
  return ids
    .flatMap((id) => recordsOfGuests(history).get(id) ?? [])
    .filter((record) => record.email === email && record.madeBy >= since)
    .map(({ guestId }) => guestId);
};

const NAMES = ['payment_method_id', 'provider_payment_method_token', 'customer_id', 'billing_address_id'] as const;

const emails = new WeakMap<History, ReadonlyMap<string, string>>();

/** The e-mail address of each guest_id that a response has given a token for. */
const emailsOfTokens = (history: History): ReadonlyMap<string, string> => {
  const known =
    emails.get(history) ??
    new Map(
      history.exchanges
        .flatMap(({ body }) => guestOfToken(body?.guest_token) ?? [])
        .map(({ guest_id, email }) => [guest_id, email]),
    );
  emails.set(history, known);
  return known;
};

const kept = new WeakMap<History, ReadonlyMap<string, GuestRecord>>();

/** By our id, and a method also by the id of its provider. A removed record is known from its creation. */
const recordsOfGuests = (history: History): ReadonlyMap<string, GuestRecord> => {
  const known = kept.get(history) ?? read(history);
  kept.set(history, known);
  return known;
};

const PROVES = /^\/(?:payment-methods|customers|addresses)$/;

/** The records that exist win, because they state the time of their creation. */
const read = (history: History): ReadonlyMap<string, GuestRecord> =>
  new Map([...history.exchanges.toReversed().flatMap(created), ...stored(history)]);

type Named = readonly [string, GuestRecord];

const created = ({ method, path, status, body, sent, guestId, answeredAt }: HistoryExchange): readonly Named[] => {
  const owner = guestIdOf(body?.guest_token) ?? guestId;
  const email: string | undefined = sent?.guest_data?.email;
  if (method !== 'POST' || !PROVES.test(path) || status !== 201 || !owner || !email) return [];
  return named([body.id, body.provider_payment_method_id], { guestId: owner, email, madeBy: answeredAt });
};

const stored = (history: History): readonly Named[] => {
  const { methods, customers, addresses } = recordsOf(history);
  return [...methods, ...customers, ...addresses].flatMap(
    ({ id, providerMethodId, guestId, guestEmail, createdAt }: HistoryItem) =>
      guestId && guestEmail ? named([id, providerMethodId], { guestId, email: guestEmail, madeBy: at(createdAt) }) : [],
  );
};

const named = (ids: readonly (string | undefined)[], record: GuestRecord): readonly Named[] =>
  ids.flatMap((id) => (id === undefined ? [] : [[id, record] as const]));
