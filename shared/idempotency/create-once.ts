import { DomainError } from '../core/errors.ts';
import { derivedId, type IdKind } from '../core/ids.ts';
import { DAY, instant, type Now } from '../core/time.ts';
import type { Found, StoredRecord } from '../table/record-store.ts';
import { inProgress, reused } from './idempotency.ts';

/**
 * Creates under an Idempotency-Key: the record's id follows from scope and key, so one conditional write claims and
 * stores. After 24 h the same key means a new record, whose id follows from the one found.
 */
const KEY_LIFETIME_MS = DAY;
const MAX_KEY_GENERATIONS = 50;

interface OnceStore<T> {
  readonly find: (id: string) => Promise<Found<T> | undefined>;
  readonly insertOrFind: (record: T) => Promise<Found<T> | undefined>;
}

export interface Creation<T> {
  readonly store: OnceStore<T>;
  readonly kind: IdKind;
  readonly idempotency: { readonly scope: string; readonly requestHash: string } | undefined;
  /** Makes the record under this id; what it does elsewhere goes under a key derived from the id. */
  readonly build: (id: string) => Promise<T>;
}

export interface CreatedOnce<T> {
  readonly record: T;
  readonly replayed: boolean;
}

/** @throws DomainError IDEMPOTENCY_KEY_REUSED; INVALID_STATE where the record has been deleted since. */
export const createOnce = async <T extends StoredRecord>(
  deps: { readonly now: Now; readonly newId: (kind: IdKind) => string },
  { store, kind, idempotency, build }: Creation<T>,
): Promise<CreatedOnce<T>> => {
  if (!idempotency) {
    const record = await build(deps.newId(kind));
    if (await store.insertOrFind(record)) throw new Error('a random id is taken');
    return { record, replayed: false };
  }
  let id = derivedId(kind, idempotency.scope);
  for (let generation = 0; generation < MAX_KEY_GENERATIONS; generation += 1) {
    const found = (await store.find(id)) ?? (await insert(store, await build(id)));
    if ('fresh' in found) return { record: found.fresh, replayed: false };
    const createdAt = found.kind === 'record' ? found.record.createdAt : found.createdAt;
    if (instant(createdAt) + KEY_LIFETIME_MS > deps.now()) return replay(found, idempotency.requestHash);
    id = derivedId(kind, idempotency.scope, id);
  }
  throw inProgress(1);
};

const insert = async <T>(store: OnceStore<T>, record: T): Promise<Found<T> | { readonly fresh: T }> =>
  (await store.insertOrFind(record)) ?? { fresh: record };

const replay = <T extends StoredRecord>(found: Found<T>, requestHash: string): CreatedOnce<T> => {
  const hash = found.kind === 'record' ? found.record.requestHash : found.requestHash;
  if (hash !== requestHash) throw reused();
  if (found.kind === 'tombstone') {
    throw new DomainError('INVALID_STATE', { message: 'The record made under this Idempotency-Key was deleted' });
  }
  return { record: found.record, replayed: true };
};
