import type { RecordKind } from '../access/record-kind.ts';
import { addressRecord } from '../addresses/address.ts';
import { DomainError } from '../core/errors.ts';
import { SECOND } from '../core/time.ts';
import { customerRecord } from '../customers/customer.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { cancelNow } from '../subscriptions/commands/cancel.ts';
import { eraseSubscription } from '../subscriptions/record/store.ts';
import { subscriptionRecord } from '../subscriptions/record/subscription.ts';
import { ownerKeyOf } from '../table/defaults.ts';
import {
  type Key,
  MEMBER_PREFIX,
  type Owner,
  organizationKey,
  ownerCustomerKey,
  ownerPartition,
} from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import { unlinkAddress } from './address.ts';
import { type RemoveCustomerDeps, removeCustomer } from './customer.ts';
import { removeMethod } from './payment-method.ts';

/** Whatever belongs to an organization and goes with it. Payments stay: they are financial records. */
export type RemovalDeps = Omit<RemoveCustomerDeps, 'deleteHistory'>;

interface Children {
  /** Some of them, each as what removes it here and at its provider. */
  readonly page: (deps: RemovalDeps, after: Item | undefined, limit: number) => Promise<ChildPage>;
}

interface ChildPage {
  readonly removals: readonly (() => Promise<unknown>)[];
  /** Where to go on; undefined at the end. */
  readonly next: Item | undefined;
}

const keyOf = (item: Item): Key => ({ pk: String(item['pk']), sk: String(item['sk']) });

const itemsUnder = (partition: string, prefix?: string): Children => ({
  page: async ({ table }, after, limit) => {
    const range = prefix === undefined ? {} : { from: prefix, to: `${prefix}~` };
    const { items, next } = await table.queryItems({ partition, ...range, after, limit, consistent: true });
    return { removals: items.map((item) => () => table.remove(keyOf(item))), next };
  },
});

const records = <T>(
  owner: Owner,
  kind: 'ADDR' | 'PM' | 'CUS' | 'SUB',
  { parse }: Pick<RecordKind<T>, 'parse'>,
  remove: (deps: RemovalDeps, record: T, key: Key) => Promise<unknown>,
): Children => ({
  page: async (deps, after, limit) => {
    const partition = ownerPartition(owner, kind);
    const rows = await deps.table.queryIndex({ index: 'owner', partition, after, limit });
    // The index tells of what is gone a moment longer: the items decide.
    const items = await deps.table.getMany(rows.items.map(keyOf), { consistent: true });
    const removals = items.flatMap((item) => {
      const record = item && parse(item);
      return !item || record === undefined ? [] : [() => remove(deps, record, keyOf(item))];
    });
    return { removals, next: rows.next };
  },
});

const AT_PROVIDER = { atProvider: true } as const;

/** In this order: who has access, what is still billed, what points at records, records, customers after their methods. */
const childrenOf = (organizationId: string): readonly Children[] => {
  const owner: Owner = { kind: 'organization', organizationId };
  return [
    itemsUnder(organizationKey(organizationId).pk, MEMBER_PREFIX),
    records(owner, 'SUB', subscriptionRecord, async (deps, subscription) => {
      await cancelNow(deps, subscription);
      await eraseSubscription(deps.table, subscription.id);
    }),
    itemsUnder(ownerCustomerKey(ownerKeyOf(owner), '').pk),
    records(owner, 'ADDR', addressRecord, async (deps, { id }, key) => {
      await unlinkAddress(deps, id);
      await deps.table.remove(key);
    }),
    records(owner, 'PM', paymentMethodRecord, (deps, method) => removeMethod(deps, method, AT_PROVIDER)),
    records(owner, 'CUS', customerRecord, (deps, customer) =>
      removeCustomer({ ...deps, deleteHistory: false }, customer, AT_PROVIDER),
    ),
  ];
};

/** What one run does at most: well within its function's time, whatever the provider takes. */
const MOST_A_RUN = 500;
const AT_ONCE = 25;
const LONGEST_MS = 12 * SECOND;

export interface Slice {
  readonly removed: number;
  /** Could not be removed now. */
  readonly failed: number;
  /** There may be more than this run looked at. */
  readonly more: boolean;
}

/** Removes up to a run's worth of an organization's children. What fails stands in nobody else's way. */
export const removeNextChildren = async (deps: RemovalDeps, organizationId: string): Promise<Slice> => {
  const until = deps.now() + LONGEST_MS;
  let [removed, failed] = [0, 0];
  for (const children of childrenOf(organizationId)) {
    let after: Item | undefined;
    do {
      if (removed + failed >= MOST_A_RUN || deps.now() > until) return { removed, failed, more: true };
      const page = await children.page(deps, after, AT_ONCE);
      const done = await Promise.all(page.removals.map(succeeds));
      removed += done.filter(Boolean).length;
      failed += done.length - done.filter(Boolean).length;
      after = page.next;
    } while (after);
  }
  return { removed, failed, more: false };
};

/** False after a provider's refusal or silence; anything else is a bug, and ends the run. */
const succeeds = async (remove: () => Promise<unknown>): Promise<boolean> => {
  try {
    await remove();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
};
