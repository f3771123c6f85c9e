/** @module The permissions of each role in an organization. Every decision on a role's permission reads this table. */

export const ROLES = ['owner', 'admin', 'billing', 'member'] as const;
export type Role = (typeof ROLES)[number];

export type Permission =
  | 'canManagePayments'
  | 'canManageSubscriptions'
  | 'canManagePaymentMethods'
  | 'canManageAddresses'
  | 'canManageMembers'
  | 'canDeleteOrganization';

const MONEY: readonly Permission[] = [
  'canManagePayments',
  'canManageSubscriptions',
  'canManagePaymentMethods',
  'canManageAddresses',
];

export const PERMISSIONS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set([...MONEY, 'canManageMembers', 'canDeleteOrganization']),
  admin: new Set([...MONEY, 'canManageMembers']),
  billing: new Set(MONEY),
  member: new Set(),
};
