/** @module Links between subscriptions and the customers, methods and billing addresses that they name. */

import { customerRecord } from '../../customers/customer.ts';
import { type PaymentMethod, paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { recordKey, USED_BY_PREFIX } from '../../platform/keys.ts';
import type { StoreDeps, Table } from '../../platform/table.ts';
import { isLive, type Subscription, subscriptionOf } from './subscription.ts';
import { subscriptionStore } from './subscription-store.ts';
import { edit } from './subscription-versions.ts';

/** The live subscriptions that use a method or a customer, of any owner. */
export const subscriptionsUsing = async (
  table: Table,
  kind: 'PM' | 'CUS',
  id: string,
): Promise<readonly Subscription[]> => {
  const ids: string[] = [];
  const range = { from: USED_BY_PREFIX, to: `${USED_BY_PREFIX}~` };
  for await (const { sk } of table.eachItem({ partition: recordKey(kind, id).pk, ...range, consistent: true })) {
    ids.push(String(sk).slice(USED_BY_PREFIX.length));
  }
  if (ids.length === 0) return [];
  const items = await table.getMany(
    ids.map((subscriptionId) => recordKey('SUB', subscriptionId)),
    { consistent: true },
  );
  return items.flatMap((item) => (item && subscriptionOf(item)) ?? []).filter(isLive);
};

interface LinkedRecords {
  readonly hasCustomer: boolean;
  readonly method: PaymentMethod | undefined;
  /** A person's subscription ends with its customer; an organization's is charged while its method exists. */
  readonly hasPayer: boolean;
}

export const readLinkedRecords = async (
  table: Table,
  { customerId, paymentMethodId, organizationId }: Subscription,
): Promise<LinkedRecords> => {
  const keys = [customerRecord.key(customerId), ...(paymentMethodId ? [paymentMethodRecord.key(paymentMethodId)] : [])];
  const [customer, found] = await table.getMany(keys, { consistent: true });
  // A customer that was created under an Idempotency-Key leaves a tombstone.
  const hasCustomer = customer !== undefined && customerRecord.parse(customer) !== undefined;
  const method = found && paymentMethodRecord.parse(found);
  const isWithoutCustomer = method !== undefined && method.customerId === undefined;
  return { hasCustomer, method, hasPayer: hasCustomer || organizationId !== undefined || isWithoutCustomer };
};

/** Removes a billing address from a subscription that still uses it. */
export const unlinkSubscription = async ({ table, now }: StoreDeps, id: string, addressId: string): Promise<void> => {
  const store = subscriptionStore(table);
  const subscription = await store.load(id);
  if (!subscription) return;
  await store.change(subscription, (current) =>
    current.billingAddressId === addressId
      ? edit(current, { reason: 'billing_address_changed', now: now() }, { billingAddressId: undefined })
      : undefined,
  );
};
