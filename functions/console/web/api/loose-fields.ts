/**
 * @module Reads fields that the API shows to some callers only, or only once they are known: the payer's e-mail
 * address, the details of the method, a decline, and what the provider paid out.
 */

export type Fields = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** The text of a field; undefined if it is empty or absent. */
export const textIn = (record: Fields, name: string): string | undefined => {
  const value = record[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const numberIn = (record: Fields, name: string): number | undefined => {
  const value = record[name];
  return typeof value === 'number' ? value : undefined;
};

const recordIn = (record: Fields, name: string): Fields | undefined => {
  const value = record[name];
  return isRecord(value) ? value : undefined;
};

/** The method of the last attempt with a known outcome. */
export interface MethodDetails {
  /** `card`, `bank_account` or `wallet`. */
  readonly type: string;
  readonly walletType: string | undefined;
  readonly cardBrand: string | undefined;
  readonly lastFour: string | undefined;
  /** MM/YYYY. */
  readonly expiry: string | undefined;
  readonly funding: string | undefined;
  readonly country: string | undefined;
  readonly bankName: string | undefined;
  /** The result of 3-D Secure. */
  readonly authentication: string | undefined;
  readonly fingerprint: string | undefined;
}

export const methodDetailsOf = (payment: Fields): MethodDetails | undefined => {
  const details = recordIn(payment, 'payment_method_details');
  if (!details) return undefined;
  const month = textIn(details, 'expiry_month');
  const year = textIn(details, 'expiry_year');
  return {
    type: textIn(details, 'type') ?? 'card',
    walletType: textIn(details, 'wallet_type'),
    cardBrand: textIn(details, 'card_brand'),
    lastFour: textIn(details, 'last_four'),
    expiry: month !== undefined && year !== undefined ? `${month}/${year}` : undefined,
    funding: textIn(details, 'funding'),
    country: textIn(details, 'country'),
    bankName: textIn(details, 'bank_name'),
    authentication: textIn(recordIn(details, 'three_d_secure') ?? {}, 'result'),
    fingerprint: textIn(details, 'fingerprint'),
  };
};

/** Why the last attempt was declined. */
export interface Decline {
  readonly code: string;
  readonly providerCode: string | undefined;
  readonly networkCode: string | undefined;
  readonly advice: string | undefined;
  /** True if the method will be declined again. */
  readonly isHard: boolean;
}

export const declineOf = (payment: Fields): Decline | undefined => {
  const decline = recordIn(payment, 'decline') ?? {};
  const code = textIn(decline, 'code') ?? textIn(payment, 'failure_code');
  if (code === undefined) return undefined;
  return {
    code,
    providerCode: textIn(decline, 'provider_code'),
    networkCode: textIn(decline, 'network_code'),
    advice: textIn(decline, 'advice'),
    isHard: decline['hard'] === true,
  };
};

/** What the provider paid out for a payment, or took back for a refund, in the currency of the settlement. */
export interface Settlement {
  /** Negative if the provider gives a fee back. */
  readonly feeCents: number;
  readonly netCents: number;
  readonly currency: string;
  readonly exchangeRate: string | undefined;
  readonly availableOn: string | undefined;
}

/** Undefined until it is known, and for callers who may not see it. */
export const settlementOf = (record: Fields): Settlement | undefined => {
  const settlement = recordIn(record, 'settlement');
  const currency = settlement && textIn(settlement, 'currency');
  if (!settlement || currency === undefined) return undefined;
  return {
    feeCents: numberIn(settlement, 'fee_cents') ?? 0,
    netCents: numberIn(settlement, 'net_cents') ?? 0,
    currency,
    exchangeRate: textIn(settlement, 'exchange_rate') ?? numberIn(settlement, 'exchange_rate')?.toString(),
    availableOn: textIn(settlement, 'available_on'),
  };
};

/** The payer of a payment or subscription by its e-mail address; undefined if the caller may not see it. */
export const payersEmail = (record: Fields): string | undefined =>
  textIn(record, 'guest_email') ?? textIn(record, 'user_email');
