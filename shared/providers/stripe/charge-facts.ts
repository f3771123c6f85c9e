/**
 * @module The facts of a payment in Stripe's charges and errors. A declined attempt has its method in the error. A
 * charge is an object only if the request expanded it.
 */

import * as z from 'zod';
import type { AuthenticationResult } from '../../core/fact-words.ts';
import type { MethodDetails, PaymentFacts, ProviderDecline, Settlement } from '../../core/payment-facts.ts';
import { iso } from '../../core/time.ts';
import { wordTable } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import { monthText } from '../contract-event.ts';
import { countryCodeOf, declineOf, fundingOf, knownFacts, receiptUrlOf } from '../reported-facts.ts';
import { stripeAmounts } from './currencies.ts';
import { stripeAdvice } from './decline-codes.ts';

const text = z.nullish(z.string());
const number = z.nullish(z.number());

const card = z.object({
  brand: text,
  last4: text,
  exp_month: number,
  exp_year: number,
  funding: text,
  country: text,
  issuer: text,
  fingerprint: text,
  wallet: z.nullish(z.object({ type: text })),
  three_d_secure: z.nullish(z.object({ result: text, version: text })),
});

const bankAccount = z.nullish(z.object({ bank_name: text, last4: text, country: text, fingerprint: text }));

/** A payment method, or the `payment_method_details` of a charge. */
const method = z.object({
  type: text,
  card: z.nullish(card),
  us_bank_account: bankAccount,
  sepa_debit: bankAccount,
  bacs_debit: bankAccount,
  acss_debit: bankAccount,
  au_becs_debit: bankAccount,
});

const BANK_ACCOUNTS = ['us_bank_account', 'sepa_debit', 'bacs_debit', 'acss_debit', 'au_becs_debit'] as const;

const balanceTransaction = z.object({
  fee: z.number(),
  net: z.number(),
  currency: z.string(),
  exchange_rate: number,
  available_on: z.number(),
});

const charge = z.object({
  id: z.string(),
  status: text,
  outcome: z.nullish(z.object({ network_decline_code: text, advice_code: text, network_advice_code: text })),
  payment_method_details: z.nullish(method),
  balance_transaction: z.nullish(z.union([z.string(), balanceTransaction])),
  receipt_url: text,
});

const failure = z.object({
  code: text,
  decline_code: text,
  network_decline_code: text,
  advice_code: text,
  network_advice_code: text,
  charge: text,
  payment_method: z.nullish(method),
});
type Failure = z.infer<typeof failure>;
type Outcome = z.infer<typeof charge>['outcome'];

const charged = z.object({
  latest_charge: z.nullish(z.union([z.string(), charge])),
  last_payment_error: z.nullish(failure),
});

/** The facts of an intent in an event. Absent or unreadable facts are undefined, and never delay the event. */
export const readEventFacts = (
  object: unknown,
  isFailed: boolean,
  fingerprintOf: FingerprintOf,
): PaymentFacts | undefined => {
  const intent = charged.safeParse(object).data;
  return intent && intentFacts(intent, isFailed, fingerprintOf);
};

export const intentFacts = (
  { latest_charge: latest, last_payment_error: error }: z.infer<typeof charged>,
  isFailed: boolean,
  fingerprintOf: FingerprintOf,
): PaymentFacts | undefined => {
  const last = typeof latest === 'object' && latest?.status !== 'pending' ? latest : undefined;
  if (isFailed && error) {
    // A failed authentication makes no charge, so the latest charge may belong to an earlier attempt.
    const declined = last?.id === error.charge ? last : undefined;
    const said = failureFacts(error, fingerprintOf, declined?.outcome);
    const details = declined?.payment_method_details;
    return details ? { ...said, details: stripeMethodDetails(details, fingerprintOf) } : said;
  }
  const details = last?.payment_method_details;
  return knownFacts({
    details: details ? stripeMethodDetails(details, fingerprintOf) : undefined,
    settlement: stripeSettlement(last?.balance_transaction),
    receiptUrl: receiptUrlOf(last?.receipt_url),
  });
};

/** Error codes of a failed authentication by the payer. */
export const NOT_AUTHENTICATED: readonly string[] = [
  'payment_intent_authentication_failure',
  'setup_intent_authentication_failure',
];

export const failureFacts = (
  error: Failure,
  fingerprintOf: FingerprintOf,
  outcome?: Outcome,
): PaymentFacts | undefined => {
  const details = error.payment_method ? stripeMethodDetails(error.payment_method, fingerprintOf) : undefined;
  const threeDSecure = NOT_AUTHENTICATED.includes(error.code ?? '') ? { result: 'failed' as const } : undefined;
  return knownFacts({
    details: details && { ...details, ...(threeDSecure && { threeDSecure }) },
    decline: failureDecline(error, outcome),
  });
};

/** @param outcome the charge's outcome, which may have codes that the error lacks */
export const failureDecline = (error: Failure, outcome?: Outcome): ProviderDecline | undefined => {
  const networkCode = error.network_decline_code ?? outcome?.network_decline_code;
  const said = {
    ...error,
    advice_code: error.advice_code ?? outcome?.advice_code,
    network_advice_code: error.network_advice_code ?? outcome?.network_advice_code,
  };
  return declineOf(error.decline_code ?? error.code, networkCode, stripeAdvice(said, networkCode));
};

/** Any method other than a card or a bank account, such as Link or Klarna, counts as a wallet. */
const stripeMethodDetails = (said: z.infer<typeof method>, fingerprintOf: FingerprintOf): MethodDetails | undefined => {
  if (said.card) return cardDetails(said.card, fingerprintOf);
  const bank = BANK_ACCOUNTS.find((name) => name === said.type);
  if (bank === undefined) return said.type ? { type: 'wallet', walletType: said.type } : undefined;
  return {
    type: 'bank_account',
    bankName: said[bank]?.bank_name ?? undefined,
    lastFour: said[bank]?.last4 ?? undefined,
    country: countryCodeOf(said[bank]?.country),
    fingerprint: fingerprintOf(said[bank]?.fingerprint),
  };
};

/** The facts of a card. Stripe does not report who is liable for a dispute. */
const cardDetails = (said: z.infer<typeof card>, fingerprintOf: FingerprintOf): MethodDetails => {
  const result = AUTHENTICATION.get(said.three_d_secure?.result ?? '');
  return {
    type: 'card',
    walletType: said.wallet?.type ?? undefined,
    cardBrand: said.brand ?? undefined,
    lastFour: said.last4 ?? undefined,
    expiryMonth: said.exp_month ? monthText(said.exp_month) : undefined,
    expiryYear: said.exp_year ? String(said.exp_year) : undefined,
    funding: fundingOf(said.funding),
    country: countryCodeOf(said.country),
    bankName: said.issuer ?? undefined,
    threeDSecure: result && { result, version: said.three_d_secure?.version ?? undefined },
    fingerprint: fingerprintOf(said.fingerprint),
  };
};

/** `not_supported` and `processing_error` are left out, because they mean that 3-D Secure was not used. */
const AUTHENTICATION = wordTable<AuthenticationResult>({
  authenticated: 'authenticated',
  attempt_acknowledged: 'attempted',
  exempted: 'exempted',
  failed: 'failed',
});

/** @returns undefined unless the request expanded the transaction */
export const stripeSettlement = (
  transaction: string | z.infer<typeof balanceTransaction> | null | undefined,
): Settlement | undefined => {
  if (typeof transaction !== 'object' || transaction === null) return undefined;
  const currency = transaction.currency.toUpperCase();
  // Stripe settles some currencies in smaller units than ISO 4217, so amounts are rounded.
  const inCents = (units: number): number => Math.round(stripeAmounts.toCents(units, currency));
  return {
    feeCents: inCents(transaction.fee),
    netCents: inCents(transaction.net),
    currency,
    exchangeRate: transaction.exchange_rate ? decimalText(transaction.exchange_rate) : undefined,
    availableOn: iso(transaction.available_on * 1_000),
  };
};

const RATE_DIGITS = 12;

/** Writes a rate without an exponent, because decimals in our API have none. */
const decimalText = (rate: number): string =>
  rate
    .toFixed(RATE_DIGITS)
    .replace(/(?<!0)0+$/, '')
    .replace(/\.$/, '');
