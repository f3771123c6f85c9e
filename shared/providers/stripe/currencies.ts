/**
 * @module Stripe's presentment currencies (docs.stripe.com/currencies) and their units. Stripe counts ISK and UGX in
 * hundredths and MGA in whole ariary, unlike ISO 4217. Three-decimal amounts must end in 0. Stripe's STD is no longer
 * an ISO code. Minimum charges depend on the settlement currency, so only Stripe knows the minimum of another currency.
 */

import type Stripe from 'stripe';
import { amountsBy, currencyTable } from '../currencies.ts';

export const STRIPE_CURRENCIES = currencyTable(
  {
    0: 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF',
    2:
      'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
      'CVE CZK DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD KES KGS KHR ' +
      'KYD KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK ' +
      'PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TOP TRY TTD TWD TZS UAH UGX USD UYU ' +
      'UZS WST XCD XCG YER ZAR ZMW',
    3: 'BHD JOD KWD OMR TND',
  },
  {
    AED: { minimumCents: 200 },
    AUD: { minimumCents: 50 },
    BGN: { minimumCents: 100 },
    BHD: { step: 10 },
    BRL: { minimumCents: 50 },
    CAD: { minimumCents: 50 },
    CHF: { minimumCents: 50 },
    COP: { maximum: 9_999_999_999 },
    CZK: { minimumCents: 1_500 },
    DKK: { minimumCents: 250 },
    EUR: { minimumCents: 50 },
    GBP: { minimumCents: 30 },
    HKD: { minimumCents: 400 },
    HUF: { minimumCents: 17_500 },
    IDR: { maximum: 999_999_999_999 },
    INR: { minimumCents: 50, maximum: 999_999_999 },
    JOD: { step: 10 },
    JPY: { minimumCents: 50 },
    KWD: { step: 10 },
    MXN: { minimumCents: 1_000 },
    MYR: { minimumCents: 200 },
    NOK: { minimumCents: 300 },
    NZD: { minimumCents: 50 },
    OMR: { step: 10 },
    PLN: { minimumCents: 200 },
    RON: { minimumCents: 200 },
    SEK: { minimumCents: 300 },
    SGD: { minimumCents: 50 },
    THB: { minimumCents: 1_000 },
    TND: { step: 10 },
    USD: { minimumCents: 50 },
  },
);

/**
 * The greatest charge has eight digits in most currencies
 * (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
 */
const MAXIMUM = 99_999_999;

export const stripeAmounts = amountsBy(STRIPE_CURRENCIES, MAXIMUM);

/** The amount of a PaymentIntent or an invoice as ISO 4217 minor units and currency. */
export const reportedAmount = (said: Pick<Stripe.PaymentIntent, 'amount' | 'currency'>) => {
  const currency = said.currency.toUpperCase();
  return { amountCents: stripeAmounts.toCents(said.amount, currency), currency };
};
