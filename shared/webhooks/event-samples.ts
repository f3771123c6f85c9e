/** @module Samples for test events. They have the form of real events, and name records that do not exist. */

import { PROVIDER_SLOTS, type ProviderSlot } from '../core/settings.ts';
import { CANONICAL_EVENTS, type CanonicalEvent } from '../platform/bus-event.ts';
import { INBOUND_EVENTS, type InboundEventType } from '../providers/event-port.ts';

export const findCanonicalEvent = (name: string): CanonicalEvent | undefined =>
  CANONICAL_EVENTS.find((known) => known === name);

/** Parses `provider_b:payment_intent.succeeded`; the default slot may be left out. @returns undefined if unknown */
export const parseRawEvent = (
  name: string,
): { readonly provider: ProviderSlot; readonly type: InboundEventType } | undefined => {
  const colon = name.indexOf(':');
  const slot = colon < 0 ? 'provider_a' : name.slice(0, colon);
  const provider = PROVIDER_SLOTS.find((known) => known === slot);
  const type = INBOUND_EVENTS.find((known) => known === name.slice(colon + 1));
  return provider && type && { provider, type };
};

/** The object of an inbound event in the format of the interface. */
export const rawSample = (type: InboundEventType): Readonly<Record<string, unknown>> => ({
  id: 'test',
  amount: 1_000,
  currency: 'usd',
  status: RAW_STATUSES[type] ?? 'active',
  customer: 'test',
});

const RAW_STATUSES: Readonly<Partial<Record<InboundEventType, string>>> = {
  'payment_intent.succeeded': 'succeeded',
  'payment_intent.failed': 'failed',
  'payment_intent.canceled': 'canceled',
  'payment_intent.processing': 'processing',
  'payment_intent.requires_action': 'requires_action',
  'setup_intent.succeeded': 'succeeded',
  'setup_intent.failed': 'failed',
  'subscription.trial_will_end': 'trialing',
  'subscription.deleted': 'canceled',
  'invoice.payment_succeeded': 'succeeded',
  'invoice.payment_failed': 'failed',
};

const USER = { id: 'user_test', type: 'authenticated', email: 'test@example.com' };
const PERIOD = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
const OWNER = { user: USER, project: null };

const ORDER = {
  reference_code: 'ORDER-1',
  metadata: { cart: 'test' },
  product_id: null,
  quantity: 1,
  subtotal: 1_000,
  tax: 0,
  discount: 0,
  billing_address: null,
};

const payment = (status: string) => ({
  payment_id: 'pay_test',
  amount: 1_000,
  currency: 'USD',
  discount_code: null,
  status,
  ...OWNER,
  provider_payment_id: 'test',
  organization_id: null,
  customer_id: null,
  subscription_id: null,
  failure_code: status === 'failed' ? 'insufficient_funds' : null,
  ...ORDER,
});

const METHOD = {
  type: 'card',
  wallet_type: null,
  card_brand: 'visa',
  last_four: '4242',
  funding: 'credit',
  country: 'US',
  bank_name: null,
  three_d_secure: null,
  fingerprint: null,
};
const attempted = (status: string) => ({ ...payment(status), payment_method_details: METHOD });

const held = (status: string, capturable: number) => ({
  ...attempted(status),
  authorized_amount: 1_000,
  capturable_amount: capturable,
  capture_before: PERIOD.end,
});

const refunded = (status: string) => ({
  ...payment('succeeded'),
  refund: { id: 'ref_test', amount: 500, reason: 'requested_by_customer', status },
  refunded_cents: status === 'succeeded' ? 500 : 0,
});

const disputed = (status: string) => ({
  ...payment('succeeded'),
  dispute: { id: 'dsp_test', amount: 1_000, reason: 'fraudulent', status, evidence_due_by: PERIOD.end },
});

const subscription = (status: string, reason: string) => ({
  subscription_id: 'subs_test',
  status,
  billing_status: status === 'canceled' ? 'ended' : 'active',
  customer_id: 'cust_test',
  ...ORDER,
  amount: 1_000,
  currency: 'USD',
  discount_code: null,
  billing_interval: 'monthly',
  interval_multiplier: 1,
  current_period_start: PERIOD.start,
  current_period_end: PERIOD.end,
  cancel_at_period_end: false,
  cancel_reason: null,
  cancel_comment: null,
  trial_end: null,
  reason,
  previous: null,
  ...OWNER,
  organization_id: null,
});

const membership = (status: string) => ({
  membership_id: 'mbr_test',
  membership_type_id: 'test',
  entity_type: 'user',
  entity_id: USER.id,
  subscription_id: 'subs_test',
  status,
  starts_at: PERIOD.start,
  ends_at: PERIOD.end,
  ...OWNER,
});

const CUSTOMER = {
  customer_id: 'cust_test',
  provider_customer_id: 'test',
  email: USER.email,
  name: 'Test',
  is_guest: false,
  ...OWNER,
  organization_id: null,
};

export const SAMPLES: Readonly<Record<CanonicalEvent, Readonly<Record<string, unknown>>>> = {
  'payment.created': payment('created'),
  'payment.succeeded': attempted('succeeded'),
  'payment.failed': attempted('failed'),
  'payment.authorized': held('requires_capture', 1_000),
  'payment.capture_due': held('requires_capture', 1_000),
  'payment.released': { ...held('canceled', 0), reason: 'released' },
  'payment.captured_more': { ...attempted('succeeded'), amount: 400, captured_amount: 1_000 },
  'payment.capture_failed': { ...held('requires_capture', 1_000), failure_code: 'do_not_honor', reason: 'declined' },
  'payment.release_failed': { ...held('requires_capture', 1_000), reason: 'not_done' },
  'payment.updated': { ...attempted('succeeded'), reason: 'metadata' },
  'payment.refunded': refunded('succeeded'),
  'payment.refund_failed': refunded('failed'),
  'payment.dispute_opened': disputed('needs_response'),
  'payment.dispute_updated': disputed('needs_response'),
  'payment.dispute_closed': disputed('won'),
  'subscription.created': subscription('active', 'created'),
  'subscription.updated': subscription('active', 'renewed'),
  'subscription.cancelled': subscription('canceled', 'canceled'),
  'membership.pending': membership('pending'),
  'membership.activated': membership('active'),
  'membership.extended': membership('active'),
  'membership.cancelled': membership('cancelled'),
  'customer.created': CUSTOMER,
  'customer.updated': CUSTOMER,
};
