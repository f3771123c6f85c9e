import type Stripe from 'stripe';
import type { RefundReason } from '../../core/money-back.ts';
import type { Outcome } from '../../core/outcome.ts';
import {
  type CreateRefund,
  type ProviderDispute,
  type ProviderRefund,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../port/refunds.ts';
import { stripeAmounts } from './currencies.ts';
import { EXCEEDS_UNREFUNDED, type StripeCall } from './outcome.ts';
import { readStripeDispute, readStripeRefund } from './refund-report.ts';

/** The largest page that Stripe gives. */
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
          },
          { idempotencyKey: input.idempotencyKey },
        ),
      readStripeRefund,
    );
    return made.kind === 'refused' && TOO_LITTLE_LEFT.includes(made.reason)
      ? { ...made, reason: REFUND_EXCEEDS }
      : made;
  },

  listRefunds: (payment: RefundedCharge): Promise<Outcome<readonly ProviderRefund[]>> =>
    call(
      () => everyPage(stripe.refunds.list({ payment_intent: payment.intentId, limit: PAGE })),
      (refunds) => refunds.map(readStripeRefund).reverse(),
    ),

  listDisputes: (payment: RefundedCharge): Promise<Outcome<readonly ProviderDispute[]>> =>
    call(
      () => everyPage(stripe.disputes.list({ payment_intent: payment.intentId, limit: PAGE })),
      (disputes) => disputes.map(readStripeDispute).reverse(),
    ),
});

/** Stripe has no word for `other`. */
const reasonParameter = (reason: RefundReason | undefined) =>
  reason === undefined || reason === 'other' ? {} : { reason };

const TOO_LITTLE_LEFT: readonly string[] = ['charge_already_refunded', EXCEEDS_UNREFUNDED];

/** Newest first, as Stripe lists. The SDK asks for page after page; each page has the deadline of a call. */
const everyPage = async <T>(list: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = [];
  for await (const item of list) found.push(item);
  return found;
};
