/**
 * @module Decides whether a guest without a token continues an earlier guest_id. The ids of customers, payment methods
 * and addresses cannot be guessed, and only their creator sees them. So a guest who names such a record with its
 * e-mail, soon after its creation, has the rights of that record's guest_id, as with the guest token; the time limit
 * bounds what a leaked id is worth. Records of users and organizations, and the ids of payments and subscriptions,
 * prove nothing.
 */

import { type Instant, instant, SECOND_MS } from '../core/time.ts';
import type { Item } from '../platform/table.ts';
import type { Caller, GuestCaller } from './caller.ts';
import type { RecordKind } from './record-kind.ts';

export interface NamedByGuest {
  readonly kind: RecordKind;
  /** undefined if the record does not exist. */
  readonly item: Item | undefined;
}

export interface ContinuationTime {
  readonly now: Instant;
  /** Age up to which a record proves its guest_id; 0 if no record proves it. */
  readonly seconds: number;
}

export interface Continuation {
  readonly caller: Caller;
  /** False if the request names records of the same e-mail whose guest_id it does not prove. */
  readonly isComplete: boolean;
}

/**
 * Adds every guest_id that the request proves. The first proven record in `named` owns a new record, so the payment
 * method must come first, because a method pays only for its guest_id.
 */
export const continueGuest = (
  caller: Caller,
  named: readonly NamedByGuest[],
  { now, seconds }: ContinuationTime,
): Continuation => {
  if (caller.kind !== 'guest' || caller.byToken) return { caller, isComplete: true };
  const records = named.flatMap((one) => recordOfGuest(caller, one) ?? []);
  const isFresh = ({ createdAt }: GuestRecord): boolean => seconds > 0 && createdAt + seconds * SECOND_MS >= now;
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

/** The record, if it belongs to a guest with the same e-mail and its kind proves a guest_id. */
const recordOfGuest = ({ email }: GuestCaller, { kind, item }: NamedByGuest): GuestRecord | undefined => {
  const record = item && kind.parse(item);
  if (record === undefined || !kind.provesGuest) return undefined;
  const { guestId, guestEmail, userId, organizationId } = kind.ownedBy(record);
  const isGuests = guestId !== undefined && userId === undefined && organizationId === undefined;
  return isGuests && guestEmail === email ? { guestId, createdAt: instant(kind.provesGuest(record)) } : undefined;
};
