/**
 * @module A membership is a subscription's access to a tier for its project, organization or user. It derives from its
 * subscription, and both are written in one transaction. A subscription has one membership per tier.
 */

import * as z from 'zod';
import { ownerColumns, type RecordKind } from '../access/record-kind.ts';
import { ENTITY_TYPES, entityPartition, listSort, membershipKey } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';

export const MEMBERSHIP_STATUSES = ['pending', 'active', 'cancelled', 'expired'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

const optional = z.string().optional();

export const membershipSchema = z.object({
  id: z.string(),
  /** The version of the subscription that wrote the membership. */
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
  ...ownerColumns,
  userEmail: optional,
  projectId: optional,
  providerId: z.string(),
  /** Set in the version written by an import. */
  reason: z.literal('imported').optional(),
});
export type Membership = z.infer<typeof membershipSchema>;

export const membershipItem = (membership: Membership): Item => ({
  ...membershipKey(membership.id),
  ...membership,
  owner: entityPartition(membership.entityType, membership.entityId),
  sort: listSort(membership.createdAt, membership.id),
  f: { s: membership.status },
});

/** The subscription's user, the members of its organization and the merchant may read a membership. */
export const membershipRecord: RecordKind<Membership> = {
  resource: 'membership',
  readScope: 'subscriptions:read',
  key: membershipKey,
  parse: (item) => membershipSchema.parse(item),
  ownedBy: ({ userId, organizationId }) => ({ userId, organizationId }),
  rule: 'owned',
};

/** The fields of a membership in responses and events. */
export const membershipFacts = (membership: Membership) => ({
  membership_type_id: membership.tierId,
  entity_type: membership.entityType,
  entity_id: membership.entityId,
  subscription_id: membership.subscriptionId,
  status: membership.status,
  starts_at: membership.startsAt ?? null,
  ends_at: membership.endsAt ?? null,
});

export const membershipView = (membership: Membership) => ({
  id: membership.id,
  ...membershipFacts(membership),
  created_at: membership.createdAt,
  updated_at: membership.updatedAt,
});
