/**
 * @module Builds the record of a subscription taken over from another biller. Pure. The service never bills it before
 * the end of the time already paid.
 */

import type { Owned } from '../../access/record-kind.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import { type Instant, iso } from '../../core/time.ts';
import type { SubscriptionPlan } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import { advanceSubscription } from '../record/subscription-versions.ts';

export interface StartedAs {
  readonly id: string;
  readonly slot: ProviderSlot;
  readonly owner: Owned;
  readonly customerId: string;
  readonly providerCustomerId: string;
  readonly method: { readonly id: string; readonly methodRef: string };
  readonly plan: SubscriptionPlan & Pick<Subscription, 'currency'>;
  /** End of the time paid to another biller. */
  readonly paidUntil: Instant;
}

export const startedSubscription = (as: StartedAs, now: Instant): Subscription => {
  const at = iso(now);
  const until = iso(as.paidUntil);
  const draft: Subscription = {
    ...{ id: as.id, version: 0, lock: 0, status: 'creating', createdAt: at, updatedAt: at },
    ...{ billingOwner: 'service', ...as.owner, customerId: as.customerId, providerCustomerId: as.providerCustomerId },
    ...{ paymentMethodId: as.method.id, methodRef: as.method.methodRef, providerId: as.slot },
    ...as.plan,
    ...{ anchor: until, period: -1, currentPeriodStart: at, currentPeriodEnd: until, paidUntil: until },
    cancelAtPeriodEnd: false,
    activeSince: at,
    importedAt: at,
  };
  return advanceSubscription(draft, { to: 'active', cause: 'open', reason: 'imported', now });
};
