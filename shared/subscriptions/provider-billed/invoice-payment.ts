import { iso, SECOND } from '../../core/time.ts';
import { recordInvoice } from '../../payments/attempts/record-invoice.ts';
import type { VisiblePayment } from '../../payments/record/payment.ts';
import type { ProviderInvoice } from '../../providers/port/subscriptions.ts';
import { unansweredError } from '../../providers/registry/unwrap.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { periodPaymentId } from '../billing/charge.ts';
import { periodPaymentRequest } from '../billing/periods.ts';
import type { Subscription } from '../record/subscription.ts';
import { subscriptionsPortOf } from './port.ts';

export type InvoicePayment =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** The invoice has no amount. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'mismatch'; readonly reason: string };

/** Records the payment of a provider's invoice. Its id is derived from subscription and period. */
export const recordInvoicePayment = async (
  deps: BillingDeps,
  subscription: Subscription,
  invoice: ProviderInvoice,
): Promise<InvoicePayment> => {
  const { intentId } = invoice;
  if (intentId === undefined || invoice.amountCents === 0) return { kind: 'nothing' };
  const paymentId = periodPaymentId(subscription.id, iso(invoice.periodStart * SECOND), 0);
  const port = await subscriptionsPortOf(deps, subscription);
  const label = async (): Promise<void> => {
    const labelled = await port.labelPayment({ intentId, paymentId, idempotencyKey: `${paymentId}:label` });
    if (labelled.kind === 'unknown' || labelled.kind === 'not_done') {
      throw unansweredError(labelled, { payment_id: paymentId });
    }
  };
  const recorded = await recordInvoice(deps, {
    wanted: periodPaymentRequest(subscription, paymentId),
    invoice: { ...invoice, intentId },
    label,
  });
  if (recorded.kind === 'mismatch') {
    deps.log.error('subscription anomaly', {
      subscription_id: subscription.id,
      payment_id: paymentId,
      provider: subscription.providerId,
      reason: recorded.reason,
    });
  }
  return recorded;
};
