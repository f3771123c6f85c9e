/** @module The owners of records, as the table and the responses show them. Every invariant about rights uses them. */
import { organizationAsked } from './exchanges.ts';
import type { History, HistoryExchange, HistoryItem, HistoryJson, Person } from './history.ts';
import { ownerOf, type RecordOwner, recordsOf } from './records.ts';
import { type ModelStanding, modelStanding } from './standing.ts';

export interface OwnerAndProject extends RecordOwner {
  readonly projectId?: string | undefined;
}

export interface Model {
  readonly standing: ModelStanding;
  /** The owner for our id, or for a provider's id of a payment or method. */
  readonly ownerOf: (id: string) => OwnerAndProject | undefined;
  readonly person: (name: string) => Person | undefined;
  /** The owner of the project, who sells through the project. */
  readonly sellerOf: (projectId: string) => string | undefined;
}

const kept = new WeakMap<History, Model>();

export const modelOf = (history: History): Model => {
  const known = kept.get(history) ?? made(history);
  kept.set(history, known);
  return known;
};

const made = (history: History): Model => {
  const owners = ownersOf(history);
  const people = new Map(history.people.map((person) => [person.name, person]));
  const sellers = new Map(
    history.items.filter(({ sk }) => sk === 'PROJECT').map((item) => [String(item['id']), item['owner_user_id']]),
  );
  return {
    standing: modelStanding(history),
    ownerOf: (id) => owners.get(id),
    person: (name) => people.get(name),
    sellerOf: (projectId) => sellers.get(projectId),
  };
};

const ownersOf = (history: History): ReadonlyMap<string, OwnerAndProject> => {
  const found = new Map<string, OwnerAndProject>();
  const records = recordsOf(history);
  const { methods, customers, payments, subscriptions, organizations, addresses } = records;
  for (const exchange of history.exchanges) learnOwner(exchange, { found, people: history.people });
  for (const item of [...methods, ...customers, ...payments, ...subscriptions, ...addresses]) {
    const owner = { ...ownerOf(item), projectId: item['projectId'] };
    for (const id of namesOf(item)) found.set(id, owner);
  }
  for (const { id } of organizations) found.set(id, { organizationId: id });
  for (const { id, paymentId } of [...records.refunds, ...records.disputes]) {
    const owner = found.get(paymentId);
    if (owner) found.set(id, owner);
  }
  for (const exchange of history.exchanges) learnLogged(exchange, found);
  for (const item of history.items) if (item['sk'] === 'LOG') found.set(item['id'], ownerOf(item));
  return found;
};

const OURS = /\b(?:pay|pmt|cust|subs|ref|dsp|org)_[0-9a-f]{24}\b/g;

/**
 * Learns the owner of each listed log entry, because the entry may expire. The owner is the owner of the entry's
 * record.
 */
const learnLogged = ({ path, status, body }: HistoryExchange, found: Map<string, OwnerAndProject>): void => {
  if (path !== '/webhooks/logs' || status !== 200) return;
  for (const { id, payload } of body?.data ?? body) {
    const named = JSON.stringify(payload ?? null).match(OURS) ?? [];
    const owner = named.map((one) => found.get(one)).find((one) => one !== undefined);
    if (owner) found.set(id, owner);
  }
};

const namesOf = ({ id, providerMethodId, providerIntentId, providerPaymentId }: HistoryItem): readonly string[] =>
  [id, providerMethodId, providerIntentId, providerPaymentId].filter((name) => typeof name === 'string');

interface Learning {
  readonly found: Map<string, OwnerAndProject>;
  readonly people: readonly Person[];
}

export const CREATES = /^\/(payments(\/intents)?|payment-methods|customers|subscriptions|organizations|addresses)$/;

/**
 * Learns the owner of a record from the response to its creation and from the owner's own lists. No other source names
 * the owner of a removed record.
 */
const learnOwner = (exchange: HistoryExchange, learning: Learning): void => {
  const { method, path, status } = exchange;
  if (!CREATES.test(path) || (status !== 200 && status !== 201)) return;
  if (method === 'POST') learnCreated(exchange, learning);
  if (method === 'GET') learnListed(exchange, learning);
};

const learnCreated = (exchange: HistoryExchange, { found, people }: Learning): void => {
  const { path, body, person } = exchange;
  const record = body?.data ?? body;
  if (record?.id === undefined) return;
  if (path === '/organizations') return void found.set(record.id, { organizationId: record.id });
  const userId = people.find(({ name }) => name === person)?.userId || undefined;
  const organizationId: string | undefined = record.organization_id ?? undefined;
  const guest = guestIdOf(record.guest_token) ?? guestOfExchange(exchange);
  // The response to a repeated create from another network contains no token, so the known owner stays.
  if (userId === undefined && guest === undefined && found.has(record.id)) return;
  const isPersonal = organizationId === undefined || path.startsWith('/payments') || path === '/subscriptions';
  const projectId = record.project_id ?? undefined;
  const owner = { organizationId, projectId, ...(isPersonal && (userId ? { userId } : { guestId: guest })) };
  for (const id of [record.id, record.provider_payment_method_id]) if (id) found.set(id, owner);
};

const learnListed = (exchange: HistoryExchange, { found, people }: Learning): void => {
  const { path, body, query } = exchange;
  const { userId, kind } = people.find(({ name }) => name === exchange.person) ?? {};
  const isOfOthers = organizationAsked(exchange) !== undefined || query['project_id'] !== undefined;
  const records: HistoryJson = body?.data ?? body;
  if (!kind || kind === 'guest' || isOfOthers || path === '/organizations' || !Array.isArray(records)) return;
  for (const { id, organization_id, project_id } of records) {
    if (found.has(id) || organization_id) continue;
    found.set(id, { userId, projectId: project_id ?? undefined });
  }
};

interface GuestOfToken {
  readonly guest_id: string;
  readonly email: string;
  /** The only record that the token opens. */
  readonly record?: string;
}

export const guestOfToken = (token: string | undefined): GuestOfToken | undefined =>
  token === undefined ? undefined : JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** The guest of the sent token, unless the token opens one record only. */
export const guestOfExchange = ({ guestId, guestRecord }: HistoryExchange): string | undefined =>
  guestRecord === undefined ? guestId : undefined;

export const guestIdOf = (token: string | undefined): string | undefined => guestOfToken(token)?.guest_id;
