/** @module Rights to read records. The people of the merchant may read all records. */
import { earlierUnderKey, firstUnderKey, organizationAsked, SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, HistoryJson, Oracle, Person } from '../model/history.ts';
import { isOfMerchant } from '../model/merchants.ts';
import { CREATES, guestIdOf, type Model, modelOf, type OwnerAndProject } from '../model/owners.ts';

/** The maximum age of a cached membership that a read may use. */
const CACHE_MS = 300_000;

const RECORD = /^(pay|pmt|cust|subs|addr|ref|dsp|org|log)_[0-9a-f]{24}$/;

interface Reader {
  readonly person: Person;
  readonly exchange: HistoryExchange;
  /** The record of the path; undefined for a list. */
  readonly recordId?: string;
}

const mayRead = ({ standing }: Model, { person, exchange, recordId }: Reader, owner: OwnerAndProject): boolean => {
  if (person.kind === 'guest') return owner.guestId !== undefined && opens(exchange, owner.guestId, recordId ?? '');
  if (owner.userId === person.userId) return true;
  const { organizationId } = owner;
  if (organizationId === undefined) return false;
  if (isFounderOf(exchange, person, organizationId)) return true;
  const from = exchange.sentAt - CACHE_MS - SKEW_MS;
  return standing.rolesBetween({ userId: person.userId, organizationId }, from, exchange.answeredAt).size > 0;
};

/** The ids of a payment's refunds and disputes. */
const BESIDE = /^(?:ref|dsp)_/;

/** True if the sent token, or the token from this create, opens the record. Some tokens open one record only. */
const opens = ({ guestId, guestRecord, path, body }: HistoryExchange, owner: string, id: string): boolean => {
  if (guestIdOf(body?.guest_token) === owner) return true;
  if (guestId !== owner) return false;
  const isOfPath = BESIDE.test(id) && path.split('/').includes(guestRecord ?? '');
  return guestRecord === undefined || guestRecord === id || isOfPath;
};

/** True for a repeat under a guest's key. It shows the guest's record again, and gives no token to another network. */
const isRepeat = (history: History, exchange: HistoryExchange): boolean =>
  CREATES.test(exchange.path) &&
  exchange.body?.guest_token === undefined &&
  earlierUnderKey(history, exchange).some(({ guestRecord, network }) => !guestRecord && network !== exchange.network);

/** True if the response names the person as the organization's owner, in case its creation got no response. */
const isFounderOf = ({ body }: HistoryExchange, { userId }: Person, organizationId: string): boolean =>
  recordsIn(body).some((record) => record.id === organizationId && record.owner_user_id === userId);

/** Every record within the response. */
const recordsIn = (value: HistoryJson): readonly HistoryJson[] => {
  if (typeof value === 'string') return paymentsInTable(value);
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(recordsIn);
  return typeof value.id === 'string' && RECORD.test(value.id) ? [value, ...nested] : nested;
};

/** The payments in a CSV list, by the first column. Other columns contain related records. */
const paymentsInTable = (text: string): readonly HistoryJson[] =>
  text.startsWith('id,') ? (text.match(/^pay_[0-9a-f]{24}/gm) ?? []).map((id) => ({ id })) : [];

const FEW_FIELDS = new Set([
  ...['id', 'status', 'amount_cents', 'total_cents', 'currency', 'description', 'is_guest_payment', 'created_at'],
  ...['completed_at', 'billing_interval', 'current_period_end', 'cancel_at_period_end', 'is_guest_subscription'],
  ...['guest_email', 'provider_id', 'subtotal_cents', 'tax_cents', 'discount_cents', 'updated_at'],
  ...['interval_multiplier', 'next_billing_date'],
]);

const isOfGuestList = ({ path }: HistoryExchange, record: HistoryJson): boolean =>
  /^\/(payments|subscriptions)\/guest\//.test(path) && Object.keys(record).every((field) => FEW_FIELDS.has(field));

/** True if a guest repeats a create under its key after the record's erasure, so the record names no guest. */
const isErasedSince = (history: History, exchange: HistoryExchange, record: HistoryJson): boolean =>
  CREATES.test(exchange.path) &&
  firstUnderKey(history, exchange) !== exchange &&
  record.is_guest_payment === true &&
  record.guest_email === null;

/** Lists and sums that accept an organization as a filter. */
const OF_AN_OWNER =
  /^\/(?:payments|payments\/summary|payment-methods|customers|subscriptions|addresses|webhooks\/logs)$/;
const OF_A_PROJECT = /^\/(?:payments|subscriptions)$/;
const OF_EVERYBODY = /^\/(?:admin\/.+|refunds|disputes)$/;

export const answersPermitted: Oracle = {
  sentence: 'No response shows a record that its reader may not read',
  atRestOnly: false,
  violations: (history) => {
    const model = modelOf(history);
    return history.exchanges.flatMap((exchange) => {
      const person = model.person(exchange.person);
      if (exchange.status < 200 || exchange.status >= 300 || !person || isOfMerchant(person)) return [];
      const answer = `answer ${exchange.number} (${exchange.method} ${exchange.path})`;
      const refusal = exchange.method === 'GET' ? refusalOfPath(model, { person, exchange }) : undefined;
      if (refusal !== undefined) return [`${answer} is given to ${person.name}, ${refusal}`];
      return recordsIn(exchange.body).flatMap((record) => {
        if (showsSellersView(model, person, record)) return [`${answer} shows ${person.name} more than buyers see`];
        const owner = model.ownerOf(record.id);
        const isShown =
          !owner ||
          isOfGuestList(exchange, record) ||
          isErasedSince(history, exchange, record) ||
          isRepeat(history, exchange) ||
          isSold(model, { person, exchange }, owner);
        return isShown || mayRead(model, { person, exchange, recordId: record.id }, owner)
          ? []
          : [`${answer} shows ${record.id} to ${person.name}`];
      });
    });
  },
};

/** The reason why the person must get nothing for this path and query, whatever the response contains. */
const refusalOfPath = (model: Model, reader: Reader): string | undefined => {
  const { person, exchange } = reader;
  const { path, query } = exchange;
  if (OF_EVERYBODY.test(path)) return 'who is no platform admin';
  const organizationId = OF_AN_OWNER.test(path) ? organizationAsked(exchange) : undefined;
  if (organizationId !== undefined && !mayRead(model, reader, { organizationId }))
    return `who is not in ${organizationId}`;
  const projectId = OF_A_PROJECT.test(path) ? query['project_id'] : undefined;
  // Guests filter their own lists by any project.
  const isSellers = projectId !== undefined && person.kind === 'user';
  if (isSellers && model.sellerOf(projectId) !== person.userId) return `who does not sell through ${projectId}`;
  if (path === '/memberships') return refusalOfMemberships(model, reader);
  const named = path.split('/').find((part) => RECORD.test(part));
  const owner = named === undefined ? undefined : model.ownerOf(named);
  return owner && named && !mayRead(model, { ...reader, recordId: named }, owner)
    ? `who may not read ${named}`
    : undefined;
};

const refusalOfMemberships = (model: Model, reader: Reader): string | undefined => {
  const { entity_type: type, entity_id: entity } = reader.exchange.query;
  const owner = type === 'organization' ? { organizationId: entity } : { userId: entity };
  return mayRead(model, reader, owner) ? undefined : `who may not read the memberships of ${entity}`;
};

/** True if the person sells through the project, and so sees all buyers' records in the project's lists. */
const isSold = (model: Model, { person, exchange }: Reader, { projectId }: OwnerAndProject): boolean =>
  projectId !== undefined &&
  OF_A_PROJECT.test(exchange.path) &&
  exchange.query['project_id'] === projectId &&
  model.sellerOf(projectId) === person.userId;

/** The simulation's products belong to no organization, so only platform admins see all their fields. */
const showsSellersView = (model: Model, { userId }: Person, { project, product }: HistoryJson): boolean =>
  (project && 'billing_email' in project && model.sellerOf(project.id) !== userId) ||
  (product && 'provider_refs' in product) ||
  false;
