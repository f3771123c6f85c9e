/** @module A provider's event as received. One item serves as receipt and duplicate guard, and stores the raw bytes. */

import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../core/settings.ts';
import { epochSeconds, instant } from '../core/time.ts';
import { type BusEvent, changeId } from '../platform/bus-event.ts';
import { providerEventKey } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { EVENT_KEPT_MS, type ProviderEvent } from '../providers/event-port.ts';

const storedEventSchema = z.object({
  providerId: z.enum(PROVIDER_SLOTS),
  eventId: z.string(),
  rawType: z.string(),
  /** The event's name in the API, if any. */
  type: z.string().optional(),
  receivedAt: z.string(),
  /** True if the event's personal data was erased. */
  isBlanked: z.literal(true).optional(),
  /** True if the person was erased before the event was applied. Applying the event then also blanks it. */
  isToBlank: z.literal(true).optional(),
  raw: z.instanceof(Uint8Array).transform((gzip) => gunzipSync(gzip)),
});
export type StoredEvent = z.infer<typeof storedEventSchema>;

interface ReceivedEvent {
  readonly providerId: ProviderSlot;
  readonly event: ProviderEvent;
  readonly raw: Buffer;
  readonly receivedAt: string;
}

export const storedEventItem = ({ providerId, event, raw, receivedAt }: ReceivedEvent): Item => ({
  ...providerEventKey(providerId, event.id),
  version: 1,
  providerId,
  eventId: event.id,
  rawType: event.rawType,
  type: event.type,
  receivedAt,
  raw: packed(raw),
  ttl: epochSeconds(instant(receivedAt) + EVENT_KEPT_MS),
});

export const packed = (payload: Buffer | string): Uint8Array => gzipSync(payload);
export const unpacked = (raw: Uint8Array): string => gunzipSync(raw).toString('utf8');

export const storedEventOf = (item: Item): StoredEvent => storedEventSchema.parse(item);

/** The bus event of a stored provider event. It has the provider's event name and a reference instead of the body. */
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
