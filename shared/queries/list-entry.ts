/**
 * @module The entries of the lists of all payments and of all subscriptions, and the words for searches. An entry is in
 * the partitions of its record's creation day and shard, of the user or guest, and of the organization. After each
 * change, `project-changes` replaces the entry, but never by an older version, so replays in any order have the same
 * result.
 */

import type { Owned } from '../access/record-kind.ts';
import {
  entryKey,
  guestEntriesPartition,
  type HistoricKind,
  listSort,
  organizationEntriesPartition,
  userEntriesPartition,
  type WORD_ITEMS,
  wordKey,
  wordPartition,
} from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';

interface ListedRecord extends Owned {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly status: string;
  readonly providerId: string;
  readonly referenceCode?: string | undefined;
}

/** The fields of only one kind of record, under short names. */
type OwnFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Entries contain no names, e-mail addresses or free text. Searches compare hashes of whole values. */
export const listEntry = (kind: HistoricKind, record: ListedRecord, fields: OwnFields): Item => {
  const key = entryKey(kind, record.createdAt, record.id);
  const owner = ownerEntries(kind, record);
  return {
    ...key,
    sort: key.sk,
    ...(owner !== undefined && { owner }),
    ...(record.organizationId && { project: organizationEntriesPartition(kind, record.organizationId) }),
    v: record.version,
    f: {
      ...fields,
      s: record.status,
      p: record.providerId,
      u: record.userId,
      o: record.organizationId,
    },
  };
};

export interface Words {
  readonly of: (typeof WORD_ITEMS)[number];
  readonly owner: string | undefined;
  readonly project: string | undefined;
}

/** An item to make a record searchable by whole words. Written even without words, to replace former words. */
export const wordEntry = (
  kind: HistoricKind,
  { id, createdAt, version }: ListedRecord,
  { of, owner, project }: Words,
): Item => ({
  ...wordKey(kind, id, of),
  sort: listSort(createdAt, id),
  ...(owner !== undefined && { owner: wordPartition(kind, owner) }),
  ...(project !== undefined && { project: wordPartition(kind, project) }),
  v: version,
});

const ownerEntries = (kind: HistoricKind, { userId, guestEmail }: Owned): string | undefined => {
  if (userId !== undefined) return userEntriesPartition(kind, userId);
  return guestEmail === undefined ? undefined : guestEntriesPartition(kind, guestEmail);
};

/** Writes each entry unless the table has a newer version. */
export const putEntries = async (table: Table, entries: readonly Item[]): Promise<void> => {
  await Promise.all(
    entries.map((entry) => table.put(entry, [{ any: [{ absent: true }, { atMost: ['v', Number(entry['v'])] }] }])),
  );
};
