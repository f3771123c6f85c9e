import type { DisputeStatus, RefundReason, RefundStatus } from '../core/money-back.ts';
import type { Outcome } from '../core/outcome.ts';
import type { CallOptions } from './payment-port.ts';

/** Refunds and disputes at a provider. Amounts are integers in ISO 4217 minor units, currencies upper-case ISO 4217. */
/** The ids by which a provider finds the charge of a succeeded payment. */
export interface RefundedCharge {
  /** The intent or order. */
  readonly intentId: string;
  /** The payment or capture; equals intentId where the provider has one object for both. */
  readonly paymentId: string;
}

export interface CreateRefund extends CallOptions {
  /** Our refund id. The adapter stores it at the provider, so that a look-up and an event find the refund. */
  readonly refundId: string;
  readonly payment: RefundedCharge;
  readonly amountCents: number;
  readonly currency: string;
  readonly reason: RefundReason | undefined;
}

/** The state of a refund at the provider. */
export interface ProviderRefund {
  /** The provider's id. */
  readonly refundId: string;
  readonly status: RefundStatus;
  readonly amountCents: number;
  readonly currency: string;
  /** Our refund id as the provider stores it. It proves nothing: anyone with the provider's dashboard can set it. */
  readonly ourRefundId: string | undefined;
  readonly reason: RefundReason | undefined;
  /** The provider's code of a failure. */
  readonly failureCode: string | undefined;
  /** Whole seconds, epoch. */
  readonly createdAt: number;
}

/** Refusal reason of a refund: less is left of the payment at the provider than the refund's amount. */
export const REFUND_EXCEEDS = 'refund_exceeds';

/** Refusal reason of a refund: the payment is disputed, so that the provider refunds it not at all, or not in part. */
export const REFUND_DISPUTED = 'payment_disputed';

/** The state of a dispute at the provider. */
export interface ProviderDispute {
  /** The provider's id. */
  readonly disputeId: string;
  readonly status: DisputeStatus;
  readonly amountCents: number;
  readonly currency: string;
  /** The provider's word, in lower case; null: it has none, undefined: it does not say. */
  readonly reason: string | null | undefined;
  /** Whole seconds, epoch: until then the seller may give evidence at the provider. null and undefined as for `reason`. */
  readonly evidenceDueBy: number | null | undefined;
  /** Whole seconds, epoch. */
  readonly createdAt: number;
  /** The provider's own time of this state, epoch ms; undefined where its object has none. */
  readonly reportedAt: number | undefined;
}

export interface RefundsPort {
  /** Gives money back. A refusal has the reason REFUND_EXCEEDS, REFUND_DISPUTED or the provider's own. */
  createRefund(input: CreateRefund): Promise<Outcome<ProviderRefund>>;
  /** Every refund of the payment, our own ones and the provider's, oldest first. An authoritative read. */
  listRefunds(payment: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>>;
  /** Every dispute of the payment, oldest first. An authoritative read. */
  listDisputes(payment: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>>;
}
