import type { ProviderSlot } from '../../../shared/core/settings.ts';
import type { LedgerInvoice, LedgerSubscription } from '../ledger/billing-documents.ts';
import {
  type Collection,
  type Documents,
  type LedgerCharge,
  type LedgerCustomer,
  type LedgerDispute,
  type LedgerMethod,
  type LedgerPayment,
  type LedgerRefund,
  referenceOf,
} from '../ledger/documents.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** Converts a provider's amount to ISO 4217 minor units by the simulator's own table. */
export type MinorUnits = (document: {
  readonly provider: ProviderSlot;
  readonly amount: number;
  readonly currency: string;
}) => number;

/**
 * The providers' records, with amounts in ISO 4217 minor units. `payment_id` is our id, or null until the provider has
 * it.
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
    authorized: minorUnits({ ...charge, amount: charge.authorized }),
    captured: minorUnits({ ...charge, amount: charge.amountCaptured }),
    released: minorUnits({ ...charge, amount: charge.released }),
    amount_refunded: minorUnits({ ...charge, amount: charge.amountRefunded }),
    fee: charge.fee === null ? null : minorUnits({ ...charge, amount: charge.fee }),
    payment_method_details: detailsOf(documents, charge),
    created_at: iso(charge.createdAt),
  })),
  refunds: belonging(documents, documents.refunds, paymentId).map((refund) => refundRow(documents, refund, minorUnits)),
  disputes: belonging(documents, documents.disputes, paymentId).map((dispute) =>
    disputeRow(documents, dispute, minorUnits),
  ),
  payment_intents: documents.payments.all(paymentId).map((payment) => ledgerPaymentRow(payment, minorUnits)),
  customers: documents.customers.all().map((customer) => customerRow(customer)),
  payment_methods: documents.methods.all().map(methodRow),
  subscriptions: documents.subscriptions.all().map((subscription) => subscriptionRow(subscription, minorUnits)),
  invoices: documents.invoices.all().map((invoice) => invoiceRow(invoice, minorUnits)),
});

export const ledgerPaymentRow = (payment: LedgerPayment, minorUnits: MinorUnits) => ({
  provider: payment.provider,
  id: payment.id,
  payment_id: referenceOf(payment),
  amount: minorUnits(payment),
  currency: payment.currency,
  status: payment.status,
  customer: payment.customerId,
  payment_method: payment.methodId,
  created_at: iso(payment.createdAt),
});

/** A charge's method with the provider's fingerprint, and its authentication. */
const detailsOf = (documents: Documents, { provider, methodId, authenticated }: LedgerCharge) => {
  const method = documents.methods.get(provider, methodId);
  if (!method) return null;
  const { card, type } = method;
  const known = { type, wallet_type: walletOf(method), bank_name: method.bankName };
  if (type === 'wallet') return known;
  const account = { ...known, last_four: card.last4, country: card.country, fingerprint: card.fingerprint };
  if (type === 'bank_account') return account;
  return {
    ...account,
    card_brand: card.brand.toLowerCase(),
    expiry_month: String(card.expMonth).padStart(2, '0'),
    expiry_year: String(card.expYear),
    funding: card.funding.toLowerCase(),
    three_d_secure: authenticated ? { result: 'authenticated' } : null,
  };
};

const walletOf = ({ type, card }: LedgerMethod): string | null => (type === 'wallet' ? card.brand : card.wallet);

/** `balance` is in the provider's units, because a customer has no currency. */
export const customerRow = (customer: LedgerCustomer) => ({
  provider: customer.provider,
  id: customer.id,
  email: customer.email,
  name: customer.name,
  phone: customer.phone,
  metadata: customer.metadata,
  balance: customer.balance,
  deleted: customer.deleted,
  created_at: iso(customer.createdAt),
});

export const methodRow = (method: LedgerMethod) => ({
  provider: method.provider,
  id: method.id,
  customer: method.customerId,
  type: method.type,
  wallet_type: walletOf(method),
  brand: method.card.brand,
  last_four: method.card.last4,
  exp_month: method.card.expMonth,
  exp_year: method.card.expYear,
  funding: method.card.funding,
  country: method.card.country,
  created_at: iso(method.createdAt),
});

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

export const subscriptionRow = (subscription: LedgerSubscription, minorUnits: MinorUnits) => ({
  provider: subscription.provider,
  id: subscription.id,
  subscription_id: subscription.metadata['subscription_id'] ?? null,
  status: subscription.status,
  customer: subscription.customerId,
  payment_method: subscription.methodId,
  amount: minorUnits(subscription),
  currency: subscription.currency,
  quantity: subscription.quantity,
  current_period_start: iso(subscription.periodStart),
  current_period_end: iso(subscription.periodEnd),
  trial_end: isoOrNull(subscription.trialEnd),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  cancel_at: isoOrNull(subscription.cancelAt),
  pause_collection: subscription.pausedCollection,
  discounts: subscription.discountIds,
  tax_rates: subscription.taxRateIds,
  latest_invoice: subscription.latestInvoiceId,
  created_at: iso(subscription.createdAt),
});

/** `amount` is the amount due (`total` less the customer's credit). */
export const invoiceRow = (invoice: LedgerInvoice, minorUnits: MinorUnits) => {
  const { provider, currency, bill } = invoice;
  const minor = (amount: number): number => minorUnits({ provider, currency, amount });
  const sum = (parts: readonly { readonly amount: number }[]): number =>
    minor(parts.reduce((total, { amount }) => total + amount, 0));
  return {
    provider,
    id: invoice.id,
    subscription: invoice.subscriptionId,
    payment_intent: invoice.paymentId,
    subtotal: minor(bill.subtotal),
    discount: sum(bill.discounts),
    tax: sum(bill.taxes),
    total: minor(bill.total),
    amount: minor(invoice.amount),
    currency,
    status: invoice.status,
    paid_out_of_band: invoice.paidElsewhere,
    attempts: invoice.attempts,
    period_start: iso(invoice.periodStart),
    period_end: iso(invoice.periodEnd),
    created_at: iso(invoice.createdAt),
  };
};

/** `refund_id` is our own id, or null if the refund was made at the provider. */
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
  inquiry: dispute.inquiry,
  created_at: iso(dispute.createdAt),
});

/**
 * The documents of a payment, oldest first. They are found through the payment and not by our id, because a payment
 * created by the provider gets our id only after its first charge.
 */
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
