/**
 * @module The entries of the lists of all payments and of all subscriptions, and the words that find a record. Each record has one, in the partitions of
 * its UTC day of creation and shard, of its user or guest, and of its organization. `project-changes` replaces it after
 * each change, never by an older version, so a replay in any order ends the same.
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

/** The fields that only one kind of record has, under short names. */
type OwnFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** An entry holds no name, e-mail address or free text, because exact searches compare hashes. */
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

/** An item through which whole words find a record. It is written also without words, to replace former ones. */
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

/** Writes each entry unless the table has a newer version of it. */
export const putEntries = async (table: Table, entries: readonly Item[]): Promise<void> => {
  await Promise.all(
    entries.map((entry) => table.put(entry, [{ any: [{ absent: true }, { atMost: ['v', Number(entry['v'])] }] }])),
  );
};
