import type { PaymentStatus } from './payment.ts';

/**
 * The one table of a payment's states. Confirm, sync, provider events and reconciliation all decide here.
 * An event moves a payment only further on in ORDER; an authoritative read stores what the provider has, also backward.
 */
const ORDER: Readonly<Record<PaymentStatus, number>> = {
  created: 0,
  requires_payment_method: 0,
  pending: 1,
  processing: 2,
  failed: 3,
  canceled: 4,
  succeeded: 5,
};

export type PaymentCause = 'claim' | 'release' | 'approval' | 'answer' | 'event' | 'read' | 'cancel' | 'method';

/** Every legal change, by its cause; a cause that may do anything is told so. */
export const PAYMENT_TRANSITIONS: Readonly<
  Record<PaymentStatus, Readonly<Partial<Record<PaymentCause, readonly PaymentStatus[]>>>>
> = {
  requires_payment_method: {
    method: ['created'],
    claim: ['processing'],
    approval: ['processing'],
    event: ['pending', 'processing', 'failed', 'canceled', 'succeeded'],
    cancel: ['canceled'],
  },
  created: {
    method: ['requires_payment_method'],
    claim: ['processing'],
    approval: ['processing'],
    event: ['pending', 'processing', 'failed', 'canceled', 'succeeded'],
    cancel: ['canceled'],
  },
  pending: {
    approval: ['processing'],
    event: ['processing', 'failed', 'canceled', 'succeeded'],
    cancel: ['canceled'],
  },
  processing: {
    answer: ['succeeded', 'failed', 'pending', 'processing'],
    release: ['requires_payment_method', 'created', 'pending', 'failed'],
    event: ['failed', 'canceled', 'succeeded'],
  },
  failed: { claim: ['processing'], approval: ['processing'], event: ['canceled', 'succeeded'] },
  // Only where the provider, read once more, proves that money moved.
  canceled: {},
  succeeded: {},
};

export const mayPaymentChange = (from: PaymentStatus, to: PaymentStatus, cause: PaymentCause): boolean =>
  cause === 'read' || (PAYMENT_TRANSITIONS[from][cause]?.includes(to) ?? false);

export const isSettled = (status: PaymentStatus): boolean => status === 'succeeded' || status === 'canceled';

/** Further on than the record? (What a read brought on by an event may apply.) */
export const isAhead = (from: PaymentStatus, to: PaymentStatus): boolean => ORDER[to] > ORDER[from];
