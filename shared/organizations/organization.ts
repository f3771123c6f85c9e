import * as z from 'zod';
import { ROLES } from '../access/permissions.ts';
import type { RecordKind } from '../access/record-kind.ts';
import { organizationKey } from '../table/keys.ts';

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
  deletedAt: optional,
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
});
export type Member = z.infer<typeof memberSchema>;

export const organizationRecord: RecordKind<Organization> = {
  resource: 'organization',
  key: organizationKey,
  parse: (item) => {
    const organization = organizationSchema.parse(item);
    return organization.deletedAt === undefined ? organization : undefined;
  },
  ownedBy: ({ id }) => ({ organizationId: id }),
  rule: 'organization',
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
