import { type BusEvent, type CanonicalEvent, canonicalBusEvent, payerOf } from '../platform/bus-event.ts';
import type { Membership } from './membership.ts';

/** The event of a stored change of a membership. A pause also ends the membership. */
export const membershipEvents = (before: Membership | undefined, after: Membership): readonly BusEvent[] => {
  const event = nameOf(before, after);
  return event === undefined ? [] : [canonicalBusEvent(event, after, dataOf(after))];
};

const nameOf = (before: Membership | undefined, after: Membership): CanonicalEvent | undefined => {
  if (before?.version === after.version) return undefined;
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
  membership_type_id: membership.tierId,
  entity_type: membership.entityType,
  entity_id: membership.entityId,
  subscription_id: membership.subscriptionId,
  status: membership.status,
  starts_at: membership.startsAt ?? null,
  ends_at: membership.endsAt ?? null,
  ...(membership.status === 'expired' && { reason: 'paused' }),
  user: payerOf(membership),
  project: membership.projectId ? { id: membership.projectId } : null,
});
