/**
 * @module Marks an imported subscription at its billing provider with our id, by a claimed call (calls/call-kind.ts).
 * Later provider events then contain our id, even after a table restore.
 */

import type { LookedUp } from '../../calls/call-kind.ts';
import { nextLook } from '../../calls/call-times.ts';
import { lookUpCall } from '../../calls/look-up.ts';
import { makeCall } from '../../calls/run-call.ts';
import { instant, iso } from '../../core/time.ts';
import type { ProviderSubscription } from '../../providers/subscription-port.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { subscriptionsPortOf } from './provider-biller.ts';
import {
  type AtProvider,
  type CallAtProvider,
  type PartsAtProvider,
  READ_AT_PROVIDER,
  storeReport,
  storeState,
} from './store-report.ts';

type MarkClaim = AtProvider & { readonly adoption: NonNullable<Subscription['adoption']> };

const isMarking = (subscription: Subscription): subscription is MarkClaim =>
  subscription.adoption !== undefined && subscription.providerSubscriptionId !== undefined;

const MARK_CALL: CallAtProvider<MarkClaim, ProviderSubscription> & LookedUp<PartsAtProvider, Subscription, MarkClaim> =
  {
    ...READ_AT_PROVIDER,
    send: async ({ port }, claim) => ({
      claim,
      outcome: await port.adopt({
        subscriptionId: claim.providerSubscriptionId,
        ourSubscriptionId: claim.id,
        methodId: claim.adoption.methodRef,
        idempotencyKey: `${claim.id}:adopt`,
      }),
    }),
    apply: async ({ deps }, claim, { by, report }) => {
      const isThere = report?.ourSubscriptionId === claim.id;
      // If the provider's subscription has ended, there is nothing to mark.
      if (!report || (!isThere && report.status === 'canceled')) return { state: 'over', record: claim };
      if (!isThere) return { state: 'absent', record: claim };
      const store = by === 'response' ? storeReport : storeState;
      return { state: 'settled', record: await store(deps, claim, report) };
    },
    claimedAt: ({ adoption }) => instant(adoption.claimedAt),
    step: () => -1,
    resendWithinMs: Number.POSITIVE_INFINITY,
    maySend: async () => true,
    setLook: ({ deps }, claim) => markLater(deps, claim),
    stuck: ({ id }) => ['subscription anomaly', { subscription_id: id }],
    statusOf: ({ status }) => status,
  };

/**
 * Sends the mark claimed by the import, or looks it up. While the outcome is unknown, due work repeats the lookup.
 * @param isFirst true in the claiming request
 */
export const markAdopted = async (
  deps: BillingDeps,
  subscription: Subscription,
  { isFirst }: { readonly isFirst: boolean },
): Promise<Subscription> => {
  if (!isMarking(subscription)) return subscription;
  const parts = { deps, port: await subscriptionsPortOf(deps, subscription) };
  const { record, refusal, notDone, isUnclear } = await (isFirst ? makeCall : lookUpCall)(
    MARK_CALL,
    parts,
    subscription,
  );
  const isRefused = refusal !== undefined && isLive(record);
  if (isRefused) {
    deps.log.error('subscription anomaly', {
      subscription_id: subscription.id,
      reason: 'the provider refuses the mark',
    });
  }
  if (isRefused || notDone || isUnclear) return markLater(deps, record);
  return subscriptionStore(deps.table).change(record, (current) =>
    current.adoption ? { ...current, adoption: undefined } : current,
  );
};

/** Schedules the next lookup, with the usual intervals. */
const markLater = (deps: BillingDeps, subscription: Subscription): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) => {
    const { adoption } = current;
    if (!adoption) return current;
    const { at } = nextLook(instant(adoption.claimedAt), -1, deps.now());
    return { ...current, adoption: { ...adoption, lookAt: iso(at) } };
  });
