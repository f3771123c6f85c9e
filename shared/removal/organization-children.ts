/**
 * @module The records removed with their organization, here and at its providers. Payments stay as financial records.
 */

import type { RecordKind } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import { SECOND_MS } from '../core/time.ts';
import { addressRecord } from '../customers/address.ts';
import { customerRecord } from '../customers/customer.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import {
  type Key,
  keyOf,
  MEMBER_PREFIX,
  type OwnedKind,
  type Owner,
  organizationKey,
  ownerCustomerKey,
  ownerPartition,
} from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { ownerKeyOf } from '../platform/table-defaults.ts';
import { syncIfKnown } from '../subscriptions/at-provider/store-report.ts';
import { cancelNow } from '../subscriptions/commands/cancel-subscription.ts';
import { isProviderBilled, subscriptionRecord } from '../subscriptions/record/subscription.ts';
import { eraseSubscription } from '../subscriptions/record/subscription-store.ts';
import { unlinkAddress } from './remove-address.ts';
import { type RemoveCustomerDeps, removeCustomer } from './remove-customer.ts';
import { removeMethod } from './remove-method.ts';

export type RemovalDeps = Omit<RemoveCustomerDeps, 'deleteHistory'>;

interface Children {
  /** One page of removals. Each of them removes one record here and at its provider. */
  readonly page: (deps: RemovalDeps, after: Item | undefined, limit: number) => Promise<ChildPage>;
}

interface ChildPage {
  readonly removals: readonly (() => Promise<unknown>)[];
  /** The start of the next page; undefined at the end. */
  readonly next: Item | undefined;
}

const itemsUnder = (partition: string, prefix?: string): Children => ({
  page: async ({ table }, after, limit) => {
    const range = prefix === undefined ? {} : { from: prefix, to: `${prefix}~` };
    const { items, next } = await table.queryItems({ partition, ...range, after, limit, consistent: true });
    return { removals: items.map((item) => () => table.remove(keyOf(item))), next };
  },
});

const recordsIn = <T>(
  partition: string,
  { parse }: Pick<RecordKind<T>, 'parse'>,
  remove: (deps: RemovalDeps, record: T, key: Key) => Promise<unknown>,
): Children => ({
  page: async (deps, after, limit) => {
    const rows = await deps.table.queryIndex({ index: 'owner', partition, after, limit });
    // The index is eventually consistent, so the items themselves are read.
    const items = await deps.table.getMany(rows.items.map(keyOf), { consistent: true });
    const removals = items.flatMap((item) => {
      const record = item && parse(item);
      return !item || record === undefined ? [] : [() => remove(deps, record, keyOf(item))];
    });
    return { removals, next: rows.next };
  },
});

const AT_PROVIDER = { atProvider: true } as const;

/** Payments stay, with their refunds and disputes. */
type RemovedKind = Exclude<OwnedKind, 'PAY' | 'RFD' | 'DSP'>;

/** The records to remove, in this order. */
const childrenOf = (organizationId: string): Readonly<Record<RemovedKind | 'members' | 'pointers', Children>> => {
  const owner: Owner = { kind: 'organization', organizationId };
  const owned = (kind: RemovedKind) => ownerPartition(owner, kind);
  return {
    members: itemsUnder(organizationKey(organizationId).pk, MEMBER_PREFIX),
    SUB: recordsIn(owned('SUB'), subscriptionRecord, async (deps, subscription) => {
      // Records payments of recently paid invoices, because their events may come after the removal. Payments stay.
      const canceled = await cancelNow(deps, subscription);
      if (isProviderBilled(canceled)) await syncIfKnown(deps, canceled);
      await eraseSubscription(deps.table, subscription.id);
    }),
    pointers: itemsUnder(ownerCustomerKey(ownerKeyOf(owner), '').pk),
    ADDR: recordsIn(owned('ADDR'), addressRecord, async (deps, { id }, key) => {
      await unlinkAddress(deps, id);
      await deps.table.remove(key);
    }),
    PM: recordsIn(owned('PM'), paymentMethodRecord, (deps, method) => removeMethod(deps, method, AT_PROVIDER)),
    CUS: recordsIn(owned('CUS'), customerRecord, (deps, customer) =>
      removeCustomer({ ...deps, deleteHistory: false }, customer, AT_PROVIDER),
    ),
  };
};

/** Limits of one run, well within its function's time-out even with a slow provider. */
const MAX_PER_RUN = 500;
const AT_ONCE = 25;
const MAX_RUN_MS = 12 * SECOND_MS;

export interface RemovalRun {
  readonly removed: number;
  /** Records that could not be removed now. */
  readonly failed: number;
  /** True if the run stopped at a limit, so more records may exist. */
  readonly more: boolean;
}

/** Removes the next records of an organization. A record that fails does not stop the others. */
export const removeNextChildren = async (deps: RemovalDeps, organizationId: string): Promise<RemovalRun> => {
  const until = deps.now() + MAX_RUN_MS;
  let [removed, failed] = [0, 0];
  for (const children of Object.values(childrenOf(organizationId))) {
    let after: Item | undefined;
    do {
      if (removed + failed >= MAX_PER_RUN || deps.now() > until) return { removed, failed, more: true };
      const page = await children.page(deps, after, AT_ONCE);
      const done = await Promise.all(page.removals.map(succeeds));
      removed += done.filter(Boolean).length;
      failed += done.length - done.filter(Boolean).length;
      after = page.next;
    } while (after);
  }
  return { removed, failed, more: false };
};

/** False if the provider refused or did not respond. Any other error is a bug and ends the run. */
const succeeds = async (remove: () => Promise<unknown>): Promise<boolean> => {
  try {
    await remove();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
};
