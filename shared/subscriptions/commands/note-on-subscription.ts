/** @module Notes of the hosted page in a subscription's record. Readers do not see them. */

import { notFound } from '../../core/errors.ts';
import type { StoreDeps } from '../../platform/table.ts';
import { isVisibleSubscription, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';

/** @throws DomainError RESOURCE_NOT_FOUND */
export const readVisibleSubscription = async (
  { table }: Pick<StoreDeps, 'table'>,
  id: string,
): Promise<VisibleSubscription> => {
  const found = await subscriptionStore(table).load(id);
  if (!found || !isVisibleSubscription(found)) throw notFound('subscription');
  return found;
};

type Noted = Partial<Pick<Subscription, 'linkReturnUrl' | 'wantedMethodId' | 'cancelReason' | 'cancelComment'>>;

/** Stores notes that readers do not see, without a new version. */
export const noteOnSubscription = async (
  { table }: Pick<StoreDeps, 'table'>,
  subscription: VisibleSubscription,
  noted: Noted,
): Promise<VisibleSubscription> => {
  const changed = await subscriptionStore(table).change(subscription, (current) => ({ ...current, ...noted }));
  if (!isVisibleSubscription(changed)) throw notFound('subscription');
  return changed;
};
