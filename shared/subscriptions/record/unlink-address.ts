import type { Now } from '../../core/time.ts';
import type { Table } from '../../table/table.ts';
import { subscriptionStore } from './store.ts';
import { edit } from './versions.ts';

/** Removes a billing address from a subscription that still uses it. */
export const unlinkSubscription = async (
  { table, now }: { readonly table: Table; readonly now: Now },
  id: string,
  addressId: string,
): Promise<void> => {
  const store = subscriptionStore(table);
  const subscription = await store.load(id);
  if (!subscription) return;
  await store.change(subscription, (current) =>
    current.billingAddressId === addressId
      ? edit(current, { reason: 'billing_address_changed', now: now() }, { billingAddressId: undefined })
      : undefined,
  );
};
