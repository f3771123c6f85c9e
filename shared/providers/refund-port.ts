/** @module The port to a provider's refunds and disputes. Amounts are ISO 4217 minor units, currencies upper-case. */

import type { DisputeStatus, RefundReason, RefundStatus } from '../core/money-back.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Settlement } from '../core/payment-facts.ts';
import type { CallOptions } from './payment-port.ts';

/** The ids with which a provider finds the charge of a succeeded payment. */
export interface RefundedCharge {
  /** The intent or order. */
  readonly intentId: string;
  /** The id of the payment or capture; equal to intentId if the provider has one object for both. */
  readonly paymentId: string;
  /** Set if several captures took the amount. A refund is taken from `paymentId`. A dispute may name any capture. */
  readonly captureIds?: readonly string[] | undefined;
}

export interface CreateRefund extends CallOptions {
  /** Our refund id. The adapter stores it at the provider, so that a lookup or an event finds the refund. */
  readonly refundId: string;
  readonly payment: RefundedCharge;
  readonly amountCents: number;
  readonly currency: string;
  readonly reason: RefundReason | undefined;
}

export interface ProviderRefund {
  readonly refundId: string;
  readonly status: RefundStatus;
  readonly amountCents: number;
  readonly currency: string;
  /** Our refund id in the provider's record. It proves nothing, because anyone with dashboard access can set it. */
  readonly ourRefundId: string | undefined;
  /** The refunded capture, if the provider names it. Only PayPal captures a hold several times. */
  readonly captureId?: string | undefined;
  readonly reason: RefundReason | undefined;
  readonly failureCode: string | undefined;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** Undefined until the provider reports it. */
  readonly settlement?: Settlement | undefined;
}

/** Refusal reason of a refund. The amount exceeds what the provider can still refund. */
export const REFUND_EXCEEDS = 'refund_exceeds';

/** Refusal reason of a refund. The payment is disputed, so the provider refuses some or all refunds. */
export const REFUND_DISPUTED = 'payment_disputed';

export interface ProviderDispute {
  readonly disputeId: string;
  readonly status: DisputeStatus;
  readonly amountCents: number;
  readonly currency: string;
  /** The provider's reason in lower case; null if the dispute has none, undefined if it is not reported. */
  readonly reason: string | null | undefined;
  /** Deadline for evidence at the provider, in epoch seconds. null and undefined as for `reason`. */
  readonly evidenceDueBy: number | null | undefined;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** The provider's own time of this state, in epoch ms; undefined if the provider does not report one. */
  readonly reportedAt: number | undefined;
  /** The disputed capture, if the provider names it. Only PayPal payments can have several captures. */
  readonly captureId?: string | undefined;
}

export interface RefundsPort {
  /** Refunds a payment. The reason of a refusal is REFUND_EXCEEDS, REFUND_DISPUTED or the provider's own reason. */
  createRefund(input: CreateRefund): Promise<Outcome<ProviderRefund>>;
  /** An authoritative read of all refunds, oldest first, including those made outside the service. */
  listRefunds(payment: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>>;
  /** An authoritative read of every dispute of the payment, oldest first. */
  listDisputes(payment: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>>;
}
