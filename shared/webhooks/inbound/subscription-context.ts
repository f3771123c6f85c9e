import type { ProviderEvent } from '../../providers/port/events.ts';
import type { BillingDeps } from '../../subscriptions/billing/biller.ts';
import { subscriptionsPortOf } from '../../subscriptions/provider-billed/port.ts';
import { storeReport } from '../../subscriptions/provider-billed/sync.ts';
import type { SubscriptionStore } from '../../subscriptions/record/store.ts';
import type { Subscription } from '../../subscriptions/record/subscription.ts';
import type { EventResult } from './result.ts';

/** One event about a subscription that its provider bills, on its way to the record. */
export interface SubscriptionEventContext {
  readonly deps: BillingDeps;
  readonly store: SubscriptionStore;
  readonly subscription: Subscription;
  readonly event: ProviderEvent;
}

export const resultOf = (
  { subscription }: Pick<SubscriptionEventContext, 'subscription'>,
  kind: 'applied' | 'ignored' | 'quarantined',
  reason: string,
): EventResult => ({ kind, reason, owner: subscription });

/** What the event leaves open, the provider is asked. @throws where it cannot be read now: the event comes again. */
export const syncSubscription = async (
  told: SubscriptionEventContext,
  named: string | undefined,
): Promise<EventResult> => {
  const { deps, store, subscription } = told;
  const providerSubscriptionId = named ?? subscription.providerSubscriptionId;
  if (providerSubscriptionId === undefined) return resultOf(told, 'ignored', 'says too little');
  const native = await subscriptionsPortOf(deps, subscription);
  const found = await native.find(providerSubscriptionId);
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  if (found.kind !== 'done') return resultOf(told, 'ignored', 'not known to the provider');
  return resultOfChange(told, await storeReport(deps, store, subscription, found.value));
};

/** Did what was heard change anything that readers see? */
export const resultOfChange = (told: SubscriptionEventContext, next: Subscription): EventResult =>
  next.version === told.subscription.version
    ? resultOf(told, 'ignored', 'no change')
    : resultOf(told, 'applied', next.status);
