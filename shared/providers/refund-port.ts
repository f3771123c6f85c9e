/**
 * @module The port to the refunds and disputes of a provider. Amounts are integers in ISO 4217 minor units, and
 * currencies are upper-case ISO 4217 codes.
 */

import type { DisputeStatus, RefundReason, RefundStatus } from '../core/money-back.ts';
import type { Outcome } from '../core/outcome.ts';
import type { CallOptions } from './payment-port.ts';

/** The ids with which a provider finds the charge of a succeeded payment. */
export interface RefundedCharge {
  /** The intent or order. */
  readonly intentId: string;
  /** The payment or capture; equal to intentId if the provider has one object for both. */
  readonly paymentId: string;
}

export interface CreateRefund extends CallOptions {
  /** Our refund id. The adapter stores it at the provider, so that a lookup or an event finds the refund. */
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
  /**
   * Our refund id as the provider stores it. It proves nothing, because anyone with access to the provider's dashboard
   * can set it.
   */
  readonly ourRefundId: string | undefined;
  readonly reason: RefundReason | undefined;
  /** The provider's failure code. */
  readonly failureCode: string | undefined;
  /** Epoch seconds. */
  readonly createdAt: number;
}

/** Refusal reason of a refund. The amount exceeds what the provider can still refund. */
export const REFUND_EXCEEDS = 'refund_exceeds';

/** Refusal reason of a refund. The payment is disputed, so the provider refuses any refund or any partial refund. */
export const REFUND_DISPUTED = 'payment_disputed';

/** The state of a dispute at the provider. */
export interface ProviderDispute {
  /** The provider's id. */
  readonly disputeId: string;
  readonly status: DisputeStatus;
  readonly amountCents: number;
  readonly currency: string;
  /**
   * The provider's reason, in lower case; null if the dispute has none, undefined if the provider does not report it.
   */
  readonly reason: string | null | undefined;
  /** Deadline for evidence at the provider, in epoch seconds. null and undefined as for `reason`. */
  readonly evidenceDueBy: number | null | undefined;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** The provider's own time of this state, in epoch ms; undefined if the provider does not report one. */
  readonly reportedAt: number | undefined;
}

export interface RefundsPort {
  /** Refunds a payment. The reason of a refusal is REFUND_EXCEEDS, REFUND_DISPUTED or the provider's own. */
  createRefund(input: CreateRefund): Promise<Outcome<ProviderRefund>>;
  /**
   * An authoritative read of every refund of the payment, oldest first. It includes refunds made outside the service.
   */
  listRefunds(payment: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>>;
  /** An authoritative read of every dispute of the payment, oldest first. */
  listDisputes(payment: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>>;
}
