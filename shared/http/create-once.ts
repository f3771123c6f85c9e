/**
 * @module Creates a record once per Idempotency-Key. The record's id derives from scope and key, so one conditional
 * write both claims the key and stores the record. After 24 h the key creates a new record. The id of the new record
 * also derives from the old id. Keys can be guessed, so ids are keyed unless knowing an id gives no access.
 */

import { DomainError } from '../core/errors.ts';
import { type IdKind, isPlainKind, plainId } from '../core/ids.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { DAY_MS, type Instant, instant, type Now } from '../core/time.ts';
import type { Table, TransactionStep } from '../platform/table.ts';
import type { Found, StoredRecord } from '../platform/versioned-record.ts';
import { claimKey, type IdempotentRequest, inProgressError, keyReusedError, settleKey } from './idempotency.ts';

const KEY_LIFETIME_MS = DAY_MS;
const MAX_KEY_GENERATIONS = 50;

interface OnceStore<T> {
  readonly find: (id: string) => Promise<Found<T> | undefined>;
  readonly insertOrFind: (record: T, beside?: readonly TransactionStep[]) => Promise<Found<T> | undefined>;
}

export interface Creation<T> {
  readonly store: OnceStore<T>;
  readonly kind: IdKind;
  readonly idempotency: IdempotentRequest | undefined;
  /** Creates the record with this id. Its provider calls use keys derived from the id. */
  readonly build: (id: string) => Promise<T>;
  /** Steps in the same transaction as the record. */
  readonly beside?: (record: T) => readonly TransactionStep[];
  /** Set if `build` calls a provider. Holds the key during one `build`, at most until the function's time-out. */
  readonly hold?: { readonly table: Table; readonly timeoutSeconds: number };
}

export interface CreatedOnce<T> {
  readonly record: T;
  readonly replayed: boolean;
}

/** @throws DomainError IDEMPOTENCY_KEY_REUSED; IDEMPOTENCY_IN_PROGRESS; INVALID_STATE if the record was deleted */
export const createOnce = async <T extends StoredRecord>(
  deps: IdDeps & { readonly now: Now },
  { store, kind, idempotency, build, beside = () => [], hold }: Creation<T>,
): Promise<CreatedOnce<T>> => {
  if (!idempotency) {
    const record = await build(deps.newId(kind));
    if (await store.insertOrFind(record, beside(record))) throw new Error('a random id is taken');
    return { record, replayed: false };
  }
  const insert = async (record: T): Promise<Found<T> | { readonly fresh: T }> =>
    (await store.insertOrFind(record, beside(record))) ?? { fresh: record };
  let id = await idUnderKey(deps, kind, idempotency.scope);
  for (let generation = 0; generation < MAX_KEY_GENERATIONS; generation += 1) {
    const make = async () => insert(await build(id));
    const held = () => (hold ? whileHeld({ ...hold, now: deps.now }, idempotency, make) : make());
    const found = (await store.find(id)) ?? (await held());
    if ('fresh' in found) return { record: found.fresh, replayed: false };
    const createdAt = found.kind === 'record' ? found.record.createdAt : found.createdAt;
    if (isKeyInForce(createdAt, deps.now())) return replay(found, idempotency.requestHash);
    id = await idUnderKey(deps, kind, idempotency.scope, id);
  }
  throw inProgressError(1);
};

/** @param parts the scope of the Idempotency-Key; after 24 h also the id of the previous record under the key */
export const idUnderKey = async (
  { ids }: Pick<IdDeps, 'ids'>,
  kind: IdKind,
  ...parts: readonly string[]
): Promise<string> => (isPlainKind(kind) ? plainId(kind, ...parts) : ids.idOf(kind, ...parts));

/** True if the Idempotency-Key still returns its record, created at `createdAt`. */
export const isKeyInForce = (createdAt: string, now: Instant): boolean => instant(createdAt) + KEY_LIFETIME_MS > now;

/**
 * Holds the key during `make`. An error frees the key immediately. If the function stops, a retry may claim the key
 * after the function's time-out.
 */
const whileHeld = async <R>(
  hold: { readonly table: Table; readonly timeoutSeconds: number; readonly now: Now },
  request: IdempotentRequest,
  make: () => Promise<R>,
): Promise<R> => {
  await claimKey(hold, request, hold.timeoutSeconds);
  try {
    return await make();
  } catch (error) {
    await settleKey(hold, request, undefined);
    throw error;
  }
};

const replay = <T extends StoredRecord>(found: Found<T>, requestHash: string): CreatedOnce<T> => {
  const hash = found.kind === 'record' ? found.record.requestHash : found.requestHash;
  if (hash !== requestHash) throw keyReusedError();
  if (found.kind === 'tombstone') {
    throw new DomainError('INVALID_STATE', {
      message: 'The record of this Idempotency-Key was deleted; use a new key',
    });
  }
  return { record: found.record, replayed: true };
};
