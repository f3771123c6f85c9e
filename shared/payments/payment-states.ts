import { hasArrow, type Transitions } from '../core/states.ts';
import { type HistoryCause, PAYMENT_STATUSES, type Payment, type PaymentStatus } from './payment.ts';

/**
 * The transition table of a payment. Every decision reads it, and the store refuses a change without an arrow in it.
 * Events, answers and invoices move a payment only forward in ORDER.
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
  // Records beside the payment: its status stays, so the table has no arrow for them.
  | 'refund'
  | 'dispute'
  | 'erasure';

/** An authoritative read of the provider may lead anywhere, also backward. */
const ANYWHERE = PAYMENT_STATUSES;

const UNCONFIRMED = {
  claim: ['processing'],
  approval: ['processing'],
  answer: ['pending', 'failed', 'canceled', 'succeeded'],
  event: ['pending', 'processing', 'failed', 'canceled', 'succeeded'],
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
    answer: ['failed', 'canceled', 'succeeded'],
    event: ['processing', 'failed', 'canceled', 'succeeded'],
    invoice: ['processing', 'failed', 'succeeded'],
    cancel: ['canceled'],
    read: ANYWHERE,
  },
  processing: {
    answer: ['succeeded', 'failed', 'canceled', 'pending', 'processing'],
    release: ['requires_payment_method', 'created', 'pending', 'failed'],
    event: ['failed', 'canceled', 'succeeded'],
    invoice: ['failed', 'succeeded'],
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
  // An event alone never undoes a cancellation: the provider is read first. An answer or an invoice shows that money moved.
  canceled: { answer: ['succeeded'], invoice: ['succeeded'], read: ANYWHERE },
  succeeded: { read: ANYWHERE },
};

/** True if the table has this arrow. It has none for the claim of a payment that is already `processing`. */
export const mayPaymentChange = (from: StoredPaymentStatus, to: StoredPaymentStatus, cause: PaymentCause): boolean =>
  hasArrow(PAYMENT_TRANSITIONS, { from, to, cause });

/** The cause in the table, per cause in the history. A caller that acts for another cause names it to the store. */
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
};

/** @throws Error where a change of the status has no arrow in the table: a bug, and nothing may be written. */
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
