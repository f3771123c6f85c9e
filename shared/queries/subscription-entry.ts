/** @module The entries of the list of all subscriptions. */

import { entryKey } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { isVisibleSubscription, type Subscription, type VisibleSubscription } from '../subscriptions/subscription.ts';
import { listEntry, putEntries } from './list-entry.ts';

export const subscriptionListEntry = (subscription: VisibleSubscription): Item =>
  listEntry('SUB', subscription, {
    b: subscription.billingOwner,
    d: subscription.productId,
    t: subscription.tierId,
  });

/** Writes the entry of a changed subscription. A subscription that its readers do not see has no entry. */
export const writeSubscriptionEntry = async (table: Table, subscription: Subscription): Promise<void> => {
  if (isVisibleSubscription(subscription)) await putEntries(table, [subscriptionListEntry(subscription)]);
};

/** Removes the entry of a removed subscription. */
export const removeSubscriptionEntry = async (table: Table, { createdAt, id }: Subscription): Promise<void> => {
  await table.remove(entryKey('SUB', createdAt, id));
};
