/** @module The columns of payments in CSV. Values nested in JSON have their own columns, after the others. */

import type { VisiblePayment } from '../payments/payment.ts';
import { PAYMENT_COLUMNS, paymentView } from '../payments/payment-view.ts';
import { PAYER_COLUMNS } from './payers.ts';

const methodCells = ({ details, failureCode }: VisiblePayment) => ({
  method_type: details?.type ?? null,
  wallet_type: details?.walletType ?? null,
  card_brand: details?.cardBrand ?? null,
  last_four: details?.lastFour ?? null,
  decline_code: failureCode ?? null,
});

const UP_TO_METHOD = [
  ...PAYMENT_COLUMNS,
  'method_type',
  'wallet_type',
  'card_brand',
  'last_four',
  'decline_code',
] as const satisfies readonly (keyof ReturnType<typeof paymentRow>)[];

const HOLD_COLUMNS = [
  'capture_method',
  'authorized_cents',
  'captured_cents',
] as const satisfies readonly (keyof ReturnType<typeof paymentRow>)[];

const LOST_COLUMNS = ['disputed_cents', 'lost_cents'] as const satisfies readonly (keyof ReturnType<
  typeof paymentRow
>)[];

export const PAYMENT_CSV_COLUMNS = [...UP_TO_METHOD, ...HOLD_COLUMNS, ...LOST_COLUMNS] as const;

/** A payment as a row of CSV, with the fields for payers. */
export const paymentRow = (payment: VisiblePayment) => ({ ...paymentView(payment, 'payer'), ...methodCells(payment) });

/** Amounts for the merchant only, in minor units of the settlement currency. */
export const settlementCells = ({ settlement }: Pick<VisiblePayment, 'settlement'>) => ({
  fee_cents: settlement?.feeCents ?? null,
  net_cents: settlement?.netCents ?? null,
  settlement_currency: settlement?.currency ?? null,
});

/** The date and exchange rate of the provider's payout. */
export const datedCells = ({ settlement }: Pick<VisiblePayment, 'settlement'>) => ({
  available_on: settlement?.availableOn ?? null,
  exchange_rate: settlement?.exchangeRate ?? null,
});

const SETTLEMENT_COLUMNS = [
  'fee_cents',
  'net_cents',
  'settlement_currency',
] as const satisfies readonly (keyof ReturnType<typeof settlementCells>)[];

/** The columns of the list of all payments. New columns are added at the end. */
export const EVERY_PAYMENT_COLUMNS = [
  ...UP_TO_METHOD,
  ...SETTLEMENT_COLUMNS,
  ...PAYER_COLUMNS,
  ...HOLD_COLUMNS,
  ...LOST_COLUMNS,
] as const;
