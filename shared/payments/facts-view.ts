/**
 * @module The views of a payment's facts. Only the audience `staff` (the merchant) sees the provider's fees.
 * `settlementFor` alone decides this.
 */

import * as z from 'zod';
import type { Audience } from '../access/audience.ts';
import { ADVICE, adviceOn } from '../core/decline-advice.ts';
import { AUTHENTICATION_RESULTS, FUNDINGS, METHOD_KINDS } from '../core/fact-words.ts';
import { once } from '../core/once.ts';
import type { MethodDetails, Settlement } from '../core/payment-facts.ts';
import type { Payment } from './payment.ts';

/** The view of a payment's method in events. The views in responses add the card's expiry. */
export const eventDetailsView = (details: MethodDetails | undefined) =>
  details === undefined
    ? null
    : {
        type: details.type,
        wallet_type: details.walletType ?? null,
        card_brand: details.cardBrand ?? null,
        last_four: details.lastFour ?? null,
        funding: details.funding ?? null,
        country: details.country ?? null,
        bank_name: details.bankName ?? null,
        three_d_secure: authenticationView(details.threeDSecure),
        fingerprint: details.fingerprint ?? null,
      };

const authenticationView = (given: MethodDetails['threeDSecure']) =>
  given === undefined
    ? null
    : {
        result: given.result,
        version: given.version ?? null,
        liability_shifted: given.liabilityShifted ?? null,
      };

export const methodDetailsView = (details: MethodDetails | undefined) => {
  const view = eventDetailsView(details);
  return view && { ...view, expiry_month: details?.expiryMonth ?? null, expiry_year: details?.expiryYear ?? null };
};

/** The decline of a failed payment; null in every other status. */
export const declineView = ({ status, failureCode, decline }: Payment) =>
  status !== 'failed' || failureCode === undefined
    ? null
    : {
        code: failureCode,
        provider_code: decline?.providerCode ?? null,
        network_code: decline?.networkCode ?? null,
        ...adviceOn(failureCode, decline),
      };

/** The settlement for the merchant, null if unknown. The views for payers lack this field. */
export const settlementFor = (audience: Audience, { settlement }: { readonly settlement?: Settlement | undefined }) =>
  audience === 'staff' ? { settlement: settlementView(settlement) } : {};

const settlementView = (settlement: Settlement | undefined) =>
  settlement === undefined
    ? null
    : {
        fee_cents: settlement.feeCents,
        net_cents: settlement.netCents,
        currency: settlement.currency,
        exchange_rate: settlement.exchangeRate ?? null,
        available_on: settlement.availableOn ?? null,
      };

const factSchemas = /* @__PURE__ */ once(() => {
  const text = z.string().nullable();
  const threeDSecure = z
    .object({
      result: z
        .enum(AUTHENTICATION_RESULTS)
        .describe(
          '`authenticated`: the payer proved to be the holder. `attempted`: the bank takes no part. `exempted`: not required. `failed`: the payer did not prove to be the holder.',
        ),
      version: text.describe('The version of 3-D Secure, such as `2.2.0`; null if unknown.'),
      liability_shifted: z
        .boolean()
        .nullable()
        .describe('True if the issuer bears the loss of a disputed payment; null if unknown.'),
    })
    .nullable()
    .describe('The 3-D Secure authentication of the attempt; null without one.');
  const method = {
    type: z
      .enum(METHOD_KINDS)
      .describe(
        'The kind of the method. A card in Apple Pay or Google Pay is a `card`; a PayPal balance is a `wallet`.',
      ),
    wallet_type: text.describe('The wallet in lower case, such as `apple_pay` or `paypal`; null without one.'),
    card_brand: text.meta({ description: 'The brand of the card in lower case; null if unknown.', examples: ['visa'] }),
    last_four: text.meta({
      description: 'The last four digits of the card or account; null if unknown, and after an erasure.',
      examples: ['4242'],
    }),
    funding: z.enum(FUNDINGS).nullable().describe('Whether the card is credit, debit or prepaid; null if unknown.'),
    country: text.meta({
      description: "The issuer's country, ISO 3166-1 alpha-2; null if unknown.",
      examples: ['US'],
    }),
    bank_name: text.describe('The bank of the account or card; null if unknown.'),
    three_d_secure: threeDSecure,
    fingerprint: text.describe(
      'Equal for equal cards of one provider slot, `fp_…`; null if the provider names none or the service has no fingerprint secret.',
    ),
  };
  return { text, method };
});

/** The method of the last attempt, in events. */
export const eventDetailsSchema = /* @__PURE__ */ once(() =>
  z.object(factSchemas().method).meta({
    id: 'EventMethodDetails',
    description: 'The card, bank account or wallet that paid or was declined, without its expiry date.',
  }),
);

const detailsViewSchema = /* @__PURE__ */ once(() => {
  const { method, text } = factSchemas();
  return z
    .object({
      ...method,
      expiry_month: text.describe('The month in which the card expires, as `MM`; null if unknown.'),
      expiry_year: text.describe('The year in which the card expires, as `YYYY`; null if unknown.'),
    })
    .meta({ id: 'PaymentMethodDetails', description: 'The method of an attempt, as the provider reported it.' });
});

const declineViewSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      code: z.string().describe('The same as `failure_code`.'),
      provider_code: factSchemas().text.describe("The provider's own code; null if unknown."),
      network_code: factSchemas().text.describe("The card network's code; null if unknown."),
      advice: z
        .enum(ADVICE)
        .describe(
          'The next step. `retry_later`: the same method later. `another_method`: another card or account. `authenticate`: the payer must authenticate. `correct_data`: the card data is wrong or outdated. `contact_bank`: only the bank knows why.',
        ),
      hard: z.boolean().describe('True if no further attempt with this method can succeed.'),
    })
    .meta({ id: 'PaymentDecline', description: 'Why the last attempt was declined, and advice.' }),
);

export const settlementViewSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      fee_cents: z.int().describe("The provider's fee, in minor units of `currency`; negative if it gives a fee back."),
      net_cents: z.int().describe('The amount without the fee, in minor units of `currency`; negative for a refund.'),
      currency: z.string().describe('The currency of the settlement, an ISO 4217 code in upper case.'),
      exchange_rate: factSchemas().text.describe(
        "Units of the settlement currency for one unit of the payment's currency; null without a conversion.",
      ),
      available_on: factSchemas().text.describe('When the provider makes the money available; null if unknown.'),
    })
    .meta({ id: 'Settlement', description: "The merchant's fee and net amount. Only the merchant sees them." }),
);

/** The schemas of the facts in a payment's view. */
export const paymentFactSchemas = () => ({
  payment_method_details: detailsViewSchema()
    .nullable()
    .describe(
      'The method of the last attempt with a known outcome, even if declined; null until the provider reports it.',
    ),
  decline: declineViewSchema()
    .nullable()
    .describe('Why the last attempt was declined, while the payment is `failed`; else null.'),
  receipt_url: z
    .string()
    .nullable()
    .describe("The provider's page with the receipt; null until the provider reports it, and if it has none (PayPal)."),
  settlement: settlementViewSchema()
    .nullable()
    .optional()
    .describe(
      "The merchant's fee and net amount; null until the provider reports them. Only the merchant gets this field.",
    ),
});
