import type { RecordKind } from '../access/record-kind.ts';
import { addressRecord } from '../addresses/address.ts';
import { DomainError } from '../core/errors.ts';
import { SECOND } from '../core/time.ts';
import { customerRecord } from '../customers/customer.ts';
import { type RemoveCustomerDeps, removeCustomer } from '../customers/remove.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { removeMethod } from '../payment-methods/remove.ts';
import { ownerKeyOf } from '../table/defaults.ts';
import {
  type Key,
  MEMBER_PREFIX,
  type Owner,
  organizationKey,
  ownerCustomerKey,
  ownerPartition,
} from '../table/keys.ts';
import type { Item, Page, Table } from '../table/table.ts';

/** Whatever belongs to an organization and goes with it. Payments stay: they are financial records. */
export type RemovalDeps = Omit<RemoveCustomerDeps, 'deleteHistory'>;

interface Children {
  /** One page of their keys. */
  readonly page: (table: Table, after: Item | undefined, limit: number) => Promise<Page>;
  /** Removes one, here and at its provider. @returns false where it was gone already. */
  readonly remove: (deps: RemovalDeps, key: Key) => Promise<boolean>;
}

const itemsUnder = (partition: string, prefix?: string): Children => ({
  page: (table, after, limit) => {
    const range = prefix === undefined ? {} : { from: prefix, to: `${prefix}~` };
    return table.queryItems({ partition, ...range, after, limit, consistent: true });
  },
  remove: async ({ table }, key) => {
    await table.remove(key);
    return true;
  },
});

const records = <T>(
  owner: Owner,
  kind: 'ADDR' | 'PM' | 'CUS',
  { parse }: Pick<RecordKind<T>, 'parse'>,
  remove: (deps: RemovalDeps, record: T, key: Key) => Promise<unknown>,
): Children => ({
  page: (table, after, limit) =>
    table.queryIndex({ index: 'owner', partition: ownerPartition(owner, kind), after, limit }),
  remove: async (deps, key) => {
    // The index tells of what is gone a moment longer.
    const item = await deps.table.get(key);
    const record = item && parse(item);
    if (record === undefined) return false;
    await remove(deps, record, key);
    return true;
  },
});

const AT_PROVIDER = { atProvider: true } as const;

/** In this order: who has access, what points at records, records, and customers after their methods. */
const childrenOf = (organizationId: string): readonly Children[] => {
  const owner: Owner = { kind: 'organization', organizationId };
  return [
    itemsUnder(organizationKey(organizationId).pk, MEMBER_PREFIX),
    itemsUnder(ownerCustomerKey(ownerKeyOf(owner), '').pk),
    records(owner, 'ADDR', addressRecord, ({ table }, _, key) => table.remove(key)),
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
export const removeSlice = async (deps: RemovalDeps, organizationId: string): Promise<Slice> => {
  const until = deps.now() + LONGEST_MS;
  let [seen, removed, failed] = [0, 0, 0];
  for (const children of childrenOf(organizationId)) {
    let after: Item | undefined;
    do {
      if (seen >= MOST_A_RUN || deps.now() > until) return { removed, failed, more: true };
      const page = await children.page(deps.table, after, AT_ONCE);
      const results = await Promise.all(page.items.map((item) => attempt(deps, children, item)));
      seen += results.length;
      removed += results.filter((result) => result === 'removed').length;
      failed += results.filter((result) => result === 'failed').length;
      after = page.next;
    } while (after);
  }
  return { removed, failed, more: false };
};

const attempt = async (deps: RemovalDeps, { remove }: Children, item: Item): Promise<'removed' | 'gone' | 'failed'> => {
  try {
    return (await remove(deps, { pk: String(item['pk']), sk: String(item['sk']) })) ? 'removed' : 'gone';
  } catch (error) {
    // A provider's refusal or silence; anything else is a bug, and ends the run.
    if (error instanceof DomainError) return 'failed';
    throw error;
  }
};
