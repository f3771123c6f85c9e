/**
 * @module The store of owned records (customers, addresses, payment methods), with their list keys and versions. A
 * deleted record that was created with an Idempotency-Key leaves a tombstone until the key expires.
 */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { DAY_MS, epochSeconds, instant, iso } from '../core/time.ts';
import { type Changed, changeRecord, type Decide, inOrder } from './change.ts';
import type { Clause } from './expression.ts';
import {
  dueShard,
  type Key,
  listSort,
  type OwnedKind,
  type Owner,
  ownerPartition,
  projectPartition,
  recordKey,
} from './keys.ts';
import type { Item, StoreDeps, TransactionStep } from './table.ts';

export type StoredRecord = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** See `knownAtSchema`. */
  readonly knownAt?: number | undefined;
  /** Hash of the request that created the record, if it had an Idempotency-Key. */
  readonly requestHash?: string | undefined;
};

export const storedRecordFields = {
  id: z.string(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  requestHash: z.string().optional(),
};

/** @param request the request that creates the record, if it has an Idempotency-Key */
export const firstVersion = (at: string, request?: { readonly requestHash: string }) => ({
  version: 1,
  createdAt: at,
  updatedAt: at,
  requestHash: request?.requestHash,
});

/** Epoch second of the last report from the provider, or of our last write to it. An earlier event is stale. */
export const knownAtSchema = z.int().optional();

/** True if the event is older than the last known state of the record. */
export const isStale = (
  record: { readonly createdAt: string; readonly knownAt?: number | undefined },
  event: { readonly createdAt: number },
): boolean => event.createdAt < (record.knownAt ?? epochSeconds(instant(record.createdAt)));

export interface RecordShape<T extends StoredRecord> {
  readonly kind: OwnedKind;
  readonly schema: z.ZodType<T>;
  ownerOf(record: T): Owner | undefined;
  projectOf?(record: T): string | undefined;
  /** The fields that lists filter and order by, under short names. */
  listFields(record: T): Readonly<Record<string, string | number | boolean | undefined>>;
  /** ISO time of the record's due work; undefined without due work. */
  dueAt?(record: T): string | undefined;
}

const TOMBSTONE_MS = DAY_MS;

export type Found<T> =
  | { readonly kind: 'record'; readonly record: T }
  | { readonly kind: 'tombstone'; readonly requestHash: string | undefined; readonly createdAt: string };

const tombstoneSchema = z.object({ requestHash: z.string().optional(), createdAt: z.string() });

/** The record of an item; without a record, the item is a tombstone. */
export const foundIn = <T>(item: Item, record: T | undefined): Found<T> => {
  if (record) return { kind: 'record', record };
  const { requestHash, createdAt } = tombstoneSchema.parse(item);
  return { kind: 'tombstone', requestHash, createdAt };
};

/** @returns undefined for a tombstone. */
export const parseRecord = <T extends StoredRecord>(shape: RecordShape<T>, item: Item): T | undefined =>
  item['tombstone'] === true ? undefined : shape.schema.parse(item);

export const recordItem = <T extends StoredRecord>(shape: RecordShape<T>, record: T): Item => {
  const owner = shape.ownerOf(record);
  const project = shape.projectOf?.(record);
  const dueAt = shape.dueAt?.(record);
  return {
    ...recordKey(shape.kind, record.id),
    ...record,
    ...(owner && {
      owner: ownerPartition(owner, shape.kind),
      sort: listSort(record.createdAt, record.id),
      f: { ...shape.listFields(record), ...(owner.kind === 'guest' && { g: owner.guestId }) },
    }),
    ...(project && { project: projectPartition(project, shape.kind) }),
    ...(dueAt && { due: dueShard(record.id), due_at: dueAt }),
  };
};

/** The further steps of the write that replaces `was` by `next`. */
type BesideOf<T> = (was: T, next: T) => readonly TransactionStep[];

export const recordStore = <T extends StoredRecord>({ table, now }: StoreDeps, shape: RecordShape<T>) => {
  const key = (id: string): Key => recordKey(shape.kind, id);
  const parse = (item: Item | undefined): T | undefined => item && parseRecord(shape, item);

  const foundOf = (item: Item | undefined): Found<T> | undefined => item && foundIn(item, parse(item));

  const find = async (id: string): Promise<Found<T> | undefined> => foundOf(await table.get(key(id)));

  const load = async (id: string): Promise<T | undefined> => parse(await table.get(key(id)));

  /**
   * One transaction with the further steps. @returns the existing item if the id is taken
   * @throws DomainError VERSION_CONFLICT if only another step failed
   */
  const insertOrFind = async (record: T, beside: readonly TransactionStep[] = []): Promise<Found<T> | undefined> => {
    const item = recordItem(shape, record);
    if (beside.length === 0) {
      const written = await table.put(item, [{ absent: true }]);
      return written.ok ? undefined : foundOf(written.found);
    }
    const transacted = await table.transact([{ put: item, if: [{ absent: true }] }, ...beside]);
    if (transacted.ok) return undefined;
    if (!transacted.failed.includes(0)) throw new DomainError('VERSION_CONFLICT');
    return foundOf(transacted.found[0]);
  };

  /** One transaction with the further steps. @returns undefined if the record has changed, or another step failed */
  const commit = async (was: T, decided: T, beside: readonly TransactionStep[] = []): Promise<T | undefined> => {
    const next = inOrder(was, decided);
    const guard = asRead(was);
    const put = { put: recordItem(shape, next), if: guard };
    const written = beside.length === 0 ? await table.put(put.put, guard) : await table.transact([put, ...beside]);
    return written.ok ? next : undefined;
  };

  /** Stores the changed fields as the next version. @throws DomainError VERSION_CONFLICT after another commit */
  const revise = async (was: T, changed: Partial<T>, besideOf: BesideOf<T> = () => []): Promise<T> => {
    const next = { ...was, ...changed, version: was.version + 1, updatedAt: iso(now()) };
    const committed = await commit(was, next, besideOf(was, next));
    if (!committed) throw new DomainError('VERSION_CONFLICT');
    return committed;
  };

  /** Changes a record; see `changeRecord`. `besideOf` returns the further steps of each write. */
  const change = (record: T, decide: Decide<T>, besideOf: BesideOf<T> = () => []): Promise<Changed<T>> =>
    changeRecord(
      async (was, next) => {
        const committed = await commit(was, next, besideOf(was, next));
        if (committed) return { ok: true, record: committed };
        const found = await load(was.id);
        return { ok: false, found, unmet: found?.version === was.version && found.knownAt === was.knownAt };
      },
      record,
      decide,
    );

  const removalStep = (record: T): TransactionStep => {
    const keyEndsAt = instant(record.createdAt) + TOMBSTONE_MS;
    if (record.requestHash === undefined || keyEndsAt <= now()) return { delete: key(record.id) };
    const { requestHash, createdAt } = record;
    return { put: { ...key(record.id), tombstone: true, requestHash, createdAt, ttl: epochSeconds(keyEndsAt) } };
  };

  /** Removes a record and runs the further steps, in one transaction. @returns false if one of the steps failed. */
  const remove = async (record: T, beside: readonly TransactionStep[] = []): Promise<boolean> =>
    (await table.transact([removalStep(record), ...beside])).ok;

  return { find, load, insertOrFind, commit, revise, change, remove };
};

/** The condition that the record is as read. A report without news changes only `knownAt`, not the version. */
const asRead = ({ version, knownAt }: StoredRecord): readonly Clause[] => [
  { exists: true },
  { equals: ['version', version] },
  knownAt === undefined ? { lacks: 'knownAt' } : { equals: ['knownAt', knownAt] },
];
