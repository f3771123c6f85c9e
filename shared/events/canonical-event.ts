import { type BusEvent, type CanonicalEvent, changeId } from './bus-event.ts';

/** The fields of a record that the envelope of its events shows. */
interface EventRecord {
  readonly id: string;
  readonly version: number;
  readonly providerId: string;
  readonly updatedAt: string;
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
}

/** The canonical event of one version of a record. Its id derives from both, so a repeated event has the same id. */
export const canonicalBusEvent = (
  event: CanonicalEvent,
  record: EventRecord,
  data: Readonly<Record<string, unknown>>,
): BusEvent => {
  const id = changeId(record.id, record.version, event);
  return {
    id,
    source: 'payments',
    type: event,
    detail: {
      id,
      organization_id: record.organizationId ?? null,
      user_id: record.userId ?? null,
      payload: { event, provider: record.providerId, timestamp: record.updatedAt, data },
    },
  };
};

/** `user` of an event's payload. */
export const payerOf = (record: {
  readonly userId?: string | undefined;
  readonly userEmail?: string | undefined;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
}) => {
  if (record.userId) return { id: record.userId, type: 'authenticated', email: record.userEmail ?? null };
  if (record.guestId) return { id: record.guestId, type: 'guest', email: record.guestEmail ?? null };
  return null;
};
