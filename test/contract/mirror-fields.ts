/**
 * @module The fields of the providers' objects. `read` lists the fields that adapters read, with the paths of nested
 * fields. `ignored` lists the other known fields.
 */
export interface ObjectFields {
  readonly read: string;
  readonly ignored: string;
  /** Fields missing in the current published type, because they belong to earlier versions, events or lists. */
  readonly elsewhere?: string;
}

/** Lists of names, separated by white space. */
export const MIRRORED_FIELDS: Readonly<Record<string, ObjectFields>> = {
  'Stripe: PaymentIntent': {
    read: `
      id status latest_charge last_payment_error.code last_payment_error.decline_code
      last_payment_error.network_decline_code last_payment_error.advice_code last_payment_error.network_advice_code
      last_payment_error.payment_method payment_method client_secret next_action.redirect_to_url.url amount_capturable
      amount_received canceled_at amount currency metadata.payment_id last_payment_error.charge capture_method`,
    ignored: `
      allowed_payment_method_types amount_details application application_fee_amount automatic_payment_methods
      cancellation_reason confirmation_method created customer customer_account description
      excluded_payment_method_types hooks invoice livemode managed_payments object on_behalf_of payment_details
      payment_method_configuration_details payment_method_options payment_method_types payment_record
      presentment_details processing receipt_email review setup_future_usage shipping source statement_descriptor
      statement_descriptor_suffix transfer_data transfer_group`,
    elsewhere: 'invoice',
  },
  'Stripe: Charge': {
    read: `
      id payment_method_details outcome.network_decline_code outcome.advice_code outcome.network_advice_code
      balance_transaction status created receipt_url`,
    ignored: `
      amount amount_captured amount_refunded application application_fee application_fee_amount authorization_code
      billing_details calculated_statement_descriptor captured currency customer description disputed
      failure_balance_transaction failure_code failure_message fraud_details level3 livemode metadata object
      on_behalf_of paid payment_intent payment_method presentment_details radar_options receipt_email receipt_number
      refunded refunds review shipping source source_transfer statement_descriptor
      statement_descriptor_suffix transfer transfer_data transfer_group`,
  },
  'Stripe: Refund': {
    read: `
      id payment_intent amount currency status reason failure_reason created metadata.refund_id balance_transaction`,
    ignored: `
      charge customer customer_account description destination_details failure_balance_transaction instructions_email
      next_action object payment_method pending_reason presentment_details receipt_number source_transfer_reversal
      transfer_reversal`,
  },
  'Stripe: Dispute': {
    read: 'id payment_intent amount currency status reason evidence_details.due_by created',
    ignored: `
      balance_transactions charge enhanced_eligibility_types evidence intended_submission_method is_charge_refundable
      livemode metadata network_reason_code object payment_method_details`,
  },
  'Stripe: Subscription': {
    read: `
      id status pause_collection cancel_at_period_end cancel_at trial_end items.data[].current_period_start
      items.data[].current_period_end items.data[].quantity items.data[].price.unit_amount default_payment_method
      latest_invoice current_period_start current_period_end items.data[].price.currency metadata.subscription_id
      metadata.paid_until`,
    ignored: `
      application application_fee_percent automatic_tax billing_cycle_anchor billing_cycle_anchor_config billing_mode
      billing_schedules billing_thresholds canceled_at cancellation_details collection_method created currency customer
      customer_account days_until_due default_source default_tax_rates description discount discounts ended_at
      invoice_settings livemode managed_payments next_pending_invoice_item_invoice object on_behalf_of payment_settings
      pending_invoice_item_interval pending_setup_intent pending_update presentment_details schedule start_date
      status_details test_clock transfer_data trial_settings trial_start`,
    elsewhere: 'current_period_end current_period_start discount',
  },
  'Stripe: Invoice': {
    read: `
      id status parent.subscription_details.subscription amount_due total subtotal subtotal_excluding_tax
      total_taxes[].amount billing_reason attempt_count next_payment_attempt lines.data[].period.start
      lines.data[].period.end payments.data[].payment.payment_intent.id payments.data[].payment.payment_intent.status
      payments.data[].payment.payment_intent.payment_method payments.data[].payment.payment_intent.client_secret
      payments.data[].payment.payment_intent.next_action.redirect_to_url.url
      payments.data[].payment.payment_intent.last_payment_error.code
      payments.data[].payment.payment_intent.last_payment_error.decline_code
      payments.data[].payment.payment_intent.last_payment_error.network_decline_code
      payments.data[].payment.payment_intent.last_payment_error.advice_code
      payments.data[].payment.payment_intent.last_payment_error.network_advice_code subscription
      subscription_details.subscription payment_intent currency parent.subscription_details.metadata.subscription_id
      subscription_details.metadata.subscription_id metadata.subscription_id payments.data[].status created
      status_transitions`,
    ignored: `
      account_country account_name account_tax_ids amount_overpaid amount_paid amount_paid_off_stripe amount_remaining
      amount_shipping application application_fee_amount attempted auto_advance automatic_tax
      automatically_finalizes_at charge collection_method confirmation_secret custom_fields customer
      customer_account customer_address customer_email customer_name customer_phone customer_shipping
      customer_tax_exempt customer_tax_ids default_payment_method default_source default_tax_rates deleted description
      discount discounts due_date effective_at ending_balance footer from_invoice hosted_invoice_url invoice_pdf issuer
      last_finalization_error latest_revision livemode number object on_behalf_of paid paid_out_of_band
      payment_settings period_end period_start post_payment_credit_notes_amount pre_payment_credit_notes_amount quote
      receipt_number rendering rendering_options shipping_cost shipping_details starting_balance statement_descriptor
      status_details subscription_proration_date tax test_clock threshold_reason
      total_discount_amounts total_excluding_tax total_pretax_credit_amounts total_tax_amounts transfer_data
      webhooks_delivered_at`,
    elsewhere: `
      application_fee_amount charge discount paid paid_out_of_band payment_intent quote rendering_options subscription
      subscription_details subscription_proration_date tax total_tax_amounts transfer_data`,
  },
  'Stripe: Customer': {
    read: 'id email name phone deleted',
    ignored: `
      address balance business_name cash_balance created currency customer_account default_source delinquent
      description discount individual_name invoice_credit_balance invoice_prefix invoice_settings livemode metadata
      next_invoice_sequence object preferred_locales shipping sources subscriptions tax tax_exempt tax_ids test_clock`,
  },
  'Stripe: PaymentMethod': {
    read: `
      id type card.brand card.last4 card.exp_month card.exp_year card.wallet.type card.funding card.country
      card.fingerprint us_bank_account customer`,
    ignored: `
      acss_debit affirm afterpay_clearpay alipay allow_redisplay alma amazon_pay au_becs_debit bacs_debit bancontact
      billie billing_details bizum blik boleto card_present cashapp created crypto custom customer_account
      customer_balance eps fpx giropay grabpay ideal interac_present kakao_pay klarna konbini kr_card link livemode
      mb_way metadata mobilepay multibanco naver_pay nz_bank_account object oxxo p24 pay_by_bank payco paynow paypal
      paypay payto pix promptpay radar_options revolut_pay samsung_pay satispay scalapay sepa_debit sequra sofort
      sunbit swish twint upi wechat_pay zip`,
  },
  'PayPal: Order': {
    read: `
      id status links[].href payment_source.paypal.attributes.vault.id payment_source.card.attributes.vault.id
      payment_source.card.brand payment_source.card.last_digits payment_source.card.expiry payment_source.card.type
      payment_source.card.bin_details.issuing_bank payment_source.card.bin_details.bin_country_code
      payment_source.card.authentication_result.liability_shift
      payment_source.card.authentication_result.three_d_secure.authentication_status
      payment_source.card.authentication_result.three_d_secure.enrollment_status payment_source.apple_pay
      payment_source.google_pay payment_source.venmo purchase_units[].payments.authorizations[]
      purchase_units[].payments.captures[] purchase_units[].amount.value purchase_units[].amount.currency_code
      links[].rel purchase_units[].custom_id intent purchase_units[].description purchase_units[].payments.refunds[].id
      create_time`,
    ignored: 'payer processing_instruction update_time',
  },
  'PayPal: Authorization': {
    read: `
      id status amount.value expiration_time create_time processor_response.response_code
      processor_response.payment_advice_code amount.currency_code custom_id supplementary_data.related_ids.order_id
      supplementary_data.related_ids.authorization_id update_time`,
    ignored: 'invoice_id links network_transaction_reference payee seller_protection status_details',
    elsewhere: 'processor_response',
  },
  'PayPal: Capture': {
    read: `
      id status processor_response.response_code processor_response.payment_advice_code seller_receivable_breakdown
      amount.value amount.currency_code custom_id supplementary_data.related_ids.order_id
      supplementary_data.related_ids.authorization_id links[].href supplementary_data.related_ids.capture_id
      create_time`,
    ignored: `
      disbursement_mode final_capture invoice_id network_transaction_reference payee seller_protection status_details
      update_time`,
  },
  'PayPal: Refund': {
    read: `
      id status status_details.reason amount.value amount.currency_code create_time links[].href
      supplementary_data.related_ids.capture_id supplementary_data.related_ids.order_id custom_id
      seller_payable_breakdown`,
    ignored: 'acquirer_reference_number invoice_id note_to_payer payer update_time',
    elsewhere: 'supplementary_data',
  },
  'PayPal: Dispute': {
    read: `
      dispute_id disputed_transactions[].seller_transaction_id status dispute_outcome.outcome_code dispute_amount.value
      dispute_amount.currency_code reason seller_response_due_date create_time update_time`,
    ignored: `
      adjudications allowed_response_options buyer_response_due_date communication_details dispute_asset
      dispute_channel dispute_life_cycle_stage dispute_state evidences extensions external_reason_code fee_policy links
      messages money_movements offer refund_details supporting_info`,
    elsewhere: 'dispute_state',
  },
  'PayPal: Payment token': {
    read: `
      id customer.id payment_source.card.brand payment_source.card.last_digits payment_source.card.expiry
      payment_source.card.type payment_source.card.bin_details.bin_country_code payment_source.paypal
      customer.merchant_customer_id`,
    ignored: 'links',
  },
  'Square: Order': {
    read: `
      id state total_money.amount total_money.currency tenders[].id tenders[].payment_id tenders[].card_details.status
      tenders[].bank_account_details.status version reference_id created_at`,
    ignored: `
      closed_at customer_id discounts fulfillments line_items location_id metadata net_amount_due_money net_amounts
      pricing_options refunds return_amounts returns rewards rounding_adjustment service_charges source taxes
      ticket_name total_discount_money total_service_charge_money total_tax_money total_tip_money updated_at`,
  },
  'Square: Payment': {
    read: `
      id order_id status card_details.errors[].code card_details.auth_result_code card_details.card
      bank_account_details.errors[].code bank_account_details.bank_name bank_account_details.country
      bank_account_details.fingerprint bank_account_details.ach_details.account_number_suffix wallet_details.brand
      processing_fee approved_money.amount delayed_until updated_at amount_money.amount amount_money.currency
      approved_money.currency reference_id refund_ids note version_token receipt_url`,
    ignored: `
      app_fee_allocations app_fee_money application_details billing_address buy_now_pay_later_details
      buyer_currency_exchange buyer_email_address capabilities cash_details created_at customer_id delay_action
      delay_duration device_details electronic_money_details employee_id external_details is_offline_payment
      location_id offline_payment_details receipt_number refunded_money risk_evaluation shipping_address
      source_type square_account_details statement_description_identifier team_member_id terminal_checkout_id tip_money
      total_money`,
  },
  'Square: PaymentRefund': {
    read: 'id payment_id status amount_money.amount amount_money.currency reason created_at processing_fee',
    ignored: `
      app_fee_allocations app_fee_money destination_details destination_type location_id order_id team_member_id
      terminal_refund_id unlinked updated_at`,
  },
  'Square: Dispute': {
    read: `
      id dispute_id disputed_payment.payment_id amount_money.amount amount_money.currency state reason due_at
      created_at updated_at`,
    ignored: 'brand_dispute_id card_brand evidence_ids location_id reported_at reported_date version',
  },
  'Square: Customer': {
    read: 'id given_name family_name email_address phone_number reference_id',
    ignored: `
      address birthday company_name created_at creation_source group_ids nickname note preferences segment_ids tax_ids
      updated_at version`,
  },
  'Square: Card': {
    read: 'id card_brand last_4 exp_month exp_year card_type prepaid_type fingerprint customer_id enabled',
    ignored: `
      billing_address bin card_co_brand cardholder_name created_at disabled_at hsa_fsa issuer_alert issuer_alert_at
      merchant_id reference_id version`,
  },
};
