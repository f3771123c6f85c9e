import { type BusEvent, type CanonicalEvent, canonicalBusEvent, payerOf } from '../platform/bus-event.ts';
import { type Membership, membershipFacts } from './membership.ts';

/** The event for a stored membership change. A pause also ends the membership. */
export const membershipEvents = (before: Membership | undefined, after: Membership): readonly BusEvent[] => {
  const event = nameOf(before, after);
  return event === undefined ? [] : [canonicalBusEvent(event, after, dataOf(after))];
};

const nameOf = (before: Membership | undefined, after: Membership): CanonicalEvent | undefined => {
  if (before?.version === after.version) return undefined;
  // An unpaid imported subscription never gave access to its tier, so no event is published.
  if (!before && after.reason === 'imported' && after.status === 'cancelled') return undefined;
  if (before?.status !== after.status) {
    switch (after.status) {
      case 'pending':
        return 'membership.pending';
      case 'active':
        return 'membership.activated';
      case 'cancelled':
        return 'membership.cancelled';
      case 'expired':
        return before?.status === 'active' || before?.status === 'pending' ? 'membership.cancelled' : undefined;
    }
  }
  const isExtended = after.status === 'active' && (after.endsAt ?? '') > (before.endsAt ?? '');
  return isExtended ? 'membership.extended' : undefined;
};

const dataOf = (membership: Membership) => ({
  membership_id: membership.id,
  ...membershipFacts(membership),
  ...(membership.reason && { reason: membership.reason }),
  ...(membership.status === 'expired' && { reason: 'paused' }),
  user: payerOf(membership),
  project: membership.projectId ? { id: membership.projectId } : null,
});
