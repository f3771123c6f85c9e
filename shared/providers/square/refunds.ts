/**
 * @module Refunds and disputes at Square. Our id is at the end of a refund's reason, which the seller sees. Square's
 * list of refunds lags behind and cannot be filtered by payment, so refunds are read by the ids in the payment.
 */

import * as z from 'zod';
import { type DisputeStatus, REFUND_REASONS, type RefundReason, type RefundStatus } from '../../core/money-back.ts';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { oldestFirst, secondsOf, wordTable } from '../adapter.ts';
import type { CreateRefund, ProviderDispute, ProviderRefund, RefundedCharge, RefundsPort } from '../refund-port.ts';
import { reportedMoney, squareAmounts, squareMoney } from './currencies.ts';
import { squareSettlement } from './facts.ts';
import { readRefundRefusal, type SquareCall, squareKey } from './outcome.ts';
import {
  type SquareDispute,
  type SquareRefund,
  squareDisputeSchema,
  squareRefundedSchema,
  squareRefundSchema,
} from './schemas.ts';

const refundAnswer = z.looseObject({ refund: squareRefundSchema });
const refundedPaymentAnswer = z.looseObject({ payment: squareRefundedSchema });
const disputesAnswer = z.looseObject({
  disputes: z.nullish(
    z.array(z.looseObject({ disputed_payment: z.nullish(z.looseObject({ payment_id: z.nullish(z.string()) })) })),
  ),
  cursor: z.nullish(z.string()),
});

export const squareRefunds = (call: SquareCall): RefundsPort => ({
  createRefund: async (input: CreateRefund): Promise<Outcome<ProviderRefund>> => {
    const money = squareMoney(input);
    if (!money) return squareAmounts.refused(input);
    const created = await call(
      {
        method: 'POST',
        path: '/v2/refunds',
        body: {
          idempotency_key: squareKey(input.idempotencyKey),
          payment_id: input.payment.paymentId,
          amount_money: money,
          reason: reasonText(input),
        },
        answer: refundAnswer,
      },
      readRefundRefusal,
    );
    return mapOutcome(created, ({ refund }) => readSquareRefund(refund));
  },

  listRefunds: async ({ paymentId }: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>> => {
    const path = `/v2/payments/${encodeURIComponent(paymentId)}`;
    const found = await call({ method: 'GET', path, answer: refundedPaymentAnswer });
    if (found.kind !== 'done') return found;
    const ids = [...new Set(found.value.payment.refund_ids ?? [])];
    const refunds: ProviderRefund[] = [];
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      for (const read of await Promise.all(ids.slice(at, at + READ_AT_ONCE).map((id) => findRefund(call, id)))) {
        if (read.kind !== 'done') return read;
        refunds.push(read.value);
      }
    }
    return { kind: 'done', value: oldestFirst(refunds) };
  },

  /** Lists every location's disputes, because the payment may have been made at another location. */
  listDisputes: async ({ paymentId }: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>> => {
    const disputes: ProviderDispute[] = [];
    let cursor: string | null | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = await call({
        method: 'GET',
        path: cursor ? `/v2/disputes?${new URLSearchParams({ cursor })}` : '/v2/disputes',
        answer: disputesAnswer,
      });
      if (page.kind !== 'done') return page;
      const read = disputesOf(page.value.disputes ?? [], paymentId);
      if (!read) return UNREADABLE;
      disputes.push(...read);
      cursor = page.value.cursor;
      // Square lists the newest disputes first. The reversal keeps disputes of the same second in order.
      if (!cursor) return { kind: 'done', value: oldestFirst(disputes.toReversed()) };
    }
    return UNREADABLE;
  },
});

/** Number of refunds read in parallel. */
const READ_AT_ONCE = 5;
const MAX_PAGES = 100;
const UNREADABLE = { kind: 'unknown', reason: 'error' } as const;

const findRefund = async (call: SquareCall, id: string): Promise<Outcome<ProviderRefund>> =>
  mapOutcome(
    await call({ method: 'GET', path: `/v2/refunds/${encodeURIComponent(id)}`, answer: refundAnswer }),
    ({ refund }) => readSquareRefund(refund),
  );

interface Listed {
  readonly disputed_payment?: { readonly payment_id?: string | null | undefined } | null | undefined;
}

/** @returns undefined if a dispute of this payment is unreadable; other disputes are ignored */
const disputesOf = (listed: readonly Listed[], paymentId: string): readonly ProviderDispute[] | undefined => {
  const read = listed
    .filter((one) => one.disputed_payment?.payment_id === paymentId)
    .map((one) => squareDisputeSchema.safeParse(one).data)
    .map((dispute) => dispute && readSquareDispute(dispute));
  return read.every((dispute) => dispute !== undefined) ? read : undefined;
};

/**
 * The reason that we send, which stays below Square's limit of 192 characters. Its form must never change, because a
 * retry needs the same body.
 */
const reasonText = ({ reason, refundId }: CreateRefund): string => `${wordsOf(reason ?? 'refund')} (${refundId})`;

const wordsOf = (reason: string): string => reason.replaceAll('_', ' ');

/** Matches only our own reasons, which end with an id in our exact form. */
const OUR_REASON = /^([a-z ]{1,40}) \((ref_[0-9a-f]{24})\)$/;

const reasonIn = (words: string): RefundReason | undefined =>
  REFUND_REASONS.find((reason) => wordsOf(reason) === words);

export const readSquareRefund = (refund: SquareRefund): ProviderRefund => {
  const status = REFUND_STATUS.get(refund.status ?? '') ?? 'pending';
  const [, words = '', ourRefundId] = OUR_REASON.exec(refund.reason ?? '') ?? [];
  return {
    refundId: refund.id,
    status,
    ...reportedMoney(refund.amount_money),
    ourRefundId,
    reason: reasonIn(words),
    failureCode: status === 'failed' ? (refund.status ?? undefined) : undefined,
    createdAt: secondsOf(refund.created_at),
    settlement: status === 'succeeded' ? squareSettlement(refund.processing_fee, refund.amount_money, -1) : undefined,
  };
};

/** A status unknown to this adapter is not final, so the refund is looked up again. */
const REFUND_STATUS = wordTable<RefundStatus>({
  PENDING: 'pending',
  COMPLETED: 'succeeded',
  REJECTED: 'failed',
  FAILED: 'failed',
});

/** @returns undefined if the dispute has no id */
export const readSquareDispute = (dispute: SquareDispute): ProviderDispute | undefined => {
  const disputeId = dispute.id ?? dispute.dispute_id;
  if (!disputeId) return undefined;
  return {
    disputeId,
    status: disputeStatus(dispute.state),
    ...reportedMoney(dispute.amount_money),
    reason: dispute.reason === null ? null : dispute.reason?.toLowerCase(),
    evidenceDueBy: dueAtOf(dispute),
    createdAt: secondsOf(dispute.created_at),
    reportedAt: dispute.updated_at ? Date.parse(dispute.updated_at) : undefined,
  };
};

const dueAtOf = ({ due_at: at }: SquareDispute): number | null | undefined => {
  const due = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  return Number.isNaN(due) ? (at === null ? null : undefined) : Math.floor(due / 1_000);
};

/** A bank inquiry has the same states as a dispute. A state unknown to this adapter counts as `needs_response`. */
const disputeStatus = (state: string): DisputeStatus =>
  DISPUTE_STATUS.get(state.replace(/^INQUIRY_/, '')) ?? 'needs_response';

const DISPUTE_STATUS = wordTable<DisputeStatus>({
  EVIDENCE_REQUIRED: 'needs_response',
  PROCESSING: 'under_review',
  ACCEPTED: 'lost',
  WON: 'won',
  LOST: 'lost',
  CLOSED: 'closed',
});
