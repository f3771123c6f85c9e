/**
 * @module The one store of versioned records. A record's shape defines its key, parsing, attributes, guards and next
 * due time. Only three other writers change due times: the leases of due work, the deletion of an organization, and
 * waiting deliveries.
 */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { type Instant, instant } from '../core/time.ts';
import { type Changed, type Commit, type Committed, changeRecord, type Decide, inOrder } from './change.ts';
import type { Clause } from './expression.ts';
import { dueShard, type Key } from './keys.ts';
import type { Item, StoreDeps, TransactionStep } from './table.ts';

export type StoredRecord = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Hash of the create request; set if the request had an Idempotency-Key. */
  readonly requestHash?: string | undefined;
};

export const storedRecordFields = {
  id: z.string(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  requestHash: z.string().optional(),
};

/** @param request the create request, if it has an Idempotency-Key */
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
  /** The attributes of the item, without its key and its due time. */
  attributes(record: T): Item;
  /** Conditions that the stored record is unchanged since it was read. */
  asRead(record: T): readonly Clause[];
  /** Fewer conditions, for changes of times only. */
  asTimed?(record: T): readonly Clause[];
  /** ISO time of the record's next due work, computed from all of its times; undefined without due work. */
  dueAt?(record: T): string | undefined;
  /** The shard of the due work; by default the id determines it. */
  shardOf?(record: T): string;
  /** The form of the record in the table, if callers see a different form. */
  stored?(record: T): T;
}

export interface VersionedShape<T extends StoredRecord> extends ItemShape<T> {
  /** @returns undefined for a tombstone */
  parse(item: Item): T | undefined;
  /**
   * The writes of dependent items in the same transaction. @param was the previous version; undefined for a new record
   */
  beside?(was: T | undefined, next: T): readonly TransactionStep[];
}

/** The conditions that the stored version is still this one. */
export const asVersion = ({ version }: Pick<StoredRecord, 'version'>): readonly Clause[] => [
  { exists: true },
  { equals: ['version', version] },
];

/** The due attributes of an update. @param dueAt undefined removes the attributes */
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

/** Writes the record if it is unchanged. @param was undefined for a new record; its id must be unused */
export const recordStep = <T extends Identified>(shape: ItemShape<T>, was: T | undefined, next: T) => ({
  put: recordItem(shape, next),
  if: was ? shape.asRead(was) : ([{ absent: true }] as const),
});

export type Found<T> =
  | { readonly kind: 'record'; readonly record: T }
  | { readonly kind: 'tombstone'; readonly requestHash: string | undefined; readonly createdAt: string };

const tombstoneSchema = z.object({ requestHash: z.string().optional(), createdAt: z.string() });

/** The record of an item; an item without a record is a tombstone. */
const foundIn = <T>(item: Item, record: T | undefined): Found<T> => {
  if (record) return { kind: 'record', record };
  const { requestHash, createdAt } = tombstoneSchema.parse(item);
  return { kind: 'tombstone', requestHash, createdAt };
};

/** The further steps of the transaction that replaces `was` by `next`. */
type StepsOf<T> = (was: T, next: T) => readonly TransactionStep[];

const NO_STEPS = (): readonly TransactionStep[] => [];

export const versionedRecord = <T extends StoredRecord>(
  { table }: Pick<StoreDeps, 'table'>,
  shape: VersionedShape<T>,
) => {
  const parse = (item: Item | undefined): T | undefined => item && shape.parse(item);
  const foundOf = (item: Item | undefined): Found<T> | undefined => item && foundIn(item, shape.parse(item));

  const find = async (id: string): Promise<Found<T> | undefined> => foundOf(await table.get(shape.key(id)));

  const load = async (id: string): Promise<T | undefined> => parse(await table.get(shape.key(id)));

  /**
   * Writes the record with its dependent items, in one transaction with the further steps.
   * @returns the stored item on a conflict; `unmet` if only a further step failed
   * @throws Error if only a dependent item existed already
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
    if (!written.failed.includes(0)) throw clashWith(dependent[(written.failed[0] ?? 0) - 1]);
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

  /** Tries once; `change` retries. @returns the stored record if another commit came first */
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

  /** Changes a record with `changeRecord`. `stepsOf` returns the further steps of each attempt. */
  const change = (record: T, decide: Decide<T>, stepsOf: StepsOf<T> = NO_STEPS): Promise<Changed<T>> => {
    const tryOnce: Commit<T> = (was, next) => commit(was, next, stepsOf(was, next));
    return changeRecord(tryOnce, record, decide);
  };

  return { find, load, insertOrFind, commit, change, ...recordTimes({ table }, shape) };
};

type Outcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'unmet' }
  | { readonly kind: 'refused'; readonly item: Item | undefined };

const clashWith = (step: TransactionStep | undefined): Error => {
  const { pk, sk } = step && 'put' in step ? step.put : {};
  return new Error(`${sk} of ${pk} was written already`);
};

interface TimesOptions {
  /** Further conditions on the item. */
  readonly onlyIf?: readonly Clause[];
  /** Sets the due time to `until`, unless the current due time is after `now` and before `until`. */
  readonly wait?: { readonly now: Instant; readonly until: string };
}

const dueAfter = (dueAt: string | undefined, { now, until }: NonNullable<TimesOptions['wait']>): string =>
  dueAt !== undefined && dueAt < until && instant(dueAt) > now ? dueAt : until;

/** Changes times without a new version, because readers do not see these times. */
export const recordTimes = <T extends Identified>({ table }: Pick<StoreDeps, 'table'>, shape: ItemShape<T>) => {
  const asTimed = (record: T): readonly Clause[] => (shape.asTimed ?? shape.asRead)(record);

  /** `setTimes` as a step of a transaction. */
  const timesStep = <N extends T>(record: N, patch: Partial<T>, { onlyIf = [], wait }: TimesOptions = {}) => {
    const next = { ...record, ...patch };
    const dueAt = shape.dueAt?.(next);
    const due = dueAttributes(shardOf(shape, next), wait ? dueAfter(dueAt, wait) : dueAt);
    return {
      update: shape.key(record.id),
      changes: { set: { ...patch, ...due } },
      if: [...asTimed(record), ...onlyIf],
    } as const;
  };

  /**
   * Stores times of the record, and the due time computed from all of its times.
   * @returns the record with these times; undefined if the stored record has changed
   */
  const setTimes = async <N extends T>(
    record: N,
    patch: Partial<T>,
    options?: TimesOptions,
  ): Promise<N | undefined> => {
    const step = timesStep(record, patch, options);
    return (await table.update(step.update, step.changes, step.if)).ok ? { ...record, ...patch } : undefined;
  };

  /** Postpones the due time without changing the due work. @returns false if the stored record has changed */
  const putOff = async (record: T, until: string, patch: Partial<T> = {}): Promise<boolean> => {
    const set = { ...patch, ...dueAttributes(shardOf(shape, record), until) };
    return (await table.update(shape.key(record.id), { set }, asTimed(record))).ok;
  };

  return { timesStep, setTimes, putOff };
};
