/** @module The provider's report about an attempt besides its outcome: the method, the decline, the provider's fee. */

import * as z from 'zod';
import { AUTHENTICATION_RESULTS, DECLINE_WORDS, FUNDINGS, METHOD_KINDS } from './fact-words.ts';

const optional = z.string().optional();

/** The common fields of a saved method and an attempt's method. */
export const storedCardSchema = z.lazy(() =>
  z.object({
    /** Lower case, such as `apple_pay` or `paypal`. */
    walletType: optional,
    /** Lower case, such as `visa`. */
    cardBrand: optional,
    lastFour: optional,
    /** Format MM. */
    expiryMonth: optional,
    /** Format YYYY. */
    expiryYear: optional,
    funding: z.enum(FUNDINGS).optional(),
    /** The issuer's country, ISO 3166-1 alpha-2, upper case. */
    country: optional,
    /** `fp_` and 24 hexadecimal digits. Identical for the same card within one provider slot. */
    fingerprint: optional,
  }),
);

/** The method of an attempt. Absent fields are unknown. */
export const methodDetailsSchema = z.lazy(() =>
  z.object({
    type: z.enum(METHOD_KINDS),
    ...storedCardSchema.unwrap().shape,
    bankName: optional,
    threeDSecure: z
      .object({
        result: z.enum(AUTHENTICATION_RESULTS),
        version: optional,
        /** True if the issuer is liable for a disputed charge. */
        liabilityShifted: z.boolean().optional(),
      })
      .optional(),
  }),
);
export type MethodDetails = z.infer<typeof methodDetailsSchema>;

/** The decline codes of the provider and the card network. */
export const providerDeclineSchema = z.lazy(() =>
  z.object({
    providerCode: optional,
    networkCode: optional,
    /** Takes precedence over the advice for our decline code. */
    advised: z.enum(DECLINE_WORDS).optional(),
  }),
);
export type ProviderDecline = z.infer<typeof providerDeclineSchema>;

/** The amounts received by the merchant, in minor units of the settlement currency. */
export const settlementSchema = z.lazy(() =>
  z.object({
    /** Negative if the provider refunds a fee. */
    feeCents: z.int(),
    /** The amount without the fee. Negative for a refund. */
    netCents: z.int(),
    /** Upper-case ISO 4217. */
    currency: z.string(),
    /** Units of the settlement currency per unit of the payment's currency, as a decimal such as `1.0842`. */
    exchangeRate: optional,
    /** ISO 8601. */
    availableOn: optional,
  }),
);
export type Settlement = z.infer<typeof settlementSchema>;

export interface PaymentFacts {
  readonly details?: MethodDetails | undefined;
  /** Set for declined attempts only. */
  readonly decline?: ProviderDecline | undefined;
  readonly settlement?: Settlement | undefined;
  /** The provider's receipt page of a succeeded attempt, https. */
  readonly receiptUrl?: string | undefined;
}
