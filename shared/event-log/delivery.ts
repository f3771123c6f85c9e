/**
 * @module A delivery is one queued event for one target. It can be replayed for 30 days. The delivery of a canonical
 * event is stored with its body. A provider's event is stored anyway, so its delivery derives from the log entry. Such
 * a delivery is stored only while it waits long for an attempt.
 */

import * as z from 'zod';
import { DAY_MS, epochSeconds, type Instant } from '../core/time.ts';
import { deliveryKey, type Historic, type Key, providerEventKey } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { contentSchema } from './event-content.ts';
import type { LogRecord } from './log-entry.ts';
import type { OutboundEvent } from './outbound-event.ts';

const deliverySchema = z.object({
  id: z.string(),
  event: z.string(),
  provider: z.string(),
  target: z.string(),
  content: contentSchema,
  organizationId: z.string().optional(),
  userId: z.string().optional(),
  /** The trace of the work that caused the event. Every attempt and replay continues the trace. */
  traceparent: z.string().optional(),
});
export type Delivery = z.infer<typeof deliverySchema>;

const KEPT_MS = 30 * DAY_MS;

export const deliveryTo = (target: string, event: OutboundEvent): Delivery => {
  const { id, name, provider, content, organizationId, userId, traceparent } = event;
  return { id, event: name, provider, target, content, organizationId, userId, traceparent };
};

export const deliveryOf = (stored: unknown): Delivery => deliverySchema.parse(stored);

const namedIn = z.object({
  data: z.object({ payment_id: z.string().nullish(), subscription_id: z.string().nullish() }),
});

/** The payment or subscription of a canonical event. A provider's own event is not parsed. */
export const subjectOfDelivery = ({ event, content }: Pick<Delivery, 'event' | 'content'>): Historic | undefined => {
  const { payment_id: payment, subscription_id: subscription } =
    ('body' in content ? namedIn.safeParse(JSON.parse(content.body)).data?.data : undefined) ?? {};
  if (payment) return { kind: 'PAY', id: payment };
  return subscription && event.startsWith('subscription.') ? { kind: 'SUB', id: subscription } : undefined;
};

export const deliveryItem = (delivery: Delivery, now: Instant): Item => ({
  ...deliveryKey(delivery.id, delivery.target),
  ...delivery,
  ttl: epochSeconds(now + KEPT_MS),
});

type LoggedDelivery = Pick<LogRecord, 'eventId' | 'eventType' | 'provider' | 'target' | 'sourceId' | 'traceparent'>;

/** The key of the item for a replay of a logged delivery; undefined for an inbound event. */
export const keyForReplay = ({ eventId, target, provider, sourceId }: LoggedDelivery): Key | undefined => {
  if (target === undefined) return undefined;
  return sourceId === undefined ? deliveryKey(eventId, target) : providerEventKey(provider, sourceId);
};

/** @param item as stored under `keyForReplay` */
export const deliveryForReplay = (entry: LoggedDelivery, item: Item): Delivery => {
  const { eventId: id, eventType: event, provider, target, sourceId, traceparent } = entry;
  if (sourceId === undefined) return deliveryOf(item);
  return deliveryOf({ id, event, provider, target, traceparent, content: { providerId: provider, eventId: sourceId } });
};

/** The body of a replay's message. */
export const replayBody = (delivery: Delivery): string => JSON.stringify({ ...delivery, isReplay: true });
