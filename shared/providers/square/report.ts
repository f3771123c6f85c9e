/** @module The state of a payment, from Square's order (our intent) and the order's payments (attempts). */

import { iso } from '../../core/time.ts';
import { wordTable } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { KnownPayment, ProviderHold, ProviderPayment, ReportedStatus } from '../payment-port.ts';
import { reportedMoney } from './currencies.ts';
import { squareDeclineCode } from './decline-codes.ts';
import { attemptFacts } from './facts.ts';
import type { SquareOrder, SquarePayment } from './schemas.ts';

type Known = Pick<Partial<KnownPayment>, 'status'> & { readonly method: string | null | undefined };

export const readSquareOrder = (order: SquareOrder, known: Known): ProviderPayment => ({
  intentId: order.id,
  paymentId: order.id,
  status: orderStatus(order, known),
  ...reportedMoney(order.total_money),
  attemptRef: undefined,
  failureCode: undefined,
  clientSecret: undefined,
  nextAction: undefined,
  methodId: undefined,
  ourPaymentId: order.reference_id ?? undefined,
});

/**
 * Square receives the method only with the charge and stores no refused charge, so the status also depends on our
 * record. For a completed order, the payment is looked up again.
 */
const orderStatus = ({ state }: SquareOrder, { method, status }: Known): ReportedStatus => {
  if (state === 'CANCELED') return 'canceled';
  if (state === 'COMPLETED') return 'processing';
  if (status === 'failed') return 'failed';
  return method ? 'created' : 'requires_payment_method';
};

/** @param heldFor the id of our order if the payment is a hold; undefined for a payment of the order itself */
export const readSquarePayment = (
  payment: SquarePayment,
  fingerprintOf: FingerprintOf,
  heldFor?: string,
): ProviderPayment => {
  const status = attemptStatus(payment.status, heldFor);
  return {
    intentId: heldFor ?? payment.order_id,
    paymentId: payment.id,
    status,
    ...reportedMoney(payment.amount_money),
    attemptRef: payment.id,
    failureCode: status === 'failed' ? squareFailure(payment) : undefined,
    clientSecret: undefined,
    nextAction: undefined,
    methodId: undefined,
    ourPaymentId: payment.reference_id ?? undefined,
    facts: attemptFacts(payment, status, fingerprintOf),
    ...(heldFor !== undefined && { hold: squareHold(payment) }),
  };
};

type HoldFields = 'amount_money' | 'approved_money' | 'delayed_until' | 'status' | 'updated_at';

/** A partial capture lowers the payment's amount. `approved_money` stays the originally held amount. */
export const squareHold = (payment: Pick<SquarePayment, HoldFields>): ProviderHold | undefined => {
  const { status, amount_money: left, approved_money: approved } = payment;
  if (!WERE_HELD.includes(status)) return undefined;
  return {
    authorizedCents: reportedMoney(approved ?? left).amountCents,
    capturableCents: status === 'APPROVED' ? reportedMoney(left).amountCents : 0,
    captureBefore: isoTime(payment.delayed_until),
    endedAt: status === 'CANCELED' ? isoTime(payment.updated_at) : undefined,
  };
};

const WERE_HELD: readonly string[] = ['APPROVED', 'COMPLETED', 'CANCELED'];

const isoTime = (time: string | null | undefined): string | undefined => {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? undefined : iso(at);
};

/**
 * The note of a hold. Square creates a separate order for the hold, so only the note connects the hold's events with
 * our order.
 */
export const holdNote = (orderId: string): string => `Order ${orderId}`;

export const orderHeldFor = (note: string | null | undefined): string | undefined => NOTE.exec(note ?? '')?.[1];

const NOTE = /^Order (\S+)$/;

export const squareFailure = ({
  card_details,
  bank_account_details,
}: Pick<SquarePayment, 'card_details' | 'bank_account_details'>) =>
  squareDeclineCode(card_details?.errors ?? bank_account_details?.errors, card_details?.auth_result_code);

/**
 * An approved hold waits for its capture. Square itself completes an approved payment of an order. A status unknown to
 * this adapter is not final, so the payment is looked up again.
 */
export const attemptStatus = (status: string, heldFor: string | undefined): ReportedStatus =>
  status === 'APPROVED' && heldFor !== undefined ? 'requires_capture' : (STATUSES.get(status) ?? 'processing');

const STATUSES = wordTable<ReportedStatus>({
  APPROVED: 'processing',
  PENDING: 'processing',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'canceled',
});

/**
 * The attempt that decides the status: the last attempt that succeeded, else the last attempt that is held or in
 * processing, else the last attempt.
 */
export const decisive = (attempts: readonly ProviderPayment[]): ProviderPayment | undefined =>
  attempts.findLast(({ status }) => status === 'succeeded') ??
  attempts.findLast(({ status }) => status === 'processing' || status === 'requires_capture') ??
  attempts.at(-1);
