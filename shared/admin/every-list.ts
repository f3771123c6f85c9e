/**
 * @module The lists of all payments and of all subscriptions for the merchant, newest first, based on the entries
 * that `project-changes` keeps. Because a request reads a bounded number of entries, a page may be short or empty while
 * `has_more` is true.
 */

import type { Identity } from '../access/identity.ts';
import type { Owned, RecordKind } from '../access/record-kind.ts';
import { type IdKind, isIdOf } from '../core/ids.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import type { CsvPage } from '../http/csv.ts';
import { emailSchema, idParameter } from '../http/fields.ts';
import { cursorReply, runList, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { findAliasAnywhere } from '../platform/alias.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import type { Clause } from '../platform/expression.ts';
import {
  guestEntriesPartition,
  type HistoricKind,
  organizationEntriesPartition,
  recordKey,
  userEntriesPartition,
} from '../platform/keys.ts';
import type { IndexRow } from '../platform/listing.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { cursorParameter, moment } from '../queries/parameters.ts';
import {
  cursorAt,
  type EntriesFound,
  type EntrySource,
  entriesWithWord,
  everyEntry,
  LAST_FOUR,
  ownersEntries,
  together,
} from './entry-sources.ts';

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

/** The error options of a refinement that compares the bounds of a range. */
export const notBefore = (path: string, than: string, message = `must not be before ${than}`) => ({
  path: [path],
  message,
  params: { rule: 'range' },
});

/**
 * The query fields that both lists share.
 * @param records the plural noun of the records
 */
export const everyFields = (records: string) => ({
  from: moment(false).describe('The earliest time of creation: a time, or a day in UTC (its first moment).'),
  to: moment(true).describe('The latest time of creation: a time, or a day in UTC (its last moment).'),
  user_id: idParameter.describe(`Only ${records} of this user.`),
  organization_id: idParameter.describe(`Only ${records} of this organization.`),
  limit: wholeNumberParameter(1, MAX_PER_PAGE)
    .default(PER_PAGE)
    .describe(`Maximum number of ${records} per page, 1 to 100; 25 if absent. It does not apply to CSV.`),
  cursor: cursorParameter,
});

/** The filters and page parameters of both lists. */
interface EveryQuery {
  readonly search?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly provider_id?: string | undefined;
  readonly user_id?: string | undefined;
  readonly organization_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface EveryRecord extends Owned {
  readonly status: string;
  readonly providerId: string;
  readonly createdAt: string;
}

/** The differences between the kinds of records. */
export interface EveryKind<T extends EveryRecord, Q extends EveryQuery> {
  readonly kind: HistoricKind;
  readonly idKind: IdKind;
  readonly parse: RecordKind<T>['parse'];
  /** The clauses of this kind's additional filters. */
  readonly clausesOf: (query: Q) => readonly Clause[];
  /** The word to search for, if the query uses an additional filter by a word. */
  readonly wordOf: (query: Q) => string | undefined;
  /** True if the record matches this kind's additional filters. */
  readonly matches: (record: T, query: Q) => boolean;
  readonly viewsOf: (table: Table, records: readonly T[], isCsv: boolean) => Promise<readonly unknown[]>;
}

export interface EveryDeps extends StoreDeps {
  readonly identity: Pick<Identity, 'userByEmail'>;
}

export const listEvery = async <T extends EveryRecord, Q extends EveryQuery>(
  deps: EveryDeps,
  of: EveryKind<T, Q>,
  { query, csvPage }: Pick<ApiRequest<unknown, Q>, 'query' | 'csvPage'>,
): Promise<Reply> =>
  runList(deps.table, {
    findPage: () => find(deps, of, { query, page: pageOf(of.kind, query, csvPage) }),
    keyOf: ({ sort }) => recordKey(of.kind, idIn(sort)),
    // Checks the record itself, because its entry lags by moments.
    recordOf: (item) => {
      const record = of.parse(item);
      return record && matchesEvery(record, query) && of.matches(record, query) ? record : undefined;
    },
    viewsOf: (records) => of.viewsOf(deps.table, records, csvPage !== undefined),
    replyOf: (views, { knownFrom }) => {
      const cursor =
        knownFrom === undefined ? undefined : encodeCursor(cursorAt(of.kind, knownFrom), listName(of.kind));
      return {
        ...cursorReply(views, { limit: query.limit, cursor }),
        ...(cursor !== undefined && { more: { cursor } }),
      };
    },
  });

interface Page {
  readonly limit: number;
  /** The page starts below this position in the list. */
  readonly before: string | undefined;
}

/**
 * The name of the list in its cursors. Every filter has the same name, because a cursor is a position among all
 * records.
 */
const listName = (kind: HistoricKind): string => ({ PAY: 'every payment', SUB: 'every subscription' })[kind];

/** The record's id in the sort key of its entry. */
export const idIn = (sort: string): string => sort.slice(sort.indexOf('#') + 1);

const pageOf = (kind: HistoricKind, query: EveryQuery, csvPage: CsvPage | undefined): Page => {
  const { limit, cursor } = csvPage ?? query;
  const range = { list: listName(kind), from: query.from, to: query.to };
  return { limit, before: cursor === undefined ? undefined : decodeCursor(cursor, range).sort };
};

type FoundBy<Q extends EveryQuery> = Pick<EveryKind<never, Q>, 'kind' | 'idKind' | 'clausesOf' | 'wordOf'>;

const find = async <Q extends EveryQuery>(
  deps: EveryDeps,
  of: FoundBy<Q>,
  { query, page: { limit, before } }: { readonly query: Q; readonly page: Page },
): Promise<EntriesFound> => {
  const id = query.search === undefined ? undefined : await idOf(deps, of, query.search);
  if (id !== undefined) return { rows: before === undefined ? [rowOf(of.kind, id)] : [], knownFrom: undefined };
  const { from, to = iso(deps.now()) } = query;
  if (from !== undefined && before !== undefined && before <= from) return { rows: [], knownFrom: undefined };
  const source = await sourceOf(deps, of, query);
  const isInRange = before !== undefined && before < `${to}#~`;
  return source({ from, to, filter: filterOf(of, query), limit, before: isInRange ? before : undefined });
};

const rowOf = (kind: HistoricKind, id: string): IndexRow => ({ ...recordKey(kind, id), sort: `#${id}`, fields: {} });

/** Finds a record by our id or by a provider's id. */
const idOf = async (
  { table }: EveryDeps,
  { kind, idKind }: Pick<FoundBy<never>, 'kind' | 'idKind'>,
  search: string,
): Promise<string | undefined> => {
  if (isIdOf(idKind, search)) return search;
  if (isEmail(search) || LAST_FOUR.test(search)) return undefined;
  const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, search);
  return alias?.kind === kind ? alias.id : undefined;
};

export const isEmail = (search: string): boolean => emailSchema.safeParse(search).success;

/** The source with the shortest list that contains every match. */
const sourceOf = async <Q extends EveryQuery>(
  deps: EveryDeps,
  { kind, wordOf }: FoundBy<Q>,
  query: Q,
): Promise<EntrySource> => {
  const { search, user_id: userId, organization_id: organizationId } = query;
  if (search !== undefined && isEmail(search)) return entriesOfEmail(deps, kind, emailSchema.parse(search));
  const word = search ?? wordOf(query);
  if (word !== undefined) return entriesWithWord(deps.table, kind, word);
  if (userId !== undefined) return entriesOfUser(deps, kind, userId);
  if (organizationId === undefined) return everyEntry(deps.table, kind);
  const partition = organizationEntriesPartition(kind, organizationId);
  return ownersEntries(deps.table, { kind, index: 'project', partition });
};

const entriesOfUser = ({ table }: EveryDeps, kind: HistoricKind, userId: string): EntrySource =>
  ownersEntries(table, { kind, index: 'owner', partition: userEntriesPartition(kind, userId) });

/** The records of guests with this e-mail address, and of its user in the identity service. */
const entriesOfEmail = async (deps: EveryDeps, kind: HistoricKind, email: string): Promise<EntrySource> => {
  const user = await deps.identity.userByEmail(email);
  const ofGuests = ownersEntries(deps.table, { kind, index: 'owner', partition: guestEntriesPartition(kind, email) });
  return together([ofGuests, ...(user ? [entriesOfUser(deps, kind, user.id)] : [])]);
};

const filterOf = <Q extends EveryQuery>(of: FoundBy<Q>, query: Q): readonly Clause[] => [
  ...(query.status ? [{ oneOf: ['f.s', query.status] } as const] : []),
  ...equalClauses([
    ['f.p', query.provider_id],
    ['f.u', query.user_id],
    ['f.o', query.organization_id],
  ]),
  ...of.clausesOf(query),
];

/** The clauses of the filters in the query. */
export const equalClauses = (
  filters: readonly (readonly [field: string, value: string | boolean | undefined])[],
): readonly Clause[] =>
  filters.flatMap(([name, value]) => (value === undefined ? [] : [{ equals: [name, value] } as const]));

const matchesEvery = (record: EveryRecord, query: EveryQuery): boolean =>
  (query.status?.includes(record.status) ?? true) &&
  isOrAny(query.provider_id, record.providerId) &&
  isOrAny(query.user_id, record.userId) &&
  isOrAny(query.organization_id, record.organizationId) &&
  isWithin(record.createdAt, query.from, query.to);

/** True if the query has no value, or the same value. */
export const isOrAny = <T>(asked: T | undefined, value: T | undefined): boolean =>
  asked === undefined || asked === value;

export const isWithin = <T extends number | string>(value: T, min: T | undefined, max: T | undefined): boolean =>
  (min === undefined || value >= min) && (max === undefined || value <= max);
