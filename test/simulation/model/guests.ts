/**
 * @module The guests for whom a request may act. A guest token names its guest_id; some tokens open only one record.
 * Without a general token for its e-mail, a create continues the guest_id of a named customer, method or address. That
 * record must be named by our id, have the same e-mail, come from the guest's network and be at most an hour old.
 */
import { earlierUnderKey, SKEW_MS } from './exchanges.ts';
import type { History, HistoryExchange, HistoryItem } from './history.ts';
import { CREATES, guestIdOf, guestOfExchange, guestOfToken } from './owners.ts';
import { at, recordsOf } from './records.ts';

const CONTINUE_MS = 3_600_000;

interface GuestRecord {
  readonly guestId: string;
  readonly email: string;
  /** The latest possible time of the record's creation, epoch ms. */
  readonly madeBy: number;
}

export const guestsOf = (history: History, exchange: HistoryExchange): readonly string[] => {
  const { path, method, sent, credential, guestId, guestRecord } = exchange;
  if (guestId !== undefined && guestRecord !== undefined && path.split('/').includes(guestRecord)) return [guestId];
  const email: string | undefined = sent?.guest_data?.email;
  const ofToken = guestOfExchange(exchange);
  if (ofToken !== undefined && (email === undefined || emailsOfTokens(history).get(ofToken) === email))
    return [ofToken];
  if (method !== 'POST' || !['none', 'guest token'].includes(credential) || !CREATES.test(path)) return [];
  return [exchange, ...earlierUnderKey(history, exchange)].flatMap((one) => continuedBy(history, one));
};

const NAMES = ['payment_method_id', 'provider_payment_method_token', 'customer_id', 'billing_address_id'] as const;

const continuedBy = (history: History, { sent, sentAt, network }: HistoryExchange): readonly string[] => {
  const email: string | undefined = sent?.guest_data?.email;
  const ids: readonly string[] = NAMES.flatMap((name) => sent?.[name] ?? []);
  return ids
    .flatMap((id) => recordsOfGuests(history).get(id) ?? [])
    .filter((record) => record.email === email && record.madeBy >= sentAt - CONTINUE_MS - SKEW_MS)
    .filter((record) => isNetworkOf(history, record, network))
    .map(({ guestId }) => guestId);
};

const emails = new WeakMap<History, ReadonlyMap<string, string>>();

/** The e-mail address per guest_id with an issued token. */
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

const networks = new WeakMap<History, ReadonlyMap<string, ReadonlySet<string>>>();

/** The networks of the first request of each guest_id, and of later requests with its token. */
const networksOf = (history: History): ReadonlyMap<string, ReadonlySet<string>> => {
  const known = networks.get(history) ?? readNetworks(history);
  networks.set(history, known);
  return known;
};

const readNetworks = ({ exchanges }: History): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>();
  for (const exchange of exchanges) {
    const ofToken = guestOfExchange(exchange);
    const made = guestIdOf(exchange.body?.guest_token);
    for (const guestId of [ofToken, ...(made !== undefined && !found.has(made) ? [made] : [])]) {
      if (guestId !== undefined) found.set(guestId, (found.get(guestId) ?? new Set()).add(exchange.network));
    }
  }
  return found;
};

/**
 * True if the network belongs to the guest_id. If no client received a token of the guest_id, its network is the
 * network of the guest with its e-mail.
 */
const isNetworkOf = (history: History, { guestId, email }: GuestRecord, network: string): boolean => {
  const known = networksOf(history).get(guestId);
  const guest = history.people.find((person) => person.kind === 'guest' && person.email === email);
  return known?.has(network) ?? (guest !== undefined && network.split(' ')[0] === guest.name);
};

const kept = new WeakMap<History, ReadonlyMap<string, GuestRecord>>();

/** The records by our id. A removed record is known from its creation. */
const recordsOfGuests = (history: History): ReadonlyMap<string, GuestRecord> => {
  const known = kept.get(history) ?? read(history);
  kept.set(history, known);
  return known;
};

const PROVES = /^\/(?:payment-methods|customers|addresses)$/;

/** Existing records take precedence, because they state their creation time. */
const read = (history: History): ReadonlyMap<string, GuestRecord> =>
  new Map([...history.exchanges.toReversed().flatMap(created), ...stored(history)]);

type Named = readonly [string, GuestRecord];

const created = (exchange: HistoryExchange): readonly Named[] => {
  const { method, path, status, body, sent, answeredAt } = exchange;
  const owner = guestIdOf(body?.guest_token) ?? guestOfExchange(exchange);
  const email: string | undefined = sent?.guest_data?.email;
  if (method !== 'POST' || !PROVES.test(path) || status !== 201 || !owner || !email) return [];
  return [[body.id, { guestId: owner, email, madeBy: answeredAt }]];
};

const stored = (history: History): readonly Named[] => {
  const { methods, customers, addresses } = recordsOf(history);
  return [...methods, ...customers, ...addresses].flatMap(({ id, guestId, guestEmail, createdAt }: HistoryItem) =>
    guestId && guestEmail ? [[id, { guestId, email: guestEmail, madeBy: at(createdAt) }] as const] : [],
  );
};
