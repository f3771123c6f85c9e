import { DomainError } from '../core/errors.ts';
import { derivedId, type IdKind } from '../core/ids.ts';
import { DAY, instant, type Now } from '../core/time.ts';
import type { Found, StoredRecord } from '../table/record-store.ts';
import type { Table, TransactionStep } from '../table/table.ts';
import { claimKey, type IdempotentRequest, inProgressError, keyReusedError, settleKey } from './idempotency.ts';

/**
 * Creates under an Idempotency-Key: the record's id follows from scope and key, so one conditional write claims and
 * stores. After 24 h the same key means a new record, whose id follows from the one found.
 */
const KEY_LIFETIME_MS = DAY;
const MAX_KEY_GENERATIONS = 50;

interface OnceStore<T> {
  readonly find: (id: string) => Promise<Found<T> | undefined>;
  readonly insertOrFind: (record: T, beside?: readonly TransactionStep[]) => Promise<Found<T> | undefined>;
}

export interface Creation<T> {
  readonly store: OnceStore<T>;
  readonly kind: IdKind;
  readonly idempotency: IdempotentRequest | undefined;
  /** Makes the record under this id; what it does elsewhere goes under a key derived from the id. */
  readonly build: (id: string) => Promise<T>;
  /** What is written with it or not at all. */
  readonly beside?: (record: T) => readonly TransactionStep[];
  /** Where `build` calls a provider: holds the key while a function is at it, at most for its time-out. */
  readonly hold?: { readonly table: Table; readonly timeoutSeconds: number };
}

export interface CreatedOnce<T> {
  readonly record: T;
  readonly replayed: boolean;
}

/**
 * @throws DomainError IDEMPOTENCY_KEY_REUSED; IDEMPOTENCY_IN_PROGRESS; INVALID_STATE where the record has been deleted
 * since.
 */
export const createOnce = async <T extends StoredRecord>(
  deps: { readonly now: Now; readonly newId: (kind: IdKind) => string },
  { store, kind, idempotency, build, beside = () => [], hold }: Creation<T>,
): Promise<CreatedOnce<T>> => {
  if (!idempotency) {
    const record = await build(deps.newId(kind));
    if (await store.insertOrFind(record, beside(record))) throw new Error('a random id is taken');
    return { record, replayed: false };
  }
  const insert = async (record: T): Promise<Found<T> | { readonly fresh: T }> =>
    (await store.insertOrFind(record, beside(record))) ?? { fresh: record };
  let id = derivedId(kind, idempotency.scope);
  for (let generation = 0; generation < MAX_KEY_GENERATIONS; generation += 1) {
    const make = async () => insert(await build(id));
    const found = (await store.find(id)) ?? (hold ? await holding(deps, hold, idempotency, make) : await make());
    if ('fresh' in found) return { record: found.fresh, replayed: false };
    const createdAt = found.kind === 'record' ? found.record.createdAt : found.createdAt;
    if (instant(createdAt) + KEY_LIFETIME_MS > deps.now()) return replay(found, idempotency.requestHash);
    id = derivedId(kind, idempotency.scope, id);
  }
  throw inProgressError(1);
};

/** What fails frees the key at once; what stops leaves it to a retry after the function's time-out. */
const holding = async <R>(
  deps: { readonly now: Now },
  { table, timeoutSeconds }: { readonly table: Table; readonly timeoutSeconds: number },
  request: IdempotentRequest,
  make: () => Promise<R>,
): Promise<R> => {
  await claimKey({ table, now: deps.now }, request, timeoutSeconds);
  try {
    return await make();
  } catch (error) {
    await settleKey({ table }, request, undefined);
    throw error;
  }
};

const replay = <T extends StoredRecord>(found: Found<T>, requestHash: string): CreatedOnce<T> => {
  const hash = found.kind === 'record' ? found.record.requestHash : found.requestHash;
  if (hash !== requestHash) throw keyReusedError();
  if (found.kind === 'tombstone') {
    throw new DomainError('INVALID_STATE', { message: 'The record made under this Idempotency-Key was deleted' });
  }
  return { record: found.record, replayed: true };
};
