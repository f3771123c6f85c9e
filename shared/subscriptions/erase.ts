import type { Table } from '../table/table.ts';
import { removalSteps, subscriptionStore } from './store.ts';
import { isLive } from './subscription.ts';

/** Removes a subscription that is over, with its membership; a live one stays. */
export const eraseSubscription = async (table: Table, id: string): Promise<void> => {
  const subscription = await subscriptionStore(table).load(id);
  if (subscription && !isLive(subscription)) await table.transact(removalSteps(subscription));
};
