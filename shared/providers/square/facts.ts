/** @module The facts in Square's payments and cards: the card, bank account or wallet, the decline, Square's fee. */

import type { MethodDetails, PaymentFacts, ProviderDecline, Settlement } from '../../core/payment-facts.ts';
import { wordTable } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import { monthText } from '../contract-event.ts';
import type { ProviderMethod } from '../method-port.ts';
import type { ReportedStatus } from '../payment-port.ts';
import { countryCodeOf, declineOf, fundingOf, knownFacts, receiptUrlOf } from '../reported-facts.ts';
import { type SquareMoney, squareAmounts } from './currencies.ts';
import { squareAdvice } from './decline-codes.ts';
import type { SquareCard, SquareFees, SquarePayment } from './schemas.ts';

type FactFields =
  | 'card_details'
  | 'bank_account_details'
  | 'wallet_details'
  | 'processing_fee'
  | 'amount_money'
  | 'receipt_url';
type Attempt = { readonly [F in FactFields]?: SquarePayment[F] | undefined };

/** A payment in progress has no facts, because its outcome is not known. */
export const attemptFacts = (
  payment: Attempt,
  status: ReportedStatus,
  fingerprintOf: FingerprintOf,
): PaymentFacts | undefined => {
  if (status === 'processing') return undefined;
  const { card_details: card, bank_account_details: bank, amount_money: amount } = payment;
  const [error] = card?.errors ?? bank?.errors ?? [];
  return knownFacts({
    details: detailsOf(payment, fingerprintOf),
    decline: status === 'failed' ? declineIn(error?.code, card?.auth_result_code) : undefined,
    settlement: status === 'succeeded' && amount ? squareSettlement(payment.processing_fee, amount, 1) : undefined,
    receiptUrl: status === 'succeeded' ? receiptUrlOf(payment.receipt_url) : undefined,
  });
};

const declineIn = (code: string | undefined, issuerCode: string | null | undefined): ProviderDecline | undefined =>
  declineOf(code, issuerCode, squareAdvice(code, issuerCode));

/** Square reports no 3-D Secure result, and shows cards in Apple Pay and Google Pay as plain cards. */
const detailsOf = (
  { card_details: card, bank_account_details: bank, wallet_details: wallet }: Attempt,
  fingerprintOf: FingerprintOf,
): MethodDetails | undefined => {
  if (card?.card) return cardFacts(card.card, fingerprintOf);
  if (bank) {
    return {
      type: 'bank_account',
      bankName: bank.bank_name ?? undefined,
      lastFour: bank.ach_details?.account_number_suffix ?? undefined,
      country: countryCodeOf(bank.country),
      fingerprint: fingerprintOf(bank.fingerprint),
    };
  }
  const brand = wallet?.brand === 'UNKNOWN' ? undefined : wallet?.brand?.toLowerCase();
  return wallet ? { type: 'wallet', walletType: brand } : undefined;
};

/**
 * Square sets its fee after the payment and adjusts it later, so all listed fees are added up. A refund may return a
 * fee.
 * @param sign 1 for a payment, -1 for a refund
 */
export const squareSettlement = (
  fees: SquareFees | null | undefined,
  amount: SquareMoney,
  sign: 1 | -1,
): Settlement | undefined => {
  const { currency } = amount;
  const charged = fees?.flatMap(({ amount_money: fee }) => fee ?? []) ?? [];
  if (charged.length === 0 || charged.some((fee) => fee.currency !== currency)) return undefined;
  const feeCents = squareAmounts.toCents(
    charged.reduce((sum, fee) => sum + fee.amount, 0),
    currency,
  );
  return { feeCents, netCents: sign * squareAmounts.toCents(amount.amount, currency) - feeCents, currency };
};

const BRANDS = wordTable<string>({
  AMERICAN_EXPRESS: 'amex',
  DISCOVER_DINERS: 'diners',
  CHINA_UNIONPAY: 'unionpay',
});

/** The stored fields of a card, on file or in a payment. Square does not report the issuer's country. */
export const cardFacts = (
  card: SquareCard,
  fingerprintOf: FingerprintOf,
): Omit<ProviderMethod, 'methodId' | 'customerId'> & { readonly type: 'card' } => ({
  type: 'card',
  walletType: undefined,
  cardBrand: card.card_brand ? (BRANDS.get(card.card_brand) ?? card.card_brand.toLowerCase()) : undefined,
  lastFour: card.last_4 ?? undefined,
  expiryMonth: card.exp_month ? monthText(card.exp_month) : undefined,
  expiryYear: card.exp_year ? String(card.exp_year) : undefined,
  funding: card.prepaid_type === 'PREPAID' ? 'prepaid' : fundingOf(card.card_type),
  fingerprint: fingerprintOf(card.fingerprint),
});
