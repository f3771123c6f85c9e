/**
 * @module An organization and its members. The only owner is the user who created it. The counts by role always match
 * the members. A deleted organization becomes a tombstone, which every permission check reads.
 */

import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import type { IdentityUser } from '../access/identity.ts';
import type { Showing } from '../access/included-records.ts';
import { ROLES, type Role } from '../access/permissions.ts';
import type { RecordKind } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import { memberIdOf, organizationKey } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';

const optional = z.string().optional();
const count = z.int().nonnegative();

const organizationSchema = z.object({
  id: z.string(),
  version: z.int(),
  name: z.string(),
  ownerUserId: z.string(),
  businessEmail: optional,
  businessPhone: optional,
  taxId: optional,
  address: optional,
  createdAt: z.string(),
  updatedAt: z.string(),
  requestHash: optional,
  /** Number of members by role. */
  members: z.object({ owner: count, admin: count, billing: count, member: count }),
});
export type Organization = z.infer<typeof organizationSchema>;

export const memberSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  role: z.enum(ROLES),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Scope of the Idempotency-Key of the member's addition. */
  addedUnder: optional,
});
export type Member = z.infer<typeof memberSchema>;

/** The attribute of a count. It is at the top level of the item, where ADD can change it. */
export const countAttribute = (role: Role): string => `members_${role}`;

/** @returns undefined for a deleted organization. */
export const organizationOf = (item: Item): Organization | undefined => {
  if (item['deletedAt'] !== undefined) return undefined;
  const members = Object.fromEntries(ROLES.map((role) => [role, item[countAttribute(role)]]));
  return organizationSchema.parse({ ...item, members });
};

export const organizationRecord: RecordKind<Organization> = {
  resource: 'organization',
  readScope: 'customers:read',
  key: organizationKey,
  parse: organizationOf,
  ownedBy: ({ id }) => ({ organizationId: id }),
  rule: 'organization',
};

export type NewOrganization = Pick<Organization, 'id' | 'name' | 'ownerUserId'> & Partial<Organization>;

export const newOrganization = (draft: NewOrganization, at: string): Organization => ({
  ...draft,
  version: 1,
  createdAt: at,
  updatedAt: at,
  members: { owner: 1, admin: 0, billing: 0, member: 0 },
});

export const newMember = (
  { organizationId, userId, role }: Pick<Member, 'organizationId' | 'userId' | 'role'>,
  at: string,
): Member => ({
  id: memberIdOf(organizationId, userId),
  organizationId,
  userId,
  role,
  createdAt: at,
  updatedAt: at,
});

/**
 * Refuses the role `owner`, because the only owner is the user who created the organization.
 * @throws DomainError INVALID_ROLE
 */
export const requireAssignable = (role: Role): void => {
  if (role !== 'owner') return;
  throw new DomainError('INVALID_ROLE', { details: { role, roles: ROLES.filter((other) => other !== 'owner') } });
};

/** @throws DomainError OWNER_IMMUTABLE or CANNOT_CHANGE_SELF */
export const requireChangeable = (member: Member, callerId: string): void => {
  if (member.role === 'owner') throw new DomainError('OWNER_IMMUTABLE');
  if (member.userId === callerId) throw new DomainError('CANNOT_CHANGE_SELF');
};

/** The user of the caller. Every organization route requires a session. */
export const userIdOf = (caller: Caller): string => {
  if (caller.kind !== 'session') throw new Error('an organization route was called without a session');
  return caller.userId;
};

export const organizationView = (organization: Organization) => ({
  id: organization.id,
  name: organization.name,
  owner_user_id: organization.ownerUserId,
  business_email: organization.businessEmail ?? null,
  business_phone: organization.businessPhone ?? null,
  tax_id: organization.taxId ?? null,
  address: organization.address ?? null,
  created_at: organization.createdAt,
  updated_at: organization.updatedAt,
});

/** The organization with the caller's role; null for the merchant, who is not a member. */
export const organizationAsRead = (organization: Organization, role: Role | undefined) => ({
  ...organizationView(organization),
  your_role: role ?? null,
});

/** The organization with the caller's role, for reads and lists. */
export const listedOrganization = (organization: Organization, role: Role | undefined) => ({
  ...organizationAsRead(organization, role),
  role: role ?? null,
});

export const organizationBeside: Showing<Organization> = { kind: organizationRecord, view: organizationView };

export const memberView = (member: Member) => ({
  id: member.id,
  organization_id: member.organizationId,
  user_id: member.userId,
  role: member.role,
  created_at: member.createdAt,
  updated_at: member.updatedAt,
});

/**
 * A member in a list, with the user's details from the identity service.
 * @param unknownName shown for a user whom the identity service does not know; null without an identity service
 */
export const listedMemberView = (member: Member, user: IdentityUser | undefined, unknownName: '' | null) => ({
  id: member.id,
  user_id: member.userId,
  role: member.role,
  created_at: member.createdAt,
  updated_at: member.updatedAt,
  user_name: user?.name ?? unknownName,
  user_last_name: user?.last_name ?? unknownName,
  user_email: user?.email ?? unknownName,
  user_picture: user?.picture ?? null,
});
