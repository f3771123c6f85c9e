/** @module Events for the bus. A canonical event's id derives from its record, version and name. */

import * as z from 'zod';

export interface BusEvent {
  /** record : version : event name */
  readonly id: string;
  readonly source: 'payments' | 'payments.providers';
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The trace of the work that caused the event, if known. */
  readonly traceparent?: string | undefined;
}

export const CANONICAL_EVENTS = [
  'payment.succeeded',
  'payment.failed',
  'payment.created',
  'subscription.created',
  'subscription.updated',
  'subscription.cancelled',
  'membership.activated',
  'membership.extended',
  'membership.pending',
  'membership.cancelled',
  'customer.created',
  'customer.updated',
  'payment.refunded',
  'payment.refund_failed',
  'payment.dispute_opened',
  'payment.dispute_updated',
  'payment.dispute_closed',
  'payment.authorized',
  'payment.capture_due',
  'payment.released',
  'payment.captured_more',
  'payment.capture_failed',
  'payment.release_failed',
  'payment.updated',
] as const;
export type CanonicalEvent = (typeof CANONICAL_EVENTS)[number];

export const changeId = (recordId: string, version: number, event: string): string => `${recordId}:${version}:${event}`;

/** The fields of a record used by its event envelope. */
interface EventRecord {
  readonly id: string;
  readonly version: number;
  readonly providerId: string;
  readonly updatedAt: string;
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
}

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

/**
 * The order in a record's view. The record has only the id of the billing address, so the publisher fills in the
 * address.
 */
export const orderView = (record: {
  readonly referenceCode?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly productId?: string | undefined;
  readonly subtotalCents: number;
  readonly taxCents: number;
  readonly discountCents: number;
}) => ({
  reference_code: record.referenceCode ?? null,
  metadata: record.metadata ?? {},
  product_id: record.productId ?? null,
  subtotal: record.subtotalCents,
  tax: record.taxCents,
  discount: record.discountCents,
  billing_address: null,
});

/** The event with further fields in its data. The order of fields is stable, so a republished event is identical. */
export const withData = (event: BusEvent, fields: Readonly<Record<string, unknown>>): BusEvent => {
  const payload = fieldsSchema.parse(event.detail['payload']);
  const data = fieldsSchema.parse(payload['data']);
  return { ...event, detail: { ...event.detail, payload: { ...payload, data: { ...data, ...fields } } } };
};

const fieldsSchema = z.record(z.string(), z.unknown());

/** The `user` field of an event's payload. */
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
