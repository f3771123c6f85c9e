/** An event on its way to the bus. Its id follows from what happened, so that a replay is the same event. */
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
] as const;
export type CanonicalEvent = (typeof CANONICAL_EVENTS)[number];

export const changeId = (recordId: string, version: number, event: string): string => `${recordId}:${version}:${event}`;
