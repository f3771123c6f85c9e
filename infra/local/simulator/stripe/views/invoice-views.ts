import type { LedgerInvoice, LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { StripeObject } from '../wire/request.ts';
import { findSubscriptionPrice, itemIdOf, orNull } from './subscription-views.ts';
import { lower, seconds } from './views.ts';

/** In the shape of the newest API version: `parent` holds the subscription, and payments are a list of their own. */
export const invoiceView = (invoice: LedgerInvoice, unit: Unit): StripeObject => {
  const customer = unit.documents.customers.get(unit.slot, invoice.customerId);
  const isPaid = invoice.status === 'paid';
  const { amount } = invoice;
  return {
    ...UNUSED,
    id: invoice.id,
    object: 'invoice',
    amount_due: amount,
    amount_paid: isPaid ? amount : 0,
    amount_remaining: isPaid ? 0 : amount,
    attempt_count: invoice.attempts,
    attempted: invoice.attempts > 0 || isPaid,
    auto_advance: invoice.status === 'open' && invoice.collects,
    billing_reason: invoice.reason,
    created: seconds(invoice.createdAt),
    currency: lower(invoice.currency),
    customer: invoice.customerId,
    customer_email: customer?.email ?? null,
    customer_name: customer?.name ?? null,
    customer_phone: customer?.phone ?? null,
    effective_at: seconds(invoice.createdAt),
    ending_balance: isPaid ? 0 : null,
    lines: {
      object: 'list',
      data: [lineView(invoice, unit)],
      has_more: false,
      url: `/v1/invoices/${invoice.id}/lines`,
    },
    metadata: invoice.metadata,
    next_payment_attempt: invoice.collects ? orNull(invoice.nextAttemptAt) : null,
    number: invoice.number,
    parent: {
      quote_details: null,
      subscription_details: {
        metadata: subscriptionOf(invoice, unit)?.metadata ?? {},
        subscription: invoice.subscriptionId,
      },
      type: 'subscription_details',
    },
    period_end: seconds(invoice.periodStart),
    period_start: seconds(invoice.usedFrom),
    status: invoice.status,
    status_transitions: {
      finalized_at: invoice.status === 'draft' ? null : seconds(invoice.createdAt),
      marked_uncollectible_at: invoice.status === 'uncollectible' ? seconds(invoice.createdAt) : null,
      paid_at: orNull(invoice.paidAt),
      voided_at: orNull(invoice.voidedAt),
    },
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
    webhooks_delivered_at: seconds(invoice.createdAt),
  };
};

/** Fields that this account does not use. */
const UNUSED = {
  account_country: 'US',
  account_name: null,
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  collection_method: 'charge_automatically',
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  due_date: null,
  footer: null,
  from_invoice: null,
  hosted_invoice_url: null,
  invoice_pdf: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  livemode: false,
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: [],
};

const subscriptionOf = (invoice: LedgerInvoice, unit: Unit): LedgerSubscription | undefined =>
  unit.documents.subscriptions.get(unit.slot, invoice.subscriptionId);

const lineView = (invoice: LedgerInvoice, unit: Unit): StripeObject => {
  const subscription = subscriptionOf(invoice, unit);
  return {
    id: invoice.id.replace(/^in_/, 'il_'),
    object: 'line_item',
    amount: invoice.amount,
    currency: lower(invoice.currency),
    description: subscription?.description ?? null,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: invoice.id,
    livemode: false,
    metadata: subscription?.metadata ?? {},
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: { credited_items: null },
        subscription: invoice.subscriptionId,
        subscription_item: subscription ? itemIdOf(subscription) : null,
      },
      type: 'subscription_item_details',
    },
    period: { end: seconds(invoice.periodEnd), start: seconds(invoice.periodStart) },
    pretax_credit_amounts: [],
    pricing: {
      price_details: subscription && {
        price: subscription.priceId,
        product: findSubscriptionPrice(subscription, unit).productId,
      },
      type: 'price_details',
      unit_amount_decimal: String(invoice.amount),
    },
    quantity: 1,
    quantity_decimal: '1',
    subscription: invoice.subscriptionId,
    subtotal: invoice.amount,
    taxes: [],
  };
};

/** The payments of an invoice, shown with `expand[]=payments`. */
export const invoicePaymentsView = (invoice: LedgerInvoice): StripeObject => ({
  object: 'list',
  data:
    invoice.paymentId === null
      ? []
      : [
          {
            id: invoice.id.replace(/^in_/, 'inpay_'),
            object: 'invoice_payment',
            amount_paid: invoice.status === 'paid' ? invoice.amount : null,
            amount_requested: invoice.amount,
            created: seconds(invoice.createdAt),
            currency: lower(invoice.currency),
            invoice: invoice.id,
            is_default: true,
            livemode: false,
            payment: { payment_intent: invoice.paymentId, type: 'payment_intent' },
            status: invoice.status === 'paid' ? 'paid' : 'open',
            status_transitions: { canceled_at: null, paid_at: orNull(invoice.paidAt) },
          },
        ],
  has_more: false,
  url: `/v1/invoice_payments?invoice=${invoice.id}`,
});
