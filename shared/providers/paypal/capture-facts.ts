/** @module The facts of a payment in PayPal's orders, captures and refunds: the payment source, the decline, the fee. */

import type { AuthenticationResult } from '../../core/fact-words.ts';
import type { MethodDetails, Settlement } from '../../core/payment-facts.ts';
import { wordTable } from '../adapter.ts';
import { countryCodeOf, fundingOf } from '../reported-facts.ts';
import { centsOf, type PayPalMoney } from './amounts.ts';
import type { Capture, Order, PayPalCard, PayPalRefund } from './schemas.ts';

export const PAYPAL_WALLET: MethodDetails = { type: 'wallet', walletType: 'paypal' };

/** A card in Apple Pay or Google Pay counts as a card. */
export const sourceDetails = (source: Order['payment_source']): MethodDetails | undefined => {
  if (source?.card) return cardDetailsOf(source.card);
  if (source?.apple_pay) return { ...cardDetailsOf(source.apple_pay.card ?? {}), walletType: 'apple_pay' };
  if (source?.google_pay) return { ...cardDetailsOf(source.google_pay.card ?? {}), walletType: 'google_pay' };
  if (source?.venmo) return { type: 'wallet', walletType: 'venmo' };
  return source?.paypal && PAYPAL_WALLET;
};

const cardDetailsOf = (card: PayPalCard): MethodDetails => ({
  type: 'card',
  ...paypalCardFacts(card),
  bankName: card.bin_details?.issuing_bank,
  threeDSecure: authenticationOf(card.authentication_result),
});

export const paypalCardFacts = (card: PayPalCard) => {
  const [expiryYear, expiryMonth] = card.expiry?.split('-') ?? [];
  return {
    cardBrand: card.brand && (BRANDS.get(card.brand) ?? card.brand.toLowerCase()),
    lastFour: card.last_digits,
    expiryMonth,
    expiryYear,
    funding: fundingOf(card.type),
    country: countryCodeOf(card.bin_details?.bin_country_code),
  };
};

const BRANDS = wordTable<string>({ CHINA_UNION_PAY: 'unionpay', CB_NATIONALE: 'cartes_bancaires' });

const authenticationOf = (said: PayPalCard['authentication_result']): MethodDetails['threeDSecure'] => {
  const { authentication_status: status, enrollment_status: enrolled } = said?.three_d_secure ?? {};
  const result = AUTHENTICATION.get(status ?? '') ?? (enrolled === NOT_ENROLLED ? 'attempted' : undefined);
  return result && { result, liabilityShifted: LIABILITY.get(said?.liability_shift ?? '') };
};

/**
 * PayPal's other statuses (unable, challenge required, declined by the shop, informational) are left out, because they
 * are not results.
 */
const AUTHENTICATION = wordTable<AuthenticationResult>({
  Y: 'authenticated',
  A: 'attempted',
  N: 'failed',
  R: 'failed',
});

/** The card's bank does not take part in 3-D Secure. */
const NOT_ENROLLED = 'N';

/** `POSSIBLE` and `UNKNOWN` leave the liability undefined. */
const LIABILITY = wordTable<boolean>({ YES: true, NO: false });

/**
 * The settlement of a capture; undefined while the capture is pending. PayPal reports the amounts in the payment's
 * currency and, if it converts them, also in the currency of the seller's account.
 */
export const captureSettlement = ({ seller_receivable_breakdown: said }: Capture): Settlement | undefined => {
  const { receivable_amount: received, paypal_fee_in_receivable_currency: fee } = said ?? {};
  if (received && fee && received.currency_code === fee.currency_code) {
    const settled = settlementOf(fee, received);
    return settled && { ...settled, exchangeRate: said?.exchange_rate?.value };
  }
  return settlementOf(said?.paypal_fee, said?.net_amount);
};

/** The total settlement of several captures; undefined until PayPal reports all of them in one currency. */
export const settlementOfAll = (captures: readonly Capture[]): Settlement | undefined => {
  const all = captures.map(captureSettlement);
  const [first] = all;
  if (!first || !all.every((one) => one?.currency === first.currency)) return undefined;
  const isOneRate = all.every((one) => one?.exchangeRate === first.exchangeRate);
  return {
    feeCents: all.reduce((sum, one) => sum + (one?.feeCents ?? 0), 0),
    netCents: all.reduce((sum, one) => sum + (one?.netCents ?? 0), 0),
    currency: first.currency,
    ...(isOneRate && { exchangeRate: first.exchangeRate }),
  };
};

/** PayPal reports the returned fee and the seller's loss as positive amounts, so both are negated. */
export const refundSettlement = ({ seller_payable_breakdown: said }: PayPalRefund): Settlement | undefined => {
  const converted = settlementOf(said?.paypal_fee_in_receivable_currency, said?.net_amount_in_receivable_currency);
  const taken = converted ?? settlementOf(said?.paypal_fee ?? zeroOf(said?.net_amount), said?.net_amount);
  return taken && { ...taken, feeCents: 0 - taken.feeCents, netCents: 0 - taken.netCents };
};

const zeroOf = (money: PayPalMoney | undefined): PayPalMoney | undefined => money && { ...money, value: '0' };

const settlementOf = (fee: PayPalMoney | undefined, net: PayPalMoney | undefined): Settlement | undefined => {
  const [feeCents, netCents] = [fee && centsOf(fee), net && centsOf(net)];
  if (feeCents === undefined || netCents === undefined || fee?.currency_code !== net?.currency_code) return undefined;
  if (!Number.isSafeInteger(feeCents) || !Number.isSafeInteger(netCents)) return undefined;
  return { feeCents, netCents, currency: net?.currency_code ?? '' };
};
