import type { ProviderSlot } from '../../../../shared/core/settings.ts';
import { type Documents, type LedgerCharge, referenceOf } from '../ledger/documents.ts';

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
  charges: chargesOf(documents, paymentId).map((charge) => ({
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

/** A payment that the provider created itself gets our id only after its first charge. */
const chargesOf = (documents: Documents, paymentId: string | undefined): LedgerCharge[] =>
  paymentId === undefined
    ? documents.charges.all()
    : documents.payments
        .all(paymentId)
        .flatMap(({ provider, id }) => documents.charges.list(provider, { holder: id, limit: MANY }).reverse());

const MANY = 1_000;

const labelOf = (documents: Documents, { provider, paymentId }: LedgerCharge): string | null => {
  const payment = documents.payments.get(provider, paymentId);
  return payment ? referenceOf(payment) : null;
};
