/** Who calls. A session says who it is, which organization is meant by default and whether it is a platform admin, no more. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly userId: string;
  readonly email: string;
  /** The organization meant where a request names none. */
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
  /** True: holds a token of this guest_id; false: named an e-mail in guest_data, which opens nothing. */
  readonly byToken: boolean;
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export type Caller = SessionCaller | GuestCaller | AnonymousCaller;

/** Stands for the caller in idempotency scopes and rate limits. */
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
