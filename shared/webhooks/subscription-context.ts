/** @module The order of a subscription's events, and the read of the provider if an event does not decide. */

import { epochSeconds, instant } from '../core/time.ts';
import type { ProviderEvent } from '../providers/event-port.ts';
import { subscriptionsPortOf } from '../subscriptions/at-provider/provider-biller.ts';
import { storeState } from '../subscriptions/at-provider/store-report.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import type { Subscription } from '../subscriptions/record/subscription.ts';
import type { SubscriptionStore } from '../subscriptions/record/subscription-store.ts';
import type { EventResult } from './inbound-event.ts';

/** One event about a subscription, with the dependencies that apply it. */
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
): EventResult => ({ kind, reason, owner: subscription, about: { kind: 'SUB', id: subscription.id } });

/**
 * If the times differ by at most this, the order is unknown, because clocks differ and the state may be from any time
 * during a call.
 */
const UNSURE_SECONDS = 30;

/**
 * Whether the event is older or newer than the stored state. If the order is unknown, an event in the interface's shape
 * counts as newer and is applied without a read.
 */
export const ageOf = (event: ProviderEvent, subscription: Subscription): 'older' | 'newer' | 'unsure' => {
  const { createdAt, isOfInterface } = event;
  const { knownAt = 0 } = subscription;
  if (isOverruled(event, subscription)) return 'older';
  if (Math.abs(createdAt - knownAt) <= UNSURE_SECONDS) return isOfInterface ? 'newer' : 'unsure';
  return createdAt < knownAt ? 'older' : 'newer';
};

/**
 * True if a later event in the interface's shape overrules this event. An interface event overrules all events up to
 * its own second, except other interface events of that second. An interface event from before the subscription's
 * creation is always overruled.
 */
export const isOverruled = (
  { createdAt, isOfInterface }: ProviderEvent,
  { followedAt, createdAt: since }: Subscription,
): boolean => {
  if (isOfInterface) return createdAt < Math.max(followedAt ?? 0, epochSeconds(instant(since)));
  return followedAt !== undefined && createdAt <= followedAt;
};

/** Stores the time of an event in the interface's shape on the subscription. */
export const noteFollowed = ({ isOfInterface, createdAt }: ProviderEvent, next: Subscription): Subscription =>
  isOfInterface ? { ...next, followedAt: createdAt } : next;

/** Reads the subscription at the provider. @throws if there is no response; the event is then retried */
export const syncSubscription = async (
  context: SubscriptionEventContext,
  namedId: string | undefined,
): Promise<EventResult> => {
  const { deps, subscription } = context;
  const providerSubscriptionId = namedId ?? subscription.providerSubscriptionId;
  if (providerSubscriptionId === undefined) return resultOf(context, 'ignored', 'says too little');
  const port = await subscriptionsPortOf(deps, subscription);
  const found = await port.find(providerSubscriptionId);
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  if (found.kind !== 'done') return resultOf(context, 'ignored', 'not known to the provider');
  return resultOfChange(context, await storeState(deps, subscription, found.value));
};

/** `applied` if the change made a new version, otherwise `ignored`. */
export const resultOfChange = (context: SubscriptionEventContext, next: Subscription): EventResult =>
  next.version === context.subscription.version
    ? resultOf(context, 'ignored', 'no change')
    : resultOf(context, 'applied', next.status);
