/** @module Builds the next version of a subscription. Pure; the store commits it only over its base version. */

import { codeOnly } from '../../core/person-fields.ts';
import { allows } from '../../core/states.ts';
import { type Instant, instant, iso } from '../../core/time.ts';
import type { HeldMethod } from '../../payment-methods/usable-method.ts';
import { membershipKey } from '../../platform/keys.ts';
import type { Table } from '../../platform/table.ts';
import { membershipIdsOf } from './membership-of.ts';
import type { Reason, StoredStatus, Subscription } from './subscription.ts';
import { withoutPayer } from './subscription-discount.ts';
import { SUBSCRIPTION_TRANSITIONS, type SubscriptionCause } from './subscription-states.ts';

export interface VersionChange {
  readonly to: StoredStatus;
  readonly cause: SubscriptionCause;
  readonly reason: Reason;
  readonly now: Instant;
}

/** True if the change clears the resume date. A failed resumption clears only a past date. */
const endsDate = ({ resumeAt }: Subscription, { to, reason, now }: VersionChange): boolean =>
  to !== 'paused' ||
  reason === 'cancel_scheduled' ||
  (reason === 'resume_failed' && resumeAt !== undefined && instant(resumeAt) <= now);

/** The next visible version. A cancellation clears an open command without reporting it. */
export const advanceSubscription = (
  subscription: Subscription,
  change: VersionChange,
  changed: Partial<Subscription> = {},
): Subscription => {
  const { to, cause, reason, now } = change;
  const from = subscription.status;
  if (!allows(SUBSCRIPTION_TRANSITIONS, { from, to, cause })) {
    throw new Error(`no transition of a subscription from ${from} to ${to} by ${cause}`);
  }
  return {
    ...subscription,
    busyUntil: undefined,
    ...(to === 'canceled' && { openCommand: undefined }),
    ...(endsDate(subscription, change) && { resumeAt: undefined }),
    ...changed,
    status: to,
    reason,
    version: subscription.version + 1,
    updatedAt: iso(now),
  };
};

/** The next version with the same status. */
export const edit = (
  subscription: Subscription,
  { reason, now }: Pick<VersionChange, 'reason' | 'now'>,
  changed: Partial<Subscription>,
): Subscription =>
  advanceSubscription(subscription, { to: subscription.status, cause: 'provider', reason, now }, changed);

/** Sets the method. The method's customer becomes the subscription's customer. */
export const withMethod = (
  subscription: Subscription,
  { paymentMethodId, methodRef, providerCustomerId, customerId }: HeldMethod,
  now: Instant,
): Subscription =>
  edit(
    subscription,
    { reason: 'method_changed', now },
    {
      paymentMethodId,
      methodRef,
      wantedMethodId: undefined,
      customerId: customerId ?? subscription.customerId,
      providerCustomerId: providerCustomerId ?? subscription.providerCustomerId,
    },
  );

/**
 * The next version without personal data. Amounts, dates, ids and the status stay. An organization's subscription keeps
 * its texts.
 * @returns the same subscription if there is nothing to erase
 */
export const blankSubscription = (subscription: Subscription, now: Instant): Subscription => {
  const { organizationId, erasedAt, userEmail, referenceCode, category } = subscription;
  const isPersonal = organizationId === undefined;
  if (isPersonal ? erasedAt !== undefined : userEmail === undefined) return subscription;
  const fields = isPersonal
    ? {
        guestEmail: undefined,
        guestName: undefined,
        guestNetwork: undefined,
        concept: undefined,
        description: undefined,
        tags: undefined,
        metadata: undefined,
        cancelComment: undefined,
        referenceCode: codeOnly(referenceCode),
        category: codeOnly(category),
        ...withoutPayer(subscription),
        erasedAt: iso(now),
      }
    : {};
  return edit(subscription, { reason: 'updated', now }, { userEmail: undefined, ...fields });
};

/** Removes the copied e-mail addresses from the subscription's memberships. */
export const blankMembershipOf = async (table: Table, subscription: Subscription): Promise<void> => {
  for (const id of membershipIdsOf(subscription)) {
    await table.update(membershipKey(id), { remove: ['userEmail', 'guestEmail'] }, [{ has: 'pk' }]);
  }
};
