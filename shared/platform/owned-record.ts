/**
 * @module The shape and the store of owned records (customers, addresses, payment methods), with their list keys. After
 * deletion, a record created under an Idempotency-Key leaves a tombstone until the key expires.
 */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { DAY_MS, epochSeconds, instant, iso } from '../core/time.ts';
import { listSort, type OwnedKind, type Owner, ownerPartition, projectPartition, recordKey } from './keys.ts';
import type { Item, StoreDeps, TransactionStep } from './table.ts';
import { asVersion, type StoredRecord, type VersionedShape, versionedRecord } from './versioned-record.ts';

/**
 * Epoch second of the last report from the provider, or of our last write to the provider. An earlier event is stale.
 */
export const knownAtSchema = z.int().optional();

type OwnedRecord = StoredRecord & { readonly knownAt?: number | undefined };

/** True if the event is older than the last known state of the record. */
export const isStale = (
  record: Pick<OwnedRecord, 'createdAt' | 'knownAt'>,
  event: { readonly createdAt: number },
): boolean => event.createdAt < (record.knownAt ?? epochSeconds(instant(record.createdAt)));

interface Owned<T> {
  readonly kind: OwnedKind;
  /** Parses an item into its record. */
  read(item: Item): T;
  ownerOf(record: T): Owner | undefined;
  projectOf?(record: T): string | undefined;
  /** The fields for filters and order of lists, under short names. */
  listFields(record: T): Readonly<Record<string, string | number | boolean | undefined>>;
  /** ISO time of the record's due work; undefined without due work. */
  dueAt?(record: T): string | undefined;
}

export const ownedShape = <T extends OwnedRecord>(owned: Owned<T>) =>
  ({
    ...owned,
    key: (id) => recordKey(owned.kind, id),
    parse: (item) => (item['tombstone'] === true ? undefined : owned.read(item)),
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
    // A provider report without changes updates only `knownAt`, not the version. So the conditions include both.
    asRead: (record) => [
      ...asVersion(record),
      record.knownAt === undefined ? { lacks: 'knownAt' } : { equals: ['knownAt', record.knownAt] },
    ],
  }) satisfies VersionedShape<T> & Owned<T>;

const TOMBSTONE_MS = DAY_MS;

export const ownedRecord = <T extends OwnedRecord>(deps: StoreDeps, shape: VersionedShape<T>) => {
  const { table, now } = deps;
  const records = versionedRecord(deps, shape);

  /**
   * Stores the changed fields as the next version. @throws DomainError VERSION_CONFLICT if another commit came first
   */
  const revise = async (was: T, changed: Partial<T>): Promise<T> => {
    const next = { ...was, ...changed, version: was.version + 1, updatedAt: iso(now()) };
    const committed = await records.commit(was, next);
    if (!committed.ok) throw new DomainError('VERSION_CONFLICT');
    return committed.record;
  };

  const removalStep = (record: T): TransactionStep => {
    const keyEndsAt = instant(record.createdAt) + TOMBSTONE_MS;
    if (record.requestHash === undefined || keyEndsAt <= now()) return { delete: shape.key(record.id) };
    const { requestHash, createdAt } = record;
    return { put: { ...shape.key(record.id), tombstone: true, requestHash, createdAt, ttl: epochSeconds(keyEndsAt) } };
  };

  /** Removes a record and runs the further steps, in one transaction. @returns false if a step failed */
  const remove = async (record: T, beside: readonly TransactionStep[] = []): Promise<boolean> =>
    (await table.transact([removalStep(record), ...beside])).ok;

  return { ...records, revise, remove };
};
