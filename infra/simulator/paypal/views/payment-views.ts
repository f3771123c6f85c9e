/** @module Shows the ledger as PayPal's orders, captures and vault tokens. */

import * as z from 'zod';
import type { LedgerCharge, LedgerMethod, LedgerPayment } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Link } from '../wire/errors.ts';
import { moneyView } from '../wire/order-fields.ts';
import { isCard } from '../wire/tokens.ts';
import {
  authorizationOf,
  authorizationsOf,
  authorizationView,
  capturedAt,
  capturesOf,
  readCaptureWire,
  takenBy,
} from './authorization-views.ts';
import { API, type PayPalObject, processorResponse, timeView } from './fields.ts';
import { paypalRefundView, refundedStatus, refundsOf } from './money-back-views.ts';

/** Fields of an order specific to PayPal's protocol. */
export const paypalOrderWire = z.object({
  reference_id: z.string(),
  custom_id: z.string().optional(),
  invoice_id: z.string().optional(),
  /** True if the payer approves the order at PayPal. Otherwise the merchant names a saved method. */
  payer: z.boolean(),
  return_url: z.string().optional(),
  cancel_url: z.string().optional(),
});
export type PayPalOrderWire = z.infer<typeof paypalOrderWire>;
export const readPayPalOrderWire = (document: { readonly wire: unknown }): PayPalOrderWire =>
  paypalOrderWire.parse(document.wire);

/** The order's authorizations and captures. */
const chargesOf = (unit: Unit, orderId: string): LedgerCharge[] => [
  ...authorizationsOf(unit, orderId),
  ...capturesOf(unit, orderId),
];

const intentOf = ({ captures }: LedgerPayment): 'AUTHORIZE' | 'CAPTURE' =>
  captures === 'later' ? 'AUTHORIZE' : 'CAPTURE';

export type PayPalOrderStatus = 'CREATED' | 'APPROVED' | 'VOIDED' | 'COMPLETED' | 'PAYER_ACTION_REQUIRED';

export const statusOf = (unit: Unit, order: LedgerPayment): PayPalOrderStatus => {
  if (chargesOf(unit, order.id).length > 0) return 'COMPLETED';
  switch (order.status) {
    case 'requires_action':
      return 'PAYER_ACTION_REQUIRED';
    case 'requires_confirmation':
      return 'APPROVED';
    case 'canceled':
      return 'VOIDED';
    default:
      return 'CREATED';
  }
};

export const orderLinks = (unit: Unit, order: LedgerPayment): Link[] => {
  const href = `${API}/v2/checkout/orders/${order.id}`;
  const self = { href, rel: 'self', method: 'GET' };
  const page = unit.customerPage(order.id);
  const rel = intentOf(order).toLowerCase();
  const charge = { href: `${href}/${rel}`, rel, method: 'POST' };
  switch (statusOf(unit, order)) {
    case 'PAYER_ACTION_REQUIRED':
      return [self, { href: page, rel: 'payer-action', method: 'GET' }];
    case 'CREATED':
      return [self, { href: page, rel: 'approve', method: 'GET' }, { href, rel: 'update', method: 'PATCH' }, charge];
    case 'APPROVED':
      return [self, { href, rel: 'update', method: 'PATCH' }, charge];
    default:
      return [self];
  }
};

export const minimalOrderView = (unit: Unit, order: LedgerPayment): PayPalObject => ({
  id: order.id,
  status: statusOf(unit, order),
  ...sourceView(unit, order),
  links: orderLinks(unit, order),
});

export const paypalOrderView = (unit: Unit, order: LedgerPayment): PayPalObject => {
  const [authorizations, captures] = [authorizationsOf(unit, order.id), capturesOf(unit, order.id)];
  const refunds = refundsOf(unit, order.id);
  const { reference_id, custom_id, invoice_id } = readPayPalOrderWire(order);
  return {
    id: order.id,
    intent: intentOf(order),
    status: statusOf(unit, order),
    ...sourceView(unit, order),
    purchase_units: [
      {
        reference_id,
        amount: moneyView(order.amount, order.currency),
        payee: { email_address: 'shop@example.com', merchant_id: 'X5XAHHCG636FA' },
        ...(order.description !== null && { description: order.description }),
        ...(custom_id !== undefined && { custom_id }),
        ...(invoice_id !== undefined && { invoice_id }),
        ...(chargesOf(unit, order.id).length > 0 && {
          payments: {
            ...(authorizations.length > 0 && {
              authorizations: authorizations.map((charge) => authorizationView(unit, charge)),
            }),
            ...(captures.length > 0 && { captures: captures.map((charge) => captureView(unit, charge)) }),
            ...(refunds.length > 0 && { refunds: refunds.map((refund) => paypalRefundView(unit, refund)) }),
          },
        }),
      },
    ],
    create_time: timeView(order.createdAt),
    links: orderLinks(unit, order),
  };
};

const sourceView = (unit: Unit, order: LedgerPayment): PayPalObject => {
  const charge = chargesOf(unit, order.id).at(-1);
  const method = unit.documents.methods.get(unit.slot, charge?.methodId ?? order.methodId ?? '');
  if (!method) return readPayPalOrderWire(order).payer ? { payment_source: { paypal: {} } } : {};
  const { customerId } = method;
  const vaulted = order.status === 'succeeded' && order.saveMethod !== null && customerId !== null;
  const vault = { id: method.id, status: 'VAULTED', customer: { id: customerId } };
  return {
    payment_source: isCard(method)
      ? {
          card: {
            ...cardView(method),
            ...(charge?.authenticated && { authentication_result: AUTHENTICATED }),
            ...(vaulted && { attributes: { vault } }),
          },
        }
      : {
          paypal: {
            email_address: method.billing.email,
            account_id: accountOf(method),
            account_status: 'VERIFIED',
            name: { given_name: 'John', surname: 'Doe' },
            address: { country_code: 'US' },
            ...(vaulted && { attributes: { vault } }),
          },
        },
  };
};

/** 13 characters from the alphabet of PayPal's account ids. */
const accountOf = (method: LedgerMethod): string =>
  method.id
    .toUpperCase()
    .replaceAll(/[^2-9A-HJ-NP-Z]/g, 'X')
    .padStart(13, 'Q')
    .slice(-13);

const cardView = (method: LedgerMethod): PayPalObject => ({
  brand: method.card.brand.toUpperCase(),
  last_digits: method.card.last4,
  expiry: `${method.card.expYear}-${String(method.card.expMonth).padStart(2, '0')}`,
  type: method.card.funding.toUpperCase(),
  bin_details: { bin: '411111', issuing_bank: method.bankName, bin_country_code: method.card.country },
});

const AUTHENTICATED: PayPalObject = {
  liability_shift: 'POSSIBLE',
  three_d_secure: { authentication_status: 'Y', enrollment_status: 'Y' },
};

const captureStatus = (unit: Unit, charge: LedgerCharge): string => {
  switch (charge.status) {
    case 'pending':
      return 'PENDING';
    case 'failed':
    case 'canceled':
      return 'DECLINED';
    case 'succeeded':
    case 'refunded':
      return refundedStatus(unit, charge);
  }
};

export const minimalCaptureView = (unit: Unit, { id, ...charge }: LedgerCharge): PayPalObject => ({
  id,
  status: captureStatus(unit, { id, ...charge }),
  links: [{ href: `${API}/v2/payments/captures/${id}`, rel: 'self', method: 'GET' }],
});

export const captureView = (unit: Unit, charge: LedgerCharge): PayPalObject => {
  const href = `${API}/v2/payments/captures/${charge.id}`;
  const { custom_id, invoice_id } = readPayPalOrderWire(charge);
  const authorization = authorizationOf(unit, charge);
  return {
    id: charge.id,
    status: captureStatus(unit, charge),
    ...(charge.status === 'pending' && { status_details: { reason: 'ECHECK' } }),
    amount: moneyView(takenBy(charge), charge.currency),
    final_capture: readCaptureWire(charge).final_capture ?? true,
    seller_protection: { status: 'NOT_ELIGIBLE' },
    disbursement_mode: 'INSTANT',
    ...(charge.fee !== null && { seller_receivable_breakdown: receivableView(charge, charge.fee) }),
    ...(custom_id !== undefined && { custom_id }),
    ...(invoice_id !== undefined && { invoice_id }),
    supplementary_data: {
      related_ids: {
        order_id: charge.paymentId,
        ...(authorization !== undefined && { authorization_id: authorization }),
      },
    },
    ...processorResponse(unit, charge),
    create_time: timeView(capturedAt(charge)),
    update_time: timeView(unit.at),
    links: [
      { href, rel: 'self', method: 'GET' },
      { href: `${href}/refund`, rel: 'refund', method: 'POST' },
      {
        href:
          authorization === undefined
            ? `${API}/v2/checkout/orders/${charge.paymentId}`
            : `${API}/v2/payments/authorizations/${authorization}`,
        rel: 'up',
        method: 'GET',
      },
    ],
  };
};

const receivableView = ({ amountCaptured: amount, currency }: LedgerCharge, fee: number): PayPalObject => ({
  gross_amount: moneyView(amount, currency),
  paypal_fee: moneyView(fee, currency),
  net_amount: moneyView(amount - fee, currency),
});

/** PayPal's customer id, and the merchant's id if there is one. */
export const paypalCustomerView = (unit: Unit, id: string): PayPalObject => ({
  id,
  ...unit.documents.customers.get(unit.slot, id)?.wire,
});

export const paymentTokenView = (unit: Unit, method: LedgerMethod): PayPalObject => {
  const href = `${API}/v3/vault/payment-tokens/${method.id}`;
  return {
    id: method.id,
    ...(method.customerId !== null && { customer: paypalCustomerView(unit, method.customerId) }),
    payment_source: isCard(method)
      ? { card: { name: 'John Doe', ...cardView(method) } }
      : { paypal: { email_address: method.billing.email, account_id: accountOf(method) } },
    links: [
      { href, rel: 'self', method: 'GET' },
      { href, rel: 'delete', method: 'DELETE' },
    ],
  };
};
