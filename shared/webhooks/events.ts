import { type BusEvent, changeId } from '../events/bus-event.ts';
import type { StoredEvent } from './provider-event.ts';

/** A stored provider event on the bus: named as the provider names it, with a reference in the place of its body. */
export const providerBusEvent = (
  stored: Pick<StoredEvent, 'providerId' | 'eventId' | 'rawType' | 'type'>,
): BusEvent => {
  const type = `${stored.providerId}:${stored.rawType}`;
  const id = changeId(`${stored.providerId}:${stored.eventId}`, 1, type);
  return {
    id,
    source: 'payments.providers',
    type,
    detail: {
      id,
      provider_id: stored.providerId,
      event_id: stored.eventId,
      ...(stored.type !== undefined && { type: stored.type }),
    },
  };
};
