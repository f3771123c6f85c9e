import { DomainError } from '../core/errors.ts';
import type { Table } from '../table/table.ts';
import { removalSteps, subscriptionStore } from './store.ts';
import { isLive } from './subscription.ts';

/**
 * Removes a subscription that is over, with its membership; a live one stays.
 * @throws DomainError PAYMENT_IN_PROGRESS while it is not clear what became of its charge: somebody has to look after it
 */
export const eraseSubscription = async (table: Table, id: string): Promise<void> => {
  const subscription = await subscriptionStore(table).load(id);
  if (subscription?.charge) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (subscription && !isLive(subscription)) await table.transact(removalSteps(subscription));
};
