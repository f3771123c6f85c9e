/**
 * @module Shows the ledger as Stripe's objects. Other objects appear as ids, which `expand` replaces with the objects.
 */

import type { LedgerCustomer, LedgerMethod } from '../../ledger/documents.ts';
import type { StripeObject } from '../wire/request.ts';

export const seconds = (at: number): number => Math.floor(at / 1_000);
export const lower = (currency: string): string => currency.toLowerCase();
export const NO_ADDRESS = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };

export const stripeCustomerView = (customer: LedgerCustomer): StripeObject =>
  customer.deleted
    ? { id: customer.id, object: 'customer', deleted: true }
    : {
        id: customer.id,
        object: 'customer',
        address: customer.address && { ...NO_ADDRESS, ...customer.address },
        balance: customer.balance,
        created: seconds(customer.createdAt),
        currency: null,
        default_source: isLegacyCard(customer.defaultMethodId) ? customer.defaultMethodId : null,
        delinquent: false,
        description: customer.description,
        discount: null,
        email: customer.email,
        invoice_prefix: customer.id.slice(-8).toUpperCase(),
        invoice_settings: {
          custom_fields: null,
          default_payment_method: isLegacyCard(customer.defaultMethodId) ? null : customer.defaultMethodId,
          footer: null,
          rendering_options: null,
        },
        livemode: false,
        metadata: customer.metadata,
        name: customer.name,
        next_invoice_sequence: 1,
        phone: customer.phone,
        preferred_locales: customer.wire['preferred_locales'] ?? [],
        shipping: customer.wire['shipping'] ?? null,
        tax_exempt: customer.wire['tax_exempt'] ?? 'none',
        test_clock: null,
      };

/** True for a legacy card from before PaymentMethods. It is the customer's `default_source`. */
const isLegacyCard = (id: string | null): boolean => id?.startsWith('card_') === true;

export const stripeMethodView = (method: LedgerMethod): StripeObject => ({
  id: method.id,
  object: 'payment_method',
  allow_redisplay: method.wire['allow_redisplay'] ?? 'unspecified',
  billing_details: billingView(method),
  ...(method.type === 'bank_account' ? bankView(method) : savedCardView(method)),
  created: seconds(method.createdAt),
  customer: method.customerId,
  customer_account: null,
  livemode: false,
  metadata: method.metadata,
});

const bankView = ({ bankName, card }: LedgerMethod): StripeObject => ({
  type: 'us_bank_account',
  us_bank_account: {
    account_holder_type: 'individual',
    account_type: 'checking',
    bank_name: bankName,
    financial_connections_account: null,
    fingerprint: card.fingerprint,
    last4: card.last4,
    networks: { preferred: 'ach', supported: ['ach'] },
    routing_number: '110000000',
    status_details: {},
  },
});

const savedCardView = (method: LedgerMethod): StripeObject => ({
  type: 'card',
  card: {
    brand: method.card.brand,
    checks: checksOf(method),
    country: method.card.country,
    display_brand: method.card.brand,
    exp_month: method.card.expMonth,
    exp_year: method.card.expYear,
    fingerprint: method.card.fingerprint,
    funding: method.card.funding,
    generated_from: null,
    last4: method.card.last4,
    networks: { available: [method.card.brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: walletView(method),
  },
});

export const walletView = ({ card }: LedgerMethod): StripeObject | null =>
  card.wallet === null ? null : { type: card.wallet, [card.wallet]: {}, dynamic_last4: card.last4 };

export const billingView = (method: LedgerMethod): StripeObject => ({
  address: { ...NO_ADDRESS, ...method.billing.address },
  email: method.billing.email,
  name: method.billing.name,
  phone: method.billing.phone,
  tax_id: null,
});

export const checksOf = (method: LedgerMethod): StripeObject => ({
  address_line1_check: method.billing.address?.['line1'] ? 'pass' : null,
  address_postal_code_check: method.billing.address?.['postal_code'] ? 'pass' : null,
  cvc_check: method.behaviour.kind === 'declines' && method.behaviour.reason === 'incorrect_cvc' ? 'fail' : 'pass',
});
