import { isIdOf } from '../../core/ids.ts';
import type { DisputeStatus, RefundStatus } from '../../core/money-back.ts';
import type { ProviderDispute, ProviderRefund } from '../port/refunds.ts';
import { wholeCentsOf } from './amounts.ts';
import { captureNameSchema, type PaypalDispute, type PaypalRefund } from './schemas.ts';

/** Reads PayPal's refunds and disputes, as answers and events hold them. PayPal has no reason of a refund. */
export const readPaypalRefund = (refund: PaypalRefund): ProviderRefund | undefined => {
  const { id, status, amount, create_time: at } = refund;
  const amountCents = amount && wholeCentsOf(amount);
  if (!amount || amountCents === undefined || status === undefined || at === undefined) return undefined;
  return {
    refundId: id,
    // A status that this adapter does not know is not final; the refund is looked up again.
    status: REFUND_STATUS.get(status) ?? 'pending',
    amountCents,
    currency: amount.currency_code,
    ourRefundId: ourRefundId(refund),
    reason: undefined,
    failureCode: ENDED_WITHOUT_MONEY.includes(status) ? refund.status_details?.reason : undefined,
    createdAt: secondsOf(at),
  };
};

/** A refund that was made without an id of ours has the capture's: our payment id. */
const ourRefundId = ({ custom_id: id }: PaypalRefund): string | undefined =>
  id === undefined || isIdOf('payment', id) ? undefined : id;

const REFUND_STATUS: ReadonlyMap<string, RefundStatus> = new Map(
  Object.entries({
    PENDING: 'pending',
    COMPLETED: 'succeeded',
    FAILED: 'failed',
    CANCELLED: 'canceled',
  } as const),
);

const ENDED_WITHOUT_MONEY: readonly string[] = ['FAILED', 'CANCELLED'];

/** PayPal's ids of the charged payment, by the links and ids of a refund or of the capture itself: the capture first. */
export const chargedAsOf = (resource: unknown): readonly string[] => {
  const named = captureNameSchema.safeParse(resource).data;
  const { capture_id: capture, order_id: order } = named?.supplementary_data?.related_ids ?? {};
  const linked = named?.links?.flatMap(({ href }) => CAPTURE_LINK.exec(href)?.[1] ?? []) ?? [];
  return [...new Set([...linked, capture, order].filter((id) => id !== undefined))];
};

const CAPTURE_LINK = /\/v2\/payments\/captures\/([0-9A-Za-z_-]+)$/;

/** Undefined if the amount is no amount. */
export const readPaypalDispute = (dispute: PaypalDispute): ProviderDispute | undefined => {
  const { dispute_amount: amount, seller_response_due_date: due } = dispute;
  const amountCents = wholeCentsOf(amount);
  if (amountCents === undefined) return undefined;
  return {
    disputeId: dispute.dispute_id,
    status: disputeStatus(dispute),
    amountCents,
    currency: amount.currency_code,
    reason: dispute.reason?.toLowerCase(),
    evidenceDueBy: due === undefined ? undefined : secondsOf(due),
    createdAt: secondsOf(dispute.create_time),
  };
};

export const RESOLVED = 'RESOLVED';

const disputeStatus = ({ status, dispute_outcome: outcome }: PaypalDispute): DisputeStatus => {
  if (status === RESOLVED) return DISPUTE_OUTCOME.get(outcome?.outcome_code ?? '') ?? 'closed';
  return AWAITS_SELLER.includes(status) ? 'needs_response' : 'under_review';
};

const AWAITS_SELLER: readonly string[] = ['OPEN', 'WAITING_FOR_SELLER_RESPONSE'];

/**
 * The decided outcomes: for the buyer or against. The others are closed without a decision about the seller's money: canceled
 * by the buyer, paid by PayPal's protection, replaced by another dispute.
 */
const DISPUTE_OUTCOME: ReadonlyMap<string, DisputeStatus> = new Map(
  Object.entries({
    RESOLVED_SELLER_FAVOUR: 'won',
    DENIED: 'won',
    RESOLVED_BUYER_FAVOUR: 'lost',
    ACCEPTED: 'lost',
  } as const),
);

/** The captures that are disputed, by the ids that the seller sees. */
export const disputedCaptures = ({ disputed_transactions: transactions = [] }: PaypalDispute): readonly string[] =>
  transactions.flatMap(({ seller_transaction_id: id }) => id ?? []);

const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1_000);
