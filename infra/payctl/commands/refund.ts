import * as z from 'zod';
import { amountWithCurrency, majorUnits, refundableDespiteDispute } from '../../../shared/core/money.ts';
import { isClosedDispute, type RefundReason } from '../../../shared/core/money-back.ts';
import { disputeViewSchema } from '../../../shared/payments/dispute.ts';
import { refundViewSchema } from '../../../shared/payments/refunds/refund.ts';
import { type ApiPayment, readApiPayment } from '../compare/api-payment.ts';
import { type Api, ApiRefusal } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';
import type { Report } from './report.ts';

export interface RefundOptions {
  /** Minor units; undefined for the whole remaining amount. */
  readonly amount?: number | undefined;
  readonly reason?: RefundReason | undefined;
  /** True to refund despite an open dispute. */
  readonly despiteDispute?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Refunds a payment by our id or its provider's. Requires the scopes payments:read and refunds:write. */
export const refund = async (api: Api, id: string, options: RefundOptions): Promise<Report> => {
  const payment = await readApiPayment(api, id);
  return options.dryRun ? planRefund(api, payment, options) : makeRefund(api, payment, options);
};

/** Checks only the remaining amount and the disputes, because the API has no dry run. @throws NotReachable */
const planRefund = async (api: Api, payment: ApiPayment, options: RefundOptions): Promise<Report> => {
  const { amount, reason, despiteDispute } = options;
  if (!despiteDispute) await requireNoDispute(api, payment);
  const left = despiteDispute ? refundableDespiteDispute(payment) : payment.refundable_cents;
  const amountCents = amount ?? left;
  if (left === 0 || amountCents > left) throw new NotReachable(describeLeft({ ...payment, refundable_cents: left }));
  return reportPlan({ ...payment, refundable_cents: left }, { amountCents, reason });
};

const requireNoDispute = async (api: Api, payment: ApiPayment): Promise<void> => {
  const disputes = z.array(disputeViewSchema()).parse((await api.get(`/payments/${payment.id}/disputes`)).data);
  const open = disputes.filter(({ status }) => !isClosedDispute(status));
  const named = open.find(({ status }) => status === 'needs_response') ?? open[0];
  if (named) throw new NotReachable(describeDispute(payment, { dispute_id: named.id, status: named.status }));
};

const makeRefund = async (api: Api, payment: ApiPayment, options: RefundOptions): Promise<Report> => {
  const { amount, reason, despiteDispute } = options;
  const path = `/payments/${payment.id}/refunds`;
  const body = { amount_cents: amount, reason, despite_dispute: despiteDispute };
  const made = await api.post(path, body).catch((error: unknown) => readFailed(api, payment, error));
  return reportRefund(refundViewSchema().parse(made.data), await readApiPayment(api, payment.id));
};

/** After an error with one of these codes, the refund may exist. */
const UNCLEAR: ReadonlySet<string> = new Set(['VERSION_CONFLICT', 'INTERNAL_ERROR', 'PROVIDER_TIMEOUT']);
const READ_FIRST = 'the refund may have been made, so read the timeline before you try again';

const refusedSchema = z.object({ refund_id: z.string() });

/**
 * If the API's refusal names a refund, reads this failed refund. @throws NotReachable if the refusal names no refund
 */
const readFailed = async (api: Api, payment: ApiPayment, error: unknown) => {
  if (!(error instanceof ApiRefusal)) throw error;
  const refused = refusedSchema.safeParse(error.details).data;
  if (refused) return api.get(`/refunds/${refused.refund_id}`);
  const disputed = disputedSchema.safeParse(error.details).data;
  if (UNCLEAR.has(error.code)) throw new NotReachable(`${error.message}; ${READ_FIRST}`, { cause: error });
  const why = disputed ? describeDispute(payment, disputed) : `${error.message}; ${describeLeft(payment)}`;
  throw new NotReachable(why, { cause: error });
};

const reportPlan = (
  payment: ApiPayment,
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

const reportRefund = (refund: z.output<ReturnType<typeof refundViewSchema>>, payment: ApiPayment): Report => {
  const isUnknown = refund.status === 'pending' && refund.provider_refund_id === null;
  const left = payment.refundable_cents;
  const state = isUnknown ? 'pending: the provider has not responded' : refund.status;
  return {
    json: { dry_run: false, refund, refundable_cents: left },
    lines: [
      `${refund.id} is ${[state, refund.failure_code].filter(Boolean).join(': ')}`,
      `${describeAmount(payment, refund.amount_cents)}, made by ${refund.created_by ?? 'the key'}`,
      leftLine(payment.currency, left),
      ...(isUnknown
        ? ['The service looks up the outcome itself. Do not refund again, because the amount stays reserved.']
        : []),
    ],
    exitCode: isUnknown || refund.status === 'failed' ? 1 : 0,
  };
};

const describeAmount = (payment: ApiPayment, amountCents: number): string => {
  const { id, total_cents: totalCents, currency, provider_id: providerId } = payment;
  return `${majorUnits(amountCents, currency)} of ${amountWithCurrency(totalCents, currency)} of ${id} at ${providerId}`;
};

const leftLine = (currency: string, left: number): string => `${amountWithCurrency(left, currency)} left to refund`;

const describeLeft = ({ id, status, currency, refundable_cents: left }: ApiPayment): string =>
  `${id} is ${status}, ${leftLine(currency, left)}`;

const disputedSchema = z.object({ dispute_id: z.string(), status: z.string() });

const describeDispute = (
  { id }: ApiPayment,
  { dispute_id: dispute, status }: z.output<typeof disputedSchema>,
): string =>
  status === 'lost'
    ? `PAYMENT_DISPUTED: the dispute ${dispute} is lost: it has already given the amount back to the payer`
    : `PAYMENT_DISPUTED: the dispute ${dispute} is ${status}; to refund ${id} anyway, add --despite-dispute`;
