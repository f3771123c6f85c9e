/** @module A provider's event about a record, the result of applying the event, and the refresh of a record. */

import type { ProviderSlot } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import type { Historic } from '../platform/keys.ts';
import { isStale } from '../platform/owned-record.ts';
import type { StoreDeps } from '../platform/table.ts';
import { type StoredRecord, type VersionedShape, versionedRecord } from '../platform/versioned-record.ts';
import type { InboundEventType, ProviderEvent } from '../providers/event-port.ts';

/** A provider's event, of a type that the service acts on. */
export interface InboundEvent<Type extends InboundEventType = InboundEventType> {
  readonly slot: ProviderSlot;
  readonly type: Type;
  readonly event: ProviderEvent;
}

/** The result of a provider's event about a customer, a payment method or a subscription. */
export type EventResult =
  | {
      readonly kind: 'applied' | 'ignored' | 'quarantined';
      readonly reason: string;
      readonly owner: OwnerIds;
      /** The record, if it has a history. Its history then names the event. */
      readonly about?: Historic;
    }
  /** The record does not exist yet. */
  | { readonly kind: 'early' };

export interface OwnerIds {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** Set if the record's person was erased. */
  readonly erasedAt?: string | undefined;
}

export const ignored = (owner: OwnerIds, reason: string): EventResult => ({ kind: 'ignored', reason, owner });

type Refreshable = StoredRecord & OwnerIds & { readonly knownAt?: number | undefined };

interface Refresh<T extends Refreshable> {
  readonly shape: VersionedShape<T>;
  /** The name of the record in the log. */
  readonly name: string;
  readonly event: ProviderEvent;
  /** The fields that the event changes. */
  readonly factsOf: (event: ProviderEvent, known: T) => Partial<T>;
  /** True if the event may leave out a change of the record. */
  readonly isPartial?: (event: ProviderEvent, known: T) => boolean;
  /** The fields that differ at the provider now. */
  readonly readFacts: (known: T) => Promise<Partial<T>>;
}

/** The provider's clock and our clock differ by less than this. */
const UNSURE_SECONDS = 30;

/**
 * The age of the event relative to the record. Compares the event with the last known state, which may come from one of
 * our own calls, timed by our clock. Providers give event times in whole seconds. For an event in the interface's
 * shape, only its time decides.
 */
const ageOf = (record: Refreshable, event: ProviderEvent): 'older' | 'unsure' | 'newer' => {
  const { createdAt, isOfInterface } = event;
  if (isOfInterface) return isStale(record, event) ? 'older' : 'newer';
  if (isStale(record, { createdAt: createdAt + UNSURE_SECONDS })) return 'older';
  return isStale(record, { createdAt: createdAt - 1 }) ? 'unsure' : 'newer';
};

/**
 * Stores the provider's fields of a record, and the time of the report. Reads the provider if the event is partial, or
 * if its order is unknown and it changes a field. Only a changed field makes a new version, because each version sends
 * an event.
 */
export const refreshRecord = async <T extends Refreshable>(
  deps: StoreDeps,
  record: T,
  { shape, name, event, factsOf, isPartial, readFacts }: Refresh<T>,
): Promise<EventResult> => {
  let makesVersion = false;
  const { record: current, isOurs } = await versionedRecord(deps, shape).change(record, async (known) => {
    const age = ageOf(known, event);
    if (age === 'older') return undefined;
    const isNew = (facts: Partial<T>): boolean =>
      Object.entries(facts).some(([field, value]) => known[field] !== value);
    const named = factsOf(event, known);
    const reads = (age === 'unsure' && isNew(named)) || isPartial?.(event, known);
    const facts = reads ? await readFacts(known) : named;
    const knownAt = Math.max(event.createdAt, known.knownAt ?? 0);
    makesVersion = isNew(facts);
    if (makesVersion) return { ...known, ...facts, knownAt, version: known.version + 1, updatedAt: iso(deps.now()) };
    return known.knownAt === knownAt ? undefined : { ...known, knownAt };
  });
  if (isOurs && makesVersion) return { kind: 'applied', reason: `${name} refreshed`, owner: current };
  return ignored(current, isStale(current, event) ? 'stale' : 'no change');
};
