/** @module How this service uses each field of Square's objects. */
import type { MirroredObject } from './mirrored-object.ts';

const OURS = 'set by this service, whose record is the source';
const STAFF = 'about staff, locations and devices at a point of sale, which the service does not have';

const ORDER: MirroredObject = {
  name: 'Order',
  mirrored: { id: ['payment.provider_intent_id'], state: ['payment.status'] },
  checked: { 'total_money.amount': 'payment.total_cents', 'total_money.currency': 'payment.currency' },
  read: {
    'an order is read, because its tenders name the payments that decide the status':
      'tenders[].id tenders[].payment_id',
    'an intent is updated or canceled, because a tender may be under way':
      'tenders[].card_details.status tenders[].bank_account_details.status',
    'an intent is updated or canceled, to name the version that is changed': 'version',
    'an order is read, to name our payment, and to look for the payments that hold its amount':
      'reference_id created_at',
  },
  ignored: {
    [OURS]: 'customer_id line_items location_id',
    'the service states one amount, without separate lines for taxes, discounts or tips':
      'discounts net_amount_due_money net_amounts pricing_options rounding_adjustment service_charges taxes total_discount_money total_service_charge_money total_tax_money total_tip_money',
    'refunds are read from the payment': 'refunds return_amounts returns',
    'the payment has its own dates': 'closed_at updated_at',
    'about fulfilment, loyalty and the sales channel, which the service does not have':
      'fulfillments metadata rewards source ticket_name',
  },
  statuses: {
    state: {
      OPEN: {
        either: ['requires_payment_method', 'created', 'failed'],
        when: 'Square stores no refused attempt, so the record says whether an attempt has failed and whether the payment has a method',
      },
      COMPLETED: 'processing',
      CANCELED: 'canceled',
      DRAFT: {
        either: ['requires_payment_method', 'created', 'failed'],
        when: 'as for `OPEN`; the service makes no drafts',
      },
    },
  },
};

const PAYMENT: MirroredObject = {
  name: 'Payment',
  mirrored: {
    id: ['payment.provider_payment_id', 'Payment.attemptRef'],
    order_id: ['payment.provider_intent_id'],
    status: ['payment.status'],
    'card_details.errors[].code': ['payment.failure_code', 'Payment.decline'],
    'card_details.auth_result_code': ['payment.failure_code', 'Payment.decline'],
    'card_details.card': ['Payment.details'],
    'bank_account_details.errors[].code': ['payment.failure_code', 'Payment.decline'],
    'bank_account_details.bank_name': ['Payment.details'],
    'bank_account_details.country': ['Payment.details'],
    'bank_account_details.fingerprint': ['Payment.details'],
    'bank_account_details.ach_details.account_number_suffix': ['Payment.details'],
    'wallet_details.brand': ['Payment.details'],
    processing_fee: ['Payment.settlement'],
    'approved_money.amount': ['Payment.authorizedCents'],
    delayed_until: ['Payment.captureBefore'],
    updated_at: ['Payment.holdEnd'],
  },
  checked: {
    'amount_money.amount': 'payment.total_cents',
    'amount_money.currency': 'payment.currency',
    'approved_money.currency': 'payment.currency',
  },
  read: {
    'an event arrives before the response that names the payment, to find the payment': 'reference_id',
    'the refunds of a payment are read, to look up each refund': 'refund_ids',
    'an amount is held, to name the order that it is held for': 'note',
    'a part is captured, to name the version that is changed': 'version_token',
  },
  ignored: {
    [OURS]: 'customer_id location_id statement_description_identifier',
    'the payment has its payment method': 'source_type',
    'the service accepts no tips and no fees for an application, so `amount_money` is the whole amount':
      'app_fee_allocations app_fee_money tip_money total_money',
    'refunds are separate records': 'refunded_money',
    'Square refuses what a payment does not allow': 'capabilities',
    'the service holds every amount alike, and `delayed_until` tells the end': 'delay_action delay_duration',
    'the payment has its own dates': 'created_at',
    'details of other sources, which the service does not accept':
      'buy_now_pay_later_details cash_details electronic_money_details external_details square_account_details',
    'about receipts, addresses and risk, which the service leaves to Square':
      'billing_address buyer_currency_exchange buyer_email_address receipt_number receipt_url risk_evaluation shipping_address',
    [STAFF]:
      'application_details device_details employee_id is_offline_payment offline_payment_details team_member_id terminal_checkout_id',
  },
  statuses: {
    status: {
      APPROVED: {
        either: ['processing', 'requires_capture'],
        when: 'a payment with `capture_method: manual` is held until its capture; Square completes any other by itself',
      },
      PENDING: 'processing',
      COMPLETED: 'succeeded',
      FAILED: 'failed',
      CANCELED: 'canceled',
    },
  },
};

const REFUND: MirroredObject = {
  name: 'PaymentRefund',
  mirrored: {
    id: ['refund.provider_refund_id'],
    payment_id: ['refund.payment_id'],
    status: ['refund.status', 'refund.failure_code'],
    'amount_money.amount': ['refund.amount_cents'],
    'amount_money.currency': ['refund.currency'],
    reason: ['refund.reason', 'refund.id'],
    created_at: ['refund.created_at'],
  },
  read: { 'the refunds of a payment are read, to tell the fee that Square gives back': 'processing_fee' },
  ignored: {
    'the payment names its order': 'order_id',
    'the refund goes back to the source of its payment': 'destination_details destination_type unlinked',
    'the service charges no fees for an application': 'app_fee_allocations app_fee_money',
    'the refund has its own dates': 'updated_at',
    [STAFF]: 'location_id team_member_id terminal_refund_id',
  },
  statuses: {
    status: { PENDING: 'pending', COMPLETED: 'succeeded', REJECTED: 'failed', FAILED: 'failed' },
  },
};

const DISPUTE: MirroredObject = {
  name: 'Dispute',
  mirrored: {
    id: ['dispute.provider_dispute_id'],
    dispute_id: ['dispute.provider_dispute_id'],
    'disputed_payment.payment_id': ['dispute.payment_id'],
    'amount_money.amount': ['dispute.amount_cents'],
    'amount_money.currency': ['dispute.currency'],
    state: ['dispute.status'],
    reason: ['dispute.reason'],
    due_at: ['dispute.evidence_due_by'],
    created_at: ['dispute.created_at'],
    updated_at: ['Dispute.reportedAt'],
  },
  ignored: {
    'evidence is given in Square’s dashboard': 'evidence_ids version',
    'the payment has its payment method': 'card_brand',
    'the id of the bank and the date at the bank': 'brand_dispute_id reported_at reported_date',
    [STAFF]: 'location_id',
  },
  statuses: {
    state: {
      INQUIRY_EVIDENCE_REQUIRED: 'needs_response',
      INQUIRY_PROCESSING: 'under_review',
      INQUIRY_CLOSED: 'closed',
      EVIDENCE_REQUIRED: 'needs_response',
      PROCESSING: 'under_review',
      WON: 'won',
      LOST: 'lost',
      ACCEPTED: 'lost',
    },
  },
};

const CUSTOMER: MirroredObject = {
  name: 'Customer',
  mirrored: {
    id: ['customer.provider_customer_id'],
    given_name: ['customer.name'],
    family_name: ['customer.name'],
    email_address: ['customer.email'],
    phone_number: ['customer.phone'],
  },
  read: { 'a name is reported, because a customer without a name has our id in its place': 'reference_id' },
  ignored: {
    'the billing address is an address of this service': 'address',
    'the customer has its own dates': 'created_at updated_at',
    'an update names no version, so the last update counts': 'version',
    'about the seller’s directory, which the service does not keep':
      'birthday company_name creation_source group_ids nickname note preferences segment_ids tax_ids',
  },
};

const CARD: MirroredObject = {
  name: 'Card',
  mirrored: {
    id: ['payment_method.provider_payment_method_id'],
    card_brand: ['payment_method.card_brand'],
    last_4: ['payment_method.card_last_four'],
    exp_month: ['payment_method.card_exp_month'],
    exp_year: ['payment_method.card_exp_year'],
    card_type: ['payment_method.funding'],
    prepaid_type: ['payment_method.funding'],
    fingerprint: ['payment_method.fingerprint'],
  },
  read: {
    'a request names a card by its id at Square, because it must belong to the customer of the owner': 'customer_id',
    'a request names a card by its id at Square, because a disabled card cannot be charged': 'enabled',
  },
  ignored: {
    'details that no payment needs': 'bin card_co_brand cardholder_name hsa_fsa issuer_alert issuer_alert_at',
    'the billing address is an address of this service': 'billing_address',
    'the account of the slot': 'merchant_id',
    'the event `card.disabled` removes the method, and a card is never changed by this service':
      'disabled_at reference_id version',
    'the method has its own dates': 'created_at',
  },
};

export const SQUARE_OBJECTS: readonly MirroredObject[] = [ORDER, PAYMENT, REFUND, DISPUTE, CUSTOMER, CARD];
