/**
 * @module Shows the ledger as Square's objects. A ledger payment is a Square order, and the charge of a ledger payment
 * is a Square payment. Fields without a value are omitted.
 */

import * as z from 'zod';
import type { LedgerCharge, LedgerCustomer, LedgerMethod, LedgerPayment } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { declineError, issuerCode } from '../wire/errors.ts';
import { isoTime } from '../wire/request.ts';
import { isBank } from '../wire/tokens.ts';

export type SquareObject = { readonly [field: string]: unknown };

/** Fields of an order specific to Square's protocol. */
export const squareOrderWire = z.object({
  location_id: z.string(),
  version: z.int(),
  note: z.string().optional(),
  /** True if Square created the order for a payment without an order. */
  of_payment: z.literal(true).optional(),
  /** The idempotency key of the payment's creation. */
  payment_key: z.string().optional(),
  /** Time of the payment's last change, in epoch ms. */
  changed_at: z.int().optional(),
  line_items: z.array(
    z.object({ uid: z.string(), name: z.string().optional(), quantity: z.string(), amount: z.int() }),
  ),
});
export type SquareOrderWire = z.infer<typeof squareOrderWire>;

export const moneyOf = (amount: number, currency: string) => ({ amount, currency });

export const orderState = ({ status }: LedgerPayment): 'OPEN' | 'COMPLETED' | 'CANCELED' => {
  if (status === 'succeeded') return 'COMPLETED';
  return status === 'canceled' ? 'CANCELED' : 'OPEN';
};

export const squareOrderView = (order: LedgerPayment, unit: Unit): SquareObject => {
  const { location_id, version, line_items } = squareOrderWire.parse(order.wire);
  const money = (amount: number) => moneyOf(amount, order.currency);
  const tenders = attemptsOf(order, unit).filter(({ status }) => status !== 'failed' && status !== 'canceled');
  const state = orderState(order);
  return {
    id: order.id,
    location_id,
    ...(order.metadata['payment_id'] && { reference_id: order.metadata['payment_id'] }),
    ...(order.customerId && { customer_id: order.customerId }),
    source: { name: 'Simulator' },
    line_items: line_items.map(({ uid, name, quantity, amount }) => {
      const total = money(Number(quantity) * amount);
      return {
        uid,
        ...(name !== undefined && { name }),
        quantity,
        item_type: 'ITEM',
        base_price_money: money(amount),
        variation_total_price_money: total,
        gross_sales_money: total,
        total_tax_money: money(0),
        total_discount_money: money(0),
        total_money: total,
      };
    }),
    ...(tenders.length > 0 && { tenders: tenders.map((charge) => tenderView(charge, unit)) }),
    created_at: isoTime(order.createdAt),
    updated_at: isoTime(order.createdAt),
    state,
    version,
    total_money: money(order.amount),
    total_tax_money: money(0),
    total_discount_money: money(0),
    total_tip_money: money(0),
    total_service_charge_money: money(0),
    net_amount_due_money: money(state === 'OPEN' ? order.amount : 0),
  };
};

const attemptsOf = (order: LedgerPayment, unit: Unit): readonly LedgerCharge[] =>
  unit.documents.charges.list(unit.slot, { holder: order.id, limit: 100 }).toReversed();

const tenderView = (charge: LedgerCharge, unit: Unit): SquareObject => ({
  id: charge.id,
  payment_id: charge.id,
  transaction_id: charge.paymentId,
  created_at: isoTime(charge.createdAt),
  amount_money: moneyOf(charge.amount, charge.currency),
  type: isBank(methodOfCharge(charge, unit)) ? 'BANK_ACCOUNT' : 'CARD',
});

export const methodOfCharge = (charge: LedgerCharge, unit: Unit): LedgerMethod => {
  const method = unit.documents.methods.get(unit.slot, charge.methodId);
  if (!method) throw new Error(`Payment ${charge.id} was made by no method`);
  return method;
};

const PAYMENT_STATUS: Readonly<Record<LedgerCharge['status'], string>> = {
  succeeded: 'COMPLETED',
  refunded: 'COMPLETED',
  pending: 'PENDING',
  failed: 'FAILED',
  canceled: 'CANCELED',
};
const CARD_STATUS: Readonly<Record<string, string>> = {
  COMPLETED: 'CAPTURED',
  APPROVED: 'AUTHORIZED',
  PENDING: 'AUTHORIZED',
  FAILED: 'FAILED',
  CANCELED: 'VOIDED',
};

export const squareStatusOf = ({ status, reserved }: LedgerCharge): string =>
  status === 'pending' && reserved ? 'APPROVED' : PAYMENT_STATUS[status];

export const squarePaymentView = (charge: LedgerCharge, unit: Unit, status = squareStatusOf(charge)): SquareObject => {
  const method = methodOfCharge(charge, unit);
  const { location_id, note } = squareOrderWire.parse(charge.wire);
  const amount = moneyOf(charge.amount, charge.currency);
  const changedAt = changeOf(charge, unit, status);
  return {
    id: charge.id,
    created_at: isoTime(charge.createdAt),
    updated_at: isoTime(changedAt),
    amount_money: amount,
    total_money: amount,
    ...(charge.authorized > 0 && { approved_money: moneyOf(charge.authorized, charge.currency) }),
    ...(isBank(method) ? {} : delayOf(charge)),
    ...(status === 'APPROVED' && charge.reserved && { capabilities: [EDITS_DOWN] }),
    ...(charge.captured && charge.amountRefunded > 0
      ? { refunded_money: moneyOf(charge.amountRefunded, charge.currency) }
      : {}),
    ...refundIds(charge, unit),
    ...(charge.fee !== null && { processing_fee: [feeView(charge, charge.fee)] }),
    status,
    source_type: isBank(method) ? 'BANK_ACCOUNT' : 'CARD',
    ...(isBank(method)
      ? { bank_account_details: bankView(charge, method) }
      : { card_details: cardDetails(charge, method, status) }),
    location_id,
    order_id: charge.paymentId,
    ...(charge.metadata['payment_id'] && { reference_id: charge.metadata['payment_id'] }),
    ...(charge.customerId && { customer_id: charge.customerId }),
    ...(note !== undefined && { note }),
    ...(status === 'COMPLETED' && {
      receipt_number: charge.id.slice(-4),
      receipt_url: `https://squareup.com/receipt/preview/${charge.id}`,
    }),
    version_token: versionToken(charge, status),
  };
};

/** The capability of a payment that waits for its capture. */
const EDITS_DOWN = 'EDIT_AMOUNT_DOWN';

/**
 * Time of the payment's last change. While a cancellation is announced, its time is not stored yet, so the current time
 * applies.
 */
const changeOf = ({ createdAt, paymentId, wire }: LedgerCharge, unit: Unit, status: string): number => {
  const changedAt = squareOrderWire.parse(wire).changed_at ?? createdAt;
  if (status !== 'CANCELED') return changedAt;
  return unit.documents.payments.get(unit.slot, paymentId)?.canceledAt ?? unit.at;
};

const DELAY_MS = 7 * 86_400_000;
const MINUTE_MS = 60_000;

/** Every card payment has a delay, even if Square completes it immediately. */
const delayOf = ({ createdAt, holdEndsAt }: LedgerCharge): SquareObject => {
  const until = holdEndsAt ?? createdAt + DELAY_MS;
  const minutes = Math.floor((until - createdAt) / MINUTE_MS);
  const rest = minutes % 60 === 0 ? '' : `${minutes % 60}M`;
  return {
    delay_duration: `PT${Math.floor(minutes / 60)}H${rest}`,
    delay_action: 'CANCEL',
    delayed_until: isoTime(until),
  };
};

/** A token that changes with the payment's status and with each lowered amount. */
export const versionToken = ({ id, amount, authorized }: LedgerCharge, status: string): string =>
  amount < authorized ? `${id}:${status}:${amount}` : `${id}:${status}`;

const feeView = ({ createdAt, currency }: LedgerCharge, fee: number): SquareObject => ({
  effective_at: isoTime(createdAt),
  type: 'INITIAL',
  amount_money: moneyOf(fee, currency),
});

const MOST_REFUNDS = 1_000;

/** Refunds of all statuses, oldest first. The field is absent if there are none. */
const refundIds = (charge: LedgerCharge, unit: Unit): { readonly refund_ids?: readonly string[] } => {
  const refunds = unit.documents.refunds.list(unit.slot, { holder: charge.paymentId, limit: MOST_REFUNDS });
  const ids = refunds.filter(({ chargeId }) => chargeId === charge.id).map(({ id }) => id);
  return ids.length > 0 ? { refund_ids: ids.toReversed() } : {};
};

const errorsOf = ({ failure }: LedgerCharge) => failure && [declineError(failure.reason)];

const bankView = (charge: LedgerCharge, { bankName, card }: LedgerMethod): SquareObject => ({
  bank_name: bankName,
  transfer_type: 'ACH',
  account_ownership_type: 'INDIVIDUAL',
  fingerprint: card.fingerprint,
  country: card.country,
  ach_details: { routing_number: '110000000', account_number_suffix: card.last4, account_type: 'CHECKING' },
  ...(charge.failure && { errors: errorsOf(charge) }),
});

const cardDetails = (charge: LedgerCharge, method: LedgerMethod, status: string): SquareObject => {
  const issuer = charge.failure ? issuerCode(charge.failure.reason) : 'SIMOK';
  return {
    status: CARD_STATUS[status],
    card: cardView(method, { inPayment: true }),
    entry_method: method.customerId === null ? 'KEYED' : 'ON_FILE',
    cvv_status: charge.failure?.reason === 'incorrect_cvc' ? 'CVV_REJECTED' : 'CVV_ACCEPTED',
    avs_status: charge.failure?.reason === 'incorrect_postal_code' ? 'AVS_REJECTED' : 'AVS_ACCEPTED',
    ...(issuer !== undefined && { auth_result_code: issuer }),
    ...(charge.failure && { errors: errorsOf(charge) }),
  };
};

/** The card of a payment or on file. Only a card on file has an id, a customer and a version. */
export const cardView = (method: LedgerMethod, { inPayment = false } = {}): SquareObject => ({
  ...(inPayment
    ? { card_type: method.card.funding, prepaid_type: 'NOT_PREPAID', bin: '411111' }
    : {
        id: method.id,
        ...(method.customerId && { customer_id: method.customerId }),
        merchant_id: MERCHANT_ID,
        enabled: method.customerId !== null,
        version: method.customerId === null ? 2 : 1,
      }),
  card_brand: method.card.brand,
  last_4: method.card.last4,
  exp_month: method.card.expMonth,
  exp_year: method.card.expYear,
  ...(method.billing.name && { cardholder_name: method.billing.name }),
  fingerprint: method.card.fingerprint,
});

export const MERCHANT_ID = 'SIMULATEDMERCHANT';

const customerWire = z.object({
  given_name: z.string().nullish(),
  family_name: z.string().nullish(),
  note: z.string().nullish(),
  version: z.int(),
});

export const squareCustomerView = (customer: LedgerCustomer): SquareObject => {
  const { given_name, family_name, note, version } = customerWire.parse(customer.wire);
  const fields = {
    given_name,
    family_name,
    email_address: customer.email,
    phone_number: customer.phone,
    reference_id: customer.metadata['customer_id'],
    note,
  };
  return {
    id: customer.id,
    created_at: isoTime(customer.createdAt),
    updated_at: isoTime(customer.createdAt),
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value)),
    preferences: { email_unsubscribed: false },
    creation_source: 'THIRD_PARTY',
    version,
  };
};
