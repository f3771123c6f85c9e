/**
 * @module The access rule for all records. A user may read a record of their own and, if it is personal, change it.
 * Members of a record's organization may read the record and, with the permission, change it. Their role always comes
 * from the membership record. A guest needs a token or must prove the guest_id (continue-guest.ts). The merchant's
 * people and keys may read every record within their read scopes. On another owner's record, they may take an action
 * only if they hold the merchant scope of the route.
 */

import { DomainError, notFound } from '../core/errors.ts';
import {
  type Caller,
  type GuestCaller,
  isMemberCaller,
  keyPermits,
  mayAsMerchant,
  mayOnRoute,
  merchantScopeOn,
  merchantScopesOf,
} from './caller.ts';
import { PERMISSIONS, type Permission, ROLES, type Role } from './permissions.ts';
import type { Owned, RecordKind } from './record-kind.ts';
import type { RouteScopes, Scope } from './scopes.ts';
import type { Standing } from './standing.ts';

/**
 * The actions that a request can take on a record. `member` is open to every member of the organization, `merchant`
 * only to the merchant's people and keys.
 */
export type Action = 'read' | 'member' | 'owner only' | 'merchant' | Permission;

export type AccessDecision =
  /** `asAdmin` is true if the record belongs to another owner, or the action is merchant-only. */
  | { readonly kind: 'granted'; readonly canWrite: boolean; readonly asAdmin?: true }
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** The decision needs the caller's standing in this organization. */
  | { readonly kind: 'needs standing'; readonly organizationId: string };

const granted = (canWrite: boolean): AccessDecision => ({ kind: 'granted', canWrite });
const refused = (error: DomainError): AccessDecision => ({ kind: 'refused', error });
/** The merchant's access to another owner's record. It never includes a payer's secrets, such as a client secret. */
const grantedAsAdmin: AccessDecision = { kind: 'granted', canWrite: false, asAdmin: true };

export interface AccessRequest<Kind = Pick<RecordKind, 'resource' | 'rule' | 'readScope'>> {
  readonly caller: Caller;
  readonly kind: Kind;
  readonly record: Owned;
  /** The record's id, for a caller with a token for only one record. */
  readonly id?: string | undefined;
  readonly standing?: Standing | undefined;
  /** The scopes of the route. Its merchant scope permits the action on every record. */
  readonly scopes?: RouteScopes | undefined;
}

/** Decides without reads. Returns `needs standing` if the decision depends on a standing that `request` lacks. */
export const decideAccess = (action: Action, request: AccessRequest): AccessDecision => {
  const { caller, scopes, kind } = request;
  if (action === 'merchant') {
    const scope = merchantScopeOn(caller, scopes);
    return mayAsMerchant(caller, scope) ? grantedAsAdmin : refused(merchantRefusal(caller, scope));
  }
  const decision = decideForOwners(action, request);
  if (decision.kind !== 'refused') return decision;
  if (mayOnRoute(caller, scopes)) return grantedAsAdmin;
  if (!mayAsMerchant(caller, kind.readScope)) return decision;
  return action === 'read' ? grantedAsAdmin : refused(refusalForReader(caller, scopes, decision.error));
};

/**
 * The refusal for a caller who may read every record but not take this action. A refusal by the role table is more
 * specific, so it takes precedence.
 */
const refusalForReader = (caller: Caller, scopes: RouteScopes | undefined, error: DomainError): DomainError => {
  if (error.code === 'INSUFFICIENT_PERMISSIONS') return error;
  if (caller.kind === 'session' && caller.isAdmin) {
    return new DomainError('INSUFFICIENT_PERMISSIONS', {
      message: "Platform admins cannot do this to another owner's record",
    });
  }
  return scopeMissing(scopes?.merchant ?? scopes?.payer);
};

/** @param scope undefined if no scope permits the action */
export const scopeMissing = (scope: Scope | undefined): DomainError =>
  new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: scope === undefined ? 'No scope permits this' : `The scope ${scope} is required`,
    ...(scope !== undefined && { details: { required_scope: scope } }),
  });

/** Staff learn the missing scope. Other users only learn that the route is for the merchant. */
const merchantRefusal = (caller: Caller, scope: Scope | undefined): DomainError =>
  merchantScopesOf(caller).length > 0 && scope ? scopeMissing(scope) : new DomainError('ADMIN_REQUIRED');

/** True if the caller may read the user's records. Users may read their own records, the merchant every record. */
export const mayReadUser = (caller: Caller, userId: string, scope: Scope): boolean =>
  (caller.kind === 'session' && caller.userId === userId) || mayAsMerchant(caller, scope);

type OwnersAction = Exclude<Action, 'merchant'>;

const decideForOwners = (action: OwnersAction, request: AccessRequest): AccessDecision => {
  const { caller, kind, record } = request;
  if (kind.rule === 'open') return granted(false);
  if (caller.kind === 'anonymous' || caller.kind === 'key') return refused(notFound(kind.resource));
  if (kind.rule === 'project' && action !== 'read') return decideNamingProject(request);
  if (caller.kind === 'guest') return decideForGuest(caller, request);
  const isOwn = record.userId !== undefined && record.userId === userOf(caller);
  if (record.organizationId === undefined) return isOwn ? granted(true) : refused(notFound(kind.resource));
  if (kind.rule === 'project' && isOwn) return granted(true);
  return decideForMember(action, request);
};

const userOf = (caller: Caller): string | undefined => (caller.kind === 'session' ? caller.userId : undefined);

const decideForGuest = (caller: GuestCaller, { kind, record, id }: AccessRequest): AccessDecision => {
  // A guest may filter their own lists by any project.
  if (kind.rule === 'project') return granted(false);
  const isOfToken = caller.byToken && record.guestId === caller.guestId;
  const isProven = record.guestId !== undefined && caller.proven?.includes(record.guestId);
  const isReached = caller.onlyRecord === undefined || caller.onlyRecord === id;
  const isTheirs = (isOfToken || isProven) && isReached && record.guestEmail === caller.email;
  return isTheirs ? granted(true) : refused(notFound(kind.resource));
};

const decideForMember = (action: OwnersAction, { caller, record, standing }: AccessRequest): AccessDecision => {
  const { organizationId } = record;
  if (!isMemberCaller(caller) || organizationId === undefined) throw new Error('not a record of an organization');
  if (standing?.organizationId !== organizationId) return { kind: 'needs standing', organizationId };
  const isOwn = record.userId !== undefined && record.userId === userOf(caller);
  if (action === 'read' && isOwn) return granted(permits(standing, 'canManagePayments'));
  const error = standingRefusal(standing, action);
  return error ? refused(error) : granted(permits(standing, action === 'read' ? 'canManagePayments' : action));
};

/** A caller may name a project only as its owner or with canManagePayments in its organization. */
const decideNamingProject = ({ caller, record, standing }: AccessRequest): AccessDecision => {
  const { userId, organizationId } = record;
  const denied = refused(new DomainError('INSUFFICIENT_PERMISSIONS', { details: { path: 'project_id' } }));
  if (!isMemberCaller(caller)) return denied;
  if (userId !== undefined && userId === userOf(caller)) return granted(true);
  if (organizationId === undefined) return denied;
  if (standing?.organizationId !== organizationId) return { kind: 'needs standing', organizationId };
  return permits(standing, 'canManagePayments') ? granted(true) : denied;
};

/**
 * Decides whether an include may show a record. The record's own read rule applies. For guests, the record's GET
 * route must also accept a guest token, and a key needs the record's read scope. The full view of a product or project
 * is only for its owner, its organization's members and the merchant.
 */
export const decideShowing = (
  request: AccessRequest<Pick<RecordKind, 'resource' | 'rule' | 'readScope' | 'guestsRead'>>,
): AccessDecision => {
  const { caller, kind } = request;
  if (caller.kind === 'guest' && !kind.guestsRead) return refused(notFound(kind.resource));
  if (kind.rule !== 'open' && kind.rule !== 'project') {
    return keyPermits(caller, kind.readScope) ? decideAccess('read', request) : refused(notFound(kind.resource));
  }
  if (mayAsMerchant(caller, kind.readScope)) return grantedAsAdmin;
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
 * Decides whether the caller may act in an organization. The request names the organization as the owner of a list or
 * of a new record. The merchant may read the lists of every organization, including deleted organizations.
 */
export const decideScope = (action: OwnersAction, { caller, standing, scopes }: ScopeRequest): ScopeDecision => {
  const error = standingRefusal(standing, action);
  if (error === undefined) return { kind: 'granted' };
  if (action === 'read' && mayAsMerchant(caller, scopes?.merchant)) return { kind: 'granted', asAdmin: true };
  const mayRead = standing.exists && caller.kind === 'session' && caller.isAdmin;
  return { kind: 'refused', error: mayRead ? refusalForReader(caller, scopes, error) : error };
};

interface ScopeRequest {
  readonly caller: Caller;
  readonly standing: Standing;
  readonly scopes: RouteScopes | undefined;
}

/** @returns the error if the standing does not allow the action in its organization */
export const standingRefusal = (standing: Standing, action: OwnersAction): DomainError | undefined => {
  // The same error as for a foreign organization, so the response does not reveal whether the id exists.
  if (!standing.exists) return new DomainError('ORGANIZATION_ACCESS_DENIED');
  if (standing.role === undefined) return new DomainError('ORGANIZATION_ACCESS_DENIED');
  if (action === 'read' || permits(standing, action)) return undefined;
  const needed = action === 'owner only' ? { required_role: 'owner' } : { permission: action };
  return new DomainError('INSUFFICIENT_PERMISSIONS', { details: { role: standing.role, ...needed } });
};

/**
 * The organization that the request names, else the session's organization. Null or an empty string makes a session's
 * request personal. A caller that acts for an organization always falls back to that organization.
 * @param implied false if a request without an organization is personal
 */
export const effectiveOrganization = (
  caller: Caller,
  named: string | null | undefined,
  implied: boolean,
): string | undefined => {
  if (caller.kind === 'organization') return named || caller.organizationId;
  if (named !== undefined) return named || undefined;
  return implied && caller.kind === 'session' ? caller.organizationId : undefined;
};
