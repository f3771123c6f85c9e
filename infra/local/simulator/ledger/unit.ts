import type { ProviderSlot } from '../../../../shared/core/settings.ts';
import type { Invoice, Subscription } from './billing-documents.ts';
import type { Charge, Customer, Documents, Method, Payment, Refund, Setup } from './documents.ts';

/** What happened in the ledger. Each vendor's protocol turns it into events of its own, or into none. */
export type Change =
  | { readonly kind: PaymentChange; readonly payment: Payment }
  | { readonly kind: ChargeChange; readonly charge: Charge }
  | { readonly kind: 'refund.created'; readonly refund: Refund }
  | { readonly kind: 'customer.created' | 'customer.deleted'; readonly customer: Customer }
  | { readonly kind: 'customer.updated'; readonly customer: Customer; readonly before: Customer }
  | { readonly kind: 'method.attached'; readonly method: Method }
  | { readonly kind: 'method.detached' | 'method.updated'; readonly method: Method; readonly before: Method }
  | { readonly kind: SetupChange; readonly setup: Setup }
  | { readonly kind: SubscriptionChange; readonly subscription: Subscription }
  | { readonly kind: 'subscription.updated'; readonly subscription: Subscription; readonly before: Subscription }
  | { readonly kind: InvoiceChange; readonly invoice: Invoice };

export type PaymentChange =
  | 'payment.created'
  | 'payment.requires_action'
  | 'payment.processing'
  | 'payment.authorized'
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.canceled';
export type ChargeChange =
  | 'charge.pending'
  | 'charge.succeeded'
  | 'charge.failed'
  | 'charge.captured'
  | 'charge.refunded';
export type SetupChange =
  | 'setup.created'
  | 'setup.requires_action'
  | 'setup.succeeded'
  | 'setup.failed'
  | 'setup.canceled';

export type SubscriptionChange =
  | 'subscription.created'
  | 'subscription.trial_will_end'
  | 'subscription.paused'
  | 'subscription.resumed'
  | 'subscription.deleted';
export type InvoiceChange = 'invoice.paid' | 'invoice.payment_failed' | 'invoice.voided';

export type IdKind =
  | 'customer'
  | 'method'
  | 'payment'
  | 'charge'
  | 'refund'
  | 'setup'
  | 'event'
  | 'product'
  | 'price'
  | 'subscription'
  | 'invoice';

export const WORK_KINDS = ['settle_payment', 'bill_subscription', 'announce_trial_end', 'retry_invoice'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** One transaction over the ledger: a call of a provider's protocol, a step of a customer, or something that fell due. */
export interface Unit {
  readonly slot: ProviderSlot;
  /** Epoch ms of the clock. */
  readonly at: number;
  readonly documents: Documents;
  newId(kind: IdKind): string;
  /** 1 at the first call with this name, then 2, 3 … */
  count(name: string): number;
  /** Whether a connection was already lost under this name. */
  lostBefore(name: string): boolean;
  /** The answer of this call is not sent; what was done stays done. */
  loseAnswer(name: string | undefined): void;
  schedule(dueAt: number, kind: WorkKind, subject: string): void;
  announce(change: Change): void;
  /** A value that only the holder of the document can know; the same on every call. */
  secretOf(id: string): string;
  /** Where a customer takes the step that a payment waits for. */
  customerPage(id: string): string;
}

/** Rolls the unit back: the call never reached the provider. */
export class NeverArrived extends Error {
  readonly attempt: string | undefined;
  constructor(attempt: string | undefined) {
    super('The call never reached the provider');
    this.name = 'NeverArrived';
    this.attempt = attempt;
  }
}
