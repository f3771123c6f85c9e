/**
 * @module Sources of entries for the lists of all payments and of all subscriptions, each newest first. A position in a
 * list is an entry's sort key (`created_at#id`), so one cursor fits every source and sources can be merged.
 */

import { DAY_MS, type Instant, instant, iso, utcDay } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import { entryKey, entryPartitions, type HistoricKind, wordPartition } from '../platform/keys.ts';
import { type Cursor, type IndexRow, listRows } from '../platform/listing.ts';
import type { Item, Table } from '../platform/table.ts';

export interface EntryRange {
  /** Inclusive, ISO. */
  readonly from: string | undefined;
  readonly to: string;
  readonly filter: readonly Clause[];
  readonly limit: number;
  /** Only entries below this sort key. */
  readonly before: string | undefined;
}

export interface EntriesFound {
  /** Newest first, at most `limit`. */
  readonly rows: readonly IndexRow[];
  /** `rows` contains every match at or above this sort key. If undefined, `rows` contains every match of the range. */
  readonly knownFrom: string | undefined;
}

export type EntrySource = (range: EntryRange) => Promise<EntriesFound>;

export interface OwnersList {
  readonly kind: HistoricKind;
  readonly index: 'owner' | 'project';
  readonly partition: string;
}

export const LAST_FOUR = /^\d{4}$/;
const FINGERPRINT = /^fp_[0-9a-f]{24}$/;

/**
 * The list entries of the records that contain the word. The entries come from the index items per word, which lack the
 * fields for filters, so the caller filters the records.
 */
export const entriesWithWord = (table: Table, kind: HistoricKind, word: string): EntrySource => {
  const inIndex = (index: OwnersList['index']): EntrySource => {
    const source = ownersEntries(table, { kind, index, partition: wordPartition(kind, word) });
    return async (range) => {
      const { rows, knownFrom } = await source({ ...range, filter: [] });
      return { rows: rows.filter(({ sort }) => range.before === undefined || sort < range.before), knownFrom };
    };
  };
  if (FINGERPRINT.test(word)) return inIndex('owner');
  // Four digits may be a card's last digits or a reference code.
  return LAST_FOUR.test(word) ? together([inIndex('owner'), inIndex('project')]) : inIndex('project');
};

/** The entries of one user, guest or organization. Needs a single query unless a filter drops most entries. */
export const ownersEntries =
  (table: Table, { kind, index, partition }: OwnersList): EntrySource =>
  async ({ from, to, filter, limit, before }) => {
    const { rows, next } = await listRows(table, {
      index,
      partition,
      from,
      to,
      descending: true,
      filter,
      offset: 0,
      limit,
      ...(before !== undefined && { cursor: cursorAt(kind, before) }),
    });
    return { rows, knownFrom: next?.sort };
  };

/** A list position as a cursor of an index. */
export const cursorAt = (kind: HistoricKind, position: string): Cursor => {
  const [createdAt = '', id = ''] = position.split('#');
  return { ...entryKey(kind, createdAt, id), sort: position };
};

/** How far back a list of all records goes if the request has no `from`. */
const DEFAULT_RANGE = 31 * DAY_MS;
/** The maximum number of queries in a request, and of entries per query. */
const MAX_QUERIES = 64;
const MAX_ENTRIES_PER_QUERY = 250;
/** The maximum number of days read in parallel if recent days had few matches. */
const MAX_DAYS_AT_ONCE = 8;

/**
 * Reads day by day, newest first. Reads the shards of a day in parallel, and reads more days in parallel after days
 * with few entries. If the query limit is reached first, `knownFrom` is the oldest position read.
 */
export const everyEntry =
  (table: Table, kind: HistoricKind, maxQueries = MAX_QUERIES): EntrySource =>
  async ({ to, from = iso(instant(to) - DEFAULT_RANGE), filter, limit, before }) => {
    const rows: IndexRow[] = [];
    let walk: Walk = { below: before ?? `${to}#~`, days: 1 };
    let queries = 0;
    while (rows.length <= limit) {
      const days = daysBack(walk, from);
      if (days.length === 0) return { rows, knownFrom: undefined };
      const partitions = days.flatMap((day) => entryPartitions(kind, day));
      queries += partitions.length;
      if (queries > maxQueries) return { rows, knownFrom: walk.below };
      const missing =
        filter.length > 0 ? MAX_ENTRIES_PER_QUERY : Math.min(limit + 1 - rows.length, MAX_ENTRIES_PER_QUERY);
      const parts = await Promise.all(
        // Reads one more entry, because the first may be the known entry at `below`.
        partitions.map((partition) =>
          table.queryItems({ partition, from, to: walk.below, descending: true, filter, limit: missing + 1 }),
        ),
      );
      const unread = parts.flatMap(({ next }) => (next ? [String(next['sk'])] : []));
      const known = unread.toSorted().at(-1);
      rows.push(
        ...newestFirst(
          parts.flatMap(({ items }) => items.map(rowOf)),
          walk.below,
          known,
        ),
      );
      walk = known === undefined ? widened(walk, days) : { below: known, days: 1 };
    }
    return cutAt(rows, limit);
  };

const cutAt = (rows: readonly IndexRow[], limit: number): EntriesFound => {
  const page = rows.slice(0, limit);
  return { rows: page, knownFrom: page.at(-1)?.sort };
};

interface Walk {
  /** Entries below this sort key have not been read yet. */
  readonly below: string;
  /** The number of days to read in parallel. */
  readonly days: number;
}

const ISO_LENGTH = '2000-01-01T00:00:00.000Z'.length;

const daysBack = ({ below, days }: Walk, from: string): readonly string[] => {
  const reached = instant(below.slice(0, ISO_LENGTH));
  // Without an id, `below` is the start of a day, so the previous day is next.
  const newest: Instant = below.length <= ISO_LENGTH ? reached - 1 : reached;
  return Array.from({ length: days }, (_, back) => utcDay(iso(newest - back * DAY_MS))).filter(
    (day) => day >= utcDay(from),
  );
};

const widened = (walk: Walk, days: readonly string[]): Walk => ({
  below: `${days.at(-1)}T00:00:00.000Z`,
  days: Math.min(walk.days * 2, MAX_DAYS_AT_ONCE),
});

const rowOf = (item: Item): IndexRow => ({
  pk: String(item['pk']),
  sk: String(item['sk']),
  sort: String(item['sk']),
  fields: {},
});

/** The rows below the walk's position, down to `known`. Further down, rows of some partitions are still unread. */
const newestFirst = (rows: readonly IndexRow[], below: string, known: string | undefined): readonly IndexRow[] =>
  rows
    .filter(({ sort }) => sort < below && (known === undefined || sort >= known))
    .toSorted((one, other) => (one.sort < other.sort ? 1 : -1));

/** Merges several sources. Each source reads up to a page, and the merged page ends at the highest `knownFrom`. */
export const together =
  (sources: readonly EntrySource[]): EntrySource =>
  async (range) => {
    const parts = await Promise.all(sources.map((source) => source(range)));
    const known = parts
      .flatMap(({ knownFrom }) => (knownFrom === undefined ? [] : [knownFrom]))
      .toSorted()
      .at(-1);
    const bySort = new Map(parts.flatMap(({ rows }) => rows.map((row) => [row.sort, row] as const)));
    const rows = [...bySort.values()]
      .filter(({ sort }) => known === undefined || sort >= known)
      .toSorted((one, other) => (one.sort < other.sort ? 1 : -1));
    return rows.length > range.limit ? cutAt(rows, range.limit) : { rows, knownFrom: known };
  };
