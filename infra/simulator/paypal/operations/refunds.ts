/** @module Captures and their refunds. */

import * as z from 'zod';
import type { LedgerCharge, LedgerRefund } from '../../ledger/documents.ts';
import { createLedgerRefund, type RefundProblem, refundProblem } from '../../ledger/refunds.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer } from '../../protocol/vendor.ts';
import { capturedAt, isCapture } from '../views/authorization-views.ts';
import { readMerchantIds } from '../views/fields.ts';
import { minimalRefundView, paypalRefundView } from '../views/money-back-views.ts';
import { captureView } from '../views/payment-views.ts';
import { type Issue, isIssue, malformed, paypalNotFound, refused } from '../wire/errors.ts';
import { paypalAmount, readPayPalMoney } from '../wire/order-fields.ts';
import { answer, type PayPalRequest, type PayPalRoute, readPayPalBody, wantsRepresentation } from '../wire/request.ts';

const CAPTURE = '/v2/payments/captures/:id';

export const paypalRefundRoutes: readonly PayPalRoute[] = [
  { method: 'GET', path: CAPTURE, run: (request) => answer(200, captureView(request.unit, findCapture(request))) },
  { method: 'POST', path: `${CAPTURE}/refund`, run: (request) => refund(request) },
  {
    method: 'GET',
    path: '/v2/payments/refunds/:id',
    run: (request) => answer(200, paypalRefundView(request.unit, findRefund(request))),
  },
];

const findCapture = ({ unit, id }: PayPalRequest): LedgerCharge => {
  const found = unit.documents.charges.get(unit.slot, id);
  if (!found || !isCapture(unit, found)) throw paypalNotFound();
  return found;
};

const findRefund = ({ unit, id }: PayPalRequest): LedgerRefund => {
  const found = unit.documents.refunds.get(unit.slot, id);
  if (!found) throw paypalNotFound();
  return found;
};

const merchantText = z.string().min(1).max(127).optional();

/** Without an amount, the whole remaining amount is refunded. */
const refundRequest = z.strictObject({
  amount: paypalAmount.optional(),
  custom_id: merchantText,
  invoice_id: merchantText,
  note_to_payer: z.string().min(1).max(255).optional(),
  payment_instruction: z.looseObject({ platform_fees: z.array(z.unknown()).max(1).optional() }).optional(),
});

const refund = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const sent = readPayPalBody(call, refundRequest);
  const charge = findCapture(request);
  requireNoMock(call.headers);
  if (sent.payment_instruction?.platform_fees !== undefined) throw refused('PLATFORM_FEE_NOT_ENABLED');
  const amount = sent.amount && amountOf(charge, sent.amount);
  requireRefundable(unit, charge, amount);
  if (sent.invoice_id !== undefined && isInvoiceUsed(unit, sent.invoice_id)) {
    throw refused('DUPLICATE_INVOICE_ID', '/invoice_id');
  }
  const { custom_id, invoice_id, note_to_payer: note } = sent;
  const made = createLedgerRefund(unit, charge, {
    amount,
    note,
    metadata: custom_id === undefined ? {} : { refund_id: custom_id },
    wire: { ...(custom_id !== undefined && { custom_id }), ...(invoice_id !== undefined && { invoice_id }) },
  });
  return answer(201, wantsRepresentation(call) ? paypalRefundView(unit, made) : minimalRefundView(made));
};

const amountOf = (charge: LedgerCharge, sent: z.output<typeof paypalAmount>): number => {
  const { amount, currency } = readPayPalMoney(sent, { at: '/amount', indivisible: 'DECIMALS_NOT_SUPPORTED' });
  if (currency !== charge.currency) throw refused('REFUND_CAPTURE_CURRENCY_MISMATCH', '/amount/currency_code');
  return amount;
};

const PROBLEMS: Readonly<Record<RefundProblem, Issue>> = {
  not_paid: 'REFUND_NOT_ALLOWED',
  already_refunded: 'CAPTURE_FULLY_REFUNDED',
  exceeds: 'REFUND_AMOUNT_EXCEEDED',
};

/** A capture can be refunded for 180 days. During a dispute, only a full refund is possible. */
const REFUNDABLE_MS = 180 * 86_400_000;

const requireRefundable = (unit: Unit, charge: LedgerCharge, amount: number | undefined): void => {
  if (charge.status === 'pending') throw refused('PENDING_CAPTURE');
  const problem = refundProblem(charge, amount);
  if (problem) throw refused(PROBLEMS[problem], problem === 'exceeds' ? '/amount/value' : undefined);
  if (unit.at > capturedAt(charge) + REFUNDABLE_MS) throw refused('REFUND_TIME_LIMIT_EXCEEDED');
  const isPartial = amount !== undefined && amount < charge.amountCaptured;
  if (isPartial && isDisputed(unit, charge)) throw refused('TRANSACTION_DISPUTED');
};

const isDisputed = (unit: Unit, charge: LedgerCharge): boolean =>
  unit.documents.disputes
    .list(unit.slot, { holder: charge.paymentId, limit: 1_000 })
    .some(({ chargeId, status }) => chargeId === charge.id && OPEN.includes(status));

const OPEN: readonly string[] = ['needs_response', 'under_review'];

const isInvoiceUsed = (unit: Unit, invoiceId: string): boolean =>
  unit.documents.refunds
    .all()
    .some((one) => one.provider === unit.slot && readMerchantIds(one).invoice_id === invoiceId);

const MOCK = 'PayPal-Mock-Response';
const mockSchema = z.object({ mock_application_codes: z.string() });

/** A test uses this header to request a refusal, as in PayPal's sandbox. */
const requireNoMock = (headers: Headers): void => {
  const mock = headers.get(MOCK);
  if (mock === null) return;
  const code = mockSchema.safeParse(jsonOf(mock)).data?.mock_application_codes ?? '';
  if (isIssue(code)) throw refused(code);
  throw malformed([{ issue: 'INVALID_PARAMETER_SYNTAX', description: 'The code is not known.', field: MOCK }]);
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
