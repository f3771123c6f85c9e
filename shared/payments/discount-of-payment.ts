/** @module The discount code of a payment: its stored fields, its view, and the price before the code. */

import * as z from 'zod';
import type { Prices } from '../core/money.ts';
import { type Instant, instant } from '../core/time.ts';
import { discountTermsFields } from '../discounts/discount-terms.ts';
import { isRedemption, type Redemption, redemptionFields } from '../discounts/redemption.ts';
import type { PaymentLinkUse } from '../payment-links/link-places.ts';

/** The stored discount of a payment with a code. A subscription's payment has only `code` and `cents`. */
export const paymentDiscountSchema = z.lazy(() =>
  z.object({
    ...discountTermsFields,
    ...redemptionFields,
    /** The code's part of the payment's discount. */
    cents: z.int(),
    /** The payment's tax before the code's discount. */
    fullTaxCents: z.int().optional(),
    /** When an unpaid payment returns its use of a limited code. */
    heldUntil: z.string().optional(),
  }),
);
export type PaymentDiscount = z.infer<typeof paymentDiscountSchema>;

interface Discounted {
  readonly discount?: PaymentDiscount | undefined;
}

interface HoldsPlace extends Discounted {
  readonly status: string;
  readonly paymentLink?: PaymentLinkUse | undefined;
  readonly linkUntil?: string | undefined;
}

/** The price before the code; the payment's own price if it has no code. */
export const pricesBeforeCode = ({
  subtotalCents,
  taxCents: cutTax,
  discountCents: sum,
  discount,
}: Prices & Discounted): Prices => {
  const taxCents = discount?.fullTaxCents ?? cutTax;
  const discountCents = sum - (discount?.cents ?? 0);
  return { subtotalCents, taxCents, discountCents, totalCents: subtotalCents + taxCents - discountCents };
};

/** The code redemptions of the payment and of its update under way. */
export const redemptionsOf = (
  payment: (Discounted & { readonly draft?: Discounted | undefined }) | undefined,
): readonly Redemption[] => {
  const all = [payment?.discount, payment?.draft?.discount].filter((one) => isRedemption(one));
  return all.filter(({ redemption }, at) => all.findIndex((one) => one.redemption === redemption) === at);
};

export const paymentDiscountView = ({ discount }: Discounted) =>
  discount && { code: discount.code, cents: discount.cents };

/** The statuses of an unpaid payment that has no attempt under way at the provider. */
const UNPAID: readonly string[] = ['created', 'requires_payment_method', 'pending', 'failed'];

/**
 * When an unpaid payment returns its use of a discount code and its place among the payments of a payment link;
 * undefined if it has neither. A link to the payment's hosted page extends this time.
 */
export const placeEnds = ({ status, discount, paymentLink, linkUntil = '' }: HoldsPlace): string | undefined => {
  if (!UNPAID.includes(status)) return undefined;
  const [first] = [discount?.heldUntil, paymentLink?.heldUntil].filter((end) => end !== undefined).toSorted();
  return first === undefined || first > linkUntil ? first : linkUntil;
};

/**
 * True if the payment's use of a discount code or its place on a payment link has expired. Due work cancels the
 * payment, so no payer may confirm it.
 */
export const hasLostPlace = (payment: HoldsPlace, now: Instant): boolean => {
  const ends = placeEnds(payment);
  return ends !== undefined && instant(ends) <= now;
};
