import * as z from 'zod';
import type { LedgerCharge, LedgerDispute, LedgerPayment, LedgerRefund } from '../../ledger/documents.ts';
import { createLedgerRefund, leftOf, refundProblem } from '../../ledger/refunds.ts';
import { isRefundable, stripeRefundView } from '../views/money-back-views.ts';
import { chargeIdOfUntaken, untakenRefund } from '../views/untaken-refunds.ts';
import { checkAmount, writtenAmount } from '../wire/currencies.ts';
import { invalidStripeRequest, refusedOperation, stripeNotFound } from '../wire/errors.ts';
import {
  anything,
  choice,
  createdRange,
  expand,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
  whole,
} from '../wire/parameters.ts';
import { listPage, none, type StripeObject, type StripeRequest, type StripeRoute } from '../wire/request.ts';
import { stripeVersionOf } from '../wire/versions.ts';

export const stripeRefundRoutes: readonly StripeRoute[] = [
  { method: 'GET', path: '/v1/refunds', run: (request) => ({ object: listRefunds(request) }) },
  { method: 'POST', path: '/v1/refunds', run: (request) => ({ object: stripeRefundView(refund(request)) }) },
  { method: 'GET', path: '/v1/refunds/:id', run: (request) => ({ object: readRefund(request) }) },
  { method: 'POST', path: '/v1/refunds/:id', run: (request) => ({ object: stripeRefundView(update(request)) }) },
  { method: 'POST', path: '/v1/refunds/:id/cancel', run: (request) => cancel(request) },
];

const refundFields = z.strictObject({
  charge: text().optional(),
  payment_intent: text().optional(),
  amount: whole.optional(),
  reason: choice(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
  metadata: metadata.optional(),
  refund_application_fee: anything.optional(),
  reverse_transfer: anything.optional(),
  expand: expand.optional(),
});

const listRefunds = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const filters = { charge: text().optional(), payment_intent: text().optional(), created: createdRange.optional() };
  const sent = readParameters(call, z.strictObject({ ...page, ...filters }));
  const { charge } = sent;
  const listed = listPage(request, sent, {
    collection: unit.documents.refunds,
    view: stripeRefundView,
    holder: sent.payment_intent,
    wanted: charge === undefined ? undefined : (refund) => refund.chargeId === charge,
    kind: 'refund',
  });
  const untaken = untakenOf(request, sent);
  return untaken.length === 0 ? listed : { ...listed, data: [listed['data'], ...untaken].flat() };
};

/** The refunds of uncaptured amounts of one payment or charge. Only an old API version has them. */
const untakenOf = (
  { unit, call }: StripeRequest,
  {
    charge,
    payment_intent: holder,
  }: { readonly charge?: string | undefined; readonly payment_intent?: string | undefined },
): readonly StripeObject[] => {
  const { charges } = unit.documents;
  const one = charge === undefined ? undefined : charges.get(unit.slot, charge);
  const found =
    holder === undefined
      ? [one].filter((known) => known !== undefined)
      : charges.list(unit.slot, { holder, limit: MANY });
  return found.map((known) => untakenRefund(known, stripeVersionOf(call))).filter((refund) => refund !== undefined);
};

const readRefund = ({ unit, call, id }: StripeRequest): StripeObject => {
  readParameters(call, none);
  const refund = unit.documents.refunds.get(unit.slot, id);
  if (refund) return stripeRefundView(refund);
  const charge = unit.documents.charges.get(unit.slot, chargeIdOfUntaken(id));
  const untaken = charge && untakenRefund(charge, stripeVersionOf(call));
  if (!untaken) throw stripeNotFound('refund', id, 'id');
  return untaken;
};

const refund = ({ call, unit }: StripeRequest): LedgerRefund => {
  const sent = readParameters(call, refundFields);
  const charge = chargeFor(unit, sent);
  const amount = checkAmount(sent.amount ?? Math.max(leftOf(charge), 1), charge.currency);
  switch (refundProblem(charge, amount)) {
    case 'not_paid':
      throw notPaid(charge.paymentId);
    case 'already_refunded':
      throw refusedOperation({
        code: 'charge_already_refunded',
        message: `Charge ${charge.id} has already been refunded.`,
      });
    case 'exceeds':
      throw refusedOperation({
        message:
          `Refund amount (${writtenAmount(amount, charge.currency)}) is greater than unrefunded amount on charge ` +
          `(${writtenAmount(leftOf(charge), charge.currency)})`,
        param: 'amount',
      });
    case undefined:
      break;
  }
  if (disputesOf(unit, charge).some((dispute) => !isRefundable(dispute))) {
    throw refusedOperation({
      code: 'charge_disputed',
      message: `Charge ${charge.id} has been charged back; cannot issue a refund.`,
    });
  }
  return createLedgerRefund(unit, charge, { amount, reason: sent.reason, metadata: mergeMetadata({}, sent.metadata) });
};

const MANY = 1_000;

const disputesOf = ({ documents, slot }: StripeRequest['unit'], charge: LedgerCharge): LedgerDispute[] =>
  documents.disputes
    .list(slot, { holder: charge.paymentId, limit: MANY })
    .filter(({ chargeId }) => chargeId === charge.id);

const notPaid = (paymentId: string) =>
  refusedOperation({ message: `This PaymentIntent (${paymentId}) does not have a successful charge to refund.` });

const chargeFor = (unit: StripeRequest['unit'], sent: z.output<typeof refundFields>): LedgerCharge => {
  const payment = sent.payment_intent === undefined ? undefined : paymentFor(unit, sent.payment_intent);
  if (payment?.latestChargeId === null) throw notPaid(payment.id);
  const id = sent.charge ?? payment?.latestChargeId;
  if (id === undefined) {
    throw invalidStripeRequest({
      code: 'parameter_missing',
      message: 'One of the following params should be provided for this request: payment_intent or charge.',
    });
  }
  const charge = unit.documents.charges.get(unit.slot, id);
  if (!charge) throw stripeNotFound('charge', id, 'charge');
  return charge;
};

const paymentFor = ({ documents, slot }: StripeRequest['unit'], id: string): LedgerPayment => {
  const payment = documents.payments.get(slot, id);
  if (!payment) throw stripeNotFound('payment_intent', id, 'payment_intent');
  return payment;
};

const refundOf = ({ unit, id }: StripeRequest): LedgerRefund => {
  const found = unit.documents.refunds.get(unit.slot, id);
  if (!found) throw stripeNotFound('refund', id, 'id');
  return found;
};

const changes = z.strictObject({ metadata: metadata.optional(), expand: expand.optional() });

const update = (request: StripeRequest): LedgerRefund => {
  const sent = readParameters(request.call, changes);
  const { unit } = request;
  const before = refundOf(request);
  const changed = { ...before, metadata: mergeMetadata(before.metadata, sent.metadata), updatedAt: unit.at };
  const refund = unit.documents.refunds.put(changed);
  unit.announce({ kind: 'refund.updated', refund });
  return refund;
};

/** Always refuses. Stripe cancels only refunds that wait for the payer, and card refunds never wait for the payer. */
const cancel = (request: StripeRequest): never => {
  readParameters(request.call, none);
  const { id, status } = refundOf(request);
  throw refusedOperation({
    message: `Refund ${id} has a status of ${status}. Only a refund with a status of requires_action can be canceled.`,
  });
};
