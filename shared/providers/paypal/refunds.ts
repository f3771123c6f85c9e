/**
 * @module Refunds and disputes at PayPal. PayPal refunds a capture, and the order lists the refunds of its captures.
 * The refund's reason is not sent, because PayPal has no field for it, only a note to the payer.
 */

import { isIdOf } from '../../core/ids.ts';
import type { DisputeStatus, RefundStatus } from '../../core/money-back.ts';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { oldestFirst, secondsOf, wordTable } from '../adapter.ts';
import {
  type CreateRefund,
  type ProviderDispute,
  type ProviderRefund,
  REFUND_DISPUTED,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../refund-port.ts';
import { paypalAmounts, paypalMoney, wholeCentsOf } from './amounts.ts';
import { refundSettlement } from './capture-facts.ts';
import { findPayPalOrder } from './orders.ts';
import { callsBy, type PayPalCall, type PayPalExchange, paypalRefusal } from './outcome.ts';
import {
  captureNameSchema,
  type PayPalDispute,
  type PayPalRefund,
  paypalDisputeSchema,
  paypalDisputesAnswer,
  paypalRefundSchema,
} from './schemas.ts';

export const paypalRefunds = (exchange: PayPalExchange): RefundsPort => {
  const call = callsBy(exchange, refundRefusal);
  return {
    createRefund: async (input: CreateRefund): Promise<Outcome<ProviderRefund>> => {
      const amount = paypalMoney(input);
      if (!amount) return paypalAmounts.refused(input);
      const created = await call({
        method: 'POST',
        path: `/v2/payments/captures/${encodeURIComponent(input.payment.paymentId)}/refund`,
        headers: { 'paypal-request-id': input.idempotencyKey, prefer: 'return=representation' },
        body: { amount, custom_id: input.refundId },
        answer: paypalRefundSchema,
      });
      return readable(mapOutcome(created, readPayPalRefund));
    },

    listRefunds: async ({ intentId }: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>> => {
      const order = await findPayPalOrder(call, intentId);
      if (order.kind !== 'done') return order;
      const listed = order.value.purchase_units.flatMap(({ payments }) => payments?.refunds ?? []);
      return mapOutcome(await each(listed, (refund) => wholeRefund(call, refund)), oldestFirst);
    },

    listDisputes: async (charge: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>> => {
      const disputes = await each(charge.captureIds ?? [charge.paymentId], (id) => disputesOfCapture(call, id));
      return mapOutcome(disputes, (found) => oldestFirst(found.flat()));
    },
  };
};

/** Maps PayPal's issues to our refusal reasons. PayPal refuses partial refunds of a disputed capture. */
const REFUSALS = wordTable<string>({
  REFUND_AMOUNT_EXCEEDED: REFUND_EXCEEDS,
  CAPTURE_FULLY_REFUNDED: REFUND_EXCEEDS,
  TRANSACTION_DISPUTED: REFUND_DISPUTED,
});

const refundRefusal = (status: number, body: unknown) => {
  const refusal = paypalRefusal(status, body);
  return { ...refusal, reason: REFUSALS.get(refusal.reason) ?? refusal.reason };
};

/** The refund from the order. If the order shows too few fields, the refund is read by its id. */
const wholeRefund = async (call: PayPalCall, listed: { readonly id: string }): Promise<Outcome<ProviderRefund>> => {
  const parsed = paypalRefundSchema.safeParse(listed).data;
  const refund = parsed && readPayPalRefund(parsed);
  if (refund) return { kind: 'done', value: refund };
  const path = `/v2/payments/refunds/${encodeURIComponent(listed.id)}`;
  return readable(mapOutcome(await call({ method: 'GET', path, answer: paypalRefundSchema }), readPayPalRefund));
};

const DISPUTES = '/v1/customer/disputes';
const PAGE_SIZE = 50;
const MAX_PAGES = 20;

/** A capture's disputes, oldest first; PayPal lists the newest first. The next page's link contains the query. */
const everyDispute = async (call: PayPalCall, captureId: string): Promise<Outcome<readonly PayPalDispute[]>> => {
  const found: PayPalDispute[] = [];
  let query = `?${new URLSearchParams({ disputed_transaction_id: captureId, page_size: String(PAGE_SIZE) })}`;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await call({ method: 'GET', path: `${DISPUTES}${query}`, answer: paypalDisputesAnswer });
    if (listed.kind !== 'done') return listed;
    found.push(...(listed.value.items ?? []));
    const next = listed.value.links?.find(({ rel }) => rel === 'next')?.href ?? '';
    const start = next.indexOf('?');
    if (start < 0) return { kind: 'done', value: found.toReversed() };
    query = next.slice(start);
  }
  return UNREADABLE;
};

/** Adds the capture to each dispute. The list is filtered by capture, but its items do not name the capture. */
const disputesOfCapture = async (call: PayPalCall, captureId: string): Promise<Outcome<ProviderDispute[]>> => {
  const listed = await everyDispute(call, captureId);
  if (listed.kind !== 'done') return listed;
  const whole = await each(listed.value, (dispute) => wholeDispute(call, dispute));
  return mapOutcome(whole, (disputes) => disputes.map((dispute) => ({ ...dispute, captureId })));
};

/**
 * Reads a dispute by its id if the list may lack fields. The list omits the outcome of a resolved dispute, and may omit
 * the evidence deadline of an open dispute.
 */
const wholeDispute = async (call: PayPalCall, listed: PayPalDispute): Promise<Outcome<ProviderDispute>> => {
  if (listed.status !== RESOLVED && listed.seller_response_due_date !== undefined)
    return readable({ kind: 'done', value: readPayPalDispute(listed) });
  const path = `${DISPUTES}/${encodeURIComponent(listed.dispute_id)}`;
  return readable(mapOutcome(await call({ method: 'GET', path, answer: paypalDisputeSchema }), readPayPalDispute));
};

/** The outcome of a response without a required field. The state at PayPal is looked up later. */
const UNREADABLE = { kind: 'unknown', reason: 'error' } as const;

const readable = <T>(outcome: Outcome<T | undefined>): Outcome<T> => {
  if (outcome.kind !== 'done') return outcome;
  return outcome.value === undefined ? UNREADABLE : { kind: 'done', value: outcome.value };
};

/** Reads the items in sequence, until the first outcome other than `done`. */
const each = async <A, T>(items: readonly A[], read: (item: A) => Promise<Outcome<T>>): Promise<Outcome<T[]>> => {
  const values: T[] = [];
  for (const item of items) {
    const outcome = await read(item);
    if (outcome.kind !== 'done') return outcome;
    values.push(outcome.value);
  }
  return { kind: 'done', value: values };
};

/** Reads a refund from a response or an event. PayPal does not store the reason. */
export const readPayPalRefund = (refund: PayPalRefund): ProviderRefund | undefined => {
  const { id, status, amount, create_time: at } = refund;
  const amountCents = amount && wholeCentsOf(amount);
  if (!amount || amountCents === undefined || status === undefined || at === undefined) return undefined;
  return {
    refundId: id,
    // A status unknown to this adapter is not final, so the refund is looked up again.
    status: REFUND_STATUS.get(status) ?? 'pending',
    amountCents,
    currency: amount.currency_code,
    ourRefundId: ourRefundId(refund),
    captureId: capturesNamed(refund)[0],
    reason: undefined,
    failureCode: ENDED_WITHOUT_MONEY.includes(status) ? refund.status_details?.reason : undefined,
    createdAt: secondsOf(at),
    settlement: status === 'COMPLETED' ? refundSettlement(refund) : undefined,
  };
};

/**
 * Our refund id. A refund made without our refund id has the `custom_id` of its capture instead, which is our payment
 * id.
 */
const ourRefundId = ({ custom_id: id }: PayPalRefund): string | undefined =>
  id === undefined || isIdOf('payment', id) ? undefined : id;

const REFUND_STATUS = wordTable<RefundStatus>({
  PENDING: 'pending',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'canceled',
});

const ENDED_WITHOUT_MONEY: readonly string[] = ['FAILED', 'CANCELLED'];

/** The ids of the charged payment, capture first, from the links and ids of a refund or a capture. */
export const chargedAsOf = (resource: unknown): readonly string[] => {
  const order = captureNameSchema.safeParse(resource).data?.supplementary_data?.related_ids?.order_id;
  return [...new Set([...capturesNamed(resource), order].filter((id) => id !== undefined))];
};

const capturesNamed = (resource: unknown): readonly string[] => {
  const named = captureNameSchema.safeParse(resource).data;
  const linked = named?.links?.flatMap(({ href }) => CAPTURE_LINK.exec(href)?.[1] ?? []) ?? [];
  return [...linked, named?.supplementary_data?.related_ids?.capture_id].filter((id) => id !== undefined);
};

const CAPTURE_LINK = /\/v2\/payments\/captures\/([0-9A-Za-z_-]+)$/;

/** @returns undefined if the amount is not a positive whole number of minor units */
export const readPayPalDispute = (dispute: PayPalDispute): ProviderDispute | undefined => {
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
    reportedAt: dispute.update_time === undefined ? undefined : Date.parse(dispute.update_time),
    captureId: disputedCaptures(dispute)[0],
  };
};

const RESOLVED = 'RESOLVED';

const disputeStatus = ({ status, dispute_outcome: outcome }: PayPalDispute): DisputeStatus => {
  if (status === RESOLVED) return DISPUTE_OUTCOME.get(outcome?.outcome_code ?? '') ?? 'closed';
  return AWAITS_SELLER.includes(status) ? 'needs_response' : 'under_review';
};

const AWAITS_SELLER: readonly string[] = ['OPEN', 'WAITING_FOR_SELLER_RESPONSE'];

/**
 * Outcomes that decide for or against the buyer. A dispute with any other outcome was canceled by the buyer, paid by
 * PayPal's protection, or replaced by another dispute, so it is closed without a decision about the seller's money.
 */
const DISPUTE_OUTCOME = wordTable<DisputeStatus>({
  RESOLVED_SELLER_FAVOUR: 'won',
  DENIED: 'won',
  RESOLVED_BUYER_FAVOUR: 'lost',
  ACCEPTED: 'lost',
});

/** The disputed captures, by the seller's transaction ids. */
export const disputedCaptures = ({ disputed_transactions: transactions = [] }: PayPalDispute): readonly string[] =>
  transactions.flatMap(({ seller_transaction_id: id }) => id ?? []);
