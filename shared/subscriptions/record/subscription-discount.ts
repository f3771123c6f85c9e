/** @module The discount code of a subscription, whose reduced price stands in the price fields. */

import * as z from 'zod';
import { discountTermsFields } from '../../discounts/discount-terms.ts';
import { isHeld, type Redemption, redemptionFields } from '../../discounts/redemption.ts';

const prices = z.object({
  subtotalCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  totalCents: z.int(),
});

export const subscriptionDiscountSchema = z.lazy(() =>
  z.object({
    ...discountTermsFields,
    ...redemptionFields,
    /** Further periods at the reduced price, beside those that were paid; undefined for a code that lasts forever. */
    periodsLeft: z.int().optional(),
    /** The price before the code. */
    full: prices,
  }),
);
export type SubscriptionDiscount = z.infer<typeof subscriptionDiscountSchema>;

interface Discounted {
  readonly discount?: SubscriptionDiscount | undefined;
}

export const redemptionOfSubscription = (subscription: Discounted | undefined): readonly Redemption[] =>
  [subscription?.discount].filter(isHeld);
