/**
 * @module Decides whether a guest without a token continues an earlier guest_id. The ids of customers, payment methods
 * and addresses cannot be computed, but staff, service keys and event receivers see them. A request therefore continues
 * the guest_id of such a record only if it names our id, has the same e-mail, comes from the network that created the
 * record, and comes soon after the creation. Records of users and organizations, and ids of payments and subscriptions,
 * prove no guest_id.
 */

import { type Instant, instant, SECOND_MS } from '../core/time.ts';
import type { Item } from '../platform/table.ts';
import type { Caller, GuestCaller } from './caller.ts';
import type { RecordKind } from './record-kind.ts';

export interface NamedByGuest {
  readonly kind: RecordKind;
  /** Undefined if the record does not exist. */
  readonly item: Item | undefined;
  /** False if the request uses the provider's id, because that id is no proof. */
  readonly isOurId: boolean;
}

export interface ContinuationMoment {
  readonly now: Instant;
  /** The stored form of the network that the request comes from. If it is undefined, no record is a proof. */
  readonly network: string | undefined;
  /** The maximum age of a record as proof; 0 turns such proofs off. */
  readonly seconds: number;
}

export interface Continuation {
  readonly caller: Caller;
  /** False if the request names a record of the same e-mail without proving its guest_id. */
  readonly isComplete: boolean;
}

/**
 * Adds every proven guest_id to the caller. A new record belongs to the first proven guest_id in `named`. The payment
 * method must therefore come first, because a method pays only for its own guest_id.
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

/** Undefined unless the record belongs to a guest with the same e-mail and its kind can prove a guest_id. */
const recordOfGuest = ({ email }: GuestCaller, { kind, item, isOurId }: NamedByGuest): GuestRecord | undefined => {
  const record = item && kind.parse(item);
  if (record === undefined || !kind.provesGuest) return undefined;
  const { guestId, guestEmail, userId, organizationId } = kind.ownedBy(record);
  const isGuests = guestId !== undefined && userId === undefined && organizationId === undefined;
  if (!isGuests || guestEmail !== email) return undefined;
  const { createdAt, guestNetwork } = kind.provesGuest(record);
  return { guestId, isOurId, createdAt: instant(createdAt), network: guestNetwork };
};
