/** @module Lists the customers of all owners for the merchant, newest first, with a search by exact values. */

import * as z from 'zod';
import { isIdOf } from '../core/ids.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { type Customer, customerRecord, customerView } from '../customers/customer.ts';
import { boundedText, emailSchema } from '../http/fields.ts';
import { cursorReply, runList, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { findAliasAnywhere } from '../platform/alias.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import { customerEntryPartitions, customerNamePartition, type Key } from '../platform/keys.ts';
import { type Cursor, type IndexRow, listRows } from '../platform/listing.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { customersByEmail } from '../queries/customer-emails.ts';
import { customerCursor } from '../queries/customer-entry.ts';
import { cursorParameter } from '../queries/parameters.ts';

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

export const everyCustomerQuery = z.object({
  provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only customers at this provider slot.'),
  search: boundedText(255)
    .trim()
    .min(1)
    .optional()
    .describe('A whole value (case-insensitive): an e-mail address, a full name, our id, or the id at the provider.'),
  limit: wholeNumberParameter(1, MAX_PER_PAGE)
    .default(PER_PAGE)
    .describe('Customers per page, 1 to 100; 25 if absent.'),
  cursor: cursorParameter,
});
type EveryCustomerQuery = z.output<typeof everyCustomerQuery>;

const LIST = 'every customer';

interface CustomerPage {
  readonly rows: readonly IndexRow[];
  readonly next: Cursor | undefined;
}

export const listEveryCustomer = async (
  { table }: StoreDeps,
  { query }: ApiRequest<unknown, EveryCustomerQuery>,
): Promise<Reply> =>
  runList(table, {
    findPage: () => findCustomers(table, query),
    keyOf: ({ pk }) => customerRecord.key(pk.slice(PREFIX.length)),
    recordOf: (item) => {
      const customer = customerRecord.parse(item);
      return customer && (query.provider_id ?? customer.providerId) === customer.providerId ? customer : undefined;
    },
    viewsOf: (customers) => customers.map(customerView),
    replyOf: (views, { next }) => cursorReply(views, { limit: query.limit, cursor: next && encodeCursor(next, LIST) }),
  });

const PREFIX = 'CUS#';

const findCustomers = async (table: Table, query: EveryCustomerQuery): Promise<CustomerPage> => {
  const { search, cursor } = query;
  const start = cursor === undefined ? undefined : decodeCursor(cursor, { list: LIST });
  if (search === undefined) return newest(table, { ...query, start, lists: everyList });
  const known = await keysOfWord(table, search);
  if (known !== undefined) return { rows: known.map(rowOf), next: undefined };
  return newest(table, { ...query, start, lists: [{ index: 'project', partition: customerNamePartition(search) }] });
};

const rowOf = (key: Key): IndexRow => ({ ...key, sort: '', fields: {} });

/** The keys of the customers that match the search; undefined if only a name can match. */
const keysOfWord = async (table: Table, search: string): Promise<readonly Key[] | undefined> => {
  const lower = search.toLowerCase();
  const email = emailSchema.safeParse(lower);
  if (email.success) return newestOf(table, (await customersByEmail(table, email.data, MAX_PER_PAGE)).keys);
  if (isIdOf('customer', lower)) return [customerRecord.key(lower)];
  const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, search);
  return alias?.kind === 'CUS' ? [customerRecord.key(alias.id)] : undefined;
};

const newestOf = async (table: Table, keys: readonly Key[]): Promise<readonly Key[]> => {
  const customers = (await table.getMany(keys)).flatMap((item): Customer[] => {
    const customer = item && customerRecord.parse(item);
    return customer ? [customer] : [];
  });
  return customers
    .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
    .map(({ id }) => customerRecord.key(id));
};

interface List {
  readonly index: 'owner' | 'project';
  readonly partition: string;
}

const everyList: readonly List[] = customerEntryPartitions.map((partition) => ({ index: 'owner', partition }));

interface Wanted extends Pick<EveryCustomerQuery, 'limit' | 'provider_id'> {
  readonly start: Cursor | undefined;
  readonly lists: readonly List[];
}

/** One page of all partitions. If a filter reaches its read limit in a partition, the page ends at that point. */
const newest = async (table: Table, { lists, start, limit, provider_id: slot }: Wanted): Promise<CustomerPage> => {
  const filter = slot === undefined ? [] : [{ equals: ['f.p', slot] } as const];
  const parts = await Promise.all(
    lists.map((list) =>
      listRows(table, { ...list, descending: true, filter, offset: 0, limit, ...(start && { cursor: start }) }),
    ),
  );
  const unknownFrom = parts
    .flatMap(({ next }) => (next ? [next.sort] : []))
    .toSorted()
    .at(-1);
  const rows = parts
    .flatMap((part) => part.rows)
    .filter(({ sort }) => unknownFrom === undefined || sort >= unknownFrom)
    .toSorted((one, other) => (one.sort < other.sort ? 1 : -1));
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1)?.sort : unknownFrom;
  return { rows: page, next: last === undefined ? undefined : cursorAtSort(last) };
};

const cursorAtSort = (sort: string): Cursor => {
  const [createdAt = '', id = ''] = sort.split('#');
  return customerCursor({ createdAt, id });
};
