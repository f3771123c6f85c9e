import type { LedgerCharge, LedgerMethod } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { declineFields } from '../wire/errors.ts';
import type { StripeObject } from '../wire/request.ts';
import { API_VERSION, refundsUntaken } from '../wire/versions.ts';
import { chargeTransactionId } from './balance-views.ts';
import { billingView, checksOf, lower, NO_ADDRESS, seconds, walletView } from './payment-views.ts';

/** @param version the API version. It decides whether a released part counts as refunded */
export const chargeView = (charge: LedgerCharge, unit: Unit, version = API_VERSION): StripeObject => {
  const refunded = charge.amountRefunded + (refundsUntaken(version) ? charge.released : 0);
  const method = unit.documents.methods.get(unit.slot, charge.methodId);
  const failure = charge.failure && declineFields(charge.failure.reason);
  return {
    id: charge.id,
    object: 'charge',
    amount: charge.amount,
    amount_captured: charge.amountCaptured,
    amount_refunded: refunded,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: chargeTransactionId(charge),
    billing_details: method ? billingView(method) : { address: NO_ADDRESS, email: null, name: null, phone: null },
    calculated_statement_descriptor: 'PAYMENTS',
    captured: charge.captured,
    created: seconds(charge.createdAt),
    currency: lower(charge.currency),
    customer: charge.customerId,
    description: charge.description,
    disputed: unit.documents.disputes
      .list(unit.slot, { holder: charge.paymentId, limit: 100 })
      .some(({ chargeId }) => chargeId === charge.id),
    failure_balance_transaction: null,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: charge.metadata,
    on_behalf_of: null,
    outcome: outcomeOf(charge),
    paid: statusOf(charge) === 'succeeded',
    payment_intent: charge.paymentId,
    payment_method: charge.methodId,
    payment_method_details: method ? detailsOf(method, charge) : null,
    receipt_email: charge.wire['receipt_email'] ?? null,
    receipt_number: null,
    receipt_url: statusOf(charge) === 'succeeded' ? `https://pay.stripe.com/receipts/payment/${charge.id}` : null,
    refunded: refunded > 0 && refunded === (refundsUntaken(version) ? charge.amount : charge.amountCaptured),
    review: null,
    shipping: charge.wire['shipping'] ?? null,
    source_transfer: null,
    statement_descriptor: charge.wire['statement_descriptor'] ?? null,
    statement_descriptor_suffix: charge.wire['statement_descriptor_suffix'] ?? null,
    status: statusOf(charge),
    transfer_data: null,
    transfer_group: charge.wire['transfer_group'] ?? null,
  };
};

/** At Stripe, reserved or released money is a succeeded, uncaptured charge. */
const statusOf = (charge: LedgerCharge): 'succeeded' | 'pending' | 'failed' => {
  if (charge.status === 'failed') return 'failed';
  return charge.status === 'pending' && !charge.reserved ? 'pending' : 'succeeded';
};

const outcomeOf = (charge: LedgerCharge): StripeObject => {
  const decline = charge.failure && declineFields(charge.failure.reason);
  const reason = decline?.decline_code;
  return {
    advice_code: decline?.['advice_code'] ?? null,
    network_advice_code: decline?.['network_advice_code'] ?? null,
    network_decline_code: decline?.['network_decline_code'] ?? null,
    network_status: reason ? 'declined_by_network' : 'approved_by_network',
    reason: reason ?? null,
    risk_level: 'normal',
    risk_score: 10,
    seller_message: reason ? 'The bank did not return any further details with this decline.' : 'Payment complete.',
    type: reason ? 'issuer_declined' : 'authorized',
  };
};

const detailsOf = (method: LedgerMethod, charge: LedgerCharge): StripeObject => ({
  card: {
    amount_authorized: charge.status === 'failed' ? null : charge.amount,
    authorization_code: null,
    brand: method.card.brand,
    ...(charge.holdEndsAt === null ? {} : { capture_before: seconds(charge.holdEndsAt) }),
    checks: checksOf(method),
    country: method.card.country,
    exp_month: method.card.expMonth,
    exp_year: method.card.expYear,
    extended_authorization: { status: 'disabled' },
    fingerprint: method.card.fingerprint,
    funding: method.card.funding,
    incremental_authorization: { status: 'unavailable' },
    installments: null,
    last4: method.card.last4,
    mandate: null,
    multicapture: { status: 'unavailable' },
    network: method.card.brand,
    network_token: { used: false },
    network_transaction_id: null,
    overcapture: { maximum_amount_capturable: charge.amount, status: 'unavailable' },
    regulated_status: 'unregulated',
    three_d_secure: charge.authenticated
      ? {
          authentication_flow: 'challenge',
          electronic_commerce_indicator: '05',
          exemption_indicator: null,
          result: 'authenticated',
          result_reason: null,
          transaction_id: null,
          version: '2.2.0',
        }
      : null,
    wallet: walletView(method),
  },
  type: 'card',
});
