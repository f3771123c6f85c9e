/**
 * @module Decides whether a guest without a token continues an earlier guest_id. The ids of customers, payment methods
 * and addresses cannot be computed, but staff, service keys and readers of events see them. So a guest continues the
 * guest_id of such a record only by our id, with its e-mail, from the network that created it, and soon after its
 * creation. Records of users and organizations, and the ids of payments and subscriptions, prove nothing.
 */

import { type Instant, instant, SECOND_MS } from '../core/time.ts';
import type { Item } from '../platform/table.ts';
import type { Caller, GuestCaller } from './caller.ts';
import type { RecordKind } from './record-kind.ts';

export interface NamedByGuest {
  readonly kind: RecordKind;
  /** undefined if the record does not exist. */
  readonly item: Item | undefined;
  /** False if the request names the record by its provider's id, which proves nothing. */
  readonly isOurId: boolean;
}

export interface ContinuationMoment {
  readonly now: Instant;
  /** The stored form of the guest's network at that time; without a network, no record proves its guest_id. */
  readonly network: string | undefined;
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
  moment: ContinuationMoment,
): Continuation => {
  if (caller.kind !== 'guest' || caller.byToken) return { caller, isComplete: true };
  const records = named.flatMap((one) => recordOfGuest(caller, one) ?? []);
  const proven = new Set(records.filter((record) => isProof(record, moment)).map(({ guestId }) => guestId));
  const continued = records.find(({ guestId }) => proven.has(guestId));
  return {
    caller: continued ? { ...caller, guestId: continued.guestId, proven: [...proven] } : caller,
    isComplete: records.every(({ guestId }) => proven.has(guestId)),
  };
};

interface GuestRecord extends Pick<NamedByGuest, 'isOurId'> {
  readonly guestId: string;
  readonly createdAt: Instant;
  readonly network: string | undefined;
}

const isProof = (
  { isOurId, createdAt, network }: GuestRecord,
  { now, network: guests, seconds }: ContinuationMoment,
): boolean =>
  isOurId && seconds > 0 && createdAt + seconds * SECOND_MS >= now && network !== undefined && network === guests;

/** The record, if it belongs to a guest with the same e-mail and its kind proves a guest_id. */
const recordOfGuest = ({ email }: GuestCaller, { kind, item, isOurId }: NamedByGuest): GuestRecord | undefined => {
  const record = item && kind.parse(item);
  if (record === undefined || !kind.provesGuest) return undefined;
  const { guestId, guestEmail, userId, organizationId } = kind.ownedBy(record);
  const isGuests = guestId !== undefined && userId === undefined && organizationId === undefined;
  if (!isGuests || guestEmail !== email) return undefined;
  const { createdAt, guestNetwork } = kind.provesGuest(record);
  return { guestId, isOurId, createdAt: instant(createdAt), network: guestNetwork };
};
