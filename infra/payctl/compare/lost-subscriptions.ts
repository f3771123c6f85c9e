/** @module Finds live provider-billed subscriptions not followed by any record after a restore of the table. */

import type { Outcome } from '../../../shared/core/outcome.ts';
import { PAYMENT_SLOTS, type PaymentSlot } from '../../../shared/core/settings.ts';
import type { Subscription } from '../../../shared/subscriptions/record/subscription.ts';
import { subscriptionStore } from '../../../shared/subscriptions/record/subscription-store.ts';
import type { Installation } from '../installation/installation.ts';

type Reader = Pick<Installation, 'deps'>;

/** A provider's live subscription, not followed by any record. The provider keeps charging it. */
export interface Unfollowed {
  readonly provider: PaymentSlot;
  readonly provider_subscription_id: string;
  readonly subscription_id: string;
  /** ISO 8601 */
  readonly created_at: string;
  /**
   * True if the subscription has a record here. This record then follows another subscription at the provider, or the
   * service bills it.
   */
  readonly has_record: boolean;
}

/** @param since ISO 8601, inclusive @returns an empty list at a provider without subscription billing */
export const unfollowedAt = async (
  { deps }: Reader,
  provider: PaymentSlot,
  since: string,
): Promise<Outcome<readonly Unfollowed[]>> => {
  const listed = await (await deps.providers.find(provider))?.listing?.listSubscriptions?.(since);
  if (!listed) return { kind: 'done', value: [] };
  if (listed.kind !== 'done') return listed;
  const store = subscriptionStore(deps.table);
  const records = await Promise.all(listed.value.map(({ ourSubscriptionId }) => store.load(ourSubscriptionId)));
  return {
    kind: 'done',
    value: listed.value.flatMap(({ subscriptionId, ourSubscriptionId, createdAt }, index) =>
      isFollowed(records[index], subscriptionId)
        ? []
        : [
            {
              ...{ provider, provider_subscription_id: subscriptionId, subscription_id: ourSubscriptionId },
              ...{ created_at: createdAt, has_record: records[index] !== undefined },
            },
          ],
    ),
  };
};

/**
 * A record under creation also counts as following the subscription, because due work will find the subscription at the
 * provider.
 */
const isFollowed = (record: Subscription | undefined, subscriptionId: string): boolean =>
  record?.providerSubscriptionId === subscriptionId || record?.status === 'creating';

export interface UnfollowedAtAll {
  readonly unfollowed: readonly Unfollowed[];
  /** Providers with an unreadable list of subscriptions, with the reason. */
  readonly unlisted: readonly { readonly provider: PaymentSlot; readonly unread: string }[];
}

/** @param since ISO 8601, inclusive */
export const findUnfollowed = async (reader: Reader, since: string): Promise<UnfollowedAtAll> => {
  const all = await Promise.all(
    PAYMENT_SLOTS.map(async (provider) => ({ provider, found: await unfollowedAt(reader, provider, since) })),
  );
  return {
    unfollowed: all.flatMap(({ found }) => (found.kind === 'done' ? found.value : [])),
    unlisted: all.flatMap(({ provider, found }) =>
      found.kind === 'done' ? [] : [{ provider, unread: 'reason' in found ? found.reason : found.kind }],
    ),
  };
};
