/** @module How this service uses each field of PayPal's objects. */
import type { MirroredObject } from './mirrored-object.ts';

const OURS = 'set by this service, whose record is the source';
const EVENTS = 'events';
const UNIT = 'purchase_units[]';
const DETAILS = ['Payment.details'] as const;

const CAPTURED_PART = {
  either: ['requires_capture', 'succeeded'],
  when: '`succeeded` once a capture has taken money, which then tells the amount; until then nothing is left to capture',
} as const;

const ORDER: MirroredObject = {
  name: 'Order',
  mirrored: {
    id: ['payment.provider_intent_id', 'payment.client_secret'],
    status: ['payment.status'],
    'links[].href': ['payment.next_action'],
    'payment_source.paypal.attributes.vault.id': ['Payment.methodRef'],
    'payment_source.card.attributes.vault.id': ['Payment.methodRef'],
    'payment_source.card.brand': DETAILS,
    'payment_source.card.last_digits': DETAILS,
    'payment_source.card.expiry': DETAILS,
    'payment_source.card.type': DETAILS,
    'payment_source.card.bin_details.issuing_bank': DETAILS,
    'payment_source.card.bin_details.bin_country_code': DETAILS,
    'payment_source.card.authentication_result.liability_shift': DETAILS,
    'payment_source.card.authentication_result.three_d_secure.authentication_status': DETAILS,
    'payment_source.card.authentication_result.three_d_secure.enrollment_status': DETAILS,
    'payment_source.apple_pay': DETAILS,
    'payment_source.google_pay': DETAILS,
    'payment_source.venmo': DETAILS,
    [`${UNIT}.payments.authorizations[]`]: ['payment.status', 'payment.provider_payment_id'],
    [`${UNIT}.payments.captures[]`]: ['payment.status', 'payment.provider_payment_id'],
  },
  checked: {
    [`${UNIT}.amount.value`]: 'payment.total_cents',
    [`${UNIT}.amount.currency_code`]: 'payment.currency',
  },
  read: {
    'the payer must approve the order, to find the link by its name': 'links[].rel',
    'an event arrives before the response that names the order, to find the payment': `${UNIT}.custom_id`,
    'an intent is updated, to patch only the changed fields': `intent ${UNIT}.description`,
    'the refunds of a payment are read, to look up each refund': `${UNIT}.payments.refunds[].id`,
    'a lost payment is restored, for its date': 'create_time',
  },
  ignored: {
    [OURS]: 'processing_instruction',
    'the payment has its own dates': 'update_time',
    'PayPal keeps the payer; the service stores nothing about the PayPal account': 'payer',
  },
  statuses: {
    status: {
      CREATED: {
        either: ['requires_payment_method', 'created', 'pending', 'failed', 'canceled'],
        when: 'PayPal stores no refused attempt and no cancellation, so the status of the record counts',
      },
      SAVED: {
        either: ['requires_payment_method', 'created', 'pending', 'failed', 'canceled'],
        when: 'as for `CREATED`',
      },
      PAYER_ACTION_REQUIRED: {
        either: ['requires_payment_method', 'created', 'pending', 'failed', 'canceled'],
        when: 'as for `CREATED`',
      },
      APPROVED: {
        either: ['pending', 'requires_payment_method', 'created', 'failed', 'canceled'],
        when: '`pending` until the service captures or authorizes the payment. If the record is failed, canceled or processing, the record keeps its status',
      },
      VOIDED: 'canceled',
      COMPLETED: 'processing',
    },
  },
};

const HELD = '`requires_capture` if it is the capture of an authorization, which stays as it was';

const AUTHORIZATION: MirroredObject = {
  name: 'Authorization',
  mirrored: {
    id: ['payment.provider_payment_id', 'Payment.attemptRef'],
    status: ['payment.status'],
    'amount.value': ['Payment.authorizedCents', 'Payment.capturableCents'],
    expiration_time: ['Payment.captureBefore'],
    create_time: ['Payment.guaranteedUntil'],
    'processor_response.response_code': ['payment.failure_code', 'Payment.decline'],
    'processor_response.payment_advice_code': ['Payment.decline'],
  },
  checked: { 'amount.currency_code': 'payment.currency' },
  read: {
    'an event arrives before the response that names the authorization, to find the payment':
      'custom_id supplementary_data.related_ids.order_id',
    'a capture of the authorization is read': 'supplementary_data.related_ids.authorization_id',
    'the hold has ended, to tell its end by the clock from a release': 'update_time',
  },
  ignored: {
    [OURS]: 'invoice_id',
    'the id leads to the authorization': 'links',
    '`status` summarizes it': 'status_details',
    'about PayPal’s protection, which is not recorded here': 'network_transaction_reference payee seller_protection',
  },
  elsewhere: { orders: 'processor_response' },
  statuses: {
    status: {
      CREATED: 'requires_capture',
      CAPTURED: CAPTURED_PART,
      PARTIALLY_CAPTURED: CAPTURED_PART,
      PENDING: 'processing',
      DENIED: 'failed',
      VOIDED: 'canceled',
    },
  },
};

const CAPTURE: MirroredObject = {
  name: 'Capture',
  mirrored: {
    id: ['payment.provider_payment_id', 'Payment.attemptRef'],
    status: ['payment.status'],
    'processor_response.response_code': ['payment.failure_code', 'Payment.decline'],
    'processor_response.payment_advice_code': ['Payment.decline'],
    seller_receivable_breakdown: ['Payment.settlement'],
  },
  checked: { 'amount.value': 'payment.total_cents', 'amount.currency_code': 'payment.currency' },
  read: {
    'an event arrives before the response that names the capture, to find the payment':
      'custom_id supplementary_data.related_ids.order_id',
    'the attempt of a hold is named, which is its authorization': 'supplementary_data.related_ids.authorization_id',
    'an event says only that the capture was refunded, to find the payment':
      'links[].href supplementary_data.related_ids.capture_id',
    'a lost payment is restored, for the date of its outcome': 'create_time',
  },
  ignored: {
    [OURS]: 'final_capture invoice_id',
    'the payment has its own dates': 'update_time',
    '`status` summarizes it': 'status_details',
    'about payouts and PayPal’s protection, which are not recorded here':
      'disbursement_mode network_transaction_reference payee seller_protection',
  },
  statuses: {
    status: {
      COMPLETED: 'succeeded',
      PARTIALLY_REFUNDED: 'succeeded',
      REFUNDED: 'succeeded',
      PENDING: { either: ['processing', 'requires_capture'], when: HELD },
      DECLINED: { either: ['failed', 'requires_capture'], when: HELD },
      FAILED: { either: ['failed', 'requires_capture'], when: HELD },
    },
  },
};

const REFUND: MirroredObject = {
  name: 'Refund',
  mirrored: {
    id: ['refund.provider_refund_id'],
    status: ['refund.status'],
    'status_details.reason': ['refund.failure_code'],
    'amount.value': ['refund.amount_cents'],
    'amount.currency_code': ['refund.currency'],
    create_time: ['refund.created_at'],
    'links[].href': ['refund.payment_id'],
    'supplementary_data.related_ids.capture_id': ['refund.payment_id'],
    'supplementary_data.related_ids.order_id': ['refund.payment_id'],
  },
  read: {
    'no record has the id of the refund, to find a refund that was made here': 'custom_id',
    'the refunds of a payment are read, to tell the fee that PayPal gives back': 'seller_payable_breakdown',
  },
  ignored: {
    'about the capture, not the refund': 'invoice_id',
    'a note for the payer, which the service does not send': 'note_to_payer',
    'the refund has its own dates': 'update_time',
    'about payouts, which are not recorded here': 'acquirer_reference_number',
    'the seller': 'payer',
  },
  elsewhere: { [EVENTS]: 'supplementary_data' },
  statuses: {
    status: { PENDING: 'pending', COMPLETED: 'succeeded', FAILED: 'failed', CANCELLED: 'canceled' },
  },
};

const DISPUTE: MirroredObject = {
  name: 'Dispute',
  mirrored: {
    dispute_id: ['dispute.provider_dispute_id'],
    'disputed_transactions[].seller_transaction_id': ['dispute.payment_id'],
    status: ['dispute.status'],
    'dispute_outcome.outcome_code': ['dispute.status'],
    'dispute_amount.value': ['dispute.amount_cents'],
    'dispute_amount.currency_code': ['dispute.currency'],
    reason: ['dispute.reason'],
    seller_response_due_date: ['dispute.evidence_due_by'],
    create_time: ['dispute.created_at'],
    update_time: ['Dispute.reportedAt'],
  },
  ignored: {
    '`status` and the outcome are enough': 'dispute_life_cycle_stage dispute_state',
    'evidence, offers and messages are given in PayPal’s Resolution Center':
      'allowed_response_options buyer_response_due_date communication_details dispute_channel evidences extensions external_reason_code links messages offer refund_details supporting_info',
    'about payouts and fees, which are not recorded here': 'adjudications fee_policy money_movements',
    'for disputes about cryptocurrency, which the service does not accept': 'dispute_asset',
  },
  elsewhere: { 'the list of disputes': 'dispute_state' },
  statuses: {
    status: {
      OPEN: 'needs_response',
      WAITING_FOR_SELLER_RESPONSE: 'needs_response',
      WAITING_FOR_BUYER_RESPONSE: 'under_review',
      UNDER_REVIEW: 'under_review',
      OTHER: 'under_review',
      RESOLVED: { either: ['won', 'lost', 'closed'], when: 'the outcome decides' },
    },
    'dispute_outcome.outcome_code': {
      RESOLVED_SELLER_FAVOUR: 'won',
      DENIED: 'won',
      RESOLVED_BUYER_FAVOUR: 'lost',
      ACCEPTED: 'lost',
      CANCELED_BY_BUYER: 'closed',
      RESOLVED_WITH_PAYOUT: 'closed',
      NONE: 'closed',
    },
  },
};

const PAYMENT_TOKEN: MirroredObject = {
  name: 'Payment token',
  mirrored: {
    id: ['payment_method.provider_payment_method_id'],
    'customer.id': ['customer.provider_customer_id'],
    'payment_source.card.brand': ['payment_method.card_brand'],
    'payment_source.card.last_digits': ['payment_method.card_last_four'],
    'payment_source.card.expiry': ['payment_method.card_exp_month', 'payment_method.card_exp_year'],
    'payment_source.card.type': ['payment_method.funding'],
    'payment_source.card.bin_details.bin_country_code': ['payment_method.country'],
    'payment_source.paypal': ['payment_method.wallet_type'],
  },
  read: {
    'PayPal gives a customer its id with the first token, to find our customer': 'customer.merchant_customer_id',
  },
  ignored: { 'the id leads to the token': 'links' },
};

export const PAYPAL_OBJECTS: readonly MirroredObject[] = [
  ORDER,
  AUTHORIZATION,
  CAPTURE,
  REFUND,
  DISPUTE,
  PAYMENT_TOKEN,
];
