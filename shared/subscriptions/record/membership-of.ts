import { derivedId } from '../../core/ids.ts';
import type { Membership, MembershipStatus } from '../../memberships/membership.ts';
import type { EntityType } from '../../table/keys.ts';
import type { Subscription } from './subscription.ts';

const STATUS_OF: Readonly<Record<Subscription['status'], MembershipStatus | undefined>> = {
  creating: undefined,
  declined: undefined,
  trialing: 'pending',
  active: 'active',
  // While a renewal is retried, access goes on.
  past_due: 'active',
  paused: 'expired',
  canceled: 'cancelled',
};

/** While the charge that begins a period is pending, nothing is given that was not there before. */
const statusOf = ({ status, charge, activeSince }: Subscription): MembershipStatus | undefined => {
  const given = STATUS_OF[status];
  if (given !== 'active') return given;
  if (activeSince === undefined) return 'pending';
  if (status !== 'past_due' || charge === undefined) return given;
  return BEFORE[charge.cause];
};

const BEFORE = { create: 'pending', renew: 'active', reactivate: 'cancelled', resume: 'expired' } as const;

/** The membership of a subscription as it stands; undefined where its product carries no tier. */
export const membershipOf = (subscription: Subscription): Membership | undefined => {
  const { id, tierId, activeSince, paidUntil, canceledAt } = subscription;
  const status = statusOf(subscription);
  if (tierId === undefined || status === undefined) return undefined;
  const ended = status === 'cancelled' ? canceledAt : undefined;
  const [endsAt] = [paidUntil, ended].filter((time) => time !== undefined).sort();
  const { userId, userEmail, guestId, guestEmail, organizationId, projectId, providerId } = subscription;
  return {
    id: derivedId('membership', id, tierId),
    version: subscription.version,
    tierId,
    ...entityOf(subscription),
    subscriptionId: id,
    status,
    startsAt: activeSince,
    endsAt: activeSince === undefined ? undefined : endsAt,
    createdAt: subscription.createdAt,
    updatedAt: subscription.updatedAt,
    userId,
    userEmail,
    guestId,
    guestEmail,
    organizationId,
    projectId,
    providerId,
  };
};

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

/** Says it something else than before? */
export const isSameMembership = (one: Membership, other: Membership): boolean =>
  one.status === other.status && one.startsAt === other.startsAt && one.endsAt === other.endsAt;
