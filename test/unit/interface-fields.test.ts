/** @module A client may send every field named in the interface for a route. */
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { unknownFields } from '../../shared/http/known-fields.ts';

const PRICES = ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'currency'];
const TEXTS = ['description', 'concept', 'reference_code', 'category', 'tags'];
const INTENT = [
  ...PRICES,
  ...TEXTS,
  ...['provider_id', 'setup_future_usage', 'payment_method_id', 'customer_id', 'organization_id', 'project_id'],
  ...['billing_address_id', 'return_url', 'metadata', 'guest_data'],
];
const CONTACT = ['email', 'name', 'first_name', 'last_name', 'phone', 'metadata'];
const ADDRESS = [
  ...['country', 'line1', 'line2', 'city', 'state', 'postal_code', 'name', 'is_partial', 'is_business'],
  ...['business_name', 'tax_id', 'tax_id_type', 'type', 'is_default', 'alias'],
];
const ORGANIZATION = ['name', 'business_email', 'business_phone', 'tax_id', 'address'];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'payments.create-intent': INTENT,
  'payments.create': ['organization_id', 'amount_cents', 'currency'],
  'payments.update-intent': INTENT,
  'payments.confirm': ['payment_method_id'],
  'payments.sync': [],
  'addresses.create': [...ADDRESS, 'organization_id', 'guest_data'],
  'addresses.update': ADDRESS,
  'addresses.set-default': [],
  'subscriptions.create': [
    ...PRICES,
    ...TEXTS,
    ...['customer_id', 'product_id', 'payment_method_id', 'provider_id', 'trial_days', 'billing_interval'],
    ...['interval_multiplier', 'organization_id', 'is_guest_subscription', 'guest_data'],
  ],
  'subscriptions.update': ['payment_method_id', 'metadata'],
  'subscriptions.link-address': ['billing_address_id'],
  'subscriptions.cancel': ['cancel_at_period_end'],
  'subscriptions.reactivate': [],
  'payment-methods.create': [
    ...['provider_id', 'provider_payment_method_token', 'type', 'billing_address_id', 'is_default', 'alias'],
    ...['organization_id', 'card_number', 'card_exp_month', 'card_exp_year', 'card_cvc', 'guest_data'],
  ],
  'payment-methods.update': ['alias', 'billing_address_id', 'is_default'],
  'payment-methods.link-address': ['billing_address_id'],
  'payment-methods.set-default': [],
  'customers.create': [...CONTACT, 'provider_id', 'organization_id', 'project_id', 'guest_data'],
  'customers.update': CONTACT,
  'organizations.create': ORGANIZATION,
  'organizations.update': ORGANIZATION,
  'organizations.add-member': ['email', 'role'],
  'organizations.change-role': ['role'],
  'organizations.leave': [],
  'webhooks.send-test': ['event', 'test_data'],
  'admin.clear-cache': ['cache_type'],
};

const VALUES: Readonly<Record<string, unknown>> = {
  guest_data: { email: 'gus@example.com', name: 'Gus', phone: '1' },
  metadata: { anything: { at: 'all' } },
  test_data: { anything: { at: 'all' } },
};

describe('a field of the interface', () => {
  test.each(Object.entries(FIELDS))('is known to %s', (id, fields) => {
    const spec = endpoints.find((one) => one.id === id);
    const body = Object.fromEntries(fields.map((field) => [field, VALUES[field] ?? 'x']));
    expect(spec?.body && unknownFields(spec.body, body)).toEqual([]);
  });
});
