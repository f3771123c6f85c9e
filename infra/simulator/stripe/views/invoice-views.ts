import { taxRateOf } from '../../billing/billing.ts';
import type { LedgerBill, LedgerInvoice, LedgerLine, LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { StripeObject } from '../wire/request.ts';
import { taxRateView } from './catalog-views.ts';
import { lower, seconds } from './payment-views.ts';
import { findPrice, itemIdOf, orNull } from './subscription-views.ts';

/**
 * Uses the format of the newest API version. In this format, `parent` names the subscription, and the payments are a
 * separate list.
 */
export const invoiceView = (invoice: LedgerInvoice, unit: Unit): StripeObject => ({
  ...UNUSED,
  ...amountsView(invoice),
  ...customerView(invoice, unit),
  id: invoice.id,
  object: 'invoice',
  attempt_count: invoice.attempts,
  attempted: invoice.attempts > 0 || invoice.status === 'paid',
  auto_advance: (invoice.status === 'open' || invoice.status === 'draft') && invoice.collects,
  billing_reason: invoice.reason,
  created: seconds(invoice.createdAt),
  currency: lower(invoice.currency),
  default_tax_rates: invoice.bill.taxes.map(({ taxRateId }) => taxRateView(taxRateOf(unit, taxRateId))),
  effective_at: invoice.status === 'draft' ? null : seconds(invoice.createdAt),
  lines: {
    object: 'list',
    data: invoice.bill.lines.map((line, index) => lineView(invoice, { line, index }, unit)),
    has_more: false,
    url: `/v1/invoices/${invoice.id}/lines`,
  },
  metadata: invoice.metadata,
  next_payment_attempt: invoice.collects ? orNull(invoice.nextAttemptAt) : null,
  number: invoice.status === 'draft' ? null : invoice.number,
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
  ...(invoice.status === 'uncollectible' && { status_details: whyUncollectible(invoice) }),
  status_transitions: {
    finalized_at: invoice.status === 'draft' ? null : seconds(invoice.createdAt),
    marked_uncollectible_at: orNull(invoice.uncollectibleAt),
    paid_at: orNull(invoice.paidAt),
    voided_at: orNull(invoice.voidedAt),
  },
  webhooks_delivered_at: seconds(invoice.createdAt),
});

const amountsView = ({ amount, bill, status, startingBalance, endingBalance }: LedgerInvoice): StripeObject => {
  const isPaid = status === 'paid';
  const added = bill.taxes.reduce((sum, tax) => sum + tax.amount, 0);
  const included = bill.taxes.reduce((sum, tax) => sum + (tax.inclusive ? tax.amount : 0), 0);
  return {
    amount_due: amount,
    amount_paid: isPaid ? amount : 0,
    amount_remaining: isPaid ? 0 : amount,
    discounts: bill.discounts.map(({ discountId }) => discountId),
    ending_balance: endingBalance,
    starting_balance: startingBalance,
    subtotal: bill.subtotal,
    subtotal_excluding_tax: bill.subtotal - included,
    total: bill.total,
    total_discount_amounts: discountAmounts(bill),
    total_excluding_tax: bill.total - added,
    total_taxes: taxAmounts(bill),
  };
};

const discountAmounts = ({ discounts }: LedgerBill): StripeObject[] =>
  discounts.map(({ discountId, amount }) => ({ amount, discount: discountId }));

const taxAmounts = ({ taxes }: LedgerBill): StripeObject[] =>
  taxes.map(({ amount, inclusive, taxRateId, taxable }) => ({
    amount,
    tax_behavior: inclusive ? 'inclusive' : 'exclusive',
    tax_rate_details: { tax_rate: taxRateId },
    taxability_reason: 'not_available',
    taxable_amount: taxable,
    type: 'tax_rate_details',
  }));

const customerView = ({ customerId }: LedgerInvoice, unit: Unit): StripeObject => {
  const customer = unit.documents.customers.get(unit.slot, customerId);
  return {
    customer: customerId,
    customer_email: customer?.email ?? null,
    customer_name: customer?.name ?? null,
    customer_phone: customer?.phone ?? null,
  };
};

/** An invoice issued while its collection is paused is uncollectible from the start. */
const whyUncollectible = ({ createdAt, uncollectibleAt }: LedgerInvoice): StripeObject => ({
  uncollectible: { reason: createdAt === uncollectibleAt ? 'subscription_paused' : 'user_forgiven' },
});

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
  description: null,
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
  statement_descriptor: null,
  test_clock: null,
  total_pretax_credit_amounts: [],
};

const subscriptionOf = (invoice: LedgerInvoice, unit: Unit): LedgerSubscription | undefined =>
  unit.documents.subscriptions.get(unit.slot, invoice.subscriptionId);

interface NumberedLine {
  readonly line: LedgerLine;
  readonly index: number;
}

/** A line of an invoice. The first line shows the invoice's discounts and taxes. */
const lineView = (invoice: LedgerInvoice, { line, index }: NumberedLine, unit: Unit): StripeObject => {
  const subscription = subscriptionOf(invoice, unit);
  const price = findPrice(line.priceId ?? subscription?.priceId ?? '', unit);
  const ofInvoice = index === 0 ? invoice.bill : undefined;
  return {
    id: `${invoice.id.replace(/^in_/, 'il_')}${index === 0 ? '' : index}`,
    object: 'line_item',
    amount: line.amount,
    currency: lower(invoice.currency),
    description: subscription?.description ?? null,
    discount_amounts: ofInvoice ? discountAmounts(ofInvoice) : [],
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
    period: { end: seconds(line.periodEnd), start: seconds(line.periodStart) },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: price.productId },
      type: 'price_details',
      unit_amount_decimal: String(price.amount),
    },
    quantity: line.quantity,
    quantity_decimal: String(line.quantity),
    subscription: invoice.subscriptionId,
    subtotal: line.amount,
    taxes: ofInvoice ? taxAmounts(ofInvoice) : [],
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
            amount_paid: isPaidBy(invoice) ? invoice.amount : null,
            amount_requested: invoice.amount,
            created: seconds(invoice.createdAt),
            currency: lower(invoice.currency),
            invoice: invoice.id,
            is_default: true,
            livemode: false,
            payment: { payment_intent: invoice.paymentId, type: 'payment_intent' },
            status: isPaidBy(invoice) ? 'paid' : isOver(invoice) ? 'canceled' : 'open',
            status_transitions: {
              canceled_at: isOver(invoice) ? orNull(invoice.voidedAt ?? invoice.paidAt) : null,
              paid_at: isPaidBy(invoice) ? orNull(invoice.paidAt) : null,
            },
          },
        ],
  has_more: false,
  url: `/v1/invoice_payments?invoice=${invoice.id}`,
});

const isPaidBy = ({ status, paidElsewhere }: LedgerInvoice): boolean => status === 'paid' && !paidElsewhere;

/** True if the payment can no longer pay the invoice. */
const isOver = ({ status, paidElsewhere }: LedgerInvoice): boolean => status === 'void' || paidElsewhere;
