/** @module How this service uses each field of Stripe's objects. */
import type { MirroredObject } from './mirrored-object.ts';

const KIND =
  'the kind of the object, and whether it is live or a test; the request and the key of the slot decide both';
const OURS = 'set by this service, whose record is the source';
const CONNECT = 'for Stripe Connect, Stripe Apps and accounts in place of customers; the service uses none of them';
const EARLIER = 'earlier versions';

const PAYMENT_INTENT: MirroredObject = {
  name: 'PaymentIntent',
  mirrored: {
    id: ['payment.provider_intent_id', 'payment.provider_payment_id'],
    status: ['payment.status'],
    latest_charge: ['Payment.attemptRef'],
    'last_payment_error.code': ['payment.failure_code', 'Payment.decline'],
    'last_payment_error.decline_code': ['payment.failure_code', 'Payment.decline'],
    'last_payment_error.network_decline_code': ['Payment.decline'],
    'last_payment_error.advice_code': ['Payment.decline'],
    'last_payment_error.network_advice_code': ['Payment.decline'],
    'last_payment_error.payment_method': ['Payment.methodRef', 'Payment.details'],
    payment_method: ['Payment.methodRef', 'payment.payment_method_id'],
    client_secret: ['payment.client_secret'],
    'next_action.redirect_to_url.url': ['payment.next_action'],
    amount_capturable: ['payment.capturable_cents'],
    amount_received: ['payment.captured_cents'],
    canceled_at: ['payment.cancellation_reason'],
  },
  checked: { amount: 'payment.total_cents', currency: 'payment.currency' },
  read: {
    'an event arrives before the response that names the intent, to find the payment': 'metadata.payment_id',
    'an attempt is declined, because the latest charge may belong to an earlier attempt': 'last_payment_error.charge',
    'an amount is held, to tell a hold from an automatic capture': 'capture_method',
  },
  ignored: {
    [KIND]: 'object livemode',
    [OURS]: 'customer description setup_future_usage statement_descriptor_suffix automatic_payment_methods',
    'the service leaves the settings of the Stripe account as they are':
      'allowed_payment_method_types confirmation_method excluded_payment_method_types hooks managed_payments payment_method_configuration_details payment_method_options payment_method_types statement_descriptor',
    'the service states one amount, without lines': 'amount_details',
    'the payment has its own dates, and its status is enough': 'cancellation_reason created processing',
    [CONNECT]: 'application application_fee_amount customer_account on_behalf_of transfer_data transfer_group',
    'about receipts, shipping, Radar and reports, which the service leaves to Stripe':
      'payment_details payment_record presentment_details receipt_email review shipping source',
    'the events of an invoice name its intent': 'invoice',
  },
  elsewhere: { [EARLIER]: 'invoice' },
  statuses: {
    status: {
      requires_payment_method: {
        either: ['requires_payment_method', 'created', 'failed'],
        when: '`failed` after a declined attempt, `created` if the payment has a saved method, which Stripe gets with the confirmation',
      },
      requires_confirmation: 'created',
      requires_action: {
        either: ['pending', 'failed'],
        when: '`failed` if a charge without the payer was declined',
      },
      processing: 'processing',
      requires_capture: 'requires_capture',
      succeeded: 'succeeded',
      canceled: 'canceled',
    },
  },
};

const CHARGE: MirroredObject = {
  name: 'Charge',
  mirrored: {
    id: ['Payment.attemptRef'],
    payment_method_details: ['Payment.details'],
    'outcome.network_decline_code': ['Payment.decline'],
    'outcome.advice_code': ['Payment.decline'],
    'outcome.network_advice_code': ['Payment.decline'],
    balance_transaction: ['Payment.settlement'],
  },
  read: {
    'a payment is read, because the outcome of a pending charge is not known': 'status',
    'the charge does not tell when the hold ends, which is then seven days later': 'created',
  },
  ignored: {
    [KIND]: 'object livemode',
    'the intent has the same field':
      'amount currency customer description metadata payment_intent payment_method statement_descriptor statement_descriptor_suffix',
    'the status and the errors of the intent are enough': 'captured failure_code failure_message paid amount_captured',
    'refunds and disputes are separate records':
      'amount_refunded disputed failure_balance_transaction refunded refunds',
    [CONNECT]:
      'application application_fee application_fee_amount authorization_code level3 on_behalf_of source_transfer transfer transfer_data transfer_group',
    'about receipts, shipping, Radar and reports, which the service leaves to Stripe':
      'billing_details calculated_statement_descriptor fraud_details presentment_details radar_options receipt_email receipt_number receipt_url review shipping source',
  },
};

const REFUND: MirroredObject = {
  name: 'Refund',
  mirrored: {
    id: ['refund.provider_refund_id'],
    payment_intent: ['refund.payment_id'],
    amount: ['refund.amount_cents'],
    currency: ['refund.currency'],
    status: ['refund.status'],
    reason: ['refund.reason'],
    failure_reason: ['refund.failure_code'],
    created: ['refund.created_at'],
  },
  read: {
    'no record has the id of the refund, to find a refund that was made here': 'metadata.refund_id',
    'the refunds of a payment are read, to tell the fee that Stripe gives back': 'balance_transaction',
  },
  ignored: {
    [KIND]: 'object',
    'the payment is found by its intent': 'charge customer payment_method',
    'about how the bank pays out, which `status` and `failure_reason` summarize':
      'destination_details failure_balance_transaction instructions_email next_action pending_reason presentment_details receipt_number',
    'a note in Stripe’s dashboard': 'description',
    [CONNECT]: 'customer_account source_transfer_reversal transfer_reversal',
  },
  statuses: {
    status: {
      pending: 'pending',
      requires_action: 'pending',
      succeeded: 'succeeded',
      failed: 'failed',
      canceled: 'canceled',
    },
  },
};

const DISPUTE: MirroredObject = {
  name: 'Dispute',
  mirrored: {
    id: ['dispute.provider_dispute_id'],
    payment_intent: ['dispute.payment_id'],
    amount: ['dispute.amount_cents'],
    currency: ['dispute.currency'],
    status: ['dispute.status'],
    reason: ['dispute.reason'],
    'evidence_details.due_by': ['dispute.evidence_due_by'],
    created: ['dispute.created_at'],
  },
  ignored: {
    [KIND]: 'object livemode',
    'the payment is found by its intent': 'charge',
    'evidence is given in Stripe’s dashboard':
      'enhanced_eligibility_types evidence intended_submission_method metadata network_reason_code payment_method_details',
    'Stripe refuses a refund that it does not allow': 'is_charge_refundable',
    'about payouts, which are not recorded here': 'balance_transactions',
  },
  statuses: {
    status: {
      warning_needs_response: 'needs_response',
      warning_under_review: 'under_review',
      warning_closed: 'closed',
      needs_response: 'needs_response',
      under_review: 'under_review',
      won: 'won',
      lost: 'lost',
      prevented: 'closed',
      appeal_needs_response: 'needs_response',
      appeal_under_review: 'under_review',
    },
  },
};

const TOTALS = ['subscription.total_cents', 'subscription.subtotal_cents'] as const;

const SUBSCRIPTION: MirroredObject = {
  name: 'Subscription',
  mirrored: {
    id: ['subscription.provider_subscription_id'],
    status: ['subscription.status', 'subscription.billing_status'],
    pause_collection: ['subscription.status'],
    cancel_at_period_end: ['subscription.cancel_at_period_end'],
    cancel_at: ['subscription.cancel_at_period_end', 'subscription.next_billing_date', 'Subscription.cancelAt'],
    trial_end: ['subscription.trial_end'],
    'items.data[].current_period_start': ['subscription.current_period_start'],
    'items.data[].current_period_end': ['subscription.current_period_end', 'subscription.next_billing_date'],
    'items.data[].quantity': TOTALS,
    'items.data[].price.unit_amount': TOTALS,
    default_payment_method: ['subscription.payment_method_id'],
    latest_invoice: ['subscription.latest_payment_id', 'Subscription.owed'],
    current_period_start: ['subscription.current_period_start'],
    current_period_end: ['subscription.current_period_end', 'subscription.next_billing_date'],
  },
  checked: { 'items.data[].price.currency': 'subscription.currency' },
  read: {
    'no record has the id in an event, to find the subscription that was made here': 'metadata.subscription_id',
    'a trial is reported, because our mark says that the trial covers time already paid for': 'metadata.paid_until',
  },
  ignored: {
    [KIND]: 'object livemode test_clock',
    [OURS]: 'customer description trial_settings',
    'the amounts of each invoice, which are mirrored, include coupons and taxes':
      'automatic_tax default_tax_rates discount discounts',
    'the price of each item has the currency': 'currency',
    'the period of the items follows from these fields':
      'billing_cycle_anchor billing_cycle_anchor_config billing_mode',
    'the change is mirrored when Stripe makes it':
      'billing_schedules billing_thresholds next_pending_invoice_item_invoice pending_invoice_item_interval pending_update schedule',
    'the record has its own dates, and its status is enough':
      'canceled_at cancellation_details created ended_at start_date status_details trial_start',
    'this service never changes how Stripe collects; do not change it in the dashboard':
      'collection_method days_until_due invoice_settings managed_payments payment_settings presentment_details',
    'every subscription of this service has a default payment method': 'default_source pending_setup_intent',
    [CONNECT]: 'application application_fee_percent customer_account on_behalf_of transfer_data',
  },
  elsewhere: { [EARLIER]: 'current_period_end current_period_start discount' },
  statuses: {
    status: {
      trialing: {
        either: ['trialing', 'paused'],
        when: '`paused` while the collection is paused; the API shows `active` while our trial covers paid time',
      },
      active: {
        either: ['active', 'paused', 'past_due'],
        when: '`paused` while the collection is paused, `past_due` while an older invoice is owed',
      },
      past_due: { either: ['past_due', 'paused'], when: '`paused` while the collection is paused' },
      unpaid: {
        either: ['past_due', 'paused'],
        when: '`paused` while the collection is paused; otherwise `billing_status` is `unpaid`',
      },
      incomplete: {
        either: ['past_due', 'paused'],
        when: '`paused` while the collection is paused; otherwise `billing_status` is `pending`',
      },
      incomplete_expired: 'canceled',
      canceled: 'canceled',
      paused: 'paused',
    },
  },
};

const INTENT = 'payments.data[].payment.payment_intent';

const INVOICE: MirroredObject = {
  name: 'Invoice',
  mirrored: {
    id: ['Payment.providerInvoiceId', 'Subscription.owed'],
    status: ['payment.status'],
    'parent.subscription_details.subscription': ['payment.subscription_id'],
    amount_due: ['payment.total_cents', 'payment.discount_cents'],
    total: ['Subscription.paidPeriod'],
    subtotal: ['payment.subtotal_cents'],
    subtotal_excluding_tax: ['payment.subtotal_cents'],
    'total_taxes[].amount': ['payment.tax_cents'],
    billing_reason: ['payment.billing_reason'],
    attempt_count: ['Payment.attempt'],
    next_payment_attempt: ['subscription.next_billing_date', 'Subscription.retryAt'],
    'lines.data[].period.start': ['subscription.current_period_start'],
    'lines.data[].period.end': ['subscription.current_period_end', 'Subscription.paidUntil'],
    [`${INTENT}.id`]: ['payment.provider_intent_id', 'payment.provider_payment_id'],
    [`${INTENT}.status`]: ['payment.status'],
    [`${INTENT}.payment_method`]: ['payment.payment_method_id'],
    [`${INTENT}.client_secret`]: ['payment.client_secret'],
    [`${INTENT}.next_action.redirect_to_url.url`]: ['payment.next_action'],
    [`${INTENT}.last_payment_error.code`]: ['payment.failure_code', 'Payment.decline'],
    [`${INTENT}.last_payment_error.decline_code`]: ['payment.failure_code', 'Payment.decline'],
    [`${INTENT}.last_payment_error.network_decline_code`]: ['Payment.decline'],
    [`${INTENT}.last_payment_error.advice_code`]: ['Payment.decline'],
    [`${INTENT}.last_payment_error.network_advice_code`]: ['Payment.decline'],
    subscription: ['payment.subscription_id'],
    'subscription_details.subscription': ['payment.subscription_id'],
    payment_intent: ['payment.provider_intent_id', 'payment.provider_payment_id'],
  },
  checked: { currency: 'payment.currency' },
  read: {
    'no record has the ids in an event, to find the subscription that was made here':
      'parent.subscription_details.metadata.subscription_id subscription_details.metadata.subscription_id metadata.subscription_id',
    'a paid invoice is reported, because a canceled payment means that no money moved at Stripe':
      'payments.data[].status',
  },
  ignored: {
    [KIND]: 'object livemode test_clock',
    [OURS]: 'auto_advance',
    'follow from `amount_due`, the subtotal and the taxes; `discount_cents` is the amount that a balance or a coupon pays':
      'amount_overpaid amount_paid amount_paid_off_stripe amount_remaining amount_shipping discount discounts ending_balance paid paid_out_of_band post_payment_credit_notes_amount pre_payment_credit_notes_amount starting_balance tax total_discount_amounts total_excluding_tax total_pretax_credit_amounts total_tax_amounts',
    'rules for computing the amounts; the amounts themselves are mirrored':
      'automatic_tax default_tax_rates shipping_cost subscription_proration_date threshold_reason',
    'the line has the period that the invoice pays for': 'period_end period_start',
    'the payment has its own dates, and its status is enough':
      'attempted automatically_finalizes_at created deleted due_date effective_at last_finalization_error status_details status_transitions webhooks_delivered_at',
    'the subscription says how it is collected':
      'collection_method default_payment_method default_source payment_settings',
    'the subscription has the customer':
      'customer customer_address customer_email customer_name customer_phone customer_shipping customer_tax_exempt customer_tax_ids',
    'for the document that Stripe sends to the payer':
      'account_country account_name account_tax_ids confirmation_secret custom_fields description footer from_invoice hosted_invoice_url invoice_pdf issuer latest_revision number quote receipt_number rendering rendering_options shipping_details statement_descriptor',
    'the intent names the charge': 'charge',
    [CONNECT]: 'application application_fee_amount customer_account on_behalf_of transfer_data',
  },
  elsewhere: {
    [EARLIER]:
      'application_fee_amount charge discount paid paid_out_of_band payment_intent quote rendering_options subscription subscription_details subscription_proration_date tax total_tax_amounts transfer_data',
  },
  statuses: {
    status: {
      draft: 'pending',
      open: {
        either: ['pending', 'failed', 'processing'],
        when: '`failed` after a declined attempt, `processing` while a charge is under way',
      },
      paid: 'succeeded',
      uncollectible: 'failed',
      void: {
        either: ['failed', 'processing', 'succeeded'],
        when: '`processing` or `succeeded` if a charge was under way when the invoice was voided; otherwise the payment is `canceled`',
      },
    },
  },
};

const CUSTOMER: MirroredObject = {
  name: 'Customer',
  mirrored: {
    id: ['customer.provider_customer_id'],
    email: ['customer.email'],
    name: ['customer.name'],
    phone: ['customer.phone'],
  },
  read: { 'an event may be the echo of our own change, because a deleted customer has no details': 'deleted' },
  ignored: {
    [KIND]: 'object livemode test_clock',
    [OURS]: 'metadata',
    '`name` has the whole name': 'business_name individual_name',
    'the billing address is an address of this service': 'address shipping',
    'each subscription names its payment method': 'default_source invoice_settings sources',
    'subscriptions are separate records': 'subscriptions',
    'the amount due of an invoice includes these amounts':
      'balance cash_balance currency delinquent discount invoice_credit_balance tax tax_exempt tax_ids',
    'for the document that Stripe sends to the payer': 'invoice_prefix next_invoice_sequence preferred_locales',
    'the customer has its own dates': 'created',
    'a note in Stripe’s dashboard': 'description',
    [CONNECT]: 'customer_account',
  },
};

const PAYMENT_METHOD: MirroredObject = {
  name: 'PaymentMethod',
  mirrored: {
    id: ['payment_method.provider_payment_method_id'],
    type: ['payment_method.type'],
    'card.brand': ['payment_method.card_brand'],
    'card.last4': ['payment_method.card_last_four'],
    'card.exp_month': ['payment_method.card_exp_month'],
    'card.exp_year': ['payment_method.card_exp_year'],
    'card.wallet.type': ['payment_method.wallet_type'],
    'card.funding': ['payment_method.funding'],
    'card.country': ['payment_method.country'],
    'card.fingerprint': ['payment_method.fingerprint'],
  },
  read: {
    'a request names a method by its id at Stripe, because it must belong to the customer of the owner': 'customer',
  },
  ignored: {
    [KIND]: 'object livemode',
    [OURS]: 'billing_details',
    'details of other types of methods; each such method is a `bank_account` here':
      'acss_debit affirm afterpay_clearpay alipay alma amazon_pay au_becs_debit bacs_debit bancontact billie bizum blik boleto card_present cashapp crypto custom customer_balance eps fpx giropay grabpay ideal interac_present kakao_pay klarna konbini kr_card link mb_way mobilepay multibanco naver_pay nz_bank_account oxxo p24 pay_by_bank payco paynow paypal paypay payto pix promptpay revolut_pay samsung_pay satispay scalapay sepa_debit sequra sofort sunbit swish twint upi us_bank_account wechat_pay zip',
    'the method has its own dates': 'created',
    'about Stripe’s checkout and Radar, which the service does not use': 'allow_redisplay metadata radar_options',
    [CONNECT]: 'customer_account',
  },
};

export const STRIPE_OBJECTS: readonly MirroredObject[] = [
  PAYMENT_INTENT,
  CHARGE,
  REFUND,
  DISPUTE,
  SUBSCRIPTION,
  INVOICE,
  CUSTOMER,
  PAYMENT_METHOD,
];
