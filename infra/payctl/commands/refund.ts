import * as z from 'zod';
import { DomainError } from '../../../shared/core/errors.ts';
import { amountWithCurrency, majorUnits } from '../../../shared/core/money.ts';
import type { RefundReason } from '../../../shared/core/money-back.ts';
import type { NotDone } from '../../../shared/core/outcome.ts';
import { moneyAccount } from '../../../shared/payments/money-account.ts';
import { isVisiblePayment, type VisiblePayment } from '../../../shared/payments/payment.ts';
import { decideAmount, openRefunds, orderRefund } from '../../../shared/payments/refund-payment.ts';
import { refundView, refundViewSchema } from '../../../shared/payments/refunds/refund.ts';
import { refundStore } from '../../../shared/payments/refunds/refund-store.ts';
import { findPayment } from '../compare/find-payment.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import type { Report } from './report.ts';

export interface RefundOptions {
  /** Minor units; undefined means the whole remaining amount. */
  readonly amount?: number | undefined;
  readonly reason?: RefundReason | undefined;
  /** True if the operator accepts refunding despite an open dispute. */
  readonly despiteDispute?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/** The name that a refund records as its maker. */
const MADE_BY = 'payctl';

/** Refunds a payment, found by our id or its provider's, as POST /payments/{id}/refunds does. */
export const refund = async (installation: Installation, id: string, options: RefundOptions): Promise<Report> => {
  const payment = await findPayment(installation, id);
  if (!isVisiblePayment(payment)) throw new NotReachable(`${payment.id} is still being created`);
  try {
    return options.dryRun
      ? await planRefund(installation, payment, options)
      : await makeRefund(installation, payment, options);
  } catch (error) {
    if (error instanceof DomainError) throw new NotReachable(describeRefusal(error, payment));
    throw error;
  }
};

/** Runs the checks that come before the first write. Nothing is stored and the provider is not called. */
const planRefund = async (
  { deps }: Installation,
  payment: VisiblePayment,
  { amount, reason, despiteDispute }: RefundOptions,
): Promise<Report> => {
  await openRefunds(deps, payment);
  const amountCents = await decideAmount(deps, payment, { amount_cents: amount, despite_dispute: despiteDispute });
  return reportPlan(shown(payment, despiteDispute), { amountCents, reason });
};

/** The fields of a payment that a report of its refund names. */
interface RefundedPayment {
  readonly id: string;
  readonly total_cents: number;
  readonly refundable_cents: number;
  readonly currency: string;
  readonly provider_id: string;
}

const shown = (payment: VisiblePayment, despiteDispute?: boolean): RefundedPayment => ({
  ...{
    id: payment.id,
    total_cents: payment.totalCents,
    refundable_cents: moneyAccount(payment, { despiteDispute }).refundable,
  },
  ...{ currency: payment.currency, provider_id: payment.providerId },
});

/** The report of a dry run, for the payment as it is now. */
export const reportPlan = (
  payment: RefundedPayment,
  { amountCents, reason }: { readonly amountCents: number; readonly reason: RefundReason | undefined },
): Report => {
  const left = payment.refundable_cents - amountCents;
  return {
    json: {
      dry_run: true,
      payment_id: payment.id,
      provider: payment.provider_id,
      amount_cents: amountCents,
      currency: payment.currency,
      reason: reason ?? null,
      refundable_cents: left,
    },
    lines: [`would refund ${describeAmount(payment, amountCents)}`, leftLine(payment.currency, left)],
    exitCode: 0,
  };
};

const makeRefund = async (
  { deps }: Installation,
  payment: VisiblePayment,
  { amount, reason, despiteDispute }: RefundOptions,
): Promise<Report> => {
  const made = await orderRefund(deps, {
    payment,
    body: { amount_cents: amount, reason, despite_dispute: despiteDispute },
    idempotency: undefined,
    createdBy: MADE_BY,
  });
  if (made.notDone) throw new NotReachable(describeNotDone(payment, made.notDone));
  const after = await refundStore(deps).loadPayment(payment.id);
  return reportRefund(refundViewSchema().parse(refundView(made.record, 'staff')), shown(after), MADE_BY);
};

/** The report of a refund, whether it was made here or through the API. */
export const reportRefund = (
  refund: z.output<ReturnType<typeof refundViewSchema>>,
  payment: RefundedPayment,
  madeBy: string,
): Report => {
  const isUnknown = refund.status === 'pending' && refund.provider_refund_id === null;
  const left = payment.refundable_cents;
  const state = isUnknown ? 'pending: the provider has not responded' : refund.status;
  return {
    json: { dry_run: false, refund, refundable_cents: left },
    lines: [
      `${refund.id} is ${[state, refund.failure_code].filter(Boolean).join(': ')}`,
      `${describeAmount(payment, refund.amount_cents)}, made by ${madeBy}`,
      leftLine(payment.currency, left),
      ...(isUnknown
        ? ['The service looks up the outcome itself. Do not refund again, because the amount stays reserved.']
        : []),
    ],
    exitCode: isUnknown || refund.status === 'failed' ? 1 : 0,
  };
};

const describeAmount = (payment: RefundedPayment, amountCents: number): string => {
  const { id, total_cents: totalCents, currency, provider_id: providerId } = payment;
  return `${majorUnits(amountCents, currency)} of ${amountWithCurrency(totalCents, currency)} of ${id} at ${providerId}`;
};

const leftLine = (currency: string, left: number): string => `${amountWithCurrency(left, currency)} left to refund`;

const describeNotDone = ({ providerId }: VisiblePayment, notDone: NotDone | undefined): string =>
  `${providerId} cannot be reached (${notDone?.reason ?? 'unreachable'}); nothing was refunded`;

const describeRefusal = ({ code, message, details }: DomainError, payment: VisiblePayment): string => {
  const disputed = disputeSchema.safeParse(details).data;
  if (disputed?.status === 'lost') return `${code}: the dispute ${disputed.dispute_id} is lost: ${message}`;
  if (disputed) {
    return `${code}: the dispute ${disputed.dispute_id} is ${disputed.status}; to refund ${payment.id} anyway, add --despite-dispute`;
  }
  return `${code}: ${message}; ${payment.id} is ${payment.status}, ${leftLine(payment.currency, moneyAccount(payment).refundable)}`;
};

const disputeSchema = z.object({ dispute_id: z.string(), status: z.string() });
