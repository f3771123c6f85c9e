/** @module The caller of a request, and its name in history, idempotency scopes and rate limits. */

import type { Actor } from '../core/actor.ts';

export interface SessionCaller {
  readonly kind: 'session';
  readonly userId: string;
  readonly email: string;
  /** The organization of a request that names no organization. */
  readonly organizationId: string | undefined;
  readonly isAdmin: boolean;
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
  /** The guest_ids that a request without a token proves by the records that it names (continue-guest.ts). */
  readonly proven?: readonly string[];
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export type Caller = SessionCaller | GuestCaller | AnonymousCaller;

/** The actor that history names. `asAdmin` is true if a platform admin acts on another's record. */
export const actorOfCaller = (caller: Caller, asAdmin: boolean): Actor => {
  switch (caller.kind) {
    case 'session':
      return { type: asAdmin ? 'admin' : 'user', id: caller.userId };
    case 'guest':
      return { type: 'guest', id: caller.guestId };
    case 'anonymous':
      return { type: 'guest', id: 'anonymous' };
  }
};

/** The name of the caller in idempotency scopes and rate limits. */
export const principalOf = (caller: Caller): string => {
  switch (caller.kind) {
    case 'session':
      return `user:${caller.userId}`;
    case 'guest':
      return caller.byToken ? `guest:${caller.guestId}` : `email:${caller.email}`;
    case 'anonymous':
      return 'anonymous';
  }
};
