import * as z from 'zod';
import type { ProviderSlot } from '../../../shared/core/settings.ts';
import type { LedgerInvoice, LedgerSubscription } from './billing-documents.ts';
import type {
  Documents,
  LedgerCharge,
  LedgerCustomer,
  LedgerDispute,
  LedgerMethod,
  LedgerPayment,
  LedgerRefund,
  LedgerSetup,
} from './documents.ts';

/** A change in the ledger. Each vendor maps it to its own events, if any. */
export type Change =
  | { readonly kind: PaymentChange; readonly payment: LedgerPayment }
  | { readonly kind: ChargeChange; readonly charge: LedgerCharge }
  | { readonly kind: RefundChange; readonly refund: LedgerRefund }
  | { readonly kind: 'dispute.created'; readonly dispute: LedgerDispute }
  | {
      readonly kind: 'dispute.updated' | 'dispute.closed';
      readonly dispute: LedgerDispute;
      readonly before: LedgerDispute;
    }
  | { readonly kind: 'customer.created' | 'customer.deleted'; readonly customer: LedgerCustomer }
  | { readonly kind: 'customer.updated'; readonly customer: LedgerCustomer; readonly before: LedgerCustomer }
  | { readonly kind: 'method.attached'; readonly method: LedgerMethod }
  | {
      /** With `renewed`, the card network replaced the card. */
      readonly kind: 'method.detached' | 'method.updated' | 'method.renewed';
      readonly method: LedgerMethod;
      readonly before: LedgerMethod;
    }
  | { readonly kind: SetupChange; readonly setup: LedgerSetup }
  | { readonly kind: SubscriptionChange; readonly subscription: LedgerSubscription }
  | {
      readonly kind: 'subscription.updated';
      readonly subscription: LedgerSubscription;
      readonly before: LedgerSubscription;
    }
  | { readonly kind: InvoiceChange; readonly invoice: LedgerInvoice };

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
  | 'charge.lowered'
  | 'charge.fee_assessed'
  | 'charge.refunded';
/** With `failed`, the refund was pending, or the bank returned the money of a succeeded refund. */
export type RefundChange = 'refund.created' | 'refund.updated' | 'refund.failed';
/** The kind `closed` covers the statuses won, lost and closed. */
export type DisputeChange = 'dispute.created' | 'dispute.updated' | 'dispute.closed';
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
export type InvoiceChange =
  | 'invoice.paid'
  | 'invoice.paid_elsewhere'
  | 'invoice.payment_failed'
  | 'invoice.payment_action_required'
  | 'invoice.finalized'
  | 'invoice.marked_uncollectible'
  | 'invoice.voided';

export type LedgerIdKind =
  | 'customer'
  | 'method'
  | 'payment'
  | 'charge'
  | 'refund'
  | 'dispute'
  | 'setup'
  | 'event'
  | 'product'
  | 'price'
  | 'subscription'
  | 'invoice'
  | 'coupon'
  | 'discount'
  | 'tax_rate';

export const WORK_KINDS = [
  'settle_payment',
  'settle_refund',
  'bill_subscription',
  'announce_trial_end',
  'retry_invoice',
  'expire_subscription',
  'cancel_subscription',
  'finalize_invoice',
  'assess_fee',
  'end_hold',
  'settle_capture',
] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** How the billing provider retries unpaid invoices, as the owner of the account at the provider has set it. */
export const retrySettings = z.strictObject({
  /** Days after the first failure. */
  days: z.array(z.int().min(1).max(60)).max(8),
  /** The subscription's status after the last retry. */
  then: z.enum(['cancel', 'unpaid', 'past_due']),
});
export type RetrySettings = z.infer<typeof retrySettings>;

/** How long a renewal's invoice stays a draft before it is finalized and collected; an hour at Stripe. */
export const draftSettings = z.strictObject({ minutes: z.int().min(0).max(4_320) });
export type DraftSettings = z.infer<typeof draftSettings>;

/** The address for the provider's events, as the owner of the account has registered it. */
interface WebhookEndpoint {
  readonly url: string;
  /** API version of the events; undefined if the owner chose none. */
  readonly apiVersion: string | undefined;
}

export interface ChargeFees {
  /** In the provider's units, rounded half up. */
  of(amount: number): number;
  /** 0 if the provider reports its fee with the charge. */
  readonly afterMs: number;
}

/** One ledger transaction, for a provider call, a customer's step, or due work. */
export interface Unit {
  readonly slot: ProviderSlot;
  /** Epoch ms of the clock. */
  readonly at: number;
  readonly documents: Documents;
  newId(kind: LedgerIdKind): string;
  /** Returns 1 at the first call with this name, then 2, 3 … */
  count(name: string): number;
  /** True if an attempt with this name has already lost its connection. */
  lostBefore(name: string): boolean;
  /** Drops the call's response but keeps its changes. */
  loseAnswer(name: string | undefined): void;
  schedule(dueAt: number, kind: WorkKind, subject: string): void;
  announce(change: Change): void;
  /** The minimum charge in the provider's units; 0 without a minimum. */
  leastCharge(currency: string): number;
  /** The provider's fees; undefined for no fees. */
  readonly fees: ChargeFees | undefined;
  retries(): RetrySettings;
  drafts(): DraftSettings;
  endpoint(): WebhookEndpoint;
  /** A stable secret that only the document's holder can know. */
  secretOf(id: string): string;
  /** The URL of the customer's step for a waiting payment. */
  customerPage(id: string): string;
}

/** Rolls the unit back, as if the call never reached the provider. */
export class NeverArrived extends Error {
  readonly attempt: string | undefined;
  constructor(attempt: string | undefined) {
    super('The call never reached the provider');
    this.name = 'NeverArrived';
    this.attempt = attempt;
  }
}
