import * as z from 'zod';
import type { RecordKind } from '../access/record-kind.ts';
import { derivedId } from '../core/ids.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { ENTITY_TYPES, type EntityType, entityPartition, listSort, membershipKey } from '../table/keys.ts';
import type { Item } from '../table/table.ts';

/**
 * A membership: what a subscription gives its project, organization or user. Always holds: it is wholly what its
 * subscription says, and is written in the same transaction; one a subscription and tier.
 */
export const MEMBERSHIP_STATUSES = ['pending', 'active', 'cancelled', 'expired'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

const optional = z.string().optional();

export const membershipSchema = z.object({
  id: z.string(),
  /** Of the subscription that it was written with. */
  version: z.int(),
  tierId: z.string(),
  entityType: z.enum(ENTITY_TYPES),
  entityId: z.string(),
  subscriptionId: z.string(),
  status: z.enum(MEMBERSHIP_STATUSES),
  startsAt: optional,
  endsAt: optional,
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Whose the subscription is. */
  userId: optional,
  userEmail: optional,
  guestId: optional,
  guestEmail: optional,
  organizationId: optional,
  projectId: optional,
  providerId: z.string(),
});
export type Membership = z.infer<typeof membershipSchema>;

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

export const membershipItem = (membership: Membership): Item => ({
  ...membershipKey(membership.id),
  ...membership,
  owner: entityPartition(membership.entityType, membership.entityId),
  sort: listSort(membership.createdAt, membership.id),
  f: { s: membership.status },
});

/** The access rule: its subscription's user, or a member of its subscription's organization. */
export const membershipRecord: RecordKind<Membership> = {
  resource: 'membership',
  key: membershipKey,
  parse: (item) => membershipSchema.parse(item),
  ownedBy: ({ userId, organizationId }) => ({ userId, organizationId }),
  rule: 'owned',
};

export const membershipView = (membership: Membership) => ({
  id: membership.id,
  membership_type_id: membership.tierId,
  entity_type: membership.entityType,
  entity_id: membership.entityId,
  subscription_id: membership.subscriptionId,
  status: membership.status,
  starts_at: membership.startsAt ?? null,
  ends_at: membership.endsAt ?? null,
  created_at: membership.createdAt,
  updated_at: membership.updatedAt,
});
