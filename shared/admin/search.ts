/**
 * @module Searches records for the merchant by our id, a provider's id, an e-mail address, a card's last four
 * digits, or a reference code. The form of the text selects the lookups. Each lookup reads one key, or the newest
 * records of one list.
 */

import * as z from 'zod';
import { mayAsMerchant } from '../access/caller.ts';
import { type IdKind, isIdOf } from '../core/ids.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import { boundedText, emailSchema } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { membershipRecord } from '../memberships/membership.ts';
import { disputeIdOf } from '../payments/dispute.ts';
import { findAliasAnywhere } from '../platform/alias.ts';
import {
  guestEntriesPartition,
  guestPartition,
  type HistoricKind,
  type Key,
  organizationKey,
  ownerPartition,
  recordKey,
  userEntriesPartition,
} from '../platform/keys.ts';
import { listRows } from '../platform/listing.ts';
import type { Table } from '../platform/table.ts';
import { customersByEmail } from '../queries/customer-emails.ts';
import { entriesWithWord, LAST_FOUR } from './entry-sources.ts';
import { type EveryDeps, idIn, isEmail } from './every-list.ts';
import { hitsIn, type SearchHit, userHit } from './search-hits.ts';

export const searchQuery = z.object({
  q: boundedText(255)
    .trim()
    .min(1)
    .meta({
      description: `A whole value: our id, a provider's id, the id or e-mail address of a user, the e-mail address of a guest, the last four
        digits of a card or bank account, or a reference code.`,
      examples: ['4242'],
    }),
});
type SearchQuery = z.output<typeof searchQuery>;

const MAX_HITS = 50;

export const search = async (
  deps: EveryDeps,
  { query: { q }, caller }: ApiRequest<unknown, SearchQuery>,
): Promise<Reply> => {
  const found = await lookUp(deps, q);
  const hits = await hitsIn(deps.table, await deps.table.getMany(found.keys), (scope) => mayAsMerchant(caller, scope));
  const users = found.user ? [userHit(found.user, hits)] : [];
  const all = [...users, ...hits];
  return { data: all.slice(0, MAX_HITS), meta: { truncated: found.isCut || all.length > MAX_HITS } };
};

interface Found {
  readonly keys: readonly Key[];
  /** True if further records may exist. */
  readonly isCut: boolean;
  readonly user?: Pick<SearchHit, 'id'> & { readonly email?: string };
}

const only = (keys: readonly Key[]): Found => ({ keys, isCut: false });

const lookUp = async (deps: EveryDeps, q: string): Promise<Found> => {
  if (isEmail(q)) return byEmail(deps, emailSchema.parse(q));
  if (LAST_FOUR.test(q)) return withWord(deps, q);
  const ours = KEY_OF.find(([kind]) => isIdOf(kind, q));
  if (ours) return only([ours[1](q)]);
  if (isIdOf('membership', q)) return byMembership(deps.table, q);
  const [named, person] = await Promise.all([byProviderId(deps.table, q), byUserId(deps.table, q)]);
  if (named.length > 0) return only(named);
  return person.keys.length > 0 ? { ...person, user: { id: q } } : withWord(deps, q);
};

/** The kinds of records with a lookup by our id. */
const KEY_OF: readonly (readonly [IdKind, (id: string) => Key])[] = [
  ['payment', (id) => recordKey('PAY', id)],
  ['refund', (id) => recordKey('RFD', id)],
  ['dispute', (id) => recordKey('DSP', id)],
  ['subscription', (id) => recordKey('SUB', id)],
  ['customer', (id) => recordKey('CUS', id)],
  ['payment_method', (id) => recordKey('PM', id)],
  ['organization', organizationKey],
];

/** The subscription of a membership, because a membership is shown as its subscription. */
const byMembership = async (table: Table, id: string): Promise<Found> => {
  const item = await table.get(membershipRecord.key(id));
  const membership = item && membershipRecord.parse(item);
  return only(membership ? [recordKey('SUB', membership.subscriptionId)] : []);
};

/**
 * The keys of the records with this id at a provider. A dispute has no alias, because our id derives from the
 * provider's id.
 */
const byProviderId = async (table: Table, q: string): Promise<readonly Key[]> => {
  const disputes = PROVIDER_SLOTS.map((slot) => recordKey('DSP', disputeIdOf(slot, q)));
  const [alias, items] = await Promise.all([findAliasAnywhere(table, PROVIDER_SLOTS, q), table.getMany(disputes)]);
  return [...(alias ? [recordKey(alias.kind, alias.id)] : []), ...disputes.filter((_, index) => items[index])];
};

const byUserId = (table: Table, userId: string): Promise<Found> =>
  ofPerson(table, (kind) => userEntriesPartition(kind, userId), ownerPartition({ kind: 'user', userId }, 'CUS'));

const byEmail = async ({ table, identity }: EveryDeps, email: string): Promise<Found> => {
  const user = await identity.userByEmail(email);
  const parts = await Promise.all([
    byCustomersEmail(table, email),
    ofPerson(table, (kind) => guestEntriesPartition(kind, email), guestPartition(email, 'CUS')),
    ...(user ? [byUserId(table, user.id)] : []),
  ]);
  return {
    keys: distinct(parts.flatMap(({ keys }) => keys)),
    isCut: parts.some(({ isCut }) => isCut),
    ...(user && { user: { id: user.id, email } }),
  };
};

/** The customers with this e-mail address. A customer's e-mail address may differ from its user's address. */
const byCustomersEmail = async (table: Table, email: string): Promise<Found> => {
  const { keys, hasMore } = await customersByEmail(table, email, OF_PERSON.CUS);
  return { keys, isCut: hasMore };
};

const distinct = (keys: readonly Key[]): readonly Key[] => [...new Map(keys.map((key) => [key.pk, key])).values()];

/** Limits per person, such that a guest and a user with the same e-mail address together fit into a response. */
const OF_PERSON = { PAY: 15, SUB: 5, CUS: 4 } as const;

/** The newest records of a user or guest. */
const ofPerson = async (table: Table, entriesOf: (kind: HistoricKind) => string, customers: string): Promise<Found> => {
  const newest = (partition: string, limit: number) =>
    listRows(table, { index: 'owner', partition, descending: true, filter: [], offset: 0, limit });
  const [owned, subscriptions, payments] = await Promise.all([
    newest(customers, OF_PERSON.CUS),
    newest(entriesOf('SUB'), OF_PERSON.SUB),
    newest(entriesOf('PAY'), OF_PERSON.PAY),
  ]);
  return {
    keys: [
      ...owned.rows,
      ...subscriptions.rows.map(({ sort }) => recordKey('SUB', idIn(sort))),
      ...payments.rows.map(({ sort }) => recordKey('PAY', idIn(sort))),
    ],
    isCut: [owned, subscriptions, payments].some(({ hasMore }) => hasMore),
  };
};

const WITH_WORD = { PAY: 40, SUB: 10 } as const;

/** The newest records with this text as last four digits, fingerprint, reference code or attempt id. */
const withWord = async ({ table, now }: EveryDeps, q: string): Promise<Found> => {
  const found = async (kind: HistoricKind): Promise<Found> => {
    const range = { from: undefined, to: iso(now()), filter: [], limit: WITH_WORD[kind], before: undefined };
    const { rows, knownFrom } = await entriesWithWord(table, kind, q)(range);
    return { keys: rows.map(({ sort }) => recordKey(kind, idIn(sort))), isCut: knownFrom !== undefined };
  };
  const [payments, subscriptions] = await Promise.all([found('PAY'), found('SUB')]);
  return { keys: [...subscriptions.keys, ...payments.keys], isCut: payments.isCut || subscriptions.isCut };
};
