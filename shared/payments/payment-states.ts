/**
 * @module The transition table of a payment. Every decision reads it, and the store refuses a change that the table
 * lacks. Events, invoices and responses to a charge move a payment only forward in ORDER.
 */

import { hasArrow, type Transitions } from '../core/states.ts';
import { type HistoryCause, PAYMENT_STATUSES, type Payment, type PaymentStatus } from './payment.ts';

const ORDER: Readonly<Record<PaymentStatus, number>> = {
  created: 0,
  requires_payment_method: 0,
  pending: 1,
  processing: 2,
  requires_capture: 3,
  failed: 4,
  canceled: 5,
  succeeded: 6,
};

type StoredPaymentStatus = Payment['status'];

export type PaymentCause =
  | 'create'
  | 'update'
  | 'claim'
  | 'approval'
  | 'answer'
  | 'release'
  | 'event'
  | 'invoice'
  | 'cancel'
  | 'read'
  // The causes below keep the payment's status, so the table lacks them.
  | 'refund'
  | 'dispute'
  | 'erasure'
  | 'facts'
  | 'capture'
  | 'capture_due'
  | 'metadata';

/** An authoritative read of the provider may make any transition, also backward. */
const ANYWHERE = PAYMENT_STATUSES;

const UNCONFIRMED = {
  claim: ['processing'],
  approval: ['processing'],
  answer: ['pending', 'requires_capture', 'failed', 'canceled', 'succeeded'],
  event: ['pending', 'processing', 'requires_capture', 'failed', 'canceled', 'succeeded'],
  invoice: ['pending', 'processing', 'failed', 'succeeded'],
  cancel: ['canceled'],
  read: ANYWHERE,
} as const;

export const PAYMENT_TRANSITIONS: Transitions<StoredPaymentStatus, PaymentCause> = {
  // A period's payment is published and its first attempt claimed in one write.
  creating: { create: ['requires_payment_method', 'created'], claim: ['processing'] },
  requires_payment_method: { update: ['created'], ...UNCONFIRMED },
  created: { update: ['requires_payment_method'], ...UNCONFIRMED },
  pending: {
    approval: ['processing'],
    answer: ['requires_capture', 'failed', 'canceled', 'succeeded'],
    event: ['processing', 'requires_capture', 'failed', 'canceled', 'succeeded'],
    invoice: ['processing', 'failed', 'succeeded'],
    cancel: ['canceled'],
    read: ANYWHERE,
  },
  processing: {
    answer: ['requires_capture', 'succeeded', 'failed', 'canceled', 'pending', 'processing'],
    release: ['requires_payment_method', 'created', 'pending', 'failed'],
    event: ['requires_capture', 'failed', 'canceled', 'succeeded'],
    invoice: ['failed', 'succeeded'],
    cancel: ['canceled'],
    read: ANYWHERE,
  },
  // A `failed` event causes a read of the provider. Only the read may end the hold as failed.
  requires_capture: {
    answer: ['canceled', 'succeeded'],
    event: ['canceled', 'succeeded'],
    cancel: ['canceled'],
    read: ANYWHERE,
  },
  failed: {
    claim: ['processing'],
    approval: ['processing'],
    answer: ['canceled', 'succeeded'],
    event: ['canceled', 'succeeded'],
    invoice: ['succeeded'],
    cancel: ['canceled'],
    read: ANYWHERE,
  },
  // An event alone never undoes a cancellation, because the provider is read first. A charge's response or an invoice
  // proves that money moved.
  canceled: { answer: ['succeeded'], invoice: ['succeeded'], read: ANYWHERE },
  succeeded: { read: ANYWHERE },
};

/** True if the table has this transition. A payment in `processing` cannot be claimed. */
export const mayPaymentChange = (from: StoredPaymentStatus, to: StoredPaymentStatus, cause: PaymentCause): boolean =>
  hasArrow(PAYMENT_TRANSITIONS, { from, to, cause });

/** Maps a cause in the history to the default cause in the transition table. */
const TABLE_CAUSES: Readonly<Record<HistoryCause, PaymentCause>> = {
  create: 'create',
  update: 'update',
  claim: 'claim',
  answer: 'answer',
  event: 'event',
  sync: 'read',
  reconciliation: 'read',
  cancel: 'cancel',
  expiry: 'cancel',
  release: 'release',
  refund: 'refund',
  dispute: 'dispute',
  erasure: 'erasure',
  facts: 'facts',
  capture: 'capture',
  capture_due: 'capture_due',
  metadata: 'metadata',
  // A restored payment is inserted, without a transition.
  restore: 'read',
  // A payment of an imported invoice is inserted, too.
  import: 'read',
};

/** @throws Error if the table lacks the transition, which is a bug; the caller must not write then */
export const requireTransition = (
  was: Pick<Payment, 'id' | 'status'>,
  next: Pick<Payment, 'status' | 'cause'>,
  cause: PaymentCause | undefined = next.cause && TABLE_CAUSES[next.cause],
): void => {
  if (was.status === next.status) return;
  if (cause !== undefined && mayPaymentChange(was.status, next.status, cause)) return;
  throw new Error(`payment ${was.id} may not change from ${was.status} to ${next.status} by ${cause ?? 'no cause'}`);
};

export const isSettled = (status: PaymentStatus): boolean => status === 'succeeded' || status === 'canceled';

/** True if the second status is later in ORDER than the first. */
export const isAhead = (from: PaymentStatus, to: PaymentStatus): boolean => ORDER[to] > ORDER[from];
