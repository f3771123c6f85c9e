/** An event for the bus. Its id derives from record, version and name, so a repeated event has the same id. */
export interface BusEvent {
  /** record : version : event name */
  readonly id: string;
  readonly source: 'payments' | 'payments.providers';
  /** The event's name. */
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
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
  'payment.dispute_closed',
] as const;
export type CanonicalEvent = (typeof CANONICAL_EVENTS)[number];

export const changeId = (recordId: string, version: number, event: string): string => `${recordId}:${version}:${event}`;
