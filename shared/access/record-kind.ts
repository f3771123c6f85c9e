/** @module Kinds of records and their owners. A record belongs to an organization, else to a user, else to a guest. */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import type { Instant } from '../core/time.ts';
import type { Key, Owner } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import type { Caller } from './caller.ts';
import type { Scope } from './scopes.ts';

const optional = z.string().optional();

export const ownerColumns = { userId: optional, organizationId: optional, guestId: optional, guestEmail: optional };

/** The stored form of the network of the guest who created the record (keyed-ids.ts). Personal data. */
export const networkColumn = { guestNetwork: optional };

/**
 * The owner of a record. An organization's addresses and methods have no user, so a person's access ends with the
 * membership.
 */
export type Owned = Readonly<{ [Field in keyof typeof ownerColumns]?: string | undefined }>;

export const ownerIdsOf = ({ userId, organizationId, guestId, guestEmail }: Owned): Owned => ({
  userId,
  organizationId,
  guestId,
  guestEmail,
});

/** How the request chain finds and checks a record. Endpoints get only records that pass the access rule. */
export interface RecordKind<T = unknown> {
  /** The name in errors, such as `payment` or `payment_method`. */
  readonly resource: string;
  key(id: string): Key;
  /** Finds our id if the path contains an external id. */
  resolve?(table: Table, externalId: string): Promise<string | undefined>;
  /** The aliases of a provider's id in a request; undefined for our own id. */
  aliases?(id: string): RecordAliases | undefined;
  /** @returns undefined for an item hidden from readers, such as a tombstone */
  parse(item: Item): T | undefined;
  ownedBy(record: T): Owned;
  /**
   * `owned` applies the access rule. With `project`, the owner may also change the record, whatever the role. With
   * `open`, every caller may name the record. With `organization`, the record is an organization and its members have
   * access.
   */
  readonly rule: 'owned' | 'project' | 'organization' | 'open';
  /**
   * Creation data as a possible proof of a guest_id. A guest continues the guest_id of such a record by naming the
   * record (continue-guest.ts). Absent for kinds whose ids appear in a list without credentials.
   */
  provesGuest?(record: T): GuestCreation;
  /** The scope that lets the merchant read every owner's records. If absent, only a scope of the route does. */
  readonly readScope?: Scope;
  /** True while a link may open the record's hosted page. Absent for kinds without hosted pages. */
  opensPage?(record: T, now: Instant): boolean;
  /** True if the record's own GET route accepts a guest token. */
  readonly guestsRead?: true;
}

export interface GuestCreation {
  readonly createdAt: string;
  readonly guestNetwork?: string | undefined;
}

export const guestCreationOf = ({ createdAt, guestNetwork }: GuestCreation): GuestCreation => ({
  createdAt,
  guestNetwork,
});

/** Alias items of a provider's id. */
export interface RecordAliases {
  readonly keys: readonly Key[];
  /** Our id; undefined if the alias belongs to a record of another kind. */
  idOf(item: Item): string | undefined;
  /** False if the record now has another id at the provider, so the named id is invalid. */
  isNamed(record: Item): boolean;
}

export interface NamedRecord {
  readonly kind: RecordKind;
  readonly id: string;
}

export const ownerOfRecord = (record: Owned): Owner | undefined => {
  if (record.organizationId) return { kind: 'organization', organizationId: record.organizationId };
  if (record.userId) return { kind: 'user', userId: record.userId };
  // An erased guest's record has no e-mail address and is listed under the guest_id instead.
  if (record.guestId) return { kind: 'guest', guestId: record.guestId, email: record.guestEmail ?? record.guestId };
  return undefined;
};

/** The payer of a new payment or subscription. If an organization pays, the fields also name the acting person. */
type PayerFields = Owned & Readonly<Partial<Record<'userEmail' | 'guestName' | 'guestNetwork', string | undefined>>>;

/** @throws DomainError AUTHENTICATION_REQUIRED for a caller without a payer */
export const payerFieldsOf = (caller: Caller, owner: Owner | undefined): PayerFields => {
  const organizationId = owner?.kind === 'organization' ? owner.organizationId : undefined;
  switch (caller.kind) {
    case 'session':
      return { userId: caller.userId, userEmail: caller.email, organizationId };
    case 'guest':
      return {
        guestId: caller.guestId,
        guestEmail: caller.email,
        guestName: caller.name,
        guestNetwork: caller.network,
      };
    case 'organization':
      return { organizationId };
    default:
      throw new DomainError('AUTHENTICATION_REQUIRED');
  }
};

/** The owner fields of a new record; an organization's record has no user. */
export const ownerFieldsOf = (owner: Owner, caller: Caller): Owned & Pick<GuestCreation, 'guestNetwork'> => {
  switch (owner.kind) {
    case 'organization':
      return { organizationId: owner.organizationId };
    case 'user':
      return { userId: owner.userId };
    case 'guest':
      return caller.kind === 'guest'
        ? { guestId: owner.guestId, guestEmail: caller.email, guestNetwork: caller.network }
        : { guestId: owner.guestId, guestEmail: owner.email };
  }
};

/** The owner of a new record or of a requested list. */
export const ownerFor = (caller: Caller, organizationId: string | undefined): Owner | undefined => {
  if (organizationId !== undefined) return { kind: 'organization', organizationId };
  switch (caller.kind) {
    case 'session':
      return { kind: 'user', userId: caller.userId };
    case 'guest':
      return { kind: 'guest', email: caller.email, guestId: caller.guestId };
    default:
      return undefined;
  }
};
