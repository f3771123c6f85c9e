/** @module Refunds and disputes of Stripe's PaymentIntents. Our refund id is stored in the refund's metadata. */

import type Stripe from 'stripe';
import type { DisputeStatus, RefundReason, RefundStatus } from '../../core/money-back.ts';
import type { Outcome } from '../../core/outcome.ts';
import { wordTable } from '../adapter.ts';
import {
  type CreateRefund,
  type ProviderDispute,
  type ProviderRefund,
  REFUND_DISPUTED,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../refund-port.ts';
import { stripeSettlement } from './charge-facts.ts';
import { reportedAmount, stripeAmounts } from './currencies.ts';
import { EXCEEDS_UNREFUNDED, type StripeCall } from './outcome.ts';

/** Stripe's largest page. */
const PAGE = 100;

export const stripeRefunds = (stripe: Stripe, call: StripeCall): RefundsPort => ({
  createRefund: async (input: CreateRefund): Promise<Outcome<ProviderRefund>> => {
    const amount = stripeAmounts.toProvider(input);
    if (amount === undefined) return stripeAmounts.refused(input);
    const made = await call(
      () =>
        stripe.refunds.create(
          {
            payment_intent: input.payment.intentId,
            amount,
            metadata: { refund_id: input.refundId },
            ...reasonParameter(input.reason),
            expand: ['balance_transaction'],
          },
          { idempotencyKey: input.idempotencyKey },
        ),
      readStripeRefund,
    );
    return made.kind === 'refused' ? { ...made, reason: REFUSALS.get(made.reason) ?? made.reason } : made;
  },

  listRefunds: (payment: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>> =>
    call(
      () =>
        everyPage(
          stripe.refunds.list({
            payment_intent: payment.intentId,
            limit: PAGE,
            expand: ['data.balance_transaction'],
          }),
        ),
      (refunds) => refunds.map(readStripeRefund).reverse(),
    ),

  listDisputes: (payment: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>> =>
    call(
      () => everyPage(stripe.disputes.list({ payment_intent: payment.intentId, limit: PAGE })),
      (disputes) => disputes.map(readStripeDispute).reverse(),
    ),
});

/** Stripe has no reason `other`, so this reason is left out. */
const reasonParameter = (reason: RefundReason | undefined) =>
  reason === undefined || reason === 'other' ? {} : { reason };

/**
 * Maps Stripe's codes to our refusal reasons. Stripe refuses to refund a disputed charge, because the bank has the
 * money. An inquiry does not block refunds.
 */
const REFUSALS = wordTable<string>({
  charge_already_refunded: REFUND_EXCEEDS,
  [EXCEEDS_UNREFUNDED]: REFUND_EXCEEDS,
  charge_disputed: REFUND_DISPUTED,
});

/** Reads all pages in Stripe's order, newest first. Each page has its own call deadline. */
export const everyPage = async <T>(list: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = [];
  for await (const item of list) found.push(item);
  return found;
};

/** The used fields of a refund in a response or an event. */
interface StripeRefund {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  readonly status?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly failure_reason?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly balance_transaction?: Parameters<typeof stripeSettlement>[0];
}

export const readStripeRefund = (refund: StripeRefund): ProviderRefund => {
  const ourRefundId = refund.metadata?.['refund_id'];
  return {
    refundId: refund.id,
    status: refundStatusOf(refund.status),
    ...reportedAmount(refund),
    ourRefundId: typeof ourRefundId === 'string' ? ourRefundId : undefined,
    reason: reasonOf(refund.reason),
    failureCode: refund.failure_reason ?? undefined,
    createdAt: refund.created,
    settlement: stripeSettlement(refund.balance_transaction),
  };
};

const refundStatusOf = (status: string | null | undefined): RefundStatus => {
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'canceled':
      return status;
    default:
      // `requires_action` waits for the payer. A status unknown to this SDK is not final.
      return 'pending';
  }
};

const reasonOf = (reason: string | null | undefined): RefundReason | undefined => {
  switch (reason) {
    case null:
    case undefined:
      return undefined;
    case 'duplicate':
    case 'fraudulent':
    case 'requested_by_customer':
      return reason;
    default:
      return 'other';
  }
};

/** The used fields of a dispute. */
interface StripeDispute {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  readonly status: string;
  readonly reason?: string | null | undefined;
  readonly evidence_details?: { readonly due_by?: number | null | undefined } | null | undefined;
}

export const readStripeDispute = (dispute: StripeDispute): ProviderDispute => ({
  disputeId: dispute.id,
  status: disputeStatusOf(dispute.status),
  ...reportedAmount(dispute),
  reason: dispute.reason === null ? null : dispute.reason?.toLowerCase(),
  evidenceDueBy: dueByOf(dispute),
  createdAt: dispute.created,
  // Stripe does not report the time of the last change.
  reportedAt: undefined,
});

/** Stripe reports 0 if the bank accepts no evidence. */
const dueByOf = ({ evidence_details: details }: StripeDispute): number | null | undefined => {
  if (details === undefined || details?.due_by === undefined) return details === null ? null : undefined;
  return details.due_by || null;
};

/** The statuses of an inquiry (`warning_…`) and of an appeal count as the status after the prefix. */
const disputeStatusOf = (status: string): DisputeStatus => {
  switch (status.replace(/^(?:warning|appeal)_/, '')) {
    case 'needs_response':
      return 'needs_response';
    case 'won':
      return 'won';
    case 'lost':
      return 'lost';
    case 'closed':
    case 'prevented':
      return 'closed';
    default:
      // `under_review`. A status unknown to this SDK is not final.
      return 'under_review';
  }
};
