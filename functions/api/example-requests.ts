/**
 * @module The example requests of the API document, by operation id. They use the ids of the demo data, so they succeed
 * unchanged on a new local host, in the order of the document. Provider events also need a signature. `npm run
 * examples` sends the requests and records the responses.
 */

/** The request that the API document shows for one operation. */
interface ExampleRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const VISA = { id: 'pmt_4d6666db07e4c5762f59f546' };
const MASTERCARD = { id: 'pmt_8daa203c01f64e3bd4069305' };
const CUSTOMER = { id: 'cust_e22190ff2c02680e49dcb181' };
const UNUSED_CUSTOMER = { id: 'cust_e3c4044d92ef1ad8299a97b5' };
const HOME = { id: 'addr_1ff68ec2e234825105489c60' };
const WORKSHOP = { id: 'addr_35564e95faea095965435845' };
/** A payment in status created, with a saved card. */
const BASKET = { id: 'pay_f3b6e5cc2ee8500763d34425' };
/** A payment that was declined. */
const DUE = { id: 'pay_e2af1922cbe4703d5034b516' };
/** The payment link from the example of `payment-links.create`. */
export const PAYMENT_LINK = { id: 'lnk_f924f484f330b5c073703089' };
/** A payment in status created. */
const DOUBTFUL = { id: 'pay_90f5eabdb002c3b2d9a067b5' };
/** A payment whose amount is held. */
const HELD = { id: 'pay_32bb0f77597bf51c5b68cb51' };
const SUCCEEDED = { id: 'pay_8a7d6686fd3088f0d939f06b' };
const REFUNDED = { id: 'pay_f161540dd24ac7eab210bce1' };
const REFUND = { id: 'ref_7c300118ec6d19d4060e36e9' };
const DISPUTED = { id: 'pay_fe91ba26b4150252f75d3ad1' };
const SUBSCRIPTION = { id: 'subs_c7bb313deae20b6e1e25aa5a' };
/** A subscription billed by the service, because a billing provider's events would make the examples unstable. */
const PAUSED_SUBSCRIPTION = { id: 'subs_47963b034ae025c56e2a06da' };
const MEMBERSHIP = { id: 'mbr_ecad34b2b9eee13615d10a73' };
const ORGANIZATION = { id: 'org_demo' };
const MEMBER = { ...ORGANIZATION, memberId: 'mem_a213ad8bd0283d2e8ff665d7' };
const ERASURE = { id: 'ers_d8fd319867a600cbeaf593b0' };
/** The delivery of the payment.created event of BASKET to the local host's target. */
const DELIVERY = { id: 'log_2c3c27ec826f678bdb7a36cd' };
/** The demo key of every local host. */
const DEMO_KEY = { id: 'key_de30de30de30de30de30de30' };
const GUEST = { email: 'gus@example.com' };
const PRODUCT = { kind: 'products', id: 'poster' };

const event = (slot: 'a' | 'b' | 'c', payment: { id: string; amount: number; currency: string }): ExampleRequest => ({
  body: {
    id: `evt_example_${slot}`,
    type: 'payment_intent.succeeded',
    provider: `provider_${slot}`,
    data: { object: { ...payment, status: 'succeeded' } },
    created: 1_793_611_920,
  },
});

export const exampleRequests: Readonly<Record<string, ExampleRequest>> = {
  'payments.create-intent': {
    body: {
      subtotal_cents: 2_500,
      tax_cents: 475,
      total_cents: 2_975,
      currency: 'EUR',
      description: 'Two notebooks',
      payment_method_id: VISA.id,
      billing_address_id: HOME.id,
      metadata: { basket: 'b-1842' },
    },
  },
  'payments.create': {
    body: { amount_cents: 1_200, currency: 'EUR', concept: 'Workshop', reference_code: 'INV-2026-0042' },
  },
  'payments.list': { query: { status: 'succeeded', orderBy: 'created_at', limit: '2' } },
  'payments.update-intent': { params: BASKET, body: { discount_cents: 300, total_cents: 3_270 } },
  'payments.cancel-intent': { params: DOUBTFUL, body: {} },
  'payments.confirm': { params: BASKET, body: {} },
  'payments.capture': { params: HELD, body: { total_cents: 12_000 } },
  'payments.change-metadata': { params: REFUNDED, body: { metadata: { shipped: true } } },
  'payments.link': { params: DUE, body: { expires_in: 86_400 } },
  'payments.sync': { params: { provider_payment_id: 'pi_3demo000000000015' }, body: {} },
  'payments.get': { params: BASKET, query: { include: 'payment_method' } },
  'payments.timeline': { params: BASKET },
  'payments.summary': { query: { interval: 'month', group_by: 'provider' } },
  'payments.list-guest': { params: GUEST, query: { limit: '20' } },

  'discounts.check': {
    body: { code: 'spring-25', subtotal_cents: 2_000, tax_cents: 380, currency: 'EUR' },
  },
  'refunds.create': {
    params: SUCCEEDED,
    body: { amount_cents: 475, reason: 'requested_by_customer', description: 'One brush came damaged' },
  },
  'refunds.list-of-payment': { params: REFUNDED },
  'refunds.get': { params: REFUND },
  'refunds.list': { query: { status: 'succeeded', limit: '20' } },
  'disputes.list-of-payment': { params: DISPUTED },
  'disputes.list': { query: { status: 'needs_response', limit: '20' } },

  'payment-methods.create': {
    body: { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa', alias: 'Visa, green' },
  },
  'payment-methods.list': { query: { card_brand: 'visa', limit: '20' } },
  'payment-methods.get': { params: VISA },
  'payment-methods.update': { params: VISA, body: { alias: 'Visa, company' } },
  'payment-methods.remove': { params: MASTERCARD },
  'payment-methods.link-address': { params: VISA, body: { billing_address_id: HOME.id } },
  'payment-methods.set-default': { params: VISA, body: {} },

  'customers.create': {
    body: {
      provider_id: 'provider_a',
      email: 'demo.owner@example.com',
      name: 'Olivia Owner',
      metadata: { source: 'newsletter' },
    },
  },
  'customers.list': { query: { provider_id: 'provider_a', limit: '20' } },
  'customers.get': { params: CUSTOMER },
  'customers.update': { params: CUSTOMER, body: { phone: '+49 30 901821' } },
  'customers.remove': { params: UNUSED_CUSTOMER },

  'addresses.create': {
    body: {
      line1: 'Museum Street 9',
      city: 'Berlin',
      postal_code: '10117',
      country: 'DE',
      name: 'Olivia Owner',
      type: 'billing',
      alias: 'Office',
    },
  },
  'addresses.list': { query: { type: 'billing', completeness: 'full' } },
  'addresses.get': { params: HOME },
  'addresses.update': { params: HOME, body: { line2: '3rd floor' } },
  'addresses.remove': { params: WORKSHOP },
  'addresses.set-default': { params: HOME, body: {} },

  'subscriptions.create': {
    body: { customer_id: CUSTOMER.id, payment_method_id: VISA.id, product_id: 'demo-gold-monthly' },
  },
  'subscriptions.list': { query: { status: 'active', include_pm: 'true', limit: '2' } },
  'subscriptions.get': { params: SUBSCRIPTION },
  'subscriptions.update': { params: SUBSCRIPTION, body: { metadata: { seats: '3' } } },
  'subscriptions.timeline': { params: PAUSED_SUBSCRIPTION },
  'subscriptions.link-address': { params: SUBSCRIPTION, body: { billing_address_id: HOME.id } },
  'subscriptions.cancel': { params: SUBSCRIPTION, body: { cancel_at_period_end: true } },
  'subscriptions.reactivate': { params: SUBSCRIPTION, body: {} },
  'subscriptions.pause': { params: SUBSCRIPTION, body: {} },
  'subscriptions.resume': { params: SUBSCRIPTION, body: {} },
  'subscriptions.change': { params: SUBSCRIPTION, body: { quantity: 2, when: 'period_end' } },
  'subscriptions.preview-change': { params: SUBSCRIPTION, body: { quantity: 2 } },
  'subscriptions.withdraw-change': { params: SUBSCRIPTION },
  'subscriptions.list-guest': { params: GUEST, query: { limit: '20' } },

  'subscriptions.link': { params: SUBSCRIPTION, body: { expires_in: 604_800 } },

  'pay.start': { body: { email: 'pia@example.com', name: 'Pia Payer' } },
  'pay.state': {},
  'pay.confirm': { body: { payment_method_id: 'pm_card_visa' } },
  'pay.method': { body: { provider_payment_method_token: 'pm_card_visa' } },
  'pay.cancel': { body: { reason: 'unused', comment: 'I moved abroad' } },
  'pay.keep': { body: {} },

  'payment-links.create': {
    body: { total_cents: 2_500, currency: 'EUR', description: 'Workshop ticket', max_payments: 20 },
  },
  'payment-links.list': { query: { limit: '1' } },
  'payment-links.get': { params: PAYMENT_LINK },
  'payment-links.update': { params: PAYMENT_LINK, body: { description: 'Evening workshop' } },
  'payment-links.archive': { params: PAYMENT_LINK },

  'products.list': { query: { limit: '2' } },

  'memberships.list-tiers': {},
  'memberships.get': { params: MEMBERSHIP },
  'memberships.list': { query: { entity_type: 'user', entity_id: 'user_demo_owner' } },

  'organizations.create': {
    body: { name: 'Engines Ltd', business_email: 'office@engines.example.com', tax_id: 'DE129273398' },
  },
  'organizations.list': { query: { page: '1', limit: '20' } },
  'organizations.get': { params: ORGANIZATION },
  'organizations.update': { params: ORGANIZATION, body: { business_phone: '+49 30 901820' } },
  'organizations.remove': { params: { id: 'org_3a4b6465cae8786ab4b8a150' } },
  'organizations.list-members': { params: ORGANIZATION, query: { role: 'billing', page: '1', limit: '20' } },
  'organizations.add-member': {
    params: { id: 'org_d809640d7709058a85a4d280' },
    body: { email: 'demo.member@example.com', role: 'member' },
  },
  'organizations.change-role': { params: MEMBER, body: { role: 'admin' } },
  'organizations.remove-member': { params: MEMBER },
  'organizations.leave': { params: { id: 'org_e80117c3cb8c345156f178ee' }, body: {} },

  'projects.preview-invite': { params: { token: 'demo-invite' } },

  'webhooks.list-logs': { query: { event_type: 'payment.succeeded', status: 'success', limit: '1' } },
  'webhooks.get-log': { params: DELIVERY },
  'webhooks.send-test': { body: { event: 'payment.succeeded', test_data: { amount: 100 } } },
  'webhooks.replay-log': { params: DELIVERY, body: {} },
  'webhooks.provider-a': event('a', { id: 'pi_3demo000000000001', amount: 2_150, currency: 'eur' }),
  'webhooks.provider-b': event('b', { id: 'ODEMO000000000003', amount: 4_500, currency: 'eur' }),
  'webhooks.provider-c': event('c', { id: 'SQORDdemo00000000000g', amount: 5_300, currency: 'usd' }),

  'admin.list-payments': { query: { status: 'succeeded', min_cents: '100', limit: '2' } },
  'admin.list-subscriptions': { query: { status: 'active', limit: '2' } },
  'admin.list-customers': { query: { limit: '1' } },
  'admin.export-payments': { query: { date: 'completed' } },
  'admin.export-refunds': {},
  'admin.export-person': { params: { id: 'guest:nobody.known@example.com' } },
  'admin.search': { query: { q: '4242' } },
  'admin.summary': { query: { interval: 'month' } },
  'admin.clear-cache': { body: { cache_type: 'organization_membership' } },
  'admin.request-erasure': { body: { email: 'departed.guest@example.com' } },
  'admin.get-erasure': { params: ERASURE },
  'admin.import': {
    body: {
      provider_id: 'provider_a',
      dry_run: true,
      rows: [{ provider_customer_id: 'cus_NffrFeUfNV2Hib', owner: 'guest:gus@example.com' }],
    },
  },
  'admin.create-key': {
    body: {
      name: 'Shop backend',
      scopes: ['payments:read', 'payments:write', 'methods:write'],
      allowed_ips: ['203.0.113.0/24'],
    },
  },
  'admin.list-keys': { query: { limit: '20' } },
  'admin.get-key': { params: DEMO_KEY },
  'admin.update-key': { params: DEMO_KEY, body: { name: 'Demo backend in Berlin' } },
  'admin.rotate-key': { params: DEMO_KEY, body: { grace_seconds: 3_600 } },
  'admin.revoke-key': { params: DEMO_KEY },
  'admin.put-record': {
    params: PRODUCT,
    body: {
      name: 'Poster',
      description: 'A poster of the studio, in A2',
      subtotal_cents: 1_900,
      tax_cents: 361,
      total_cents: 2_261,
      currency: 'EUR',
    },
  },
  'admin.get-record': { params: PRODUCT },
  'admin.delete-record': { params: PRODUCT },
  'admin.list-records': { params: { kind: 'tiers' }, query: { limit: '20' } },

  'api.health': {},
  'api.config': {},
  'api.me': {},
};
