import type { RecordEventResult } from '../customers/apply-event.ts';
import type { ProviderEvent } from '../providers/provider.ts';
import { adopt } from './adopt.ts';
import type { BillingDeps } from './deps.ts';
import { nativeOf } from './native-port.ts';
import type { SubscriptionStore } from './store.ts';
import type { Subscription } from './subscription.ts';

/** One event about a subscription that its provider bills, on its way to the record. */
export interface Told {
  readonly deps: BillingDeps;
  readonly store: SubscriptionStore;
  readonly subscription: Subscription;
  readonly event: ProviderEvent;
}

export const outcome = (
  { subscription }: Pick<Told, 'subscription'>,
  kind: 'applied' | 'ignored' | 'quarantined',
  reason: string,
): RecordEventResult => ({ kind, reason, owner: subscription });

/** What the event leaves open, the provider is asked. @throws where it cannot be read now: the event comes again. */
export const readAgain = async (told: Told, named: string | undefined): Promise<RecordEventResult> => {
  const { deps, store, subscription } = told;
  const providerSubscriptionId = named ?? subscription.providerSubscriptionId;
  if (providerSubscriptionId === undefined) return outcome(told, 'ignored', 'says too little');
  const native = await nativeOf(deps, subscription);
  const found = await native.find(providerSubscriptionId);
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  if (found.kind !== 'done') return outcome(told, 'ignored', 'not known to the provider');
  return changed(told, await adopt(deps, store, subscription, found.value));
};

/** Did what was heard change anything that readers see? */
export const changed = (told: Told, next: Subscription): RecordEventResult =>
  next.version === told.subscription.version
    ? outcome(told, 'ignored', 'no change')
    : outcome(told, 'applied', next.status);
