import type { Now } from '../core/time.ts';
import type { Table } from '../table/table.ts';
import { edited } from './changes.ts';
import { subscriptionStore } from './store.ts';

/** Takes a deleted address off a subscription, unless it names another one by now. */
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
      ? edited(current, 'billing_address_changed', now(), { billingAddressId: undefined })
      : undefined,
  );
};
