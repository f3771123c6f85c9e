/** @module Payment methods in requests: an id, test value, token, or card number (allowed in test accounts). */

import * as z from 'zod';
import type { LedgerCustomer, LedgerMethod } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { Refused } from '../../protocol/vendor.ts';
import { invalidStripeRequest, stripeError, stripeNotFound } from './errors.ts';
import { anything, choice, clearable, mergeMetadata, metadata, stripeAddress, text, whole } from './parameters.ts';
import { cardOfMethodId, cardOfNumber, cardOfToken, fingerprintOf, type TestCard } from './tokens.ts';

export const billingDetails = z.strictObject({
  name: clearable().optional(),
  email: clearable().optional(),
  phone: clearable().optional(),
  address: z.union([z.literal(''), stripeAddress]).optional(),
  tax_id: anything.optional(),
});
type BillingDetails = z.output<typeof billingDetails>;

const cardData = z.strictObject({
  token: text().optional(),
  number: text(40).optional(),
  exp_month: whole.optional(),
  exp_year: whole.optional(),
  cvc: text(4).optional(),
  networks: anything.optional(),
});

export const methodData = z.strictObject({
  type: choice(['card']),
  card: cardData.optional(),
  billing_details: billingDetails.optional(),
  metadata: metadata.optional(),
  allow_redisplay: choice(['always', 'limited', 'unspecified']).optional(),
  radar_options: anything.optional(),
});
export type MethodData = z.output<typeof methodData>;

const VALID_YEARS = 4;

export const methodFromData = (unit: Unit, data: MethodData): LedgerMethod => {
  if (!data.card)
    throw invalidStripeRequest({ code: 'parameter_missing', message: 'Missing required param: card.', param: 'card' });
  const { token, number } = data.card;
  if (token !== undefined) {
    const known = cardOfToken(token);
    if (!known) throw stripeNotFound('token', token, 'card[token]');
    return addMethod(unit, known, data);
  }
  if (number === undefined) {
    throw invalidStripeRequest({
      code: 'parameter_missing',
      message: 'Missing required param: card[number].',
      param: 'card[number]',
    });
  }
  const known = cardOfNumber(number.replaceAll(/[ -]/g, ''));
  if (!known) throw cardProblem('incorrect_number', 'Your card number is incorrect.', 'number');
  checkExpiry(unit, data.card);
  return addMethod(unit, known, data);
};

/** Every use of a test value creates a new method, as at Stripe. */
export const findMethod = (unit: Unit, id: string, param: string): LedgerMethod => {
  const card = cardOfMethodId(id);
  if (card) return addMethod(unit, card, {});
  const method = unit.documents.methods.get(unit.slot, id);
  if (!method) throw stripeNotFound('PaymentMethod', id, param);
  return method;
};

export const findStripeCustomer = (unit: Unit, id: string, param: string): LedgerCustomer => {
  const customer = unit.documents.customers.get(unit.slot, id);
  if (!customer || customer.deleted) throw stripeNotFound('customer', id, param);
  return customer;
};

/** @throws Refused if the method cannot be used for this customer's payment. */
export const checkUsable = (method: LedgerMethod, customerId: string | null): LedgerMethod => {
  if (method.spent) {
    throw invalidStripeRequest({
      message:
        'The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment, shared with a ' +
        'connected account without Customer attachment, or was detached from a Customer. It may not be used again. To ' +
        'use a PaymentMethod multiple times, you must attach it to a Customer first.',
    });
  }
  if (method.customerId === null || method.customerId === customerId) return method;
  throw invalidStripeRequest({
    message:
      customerId === null
        ? `The PaymentMethod ${method.id} belongs to a Customer. Please include the Customer in the \`customer\` parameter on the PaymentIntent.`
        : `The customer does not have a payment method with the ID ${method.id}. The payment method must be attached to the customer.`,
    param: 'payment_method',
  });
};

export const mergeBilling = (kept: LedgerMethod['billing'], sent: BillingDetails): LedgerMethod['billing'] => ({
  name: sent.name === undefined ? kept.name : sent.name,
  email: sent.email === undefined ? kept.email : sent.email,
  phone: sent.phone === undefined ? kept.phone : sent.phone,
  address: mergeAddress(kept.address, sent.address),
});

export const mergeAddress = (
  kept: LedgerMethod['billing']['address'],
  sent: z.output<typeof stripeAddress> | '' | undefined,
): LedgerMethod['billing']['address'] => {
  if (sent === undefined) return kept;
  if (sent === '') return null;
  const lines = Object.entries({ ...kept, ...sent });
  return Object.fromEntries(lines.map(([line, value]) => [line, value ?? null]));
};

const NO_BILLING = { name: null, email: null, phone: null, address: null };

const addMethod = (unit: Unit, card: TestCard, data: Partial<MethodData>): LedgerMethod => {
  const last4 = card.number.slice(-4);
  return unit.documents.methods.put({
    id: unit.newId('method'),
    provider: unit.slot,
    metadata: mergeMetadata({}, data.metadata),
    wire: data.allow_redisplay === undefined ? {} : { allow_redisplay: data.allow_redisplay },
    createdAt: unit.at,
    type: 'card',
    bankName: null,
    card: {
      brand: card.brand,
      last4,
      expMonth: data.card?.exp_month ?? 12,
      expYear: fullYear(data.card?.exp_year) ?? new Date(unit.at).getUTCFullYear() + VALID_YEARS,
      country: card.country ?? 'US',
      funding: card.funding ?? 'credit',
      fingerprint: fingerprintOf(card),
      wallet: card.wallet ?? null,
    },
    token: card.token,
    behaviour: card.behaviour,
    billing: mergeBilling(NO_BILLING, data.billing_details ?? {}),
    customerId: null,
    spent: false,
    setUp: false,
  });
};

const fullYear = (year: number | undefined): number | undefined =>
  year !== undefined && year < 100 ? 2_000 + year : year;

const checkExpiry = (unit: Unit, { exp_month: month, exp_year: year }: NonNullable<MethodData['card']>): void => {
  if (month === undefined || month < 1 || month > 12) {
    throw cardProblem('invalid_expiry_month', "Your card's expiration month is invalid.", 'exp_month');
  }
  const full = fullYear(year);
  if (full === undefined || Date.UTC(full, month) <= unit.at) {
    throw cardProblem('invalid_expiry_year', "Your card's expiration year is invalid.", 'exp_year');
  }
};

const cardProblem = (code: string, message: string, param: string): Refused =>
  new Refused(stripeError(402, { type: 'card_error', code, message, param }, true));
