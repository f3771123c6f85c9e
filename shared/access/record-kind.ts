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

/** The stored form of the network of the guest who created a record (keyed-ids.ts). A person field. */
export const networkColumn = { guestNetwork: optional };

/** An organization's addresses and methods name no user, so that access ends with the membership. */
export type Owned = Readonly<{ [Field in keyof typeof ownerColumns]?: string | undefined }>;

export const ownerIdsOf = ({ userId, organizationId, guestId, guestEmail }: Owned): Owned => ({
  userId,
  organizationId,
  guestId,
  guestEmail,
});

/** How the request chain finds and checks a record. An endpoint gets only records that passed the access rule. */
export interface RecordKind<T = unknown> {
  /** The name in errors, such as `payment` or `payment_method`. */
  readonly resource: string;
  key(id: string): Key;
  /** Finds our id if the path holds another system's id. */
  resolve?(table: Table, externalId: string): Promise<string | undefined>;
  /** The aliases that lead from a provider's id to a used record; undefined if the id is ours. */
  aliases?(id: string): RecordAliases | undefined;
  /** @returns undefined for an item that readers must not see, such as a tombstone. */
  parse(item: Item): T | undefined;
  ownedBy(record: T): Owned;
  /**
   * `owned` applies the access rule. With `project`, the owner may also change it, whatever the role. With `open`,
   * every caller may name it. With `organization`, the record is an organization, and its members have access.
   */
  readonly rule: 'owned' | 'project' | 'organization' | 'open';
  /**
   * The creation of a record whose id only its creator sees, so that a guest may continue the record's guest_id by
   * naming it (continue-guest.ts). Absent for kinds whose ids appear in a list that needs no credential.
   */
  provesGuest?(record: T): GuestCreation;
  /** The scope with which the merchant reads every owner's records; platform admins only if absent. */
  readonly readScope?: Scope;
  /** True while a link may open the record's hosted page. Absent for kinds without a page. */
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

/** Items that may lead from a provider's id to our record. */
export interface RecordAliases {
  readonly keys: readonly Key[];
  /** Our id; undefined if the item leads to a record of another kind. */
  idOf(item: Item): string | undefined;
  /** False if the record now has a different id at the provider, so that the named id is no longer valid. */
  isNamed(record: Item): boolean;
}

export interface NamedRecord {
  readonly kind: RecordKind;
  readonly id: string;
}

export const ownerOfRecord = (record: Owned): Owner | undefined => {
  if (record.organizationId) return { kind: 'organization', organizationId: record.organizationId };
  if (record.userId) return { kind: 'user', userId: record.userId };
  // The record of an erased guest has no e-mail address; it stays listed, under the guest's id.
  if (record.guestId) return { kind: 'guest', guestId: record.guestId, email: record.guestEmail ?? record.guestId };
  return undefined;
};

/** The payer of a new payment or subscription, and the person who makes it for an organization. */
type PayerFields = Owned & Readonly<Partial<Record<'userEmail' | 'guestName' | 'guestNetwork', string | undefined>>>;

/** @throws DomainError AUTHENTICATION_REQUIRED for a caller who names no payer */
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

/** A record of an organization has no user. */
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

/** The owner of a new record, and of the list that is read. */
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
