import * as z from 'zod';
import { DAY, epochSeconds, type Instant } from '../../core/time.ts';
import { deliveryKey } from '../../table/keys.ts';
import type { Item } from '../../table/table.ts';
import { contentSchema, type OutboundEvent } from './outbound-event.ts';

/** One event for one target: the message of the delivery queue, stored for 30 days so that it can be replayed. */
const deliverySchema = z.object({
  id: z.string(),
  event: z.string(),
  provider: z.string(),
  target: z.string(),
  content: contentSchema,
  organizationId: z.string().optional(),
  userId: z.string().optional(),
});
export type Delivery = z.infer<typeof deliverySchema>;

const KEPT_MS = 30 * DAY;

export const deliveryTo = (target: string, event: OutboundEvent): Delivery => {
  const { id, name, provider, content, organizationId, userId } = event;
  return { id, event: name, provider, target, content, organizationId, userId };
};

export const deliveryOf = (stored: unknown): Delivery => deliverySchema.parse(stored);

const aboutPayment = z.object({ data: z.object({ payment_id: z.string() }) });

/** The payment that a canonical event names. A provider's own event is sent as received, and not read here. */
export const paymentOfDelivery = ({ content }: Pick<Delivery, 'content'>): string | undefined =>
  'body' in content ? aboutPayment.safeParse(JSON.parse(content.body)).data?.data.payment_id : undefined;

export const deliveryItem = (delivery: Delivery, now: Instant): Item => ({
  ...deliveryKey(delivery.id, delivery.target),
  ...delivery,
  ttl: epochSeconds(now + KEPT_MS),
});
