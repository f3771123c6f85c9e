import type { Owner } from '../table/keys.ts';
import type { Caller } from './caller.ts';

export const ownerOfRecord = (record: OwnerFields): Owner | undefined => {
  if (record.organizationId) return { kind: 'organization', organizationId: record.organizationId };
  if (record.userId) return { kind: 'user', userId: record.userId };
  // The record of an erased guest has no e-mail address; it stays listed, under the guest's id.
  if (record.guestId) return { kind: 'guest', guestId: record.guestId, email: record.guestEmail ?? record.guestId };
  return undefined;
};

/** The stored fields that name the owner of a record. */
export interface OwnerFields {
  readonly userId?: string | undefined;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
  readonly organizationId?: string | undefined;
}

/** A record of an organization has no user. */
export const ownerFieldsOf = (owner: Owner, caller: Caller): OwnerFields => {
  switch (owner.kind) {
    case 'organization':
      return { organizationId: owner.organizationId };
    case 'user':
      return { userId: owner.userId };
    case 'guest':
      return { guestId: owner.guestId, guestEmail: caller.kind === 'guest' ? caller.email : owner.email };
  }
};

/** The owner of a new record, and of the list that is read. */
export const ownerFor = (caller: Caller, organizationId: string | undefined): Owner | undefined => {
  if (organizationId !== undefined) return { kind: 'organization', organizationId };
  switch (caller.kind) {
    case 'session':
      return { kind: 'user', userId: caller.userId };
    case 'guest':
      return { kind: 'guest', email: caller.email, guestId: caller.guestId };
    case 'anonymous':
      return undefined;
  }
};
