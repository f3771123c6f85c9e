import type { IdentityUser } from '../identity/identity.ts';
import type { Member } from './organization.ts';

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
