/** @module Refunds of payments. Each refund is PENDING first and settles one minute later by the clock. */

import * as z from 'zod';
import type { LedgerCharge, LedgerRefund } from '../../ledger/documents.ts';
import { createLedgerRefund, leftOf, refundProblem } from '../../ledger/refunds.ts';
import type { Unit } from '../../ledger/unit.ts';
import { squareLocationOf, squareRefundStatus, squareRefundView, squareSourceType } from '../views/money-back-views.ts';
import { refundError, squareNotFound } from '../wire/errors.ts';
import { checkLimit, MAX_PAGE, readSquareQuery, sortOrder, squarePage, time, wholeText } from '../wire/lists.ts';
import { key, money, readSquareBody, type SquareReply, type SquareRequest, type SquareRoute } from '../wire/request.ts';
import { findSquareCharge } from './payments.ts';

const fields = z.strictObject({
  idempotency_key: key,
  amount_money: money,
  payment_id: z.string().min(1),
  reason: z.string().max(192).nullish(),
});

export const squareRefundRoutes: readonly SquareRoute[] = [
  { method: 'POST', path: '/v2/refunds', run: (request) => shown(request.unit, create(request)) },
  { method: 'GET', path: '/v2/refunds', run: (request) => list(request) },
  { method: 'GET', path: '/v2/refunds/:id', run: (request) => shown(request.unit, findRefund(request)) },
];

const shown = (unit: Unit, refund: LedgerRefund): SquareReply => ({
  object: { refund: squareRefundView(refund, unit) },
});

const create = ({ call, unit }: SquareRequest): LedgerRefund => {
  const sent = readSquareBody(call, fields);
  const charge = findSquareCharge(unit, sent.payment_id);
  const { amount } = sent.amount_money;
  checkRefundable(unit, charge, amount);
  return createLedgerRefund(unit, charge, {
    amount,
    reason: sent.reason ?? undefined,
    metadata: ourIdIn(sent.reason ?? ''),
    status: 'pending',
    settles: true,
  });
};

/**
 * Finds our refund id at the end of the reason, because the adapter writes it there. The id is only for the ledger's
 * view. Square itself does not know it.
 */
const ourIdIn = (reason: string): Record<string, string> => {
  const [, id] = /\((ref_[0-9a-f]{24})\)$/.exec(reason) ?? [];
  return id === undefined ? {} : { refund_id: id };
};

/** @throws Refused with Square's code if the payment cannot be refunded by this amount */
const checkRefundable = (unit: Unit, charge: LedgerCharge, amount: number): void => {
  const problem = refundProblem(charge, amount);
  if (problem === 'not_paid' && charge.reserved && charge.status === 'pending') {
    throw refundError(
      'REFUND_ERROR_PAYMENT_NEEDS_COMPLETION',
      'The payment is APPROVED and must be completed before it is refunded.',
      'payment_id',
    );
  }
  if (problem === 'not_paid') {
    throw refundError('PAYMENT_NOT_REFUNDABLE', 'The payment is not COMPLETED.', 'payment_id');
  }
  if (isDisputed(unit, charge)) {
    throw refundError(
      'PAYMENT_NOT_REFUNDABLE_DUE_TO_DISPUTE',
      'The payment is not refundable because it has been disputed.',
      'payment_id',
    );
  }
  if (problem === undefined) return;
  throw refundError(
    'REFUND_AMOUNT_INVALID',
    `The requested refund amount exceeds the amount available to refund, which is ${leftOf(charge)}.`,
    'amount_money.amount',
  );
};

const MOST_LISTED = 100_000;

/** True if a dispute took the money. Inquiries, and disputes won by the seller, do not count. */
const isDisputed = (unit: Unit, charge: LedgerCharge): boolean =>
  unit.documents.disputes
    .list(unit.slot, { holder: charge.paymentId, limit: MOST_LISTED })
    .some(
      ({ chargeId, inquiry, status }) => chargeId === charge.id && !inquiry && status !== 'won' && status !== 'closed',
    );

const findRefund = ({ unit, id }: SquareRequest): LedgerRefund => {
  const refund = unit.documents.refunds.get(unit.slot, id);
  if (!refund) throw squareNotFound(`Could not find refund with id: ${id}`, 'refund_id');
  return refund;
};

const listFields = z.strictObject({
  begin_time: time.optional(),
  end_time: time.optional(),
  updated_at_begin_time: time.optional(),
  updated_at_end_time: time.optional(),
  sort_field: z.enum(['CREATED_AT', 'UPDATED_AT']).default('CREATED_AT'),
  sort_order: sortOrder.default('DESC'),
  cursor: z.string().optional(),
  location_id: z.string().optional(),
  status: z.enum(['PENDING', 'COMPLETED', 'REJECTED', 'FAILED']).optional(),
  source_type: z.enum(['CARD', 'BANK_ACCOUNT', 'WALLET', 'CASH', 'EXTERNAL']).optional(),
  limit: wholeText.optional(),
});
type Filter = z.output<typeof listFields>;

/** Square treats a limit above 100 as 100. */
const list = ({ call, unit }: SquareRequest): SquareReply => {
  const sent = readSquareQuery(call, listFields);
  const sortedBy = sent.sort_field === 'CREATED_AT' ? 'createdAt' : 'updatedAt';
  const found = unit.documents.refunds
    .list(unit.slot, { limit: MOST_LISTED })
    .filter((refund) => isWithin(refund.createdAt, [sent.begin_time, sent.end_time]))
    .filter((refund) => isWithin(refund.updatedAt, [sent.updated_at_begin_time, sent.updated_at_end_time]))
    .filter((refund) => isOfKind(refund, sent, unit))
    .toSorted((a, b) => b[sortedBy] - a[sortedBy]);
  const limit = Number(sent.limit ?? MAX_PAGE) > MAX_PAGE ? undefined : sent.limit;
  const { page, next } = squarePage(sent.sort_order === 'ASC' ? found.toReversed() : found, {
    size: checkLimit(limit),
    cursor: sent.cursor,
  });
  return { object: { refunds: page.map((refund) => squareRefundView(refund, unit)), ...next } };
};

const isWithin = (at: number, [from, until]: readonly [string | undefined, string | undefined]): boolean =>
  (from === undefined || at >= Date.parse(from)) && (until === undefined || at <= Date.parse(until));

const isOfKind = (refund: LedgerRefund, { location_id, status, source_type }: Filter, unit: Unit): boolean =>
  (location_id === undefined || squareLocationOf(refund, unit) === location_id) &&
  (status === undefined || squareRefundStatus(refund, unit) === status) &&
  (source_type === undefined || squareSourceType(refund, unit) === source_type);
