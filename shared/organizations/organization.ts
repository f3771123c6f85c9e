import * as z from 'zod';
import type { Showing } from '../access/beside.ts';
import type { Caller } from '../access/caller.ts';
import { ROLES, type Role } from '../access/permissions.ts';
import type { RecordKind } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import type { IdentityUser } from '../identity/identity.ts';
import { memberIdOf, organizationKey } from '../table/keys.ts';
import type { Item } from '../table/table.ts';

/**
 * An organization and its members. Always holds: exactly one member is the owner, the user who made it; the member counts
 * by role on the organization equal its members; a deleted one is a tombstone that every permission check reads.
 */
const optional = z.string().optional();
const count = z.int().nonnegative();

export const organizationSchema = z.object({
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
  /** Members by role. */
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
  /** Stands for the Idempotency-Key that it was added under. */
  addedUnder: optional,
});
export type Member = z.infer<typeof memberSchema>;

/** Where an item keeps a count: at its top, where ADD reaches it. */
export const countAttribute = (role: Role): string => `members_${role}`;

/** @returns undefined for one that has been deleted. */
export const organizationOf = (item: Item): Organization | undefined => {
  if (item['deletedAt'] !== undefined) return undefined;
  const members = Object.fromEntries(ROLES.map((role) => [role, item[countAttribute(role)]]));
  return organizationSchema.parse({ ...item, members });
};

export const organizationRecord: RecordKind<Organization> = {
  resource: 'organization',
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

/** There is one owner, who made the organization. @throws DomainError INVALID_ROLE */
export const requireAssignable = (role: Role): void => {
  if (role !== 'owner') return;
  throw new DomainError('INVALID_ROLE', { details: { role, roles: ROLES.filter((other) => other !== 'owner') } });
};

/** @throws DomainError OWNER_IMMUTABLE or CANNOT_CHANGE_SELF */
export const requireChangeable = (member: Member, callerId: string): void => {
  if (member.role === 'owner') throw new DomainError('OWNER_IMMUTABLE');
  if (member.userId === callerId) throw new DomainError('CANNOT_CHANGE_SELF');
};

/** Organizations are for users with a session; their routes let nobody else through. */
export const userIdOf = (caller: Caller): string => {
  if (caller.kind !== 'session') throw new Error('an organization route without a session');
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

export const organizationBeside: Showing<Organization> = { kind: organizationRecord, view: organizationView };

export const memberView = (member: Member) => ({
  id: member.id,
  organization_id: member.organizationId,
  user_id: member.userId,
  role: member.role,
  created_at: member.createdAt,
  updated_at: member.updatedAt,
});

/** As a list shows it: with what the identity service knows of the user. */
export const listedMemberView = (member: Member, user: IdentityUser | undefined) => ({
  id: member.id,
  user_id: member.userId,
  role: member.role,
  created_at: member.createdAt,
  updated_at: member.updatedAt,
  user_name: user?.name ?? '',
  user_last_name: user?.last_name ?? '',
  user_email: user?.email ?? '',
  user_picture: user?.picture ?? null,
});
