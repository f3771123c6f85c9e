/** @module The entries of the list of all subscriptions. */

import { entryKey, wordKey } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import {
  isVisibleSubscription,
  type Subscription,
  type VisibleSubscription,
} from '../subscriptions/record/subscription.ts';
import { listEntry, putEntries, wordEntry } from './list-entry.ts';

export const subscriptionEntries = (subscription: VisibleSubscription): readonly Item[] => [
  listEntry('SUB', subscription, {
    b: subscription.billingOwner,
    d: subscription.productId,
    t: subscription.tierId,
  }),
  wordEntry('SUB', subscription, { of: 'PEOPLE', owner: undefined, project: subscription.referenceCode }),
];

/** Writes the entries of a changed subscription. A subscription hidden from readers has no entry. */
export const writeSubscriptionEntry = async (table: Table, subscription: Subscription): Promise<void> => {
  if (isVisibleSubscription(subscription)) await putEntries(table, subscriptionEntries(subscription));
};

/** Removes the entries of a removed subscription. */
export const removeSubscriptionEntry = async (table: Table, { createdAt, id }: Subscription): Promise<void> => {
  await Promise.all([entryKey('SUB', createdAt, id), wordKey('SUB', id, 'PEOPLE')].map((key) => table.remove(key)));
};
