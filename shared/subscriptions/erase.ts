import { DomainError } from '../core/errors.ts';
import type { Table } from '../table/table.ts';
import { removalSteps, subscriptionStore } from './store.ts';
import { isLive, mayStandThere } from './subscription.ts';

/**
 * Removes a subscription that is over, with its membership; a live one stays.
 * @throws DomainError PAYMENT_IN_PROGRESS while its provider may have it: somebody has to look after it
 */
export const eraseSubscription = async (table: Table, id: string): Promise<void> => {
  const subscription = await subscriptionStore(table).load(id);
  if (subscription && mayStandThere(subscription)) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (subscription && !isLive(subscription)) await table.transact(removalSteps(subscription));
};
