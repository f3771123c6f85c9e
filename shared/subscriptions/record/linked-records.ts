/** @module Looks up links between subscriptions and their customers, methods and billing addresses. */

import { customerRecord } from '../../customers/customer.ts';
import { type PaymentMethod, paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { recordKey, USED_BY_PREFIX } from '../../platform/keys.ts';
import type { StoreDeps, Table } from '../../platform/table.ts';
import { isLive, type Subscription, subscriptionOf } from './subscription.ts';
import { subscriptionStore } from './subscription-store.ts';
import { edit } from './subscription-versions.ts';

/** The live subscriptions of any owner that use a method or a customer. */
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
  /** True if the payer exists. The customer is not needed if an organization pays or if the method has no customer. */
  readonly hasPayer: boolean;
}

export const readLinkedRecords = async (
  table: Table,
  { customerId, paymentMethodId, organizationId }: Subscription,
): Promise<LinkedRecords> => {
  const keys = [customerRecord.key(customerId), ...(paymentMethodId ? [paymentMethodRecord.key(paymentMethodId)] : [])];
  const [customer, found] = await table.getMany(keys, { consistent: true });
  // A deleted customer may leave a tombstone, so the item alone does not prove that the customer exists.
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
