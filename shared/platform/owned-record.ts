/** @module The shape of owned records (customers, addresses, payment methods, subscriptions), with their list keys. */

import * as z from 'zod';
import { epochSeconds, instant } from '../core/time.ts';
import { listSort, type OwnedKind, type Owner, ownerPartition, projectPartition, recordKey } from './keys.ts';
import { asVersion, type StoredRecord, type VersionedShape } from './versioned-record.ts';

/** Epoch second of the last report from the provider, or of our last write to it. An earlier event is stale. */
export const knownAtSchema = z.int().optional();

type OwnedRecord = StoredRecord & { readonly knownAt?: number | undefined };

/** True if the event is older than the last known state of the record. */
export const isStale = (
  record: Pick<OwnedRecord, 'createdAt' | 'knownAt'>,
  event: { readonly createdAt: number },
): boolean => event.createdAt < (record.knownAt ?? epochSeconds(instant(record.createdAt)));

interface Owned<T> {
  readonly kind: OwnedKind;
  readonly schema: z.ZodType<T>;
  ownerOf(record: T): Owner | undefined;
  projectOf?(record: T): string | undefined;
  /** The fields that lists filter and order by, under short names. */
  listFields(record: T): Readonly<Record<string, string | number | boolean | undefined>>;
  /** ISO time of the record's due work; undefined without due work. */
  dueAt?(record: T): string | undefined;
}

export const ownedShape = <T extends OwnedRecord>(owned: Owned<T>) =>
  ({
    ...owned,
    key: (id) => recordKey(owned.kind, id),
    parse: (item) => (item['tombstone'] === true ? undefined : owned.schema.parse(item)),
    attributes: (record) => {
      const owner = owned.ownerOf(record);
      const project = owned.projectOf?.(record);
      return {
        ...record,
        ...(owner && {
          owner: ownerPartition(owner, owned.kind),
          sort: listSort(record.createdAt, record.id),
          f: { ...owned.listFields(record), ...(owner.kind === 'guest' && { g: owner.guestId }) },
        }),
        ...(project && { project: projectPartition(project, owned.kind) }),
      };
    },
    // A report without news changes only `knownAt`, not the version.
    asRead: (record) => [
      ...asVersion(record),
      record.knownAt === undefined ? { lacks: 'knownAt' } : { equals: ['knownAt', record.knownAt] },
    ],
  }) satisfies VersionedShape<T> & Owned<T>;
