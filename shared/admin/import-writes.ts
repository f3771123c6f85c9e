/** @module Stores the plan of an imported row, record by record. */

import type { Owned } from '../access/record-kind.ts';
import type { Product } from '../catalog/catalog-records.ts';
import { DomainError } from '../core/errors.ts';
import { type Instant, instant } from '../core/time.ts';
import { storeAdoptedCustomer } from '../customers/adopt-customer.ts';
import { storeAdoptedMethod } from '../payment-methods/adopt-method.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { adoptedSubscription } from '../subscriptions/at-provider/adopted-record.ts';
import type { SubscriptionDeps } from '../subscriptions/billing/biller.ts';
import { type StartedAs, startedSubscription } from '../subscriptions/billing/started-record.ts';
import type { planOf } from '../subscriptions/billing/subscription-plan.ts';
import { insertAdopted, insertImported } from '../subscriptions/commands/import-subscription.ts';
import { type Adopting, isSameOwner, type PlannedRecord, type RowReads, refusedNeedOf, shown } from './import-plan.ts';
import { readKnownOne } from './import-reads.ts';
import type { ImportedRecord, StartBody } from './import-requests.ts';

/** The common data of all rows of an import. */
export interface Importing {
  readonly provider: PaymentProvider;
  readonly users: ReadonlySet<string>;
  readonly products: ReadonlyMap<string, Product>;
  readonly isDry: boolean;
  readonly overwritesMetadata: boolean;
  /** The latest time to start a row. */
  readonly until: Instant;
  readonly planOfStart: (start: StartBody) => ReturnType<typeof planOf>;
  readonly ownedBy: (owner: RowReads['owner']) => Owned;
}

interface Storing {
  readonly reads: RowReads;
  readonly records: readonly PlannedRecord[];
  readonly importing: Importing;
  /** The time of the provider read. */
  readonly readAt: Instant;
  /** The condition that the owner still exists. */
  readonly onlyIf: readonly TransactionStep[];
}

/**
 * Stores the customer, then its methods, then its subscriptions. A record is refused if its customer or method was
 * refused.
 */
export const storeRow = async (deps: SubscriptionDeps, storing: Storing): Promise<readonly ImportedRecord[]> => {
  const ids = new Map<string, string>();
  const done: ImportedRecord[] = [];
  for (const record of storing.records) {
    const missing = refusedNeedOf(record, done);
    const stored = missing ? refused(record, missing.reason) : await storeOne(deps, record, { storing, ids });
    if (stored.id !== null) ids.set(record.providerId, stored.id);
    done.push(stored);
  }
  return done;
};

const refused = (record: PlannedRecord, reason: ImportedRecord['reason']): ImportedRecord => ({
  ...shown(record, null),
  outcome: 'refused',
  reason,
});

interface InRow {
  readonly storing: Storing;
  /** Our ids by provider id. */
  readonly ids: ReadonlyMap<string, string>;
}

const storeOne = async (deps: SubscriptionDeps, record: PlannedRecord, row: InRow): Promise<ImportedRecord> => {
  if (record.outcome !== 'adopted') return shown(record, record.outcome === 'known' ? record.id : null);
  const id = await tryToStore(deps, record.adopting, row);
  if (id !== undefined) return shown(record, id);
  const { reads, importing } = row.storing;
  const alias = record.adopting.kind === 'start' ? record.adopting.alias : record.providerId;
  const known = await readKnownOne(deps.table, importing.provider.slot, alias);
  // The write failed because the owner was removed, or because it kept conflicting with other writes.
  if (!known) return refused(record, 'not_reached');
  return isSameOwner(reads.owner, known.owner)
    ? { ...shown(record, known.id), outcome: 'known' }
    : refused(record, 'other_owner');
};

/** @returns our id; undefined if a condition failed, for example because another import has stored the record */
const tryToStore = async (deps: SubscriptionDeps, adopting: Adopting, row: InRow): Promise<string | undefined> => {
  try {
    return await storeAs(deps, adopting, row);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VERSION_CONFLICT') return undefined;
    throw error;
  }
};

const storeAs = async (deps: SubscriptionDeps, adopting: Adopting, row: InRow): Promise<string | undefined> => {
  const { reads, importing, onlyIf } = row.storing;
  const { slot } = importing.provider;
  const { providerCustomerId, owner, holdings } = reads;
  const owned = importing.ownedBy(owner);
  switch (adopting.kind) {
    case 'customer': {
      const id = deps.newId('customer');
      const customer = { id, slot, providerCustomerId, owner, owned, contact: holdings.contact, onlyIf };
      return (await storeAdoptedCustomer(deps, customer)) ? id : undefined;
    }
    case 'payment_method': {
      const id = deps.newId('payment_method');
      const { method, isDefault } = adopting;
      const customerId = idIn(row, providerCustomerId);
      const stored = { id, slot, method, isDefault, customerId, providerCustomerId, owned, onlyIf };
      return (await storeAdoptedMethod(deps, stored)) ? id : undefined;
    }
    case 'subscription': {
      const { held, plan, methodRef } = adopting;
      const as = { ...recordOf(deps, row, methodRef), plan, readAt: row.storing.readAt };
      return insertAdopted(deps, adoptedSubscription(held, as, deps.now()), { report: held.report, onlyIf });
    }
    case 'start': {
      const { start, alias } = adopting;
      const as: StartedAs = {
        ...recordOf(deps, row, start.payment_method),
        plan: importing.planOfStart(start),
        paidUntil: instant(start.paid_until),
      };
      return insertImported(deps, startedSubscription(as, deps.now()), { alias, onlyIf });
    }
  }
};

const idIn = ({ ids }: InRow, providerId: string): string => {
  const id = ids.get(providerId);
  if (id === undefined) throw new Error('a record precedes the records that it needs');
  return id;
};

const recordOf = (deps: SubscriptionDeps, row: InRow, methodRef: string) => {
  const { reads, importing } = row.storing;
  const { providerCustomerId } = reads;
  return {
    id: deps.newId('subscription'),
    slot: importing.provider.slot,
    owner: importing.ownedBy(reads.owner),
    customerId: idIn(row, providerCustomerId),
    providerCustomerId,
    method: { id: idIn(row, methodRef), methodRef },
  };
};
