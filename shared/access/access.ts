import { DomainError, notFound } from '../core/errors.ts';
import type { Caller } from './caller.ts';
import { PERMISSIONS, type Permission } from './permissions.ts';
import type { Owned, RecordKind } from './record-kind.ts';
import type { Standing } from './standing.ts';

/**
 * One rule for every record: its user may read it and, where it is personal, change it; a member of its organization may
 * read it and, with the permission, change it; its guest by token. A role is only ever what the membership record says.
 */
export type Action = 'read' | 'owner only' | Permission;

export type AccessDecision =
  | { readonly kind: 'granted'; readonly mayChange: boolean }
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** It depends on the caller's standing in this organization. */
  | { readonly kind: 'ask'; readonly organizationId: string };

const granted = (mayChange: boolean): AccessDecision => ({ kind: 'granted', mayChange });
const refused = (error: DomainError): AccessDecision => ({ kind: 'refused', error });

/** May this caller do this to this record? Pure: asks for the standing where the answer depends on it. */
export const may = (
  caller: Caller,
  action: Action,
  { resource, rule }: Pick<RecordKind, 'resource' | 'rule'>,
  record: Owned,
  standing?: Standing,
): AccessDecision => {
  if (rule === 'open') return granted(false);
  if (caller.kind === 'anonymous') return refused(notFound(resource));
  if (rule === 'project' && action !== 'read') return mayNameProject(caller, record, standing);
  if (caller.kind === 'guest') {
    // A guest's own list may be filtered by any project.
    if (rule === 'project') return granted(false);
    const isTheirs = caller.byToken && record.guestId === caller.guestId && record.guestEmail === caller.email;
    return isTheirs ? granted(true) : refused(notFound(resource));
  }
  const isOwn = record.userId !== undefined && record.userId === caller.userId;
  if (record.organizationId === undefined) return isOwn ? granted(true) : refused(notFound(resource));
  if (rule === 'project' && isOwn) return granted(true);
  if (standing?.organizationId !== record.organizationId) return { kind: 'ask', organizationId: record.organizationId };
  if (action === 'read' && (isOwn || (!standing.exists && caller.isAdmin))) {
    return granted(holds(standing, 'canManagePayments'));
  }
  const error = standing.exists ? standingRefusal(standing, action) : new DomainError('ORGANIZATION_ACCESS_DENIED');
  return error ? refused(error) : granted(holds(standing, action === 'read' ? 'canManagePayments' : action));
};

/** Edit permission on a project, which its id in a body needs: its owner, or canManagePayments in its organization. */
const mayNameProject = (
  caller: Caller,
  { userId, organizationId }: Owned,
  standing: Standing | undefined,
): AccessDecision => {
  const denied = refused(new DomainError('INSUFFICIENT_PERMISSIONS', { details: { path: 'project_id' } }));
  if (caller.kind !== 'session') return denied;
  if (userId !== undefined && userId === caller.userId) return granted(true);
  if (organizationId === undefined) return denied;
  if (standing?.organizationId !== organizationId) return { kind: 'ask', organizationId };
  return holds(standing, 'canManagePayments') ? granted(true) : denied;
};

/**
 * May this caller see this record beside another one? The record's own read rule decides, for guests also whether its
 * route takes a guest token. Products and projects are for their owner, members of their organization and platform admins.
 */
export const mayShow = (
  caller: Caller,
  kind: Pick<RecordKind, 'resource' | 'rule' | 'guestsRead'>,
  record: Owned,
  standing?: Standing,
): AccessDecision => {
  if (caller.kind === 'guest' && !kind.guestsRead) return refused(notFound(kind.resource));
  if (kind.rule !== 'open' && kind.rule !== 'project') return may(caller, 'read', kind, record, standing);
  if (caller.kind === 'session' && caller.isAdmin) return granted(false);
  return may(caller, 'read', { resource: kind.resource, rule: 'project' }, record, standing);
};

const holds = (standing: Standing, action: Exclude<Action, 'read'>): boolean => {
  if (!standing.exists || standing.role === undefined) return false;
  return action === 'owner only' ? standing.role === 'owner' : PERMISSIONS[standing.role].has(action);
};

/** Why a standing does not allow an action in its organization; undefined where it does. */
export const standingRefusal = (standing: Standing, action: Action): DomainError | undefined => {
  if (!standing.exists) return notFound('organization');
  if (standing.role === undefined) return new DomainError('ORGANIZATION_ACCESS_DENIED');
  if (action === 'read' || holds(standing, action)) return undefined;
  const needed = action === 'owner only' ? { required_role: 'owner' } : { permission: action };
  return new DomainError('INSUFFICIENT_PERMISSIONS', { details: { role: standing.role, ...needed } });
};

/**
 * The organization that a request means: the one it names, else the session's; null or empty means personal.
 * @param implied false where absent means personal too.
 */
export const effectiveOrganization = (
  caller: Caller,
  named: string | null | undefined,
  implied: boolean,
): string | undefined => {
  if (named !== undefined) return named || undefined;
  return implied && caller.kind === 'session' ? caller.organizationId : undefined;
};
