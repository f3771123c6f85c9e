/** @module The caller of a request, and the caller's name in history, idempotency scopes and rate limits. */

import type { Actor } from '../core/actor.ts';
import { type RouteScopes, SCOPES, type Scope, type StaffRole, scopesOfRole } from './scopes.ts';

/** The service key of a request. */
export interface KeyIdentity {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The user ids of the admin who created the key and of the admin who received the secret by a rotation. */
  readonly holders: readonly string[];
  /** The hash of the e-mail address of the admin who received the secret. */
  readonly holderEmailHash?: string | undefined;
}

/** The hosted page link of a request. It lets the caller act as the record's payer. */
interface LinkIdentity {
  /** The id of the opened record or payment link. */
  readonly id: string;
}

export interface SessionCaller {
  readonly kind: 'session';
  readonly userId: string;
  /** Undefined if neither the token nor the key provides an address. */
  readonly email: string | undefined;
  /** The organization of requests that name no organization. */
  readonly organizationId: string | undefined;
  readonly isAdmin: boolean;
  readonly staffRole?: StaffRole | undefined;
  /** Set if a service key acts for the user. The caller then has no merchant rights. */
  readonly key?: KeyIdentity | undefined;
  readonly link?: LinkIdentity | undefined;
}

export interface GuestCaller {
  readonly kind: 'guest';
  /** In lower case. */
  readonly email: string;
  readonly guestId: string;
  readonly name: string | undefined;
  readonly phone: string | undefined;
  /**
   * True if the guest presents a token with this guest_id, or if a service key acts for this guest. An e-mail in
   * guest_data alone gives access to no record.
   */
  readonly byToken: boolean;
  /** The guest's network at a create request, in its stored form (keyed-ids.ts). */
  readonly network?: string | undefined;
  /** Set if the token opens only one record, because the create that issued the token continued a guest_id. */
  readonly onlyRecord?: string | undefined;
  /** The guest_ids that a request without a token proves by the records that it names (continue-guest.ts). */
  readonly proven?: readonly string[];
  /** Set if a service key sent guest_data, or X-Act-For with a guest. With X-Act-For, `byToken` is true. */
  readonly key?: KeyIdentity | undefined;
  readonly link?: LinkIdentity | undefined;
}

/** A service key or hosted page that acts for an organization. It has the role billing and no user. */
export interface OrganizationCaller {
  readonly kind: 'organization';
  readonly organizationId: string;
  readonly key?: KeyIdentity | undefined;
  readonly link?: LinkIdentity | undefined;
}

/** A service key without X-Act-For, which acts for the merchant. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly key: KeyIdentity;
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export type Caller = SessionCaller | GuestCaller | OrganizationCaller | KeyCaller | AnonymousCaller;

/** A caller who can have a role in an organization. */
export type MemberCaller = SessionCaller | OrganizationCaller;
export const isMemberCaller = (caller: Caller): caller is MemberCaller =>
  caller.kind === 'session' || caller.kind === 'organization';

/** The caller's merchant scopes, in addition to rights as a payer. */
export const merchantScopesOf = (caller: Caller): readonly Scope[] => {
  if (caller.kind === 'key') return caller.key.scopes;
  if (caller.kind !== 'session' || caller.key || caller.link) return [];
  if (caller.isAdmin) return SCOPES;
  return caller.staffRole === undefined ? [] : scopesOfRole(caller.staffRole);
};

/** True if the caller may use the merchant scope, on every owner's records. */
export const mayAsMerchant = (caller: Caller, scope: Scope | undefined): boolean =>
  scope !== undefined && merchantScopesOf(caller).includes(scope);

/** The scope that this caller needs to use the route for the merchant. */
export const merchantScopeOn = (caller: Caller, scopes: RouteScopes | undefined): Scope | undefined =>
  (caller.kind === 'key' ? scopes?.keys : undefined) ?? scopes?.merchant;

/** True if the caller has one of the route's merchant scopes. */
export const mayOnRoute = (caller: Caller, scopes: RouteScopes | undefined): boolean =>
  mayAsMerchant(caller, merchantScopeOn(caller, scopes)) || mayAsMerchant(caller, scopes?.held);

export const keyOfCaller = (caller: Caller): KeyIdentity | undefined => ('key' in caller ? caller.key : undefined);
const linkOfCaller = (caller: Caller): LinkIdentity | undefined => ('link' in caller ? caller.link : undefined);

/**
 * True unless the caller uses a service key without the scope. Such a key may not act, even if its payer has the right.
 */
export const keyPermits = (caller: Caller, scope: Scope | undefined): boolean => {
  const key = keyOfCaller(caller);
  return key === undefined || (scope !== undefined && key.scopes.includes(scope));
};

/** The actor in history. `asAdmin` is true if the caller uses a merchant right on another owner's record. */
export const actorOfCaller = (caller: Caller, asAdmin: boolean): Actor => {
  const key = keyOfCaller(caller);
  if (key) return { type: 'key', id: key.id, ...forPayer(caller) };
  const link = linkOfCaller(caller);
  if (link) return { type: 'link', id: link.id, ...forPayer(caller) };
  switch (caller.kind) {
    case 'session':
      return { type: asAdmin ? 'admin' : 'user', id: caller.userId };
    case 'guest':
      return { type: 'guest', id: caller.guestId };
    default:
      return { type: 'guest', id: 'anonymous' };
  }
};

/** The payer for whom a key or a hosted page acts. */
const forPayer = (caller: Caller): Pick<Actor, 'onBehalfOf'> => {
  switch (caller.kind) {
    case 'session':
      return { onBehalfOf: { type: 'user', id: caller.userId } };
    case 'guest':
      return { onBehalfOf: { type: 'guest', id: caller.guestId } };
    case 'organization':
      return { onBehalfOf: { type: 'organization', id: caller.organizationId } };
    default:
      return {};
  }
};

/** The payer's name in rate limits, or the key's name if the key acts for the merchant. */
export const subjectOf = (caller: Caller): string => {
  switch (caller.kind) {
    case 'session':
      return `user:${caller.userId}`;
    case 'guest':
      return caller.byToken ? `guest:${caller.guestId}` : `email:${caller.email}`;
    case 'organization':
      return `organization:${caller.organizationId}`;
    case 'key':
      return `key:${caller.key.id}`;
    case 'anonymous':
      return 'anonymous';
  }
};

/** The caller's name in idempotency scopes. Each key and each link has its own scope per payer. */
export const principalOf = (caller: Caller): string => {
  const key = keyOfCaller(caller);
  if (key && caller.kind !== 'key') return `key:${key.id} ${subjectOf(caller)}`;
  const link = linkOfCaller(caller);
  return link ? `link:${link.id} ${subjectOf(caller)}` : subjectOf(caller);
};
