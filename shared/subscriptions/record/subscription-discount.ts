/**
 * @module The discount code of a subscription, as pure functions. The reduced price stands in the price fields, and the
 * price before the code beside it. A period that opens uses one of the code's periods.
 */

import * as z from 'zod';
import type { Prices } from '../../core/money.ts';
import { discountTermsFields } from '../../discounts/discount-terms.ts';
import { isRedemption, type Redemption, redemptionFields } from '../../discounts/redemption.ts';

const planDiscountFields = {
  ...discountTermsFields,
  /** Remaining periods at the reduced price; undefined for a code with duration `forever`. */
  periodsLeft: z.int().optional(),
  /** The price before the code. */
  full: z.object({
    subtotalCents: z.int(),
    taxCents: z.int(),
    discountCents: z.int(),
    totalCents: z.int(),
  }),
};

/** The code of a plan. */
export const planDiscountSchema = z.lazy(() => z.object(planDiscountFields));
export type PlanDiscount = z.infer<typeof planDiscountSchema>;

export const subscriptionDiscountSchema = z.lazy(() => z.object({ ...planDiscountFields, ...redemptionFields }));
export type SubscriptionDiscount = z.infer<typeof subscriptionDiscountSchema>;

interface Discounted {
  readonly discount?: SubscriptionDiscount | undefined;
}

export const redemptionOfSubscription = (subscription: Discounted | undefined): readonly Redemption[] =>
  [subscription?.discount].filter((one) => isRedemption(one));

/** The code as a plan keeps it, without the redemption. */
export const asPlanDiscount = ({ discount }: Discounted): PlanDiscount | undefined => {
  if (!discount) return undefined;
  const { redemption: _, payer: __, isCounted: ___, ...terms } = discount;
  return terms;
};

/** The code of another plan, with the redemption that the subscription has. */
export const discountOfPlan = (
  { discount }: Discounted,
  wanted: PlanDiscount | undefined,
): SubscriptionDiscount | undefined =>
  wanted && {
    ...wanted,
    redemption: discount?.redemption,
    payer: discount?.payer,
    ...(discount?.isCounted && { isCounted: true as const }),
  };

/** A new period uses one period of the code. A retried charge uses none. */
export const afterPeriod = ({ discount }: Discounted): Discounted =>
  discount?.periodsLeft === undefined
    ? { discount }
    : { discount: { ...discount, periodsLeft: Math.max(0, discount.periodsLeft - 1) } };

/** True if the next period opens at the price before the code. */
export const isUsedUp = ({ discount }: Discounted): boolean => discount?.periodsLeft === 0;

/** The price and the code from the end of the code on. */
export const withoutDiscount = <S extends Prices & Discounted>(subscription: S): S => ({
  ...subscription,
  ...subscription.discount?.full,
  discount: undefined,
});

/** The code's own part of the price; undefined without a code. */
export const codesPart = ({
  discount,
  discountCents,
}: Discounted & Pick<Prices, 'discountCents'>): { readonly code: string; readonly cents: number } | undefined =>
  discount && { code: discount.code, cents: discountCents - discount.full.discountCents };

/** Periods left beside the open charge, whose period has opened. Null for a code that lasts forever. */
export const shownPeriodsLeft = ({ discount, charge }: Discounted & { readonly charge?: unknown }): number | null =>
  discount?.periodsLeft === undefined ? null : Math.max(0, discount.periodsLeft - (charge === undefined ? 0 : 1));

/** The subscription without the hash of the erased payer. */
export const withoutPayer = ({ discount }: Discounted): Discounted =>
  discount?.payer === undefined ? {} : { discount: { ...discount, payer: undefined } };
