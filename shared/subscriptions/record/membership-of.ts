/** @module Derives the membership of a subscription with a membership tier. */

import { plainId } from '../../core/ids.ts';
import type { Membership, MembershipStatus } from '../../memberships/membership.ts';
import type { EntityType } from '../../platform/keys.ts';
import { isTierPaid } from './paid-tier.ts';
import type { Subscription } from './subscription.ts';

const STATUS_OF: Readonly<Record<Subscription['status'], MembershipStatus | undefined>> = {
  creating: undefined,
  declined: undefined,
  // Only for a free product or a paid tier. Any other membership is pending during the trial.
  trialing: 'active',
  active: 'active',
  // Access continues while a renewal is retried.
  past_due: 'active',
  paused: 'expired',
  canceled: 'cancelled',
};

/**
 * Only a paid or free tier is active. While a first charge is pending, the membership keeps its status from before the
 * charge.
 */
const statusOf = (subscription: Subscription): MembershipStatus | undefined => {
  const { status, charge, isUnpaid } = subscription;
  // The provider has given up collecting, so the membership ends as after dunning.
  if (isUnpaid) return 'cancelled';
  const membershipStatus = STATUS_OF[status];
  if (membershipStatus !== 'active') return membershipStatus;
  if (!isStarted(subscription)) return 'pending';
  if (status !== 'past_due' || charge === undefined) return membershipStatus;
  return STATUS_BEFORE_CHARGE[charge.cause];
};

/**
 * True if access has started. Access to a free product starts with the creation, and to any other tier with the first
 * payment.
 */
const isStarted = (subscription: Subscription): boolean =>
  subscription.activeSince === undefined ? subscription.totalCents === 0 : isTierPaid(subscription);

const STATUS_BEFORE_CHARGE = {
  create: 'pending',
  renew: 'active',
  reactivate: 'cancelled',
  resume: 'expired',
} as const;

const membershipIdOf = (subscriptionId: string, tierId: string): string =>
  plainId('membership', subscriptionId, tierId);

/** The ids of a subscription's memberships, of its current and its former tiers. */
export const membershipIdsOf = ({ id, tierId, formerTierIds = [] }: Subscription): readonly string[] =>
  [...(tierId === undefined ? [] : [tierId]), ...formerTierIds].map((tier) => membershipIdOf(id, tier));

/** A subscription's membership. Undefined if its product has no tier. */
export const membershipOf = (subscription: Subscription): Membership | undefined => {
  const { id, tierId, canceledAt } = subscription;
  const paidUntil = runsUntil(subscription);
  const status = statusOf(subscription);
  if (tierId === undefined || status === undefined) return undefined;
  const ended = status === 'cancelled' ? canceledAt : undefined;
  const [endsAt] = [paidUntil, ended].filter((time) => time !== undefined).sort();
  const { userId, userEmail, guestId, guestEmail, organizationId, projectId, providerId } = subscription;
  return {
    id: membershipIdOf(id, tierId),
    version: subscription.version,
    tierId,
    ...entityOf(subscription),
    subscriptionId: id,
    status,
    startsAt: startOf(subscription),
    endsAt: isStarted(subscription) ? endsAt : undefined,
    createdAt: subscription.createdAt,
    updatedAt: subscription.updatedAt,
    userId,
    userEmail,
    guestId,
    guestEmail,
    organizationId,
    projectId,
    providerId,
    ...(subscription.reason === 'imported' && { reason: subscription.reason }),
  };
};

/** Start of the membership. If a plan change brought the tier, the membership starts with that change. */
const startOf = (subscription: Subscription): string | undefined => {
  const { activeSince = subscription.createdAt, tierSince = '' } = subscription;
  if (!isStarted(subscription)) return undefined;
  return tierSince > activeSince ? tierSince : activeSince;
};

const runsUntil = ({ status, paidUntil, currentPeriodEnd }: Subscription): string | undefined =>
  status === 'trialing' && currentPeriodEnd > (paidUntil ?? '') ? currentPeriodEnd : paidUntil;

/** The subscription's project, else its organization, else its user or guest. */
const entityOf = ({
  projectId,
  organizationId,
  userId,
  guestId,
}: Subscription): { readonly entityType: EntityType; readonly entityId: string } => {
  if (projectId) return { entityType: 'project', entityId: projectId };
  if (organizationId) return { entityType: 'organization', entityId: organizationId };
  return { entityType: 'user', entityId: userId ?? guestId ?? '' };
};

export const isSameMembership = (a: Membership, b: Membership): boolean =>
  a.status === b.status && a.startsAt === b.startsAt && a.endsAt === b.endsAt;
