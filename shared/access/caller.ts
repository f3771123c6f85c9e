/** @module The caller of a request, and its name in history, idempotency scopes and rate limits. */

import type { Actor } from '../core/actor.ts';
import { type RouteScopes, SCOPES, type Scope, type StaffRole, scopesOfRole } from './scopes.ts';

/** The service key that a request was sent with. */
export interface KeyIdentity {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The user ids of the platform admins who created the key, and who got the secret by a rotation. */
  readonly holders: readonly string[];
  /** The hash of the e-mail address of the admin who got the secret. */
  readonly holderEmailHash?: string | undefined;
}

/** The link to a hosted page that a request was sent with. Its request is that of the record's payer. */
interface LinkIdentity {
  /** The id of the record or payment link that it opens. */
  readonly id: string;
}

export interface SessionCaller {
  readonly kind: 'session';
  readonly userId: string;
  /** Undefined if the token or the key names none. */
  readonly email: string | undefined;
  /** The organization of a request that names no organization. */
  readonly organizationId: string | undefined;
  readonly isAdmin: boolean;
  readonly staffRole?: StaffRole | undefined;
  /** Set if a service key acts for the user, who then has no merchant's right. */
  readonly key?: KeyIdentity | undefined;
  readonly link?: LinkIdentity | undefined;
}

export interface GuestCaller {
  readonly kind: 'guest';
  /** Lower-cased. */
  readonly email: string;
  readonly guestId: string;
  readonly name: string | undefined;
  readonly phone: string | undefined;
  /** True if the guest holds a token of this guest_id. An e-mail in guest_data alone gives access to no record. */
  readonly byToken: boolean;
  /** The stored form of the network that a create came from (keyed-ids.ts). */
  readonly network?: string | undefined;
  /** The only record that the guest's token opens, if the token came from a create that continued a guest_id. */
  readonly onlyRecord?: string | undefined;
  /** The guest_ids that a request without a token proves by the records that it names (continue-guest.ts). */
  readonly proven?: readonly string[];
  /** Set if a service key sent the guest_data, or named the guest in X-Act-For (then `byToken` is true). */
  readonly key?: KeyIdentity | undefined;
  readonly link?: LinkIdentity | undefined;
}

/** A service key or a hosted page that acts for an organization, as a member with the role billing, without a user. */
export interface OrganizationCaller {
  readonly kind: 'organization';
  readonly organizationId: string;
  readonly key?: KeyIdentity | undefined;
  readonly link?: LinkIdentity | undefined;
}

/** A service key that acts for no payer, and so for the merchant. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly key: KeyIdentity;
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export type Caller = SessionCaller | GuestCaller | OrganizationCaller | KeyCaller | AnonymousCaller;

/** A caller whose rights in an organization come from a standing there. */
export type MemberCaller = SessionCaller | OrganizationCaller;
export const isMemberCaller = (caller: Caller): caller is MemberCaller =>
  caller.kind === 'session' || caller.kind === 'organization';

/** The merchant's scopes that a caller has beside its rights as a payer. */
export const merchantScopesOf = (caller: Caller): readonly Scope[] => {
  if (caller.kind === 'key') return caller.key.scopes;
  if (caller.kind !== 'session' || caller.key || caller.link) return [];
  if (caller.isAdmin) return SCOPES;
  return caller.staffRole === undefined ? [] : scopesOfRole(caller.staffRole);
};

/** True if the caller may do for the merchant what the scope permits, on every owner's records. */
export const mayAsMerchant = (caller: Caller, scope: Scope | undefined): boolean =>
  scope !== undefined && merchantScopesOf(caller).includes(scope);

/** The merchant's scope of the route for the caller. */
export const merchantScopeOn = (caller: Caller, scopes: RouteScopes | undefined): Scope | undefined =>
  (caller.kind === 'key' ? scopes?.keys : undefined) ?? scopes?.merchant;

/** True if one of the merchant's scopes of the route permits it. */
export const mayOnRoute = (caller: Caller, scopes: RouteScopes | undefined): boolean =>
  mayAsMerchant(caller, merchantScopeOn(caller, scopes)) || mayAsMerchant(caller, scopes?.held);

export const keyOfCaller = (caller: Caller): KeyIdentity | undefined => ('key' in caller ? caller.key : undefined);
const linkOfCaller = (caller: Caller): LinkIdentity | undefined => ('link' in caller ? caller.link : undefined);

/** False if the caller uses a service key without the scope, also if the payer for whom it acts has the right. */
export const keyPermits = (caller: Caller, scope: Scope | undefined): boolean => {
  const key = keyOfCaller(caller);
  return key === undefined || (scope !== undefined && key.scopes.includes(scope));
};

/** The actor that history names. `asAdmin` is true if a merchant's right is used on another's record. */
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

/** The name of the caller in rate limits, which is the payer, or a key that names no payer. */
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

/** The name of the caller in idempotency scopes. The requests of a key and of a link are their own, for each payer. */
export const principalOf = (caller: Caller): string => {
  const key = keyOfCaller(caller);
  if (key && caller.kind !== 'key') return `key:${key.id} ${subjectOf(caller)}`;
  const link = linkOfCaller(caller);
  return link ? `link:${link.id} ${subjectOf(caller)}` : subjectOf(caller);
};
