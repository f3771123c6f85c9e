/**
 * @module The access rule, the same for every record. The record's user may read it and, if it is personal, change it.
 * Members of its organization, whose role always comes from the membership record, may read it and, with the
 * permission, change it; a guest needs a token or must prove the guest_id (continue-guest.ts). Platform admins may
 * read every record, but on another's record they may take only the actions that are declared for them.
 */

import { DomainError, notFound } from '../core/errors.ts';
import type { Caller, GuestCaller } from './caller.ts';
import { PERMISSIONS, type Permission, ROLES, type Role } from './permissions.ts';
import type { Owned, RecordKind } from './record-kind.ts';
import type { Standing } from './standing.ts';

/** `member` allows any member of the organization to act, `platform admin` only platform admins. */
export type Action = 'read' | 'member' | 'owner only' | 'platform admin' | Permission;

export type AccessDecision =
  /** `asAdmin` is true if the record belongs to someone else, or the action is for platform admins only. */
  | { readonly kind: 'granted'; readonly canWrite: boolean; readonly asAdmin?: true }
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** The decision depends on the caller's standing in this organization. */
  | { readonly kind: 'needs standing'; readonly organizationId: string };

const granted = (canWrite: boolean): AccessDecision => ({ kind: 'granted', canWrite });
const refused = (error: DomainError): AccessDecision => ({ kind: 'refused', error });
/** A platform admin's access to another's record. It never includes a payer's secrets, such as a client secret. */
const grantedAsAdmin: AccessDecision = { kind: 'granted', canWrite: false, asAdmin: true };

export interface AccessRequest<Kind = Pick<RecordKind, 'resource' | 'rule'>> {
  readonly caller: Caller;
  readonly kind: Kind;
  readonly record: Owned;
  readonly standing?: Standing | undefined;
  /** True if platform admins may take the action on every record. */
  readonly adminsMayAct?: boolean | undefined;
}

/** Reads nothing, and returns `needs standing` if the decision depends on a standing that the request lacks. */
export const decideAccess = (action: Action, request: AccessRequest): AccessDecision => {
  const { caller, adminsMayAct = false } = request;
  const isAdmin = isPlatformAdmin(caller);
  if (action === 'platform admin') return isAdmin ? grantedAsAdmin : refused(new DomainError('ADMIN_REQUIRED'));
  const decision = decideForOwners(action, request);
  if (decision.kind !== 'refused' || !isAdmin) return decision;
  return action === 'read' || adminsMayAct ? grantedAsAdmin : refused(adminRefusal(decision.error));
};

const isPlatformAdmin = (caller: Caller): boolean => caller.kind === 'session' && caller.isAdmin;

/** A refusal by the role table is more specific than the general refusal for platform admins. */
const adminRefusal = (error: DomainError): DomainError =>
  error.code === 'INSUFFICIENT_PERMISSIONS'
    ? error
    : new DomainError('INSUFFICIENT_PERMISSIONS', {
        message: "Platform admins cannot do this to another owner's record",
      });

/** True if the caller may read the user's records. Users may read their own, platform admins everyone's. */
export const mayReadUser = (caller: Caller, userId: string): boolean =>
  caller.kind === 'session' && (caller.userId === userId || caller.isAdmin);

type OwnersAction = Exclude<Action, 'platform admin'>;

const decideForOwners = (action: OwnersAction, request: AccessRequest): AccessDecision => {
  const { caller, kind, record } = request;
  if (kind.rule === 'open') return granted(false);
  if (caller.kind === 'anonymous') return refused(notFound(kind.resource));
  if (kind.rule === 'project' && action !== 'read') return decideNamingProject(request);
  if (caller.kind === 'guest') return decideForGuest(caller, request);
  const isOwn = record.userId !== undefined && record.userId === caller.userId;
  if (record.organizationId === undefined) return isOwn ? granted(true) : refused(notFound(kind.resource));
  if (kind.rule === 'project' && isOwn) return granted(true);
  return decideForMember(action, request);
};

const decideForGuest = (caller: GuestCaller, { kind, record }: AccessRequest): AccessDecision => {
  // A guest may filter its own lists by any project.
  if (kind.rule === 'project') return granted(false);
  const isOfToken = caller.byToken && record.guestId === caller.guestId;
  const isProven = record.guestId !== undefined && caller.proven?.includes(record.guestId);
  const isTheirs = (isOfToken || isProven) && record.guestEmail === caller.email;
  return isTheirs ? granted(true) : refused(notFound(kind.resource));
};

const decideForMember = (action: OwnersAction, { caller, record, standing }: AccessRequest): AccessDecision => {
  const { organizationId } = record;
  if (caller.kind !== 'session' || organizationId === undefined) throw new Error('not a record of an organization');
  if (standing?.organizationId !== organizationId) return { kind: 'needs standing', organizationId };
  const isOwn = record.userId === caller.userId;
  if (action === 'read' && isOwn) return granted(permits(standing, 'canManagePayments'));
  const error = standingRefusal(standing, action);
  return error ? refused(error) : granted(permits(standing, action === 'read' ? 'canManagePayments' : action));
};

/** A body may name a project only if the caller owns it or has canManagePayments in its organization. */
const decideNamingProject = ({ caller, record, standing }: AccessRequest): AccessDecision => {
  const { userId, organizationId } = record;
  const denied = refused(new DomainError('INSUFFICIENT_PERMISSIONS', { details: { path: 'project_id' } }));
  if (caller.kind !== 'session') return denied;
  if (userId !== undefined && userId === caller.userId) return granted(true);
  if (organizationId === undefined) return denied;
  if (standing?.organizationId !== organizationId) return { kind: 'needs standing', organizationId };
  return permits(standing, 'canManagePayments') ? granted(true) : denied;
};

/**
 * Decides whether an include shows the record. Its own read rule applies; for guests its route must accept a guest
 * token. Only the owner, members of the organization and platform admins see products and projects.
 */
export const decideShowing = (
  request: AccessRequest<Pick<RecordKind, 'resource' | 'rule' | 'guestsRead'>>,
): AccessDecision => {
  const { caller, kind } = request;
  if (caller.kind === 'guest' && !kind.guestsRead) return refused(notFound(kind.resource));
  if (kind.rule !== 'open' && kind.rule !== 'project') return decideAccess('read', request);
  if (isPlatformAdmin(caller)) return grantedAsAdmin;
  return decideAccess('read', { ...request, kind: { resource: kind.resource, rule: 'project' } });
};

type MembersAction = Exclude<OwnersAction, 'read'>;

const permits = (standing: Standing, action: MembersAction): boolean =>
  standing.exists && standing.role !== undefined && hasPermission(standing.role, action);

const hasPermission = (role: Role, action: MembersAction): boolean => {
  if (action === 'member') return true;
  return action === 'owner only' ? role === 'owner' : PERMISSIONS[role].has(action);
};

/** The roles whose members may take the action. */
export const rolesWith = (action: MembersAction): readonly Role[] =>
  ROLES.filter((role) => hasPermission(role, action));

export type ScopeDecision =
  | { readonly kind: 'granted'; readonly asAdmin?: true }
  | { readonly kind: 'refused'; readonly error: DomainError };

/**
 * Decides whether the caller may act in the organization that a request names as the owner of a list or of a new
 * record. Platform admins may read the lists of every organization, including deleted ones.
 */
export const decideScope = (action: Action, caller: Caller, standing: Standing): ScopeDecision => {
  if (action === 'platform admin') return decideAdminScope(caller);
  const error = standingRefusal(standing, action);
  if (error === undefined) return { kind: 'granted' };
  if (!isPlatformAdmin(caller)) return { kind: 'refused', error };
  if (action === 'read') return { kind: 'granted', asAdmin: true };
  return { kind: 'refused', error: standing.exists ? adminRefusal(error) : error };
};

const decideAdminScope = (caller: Caller): ScopeDecision =>
  isPlatformAdmin(caller)
    ? { kind: 'granted', asAdmin: true }
    : { kind: 'refused', error: new DomainError('ADMIN_REQUIRED') };

/** @returns the error if the standing does not allow the action in its organization. */
export const standingRefusal = (standing: Standing, action: OwnersAction): DomainError | undefined => {
  // The same error as for another organization, so that the response does not reveal whether the id exists.
  if (!standing.exists) return new DomainError('ORGANIZATION_ACCESS_DENIED');
  if (standing.role === undefined) return new DomainError('ORGANIZATION_ACCESS_DENIED');
  if (action === 'read' || permits(standing, action)) return undefined;
  const needed = action === 'owner only' ? { required_role: 'owner' } : { permission: action };
  return new DomainError('INSUFFICIENT_PERMISSIONS', { details: { role: standing.role, ...needed } });
};

/**
 * The organization that the request names, else the session's. Null or an empty string makes the request personal.
 * @param implied false if a request that names no organization is personal.
 */
export const effectiveOrganization = (
  caller: Caller,
  named: string | null | undefined,
  implied: boolean,
): string | undefined => {
  if (named !== undefined) return named || undefined;
  return implied && caller.kind === 'session' ? caller.organizationId : undefined;
};
