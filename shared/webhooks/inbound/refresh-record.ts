import { iso, type Now } from '../../core/time.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import type { Changed, Decide } from '../../table/change.ts';
import type { StoredRecord } from '../../table/record-store.ts';
import { isStale } from '../../table/record-store.ts';
import { type EventResult, ignored, type OwnerIds } from './inbound-event.ts';

type Refreshable = StoredRecord & OwnerIds & { readonly knownAt?: number | undefined };

interface Refresh<T> {
  readonly store: {
    readonly change: (record: T, decide: Decide<T>) => Promise<Changed<T>>;
  };
  readonly event: ProviderEvent;
  /** The name of the record in the log. */
  readonly name: string;
  /** The fields of the record as the provider has them. */
  readonly factsOf: (record: T) => Partial<T>;
  readonly now: Now;
}

/**
 * Stores the provider's fields of a record, and the time of the report. Only a changed field makes a new version,
 * because each version sends an event.
 */
export const refreshRecord = async <T extends Refreshable>(
  record: T,
  { store, event, name, factsOf, now }: Refresh<T>,
): Promise<EventResult> => {
  const { createdAt: knownAt } = event;
  let makesVersion = false;
  const { record: current, isOurs } = await store.change(record, (known) => {
    if (isStale(known, event)) return undefined;
    const facts = factsOf(known);
    makesVersion = Object.entries(facts).some(([field, value]) => known[field] !== value);
    if (makesVersion) return { ...known, ...facts, knownAt, version: known.version + 1, updatedAt: iso(now()) };
    return known.knownAt === knownAt ? undefined : { ...known, knownAt };
  });
  if (isOurs && makesVersion) return { kind: 'applied', reason: `${name} refreshed`, owner: current };
  return ignored(current, isStale(current, event) ? 'stale' : 'no change');
};
