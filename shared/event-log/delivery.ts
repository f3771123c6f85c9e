/** @module A delivery is one event for one target, as queued, and stored for 30 days so that it can be replayed. */

import * as z from 'zod';
import { DAY_MS, epochSeconds, type Instant } from '../core/time.ts';
import { deliveryKey, type Historic } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { contentSchema } from './event-content.ts';
import type { OutboundEvent } from './outbound-event.ts';

const deliverySchema = z.object({
  id: z.string(),
  event: z.string(),
  provider: z.string(),
  target: z.string(),
  content: contentSchema,
  organizationId: z.string().optional(),
  userId: z.string().optional(),
  /** The trace of the work that caused the event; every attempt and replay continues it. */
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

/** The payment or subscription of a canonical event. A provider's own event is sent as received and not parsed. */
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
