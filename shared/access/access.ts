import { DomainError, notFound } from '../core/errors.ts';
import { memberKey, organizationKey } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import type { Caller, SessionCaller } from './caller.ts';
import { PERMISSIONS, type Permission, ROLES, type Role } from './permissions.ts';

/**
 * One rule for every record: its user may read it and, where it is personal, change it; a member of its organization may
 * read it and, with the permission, change it; its guest by token. A role is only ever what the membership record says.
 */
export interface Owned {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
}

export type Action = 'read' | Permission;

/** A caller's standing in one organization, as read from the table. */
export interface Standing {
  readonly organizationId: string;
  readonly exists: boolean;
  readonly role: Role | undefined;
}

export const standingKeys = (caller: SessionCaller, organizationId: string) =>
  [organizationKey(organizationId), memberKey(organizationId, caller.userId)] as const;

export const standingOf = (
  organizationId: string,
  organization: Item | undefined,
  member: Item | undefined,
): Standing => ({
  organizationId,
  exists: organization !== undefined && organization['deletedAt'] === undefined,
  role: ROLES.find((role) => role === member?.['role']),
});

/** Reads a standing: consistently where a write depends on it. */
export const readStanding = async (
  table: Table,
  caller: SessionCaller,
  organizationId: string,
  options: { readonly consistent: boolean },
): Promise<Standing> => {
  const [organization, member] = await table.getMany(standingKeys(caller, organizationId), options);
  return standingOf(organizationId, organization, member);
};

/** @throws DomainError RESOURCE_NOT_FOUND, ORGANIZATION_ACCESS_DENIED or INSUFFICIENT_PERMISSIONS. */
export const requireStanding = (standing: Standing, action: Action): void => {
  if (!standing.exists) throw notFound('organization');
  if (standing.role === undefined) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
  if (action !== 'read' && !PERMISSIONS[standing.role].has(action)) {
    throw new DomainError('INSUFFICIENT_PERMISSIONS', { details: { role: standing.role, permission: action } });
  }
};

/** What was found out while access was granted: whether the caller could change the record too. */
export interface Granted {
  readonly mayChange: boolean;
}

/**
 * May this caller do this to this record? Reads the membership only where the answer depends on it.
 * @throws DomainError RESOURCE_NOT_FOUND, ORGANIZATION_ACCESS_DENIED or INSUFFICIENT_PERMISSIONS.
 */
export const requireAccess = async (
  table: Table,
  caller: Caller,
  action: Action,
  resource: string,
  record: Owned,
): Promise<Granted> => {
  if (caller.kind === 'anonymous') throw notFound(resource);
  if (caller.kind === 'guest') {
    const isTheirs = caller.byToken && record.guestId === caller.guestId && record.guestEmail === caller.email;
    if (!isTheirs) throw notFound(resource);
    return { mayChange: true };
  }
  const isOwn = record.userId !== undefined && record.userId === caller.userId;
  if (record.organizationId === undefined) {
    if (!isOwn) throw notFound(resource);
    return { mayChange: true };
  }
  const standing = await readStanding(table, caller, record.organizationId, { consistent: action !== 'read' });
  if (action === 'read' && (isOwn || (!standing.exists && caller.isAdmin))) {
    return { mayChange: isOwn && holds(standing, 'canManagePayments') };
  }
  if (!standing.exists) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
  requireStanding(standing, action);
  return { mayChange: holds(standing, action === 'read' ? 'canManagePayments' : action) };
};

const holds = (standing: Standing, permission: Permission): boolean =>
  standing.exists && standing.role !== undefined && PERMISSIONS[standing.role].has(permission);

/** The organization that a request means: the one it names, else the session's; null or empty means personal. */
export const meantOrganization = (caller: Caller, named: string | null | undefined): string | undefined => {
  if (named === undefined) return caller.kind === 'session' ? caller.organizationId : undefined;
  return named || undefined;
};
