import type { ProviderSlot } from '../../../../shared/core/settings.ts';
import {
  type Collection,
  type Documents,
  type LedgerCharge,
  type LedgerDispute,
  type LedgerRefund,
  referenceOf,
} from '../ledger/documents.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** An amount of a provider in ISO 4217 minor units, by the simulator's own table. */
export type MinorUnits = (document: {
  readonly provider: ProviderSlot;
  readonly amount: number;
  readonly currency: string;
}) => number;

/**
 * The providers' records, with amounts in ISO 4217 minor units. `payment_id` is our own id, null while the provider
 * does not have it.
 */
export const ledgerView = (documents: Documents, minorUnits: MinorUnits, paymentId?: string) => ({
  charges: belonging(documents, documents.charges, paymentId).map((charge) => ({
    provider: charge.provider,
    id: charge.id,
    payment_id: paymentId ?? referenceOf(charge) ?? labelOf(documents, charge),
    payment_intent: charge.paymentId,
    amount: minorUnits(charge),
    currency: charge.currency,
    status: charge.status,
    amount_refunded: minorUnits({ ...charge, amount: charge.amountRefunded }),
    created_at: iso(charge.createdAt),
  })),
  refunds: belonging(documents, documents.refunds, paymentId).map((refund) => refundRow(documents, refund, minorUnits)),
  disputes: belonging(documents, documents.disputes, paymentId).map((dispute) =>
    disputeRow(documents, dispute, minorUnits),
  ),
  payment_intents: documents.payments.all(paymentId).map((payment) => ({
    provider: payment.provider,
    id: payment.id,
    payment_id: referenceOf(payment),
    amount: minorUnits(payment),
    currency: payment.currency,
    status: payment.status,
    customer: payment.customerId,
    payment_method: payment.methodId,
    created_at: iso(payment.createdAt),
  })),
  customers: documents.customers.all().map((customer) => ({
    provider: customer.provider,
    id: customer.id,
    email: customer.email,
    name: customer.name,
    metadata: customer.metadata,
    deleted: customer.deleted,
    created_at: iso(customer.createdAt),
  })),
  payment_methods: documents.methods.all().map((method) => ({
    provider: method.provider,
    id: method.id,
    customer: method.customerId,
    type: 'card',
    brand: method.card.brand,
    last_four: method.card.last4,
    created_at: iso(method.createdAt),
  })),
  subscriptions: documents.subscriptions.all().map((subscription) => ({
    provider: subscription.provider,
    id: subscription.id,
    subscription_id: subscription.metadata['subscription_id'] ?? null,
    status: subscription.status,
    customer: subscription.customerId,
    payment_method: subscription.methodId,
    amount: minorUnits(subscription),
    currency: subscription.currency,
    current_period_start: iso(subscription.periodStart),
    current_period_end: iso(subscription.periodEnd),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    created_at: iso(subscription.createdAt),
  })),
  invoices: documents.invoices.all().map((invoice) => ({
    provider: invoice.provider,
    id: invoice.id,
    subscription: invoice.subscriptionId,
    payment_intent: invoice.paymentId,
    amount: minorUnits(invoice),
    currency: invoice.currency,
    status: invoice.status,
    attempts: invoice.attempts,
    period_start: iso(invoice.periodStart),
    period_end: iso(invoice.periodEnd),
    created_at: iso(invoice.createdAt),
  })),
});

/** `refund_id` is our own id: null where the refund was made at the provider. */
export const refundRow = (documents: Documents, refund: LedgerRefund, minorUnits: MinorUnits) => ({
  provider: refund.provider,
  id: refund.id,
  refund_id: refund.metadata['refund_id'] ?? null,
  payment_id: labelOf(documents, refund),
  payment_intent: refund.paymentId,
  charge: refund.chargeId,
  amount: minorUnits(refund),
  currency: refund.currency,
  status: refund.status,
  created_at: iso(refund.createdAt),
});

export const disputeRow = (documents: Documents, dispute: LedgerDispute, minorUnits: MinorUnits) => ({
  provider: dispute.provider,
  id: dispute.id,
  payment_id: labelOf(documents, dispute),
  payment_intent: dispute.paymentId,
  charge: dispute.chargeId,
  amount: minorUnits(dispute),
  currency: dispute.currency,
  status: dispute.status,
  reason: dispute.reason,
  evidence_due_by: iso(dispute.evidenceDueAt),
  created_at: iso(dispute.createdAt),
});

/** The documents of a payment, oldest first. A payment that the provider created itself gets our id only after its first charge. */
const belonging = <T>(documents: Documents, collection: Collection<T>, paymentId: string | undefined): T[] =>
  paymentId === undefined
    ? collection.all()
    : documents.payments
        .all(paymentId)
        .flatMap(({ provider, id }) => collection.list(provider, { holder: id, limit: MANY }).reverse());

const MANY = 1_000;

const labelOf = (
  documents: Documents,
  { provider, paymentId }: Pick<LedgerCharge, 'provider' | 'paymentId'>,
): string | null => {
  const payment = documents.payments.get(provider, paymentId);
  return payment ? referenceOf(payment) : null;
};
