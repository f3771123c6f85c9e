/**
 * @module Decides whether a guest without a token continues an earlier guest_id. The ids of customers, payment methods and
 * addresses are unguessable, and only their maker sees them. So a guest who names one, with the e-mail of its record and soon
 * after its creation, has the rights of that record's guest_id, as with the guest token. The time bound limits what a leaked
 * id is worth. Records of users and organizations, and the ids of payments and subscriptions, prove nothing.
 */
import { type Instant, instant, SECOND } from '../core/time.ts';
import type { Item } from '../platform/table.ts';
import type { Caller, GuestCaller } from './caller.ts';
import type { RecordKind } from './record-kind.ts';

/** A record that the request names. */
export interface NamedByGuest {
  readonly kind: RecordKind;
  /** undefined if there is no such record. */
  readonly item: Item | undefined;
}

export interface ContinuationTime {
  readonly now: Instant;
  /** Age up to which a record proves its guest_id; 0: no record does. */
  readonly seconds: number;
}

export interface Continuation {
  readonly caller: Caller;
  /** False if the request names records of the same e-mail whose guest_id it does not prove. */
  readonly isComplete: boolean;
}

/**
 * The caller who goes on by guest_data alone, with every guest_id that the request proves. A new record belongs to the guest_id
 * of the first named record that is proven, so name the payment method first, because a method pays only for its guest_id.
 */
export const continueGuest = (
  caller: Caller,
  named: readonly NamedByGuest[],
  { now, seconds }: ContinuationTime,
): Continuation => {
  if (caller.kind !== 'guest' || caller.byToken) return { caller, isComplete: true };
  const records = named.flatMap((one) => recordOfGuest(caller, one) ?? []);
  const isFresh = ({ createdAt }: GuestRecord): boolean => seconds > 0 && createdAt + seconds * SECOND >= now;
  const proven = new Set(records.filter(isFresh).map(({ guestId }) => guestId));
  const continued = records.find(({ guestId }) => proven.has(guestId));
  return {
    caller: continued ? { ...caller, guestId: continued.guestId, proven: [...proven] } : caller,
    isComplete: records.every(({ guestId }) => proven.has(guestId)),
  };
};

interface GuestRecord {
  readonly guestId: string;
  readonly createdAt: Instant;
}

/** The record, if it is a guest's of the same e-mail and of a kind that proves its guest_id. */
const recordOfGuest = ({ email }: GuestCaller, { kind, item }: NamedByGuest): GuestRecord | undefined => {
  const record = item && kind.parse(item);
  if (record === undefined || !kind.provesGuest) return undefined;
  const { guestId, guestEmail, userId, organizationId } = kind.ownedBy(record);
  const isGuests = guestId !== undefined && userId === undefined && organizationId === undefined;
  return isGuests && guestEmail === email ? { guestId, createdAt: instant(kind.provesGuest(record)) } : undefined;
};
