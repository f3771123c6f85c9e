/** @module Reads a customer's contact details, cards, bank accounts and subscriptions from Stripe. */

import type Stripe from 'stripe';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { ReportedDetails } from '../customer-port.ts';
import {
  CUSTOMER_DELETED,
  type HeldSubscription,
  type HeldTerms,
  type Holdings,
  type HoldingsPort,
  NO_CUSTOMER,
  type Obstacle,
} from '../holdings-port.ts';
import type { ProviderMethod } from '../method-port.ts';
import type { ProviderInvoice, ProviderSubscription, SubscriptionsPort } from '../subscription-port.ts';
import { reportedAmount } from './currencies.ts';
import type { StripeCall } from './outcome.ts';
import { MOST_LISTED, PAGE } from './owed-invoices.ts';
import { isTaxed, readStripePricing, WITH_DISCOUNTS } from './pricing.ts';
import { idOf, type StripeReaders } from './report.ts';

interface HoldingsParts {
  readonly subscriptions: SubscriptionsPort;
  readonly readMethod: StripeReaders['readMethod'];
}

export const stripeHoldings = (stripe: Stripe, call: StripeCall, parts: HoldingsParts): HoldingsPort => ({
  holdingsOf: async (customerId) => {
    const found = await call(() => stripe.customers.retrieve(customerId), customerOf);
    if (found.kind === 'refused' && found.reason === 'resource_missing') {
      return { kind: 'refused', reason: NO_CUSTOMER };
    }
    if (found.kind !== 'done') return found;
    const { value: customer } = found;
    if (!customer) return { kind: 'refused', reason: CUSTOMER_DELETED };
    const methods = await listMethods(stripe, call, { customerId, readMethod: parts.readMethod });
    if (methods.kind !== 'done') return methods;
    const held = await listHeld(stripe, call, { customerId, subscriptions: parts.subscriptions });
    return mapOutcome(held, (subscriptions) => ({ ...customer, methods: methods.value, subscriptions }));
  },
});

/** The live subscriptions, oldest first. */
const listHeld = async (
  stripe: Stripe,
  call: StripeCall,
  { customerId, subscriptions }: Pick<HoldingsParts, 'subscriptions'> & { readonly customerId: string },
): Promise<Outcome<readonly HeldSubscription[]>> => {
  const listed = await call(
    () => stripe.subscriptions.list({ customer: customerId, limit: PAGE }).autoPagingToArray({ limit: MOST_LISTED }),
    (all) => all.map(({ id }) => id).toReversed(),
  );
  if (listed.kind !== 'done') return listed;
  const all: HeldSubscription[] = [];
  for (const id of listed.value) {
    const held = await readHeld(stripe, call, { id, subscriptions });
    if (held.kind !== 'done') return held;
    all.push(held.value);
  }
  return { kind: 'done', value: all };
};

/**
 * The contact details and the default method. `default_source` is the default card of Stripe's older API.
 * @returns undefined if the customer is deleted
 */
const customerOf = (
  customer: Stripe.Customer | Stripe.DeletedCustomer,
): Pick<Holdings, 'contact' | 'defaultMethodId'> | undefined => {
  if (customer.deleted) return undefined;
  const contact: ReportedDetails = { email: customer.email, name: customer.name, phone: customer.phone };
  const { default_payment_method: chosen } = customer.invoice_settings;
  return { contact, defaultMethodId: idOf(chosen) ?? idOf(customer.default_source) };
};

/**
 * The customer's methods that the service can charge, oldest first. The list includes cards of Stripe's older API,
 * under their old ids.
 */
const listMethods = (
  stripe: Stripe,
  call: StripeCall,
  { customerId, readMethod }: Pick<HoldingsParts, 'readMethod'> & { readonly customerId: string },
): Promise<Outcome<readonly ProviderMethod[]>> =>
  call(
    () => stripe.customers.listPaymentMethods(customerId, { limit: PAGE }).autoPagingToArray({ limit: MOST_LISTED }),
    (methods) =>
      methods
        .filter(({ type }) => CHARGED_TYPES.has(type))
        .map(readMethod)
        .toReversed(),
  );

const CHARGED_TYPES: ReadonlySet<string> = new Set([
  'card',
  'us_bank_account',
  'sepa_debit',
  'bacs_debit',
  'au_becs_debit',
  'acss_debit',
  'nz_bank_account',
]);

interface Reading extends Pick<HoldingsParts, 'subscriptions'> {
  readonly id: string;
}

const readHeld = async (
  stripe: Stripe,
  call: StripeCall,
  { id, subscriptions }: Reading,
): Promise<Outcome<HeldSubscription>> => {
  const terms = await call(() => stripe.subscriptions.retrieve(id, WITH_DISCOUNTS), termsOf);
  if (terms.kind !== 'done') return terms;
  const report = await subscriptions.find(id);
  if (report.kind !== 'done') return report;
  const opening = await openingOf(report.value, subscriptions);
  if (opening.kind !== 'done') return opening;
  const paid = opening.value ? await paidBy(stripe, call, opening.value) : NOT_PAID;
  if (paid.kind !== 'done') return paid;
  return { kind: 'done', value: { report: report.value, terms: { ...terms.value, openedBy: paid.value } } };
};

const NOT_PAID = { kind: 'done', value: undefined } as const;

/** The paid invoice of the current period. A newer invoice may cover only a part of the period. */
const openingOf = async (
  { latestInvoice: newest, currentPeriodStart, subscriptionId, status }: ProviderSubscription,
  subscriptions: SubscriptionsPort,
): Promise<Outcome<ProviderInvoice | undefined>> => {
  if (status !== 'active' || !newest) return NOT_PAID;
  const opens = ({ periodStart, status: said }: ProviderInvoice) =>
    said === 'succeeded' && periodStart === currentPeriodStart;
  if (opens(newest)) return { kind: 'done', value: newest };
  const found = await subscriptions.findPaid({ subscriptionId, createdSince: currentPeriodStart });
  return found.kind === 'done' ? { kind: 'done', value: found.value.find(opens) } : found;
};

/** The invoice and its paid amount. Refunds reduce the paid amount. An invoice paid outside Stripe has no charge. */
const paidBy = async (
  stripe: Stripe,
  call: StripeCall,
  { invoiceId: invoice, intentId, amountCents, totalCents = amountCents, isPaidElsewhere }: ProviderInvoice,
): Promise<Outcome<NonNullable<HeldTerms['openedBy']>>> => {
  const refunded = intentId && !isPaidElsewhere ? await refundedOf(stripe, call, intentId) : NOTHING;
  return refunded.kind === 'done'
    ? { kind: 'done', value: { invoice, paidCents: Math.max(0, totalCents - refunded.value) } }
    : refunded;
};

const NOTHING = { kind: 'done', value: 0 } as const;

const refundedOf = (stripe: Stripe, call: StripeCall, intentId: string): Promise<Outcome<number>> =>
  call(
    () => stripe.paymentIntents.retrieve(intentId, { expand: ['latest_charge'] }),
    ({ latest_charge: charge, currency }) => {
      const amount = typeof charge === 'object' && charge !== null ? charge.amount_refunded : 0;
      return reportedAmount({ amount, currency }).amountCents ?? amount;
    },
  );

const termsOf = (subscription: Stripe.Subscription): Omit<HeldTerms, 'openedBy'> => {
  const [item] = subscription.items.data;
  const { default_payment_method: method, default_source: source, billing_cycle_anchor: anchor } = subscription;
  const quantity = item?.quantity ?? 1;
  const unitAmount = item?.price.unit_amount ?? undefined;
  const { currency } = subscription;
  return {
    obstacle: OBSTACLE_FOUND.find(([, isFound]) => isFound(subscription))?.[0],
    priceId: item?.price.id ?? '',
    quantity,
    listCents:
      unitAmount === undefined ? undefined : reportedAmount({ amount: unitAmount * quantity, currency }).amountCents,
    currency: currency.toUpperCase(),
    unit: UNITS.find((unit) => unit === item?.price.recurring?.interval) ?? 'month',
    count: item?.price.recurring?.interval_count ?? 1,
    pricing: readStripePricing(subscription),
    isTaxed: isTaxed(subscription),
    methodId: idOf(method) ?? idOf(source),
    anchor,
    startedAt: subscription.start_date,
  };
};

const UNITS = ['day', 'week', 'month', 'year'] as const;

type Check = (subscription: Stripe.Subscription) => boolean;

/** The check for each obstacle, in the order of `OBSTACLES`. */
const OBSTACLE_FOUND: readonly (readonly [Obstacle, Check])[] = [
  ['several_items', ({ items }) => items.data.length !== 1],
  ['metered', ({ items }) => items.data.some(({ price }) => price.recurring?.usage_type === 'metered')],
  ['tiered', ({ items }) => items.data.some(({ price }) => price.billing_scheme === 'tiered')],
  ['schedule', ({ schedule }) => schedule !== null],
  ['send_invoice', ({ collection_method }) => collection_method === 'send_invoice'],
  ['paused', ({ status, pause_collection }) => status === 'paused' || pause_collection !== null],
  ['incomplete', ({ status }) => status === 'incomplete'],
];
