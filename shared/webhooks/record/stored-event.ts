import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../core/settings.ts';
import { DAY, epochSeconds, instant } from '../../core/time.ts';
import { type BusEvent, changeId } from '../../events/bus-event.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import { providerEventKey } from '../../table/keys.ts';
import type { Item } from '../../table/table.ts';

/** A provider's event as received: the receipt, the dedupe and the raw bytes in one item. */
const KEPT_MS = 30 * DAY;

const storedEventSchema = z.object({
  providerId: z.enum(PROVIDER_SLOTS),
  eventId: z.string(),
  rawType: z.string(),
  /** In the interface's words, where it is one of its events. */
  type: z.string().optional(),
  receivedAt: z.string(),
  raw: z.instanceof(Uint8Array).transform((gzip) => gunzipSync(gzip)),
});
export type StoredEvent = z.infer<typeof storedEventSchema>;

export const storedEventItem = (
  providerId: ProviderSlot,
  event: ProviderEvent,
  raw: Buffer,
  receivedAt: string,
): Item => ({
  ...providerEventKey(providerId, event.id),
  version: 1,
  providerId,
  eventId: event.id,
  rawType: event.rawType,
  type: event.type,
  receivedAt,
  raw: gzipSync(raw),
  ttl: epochSeconds(instant(receivedAt) + KEPT_MS),
});

export const storedEventOf = (item: Item): StoredEvent => storedEventSchema.parse(item);

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
