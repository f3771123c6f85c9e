/**
 * @module The one store of records that change version by version. The shape of a record says how it is keyed, parsed,
 * stored and guarded, and when its next work is due. No other code writes a record's due time.
 */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { DAY_MS, epochSeconds, instant, iso } from '../core/time.ts';
import { type Changed, type Commit, type Committed, changeRecord, type Decide, inOrder } from './change.ts';
import type { Clause } from './expression.ts';
import { dueShard, type Key } from './keys.ts';
import type { Item, StoreDeps, TransactionStep } from './table.ts';

export type StoredRecord = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
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

interface Identified {
  readonly id: string;
}

/** How a record becomes an item. */
export interface ItemShape<T extends Identified> {
  key(id: string): Key;
  /** The attributes of the item, except its key and its due time. */
  attributes(record: T): Item;
  /** The conditions that the record is as read. */
  asRead(record: T): readonly Clause[];
  /** ISO time of the record's next due work, by all of its times; undefined without due work. */
  dueAt?(record: T): string | undefined;
  /** The shard of the due work, if the id does not choose it. */
  shardOf?(record: T): string;
  /** The record as it is stored now, if that differs from the record that callers see. */
  stored?(record: T): T;
}

export interface VersionedShape<T extends StoredRecord> extends ItemShape<T> {
  /** @returns undefined for a tombstone */
  parse(item: Item): T | undefined;
  /** The writes of dependent items in the same transaction. @param was undefined for a new record */
  beside?(was: T | undefined, next: T): readonly TransactionStep[];
}

/** A later change has another version. */
export const asVersion = ({ version }: Pick<StoredRecord, 'version'>): readonly Clause[] => [
  { exists: true },
  { equals: ['version', version] },
];

/** The due attributes of an update. @param dueAt removes the attributes if undefined */
export const dueAttributes = (shard: string, dueAt: string | undefined) =>
  dueAt === undefined ? { due: undefined, due_at: undefined } : { due: shard, due_at: dueAt };

const shardOf = <T extends Identified>(shape: ItemShape<T>, record: T): string =>
  shape.shardOf?.(record) ?? dueShard(record.id);

export const recordItem = <T extends Identified>(shape: ItemShape<T>, record: T): Item => {
  const stored = shape.stored?.(record) ?? record;
  const dueAt = shape.dueAt?.(stored);
  return {
    ...shape.key(stored.id),
    ...shape.attributes(stored),
    ...(dueAt !== undefined && dueAttributes(shardOf(shape, stored), dueAt)),
  };
};

/** Writes the record if it is as read. @param was undefined for a new record, whose id must be free */
export const recordStep = <T extends Identified>(shape: ItemShape<T>, was: T | undefined, next: T) => ({
  put: recordItem(shape, next),
  if: was ? shape.asRead(was) : ([{ absent: true }] as const),
});

const TOMBSTONE_MS = DAY_MS;

export type Found<T> =
  | { readonly kind: 'record'; readonly record: T }
  | { readonly kind: 'tombstone'; readonly requestHash: string | undefined; readonly createdAt: string };

const tombstoneSchema = z.object({ requestHash: z.string().optional(), createdAt: z.string() });

/** The record of an item; without a record, the item is a tombstone. */
const foundIn = <T>(item: Item, record: T | undefined): Found<T> => {
  if (record) return { kind: 'record', record };
  const { requestHash, createdAt } = tombstoneSchema.parse(item);
  return { kind: 'tombstone', requestHash, createdAt };
};

/** The further steps of the write that replaces `was` by `next`. */
type StepsOf<T> = (was: T, next: T) => readonly TransactionStep[];

const NO_STEPS = (): readonly TransactionStep[] => [];

export const versionedRecord = <T extends StoredRecord>(deps: StoreDeps, shape: VersionedShape<T>) => {
  const { table, now } = deps;
  const parse = (item: Item | undefined): T | undefined => item && shape.parse(item);
  const foundOf = (item: Item | undefined): Found<T> | undefined => item && foundIn(item, shape.parse(item));

  const find = async (id: string): Promise<Found<T> | undefined> => foundOf(await table.get(shape.key(id)));

  const load = async (id: string): Promise<T | undefined> => parse(await table.get(shape.key(id)));

  /**
   * Writes the record with its dependent items, in one transaction with the further steps.
   * @returns the item that is stored instead; `unmet` if only a further step failed
   * @throws Error if only a dependent item was written already
   */
  const write = async (was: T | undefined, next: T, onlyIf: readonly TransactionStep[]): Promise<Outcome> => {
    const step = recordStep(shape, was, next);
    const dependent = shape.beside?.(was, next) ?? [];
    if (dependent.length === 0 && onlyIf.length === 0) {
      const written = await table.put(step.put, step.if);
      return written.ok ? { kind: 'written' } : { kind: 'refused', item: written.found };
    }
    const written = await table.transact([step, ...dependent, ...onlyIf]);
    if (written.ok) return { kind: 'written' };
    if (written.failed.every((index) => index > dependent.length)) return { kind: 'unmet' };
    if (!written.failed.includes(0)) throw new Error(`an item beside ${step.put['pk']} was written already`);
    return { kind: 'refused', item: written.found[0] };
  };

  /**
   * @returns the existing item if the id is taken
   * @throws DomainError VERSION_CONFLICT if only a further step failed
   */
  const insertOrFind = async (record: T, onlyIf: readonly TransactionStep[] = []): Promise<Found<T> | undefined> => {
    const outcome = await write(undefined, record, onlyIf);
    if (outcome.kind === 'written') return undefined;
    if (outcome.kind === 'unmet') throw new DomainError('VERSION_CONFLICT');
    const found = foundOf(outcome.item);
    if (!found) throw new Error('a record was removed while its id was claimed');
    return found;
  };

  /** Tries once; `change` retries. @returns the stored record instead if another commit came first */
  const commit = async <N extends T>(
    was: T,
    decided: N,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<Committed<T, N>> => {
    const next = inOrder(was, decided);
    const outcome = await write(was, next, onlyIf);
    if (outcome.kind === 'written') return { ok: true, record: next };
    if (outcome.kind === 'unmet') return { ok: false, found: was, unmet: true };
    return { ok: false, found: parse(outcome.item) };
  };

  /** Stores the changed fields as the next version. @throws DomainError VERSION_CONFLICT after another commit */
  const revise = async (was: T, changed: Partial<T>): Promise<T> => {
    const next = { ...was, ...changed, version: was.version + 1, updatedAt: iso(now()) };
    const committed = await commit(was, next);
    if (!committed.ok) throw new DomainError('VERSION_CONFLICT');
    return committed.record;
  };

  /** Changes a record; see `changeRecord`. `stepsOf` returns the further steps of each write. */
  const change = (record: T, decide: Decide<T>, stepsOf: StepsOf<T> = NO_STEPS): Promise<Changed<T>> => {
    const tryOnce: Commit<T> = (was, next) => commit(was, next, stepsOf(was, next));
    return changeRecord(tryOnce, record, decide);
  };

  return { find, load, insertOrFind, commit, revise, change, ...recordTimes(deps, shape), ...removal(deps, shape) };
};

type Outcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'unmet' }
  | { readonly kind: 'refused'; readonly item: Item | undefined };

interface TimesOptions {
  /** Further conditions on the item. */
  readonly onlyIf?: readonly Clause[];
  /** When due work runs again at the latest. Work that is due already waits until then. */
  readonly wait?: string;
}

/** Times change without a new version, because readers do not see them. */
export const recordTimes = <T extends Identified>({ table, now }: StoreDeps, shape: ItemShape<T>) => {
  const dueOf = (record: T, wait: string | undefined): string | undefined => {
    const dueAt = shape.dueAt?.(record);
    if (wait === undefined) return dueAt;
    return dueAt !== undefined && dueAt < wait && instant(dueAt) > now() ? dueAt : wait;
  };

  /**
   * Stores times of the record, and the due time that follows from all of them.
   * @returns the record with these times; undefined if it is not as read
   */
  const setTimes = async (
    record: T,
    patch: Partial<T>,
    { onlyIf = [], wait }: TimesOptions = {},
  ): Promise<T | undefined> => {
    const next = { ...record, ...patch };
    const set = { ...patch, ...dueAttributes(shardOf(shape, next), dueOf(next, wait)) };
    return (await table.update(shape.key(record.id), { set }, [...shape.asRead(record), ...onlyIf])).ok
      ? next
      : undefined;
  };

  /** Moves the due time only; the work that is due stays. @returns false if the record is not as read */
  const putOff = async (record: T, until: string): Promise<boolean> => {
    const set = dueAttributes(shardOf(shape, record), until);
    return (await table.update(shape.key(record.id), { set }, shape.asRead(record))).ok;
  };

  return { setTimes, putOff };
};

const removal = <T extends StoredRecord>({ table, now }: StoreDeps, shape: VersionedShape<T>) => {
  /** A record that was created with an Idempotency-Key leaves a tombstone until the key expires. */
  const removalStep = (record: T): TransactionStep => {
    const keyEndsAt = instant(record.createdAt) + TOMBSTONE_MS;
    if (record.requestHash === undefined || keyEndsAt <= now()) return { delete: shape.key(record.id) };
    const { requestHash, createdAt } = record;
    return { put: { ...shape.key(record.id), tombstone: true, requestHash, createdAt, ttl: epochSeconds(keyEndsAt) } };
  };

  /** Removes a record and runs the further steps, in one transaction. @returns false if one of the steps failed. */
  const remove = async (record: T, beside: readonly TransactionStep[] = []): Promise<boolean> =>
    (await table.transact([removalStep(record), ...beside])).ok;

  return { remove };
};
