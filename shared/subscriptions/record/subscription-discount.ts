/**
 * @module The discount code of a subscription, as pure functions. The price fields hold the reduced price, and `full`
 * holds the price before the code. Each new period uses one period of the code.
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

/** The discount code as stored with a plan. */
export const planDiscountSchema = z.lazy(() => z.object(planDiscountFields));
export type PlanDiscount = z.infer<typeof planDiscountSchema>;

export const subscriptionDiscountSchema = z.lazy(() => z.object({ ...planDiscountFields, ...redemptionFields }));
export type SubscriptionDiscount = z.infer<typeof subscriptionDiscountSchema>;

interface Discounted {
  readonly discount?: SubscriptionDiscount | undefined;
}

export const redemptionOfSubscription = (subscription: Discounted | undefined): readonly Redemption[] =>
  [subscription?.discount].filter((one) => isRedemption(one));

/** The code's terms for a plan, without the redemption. */
export const asPlanDiscount = ({ discount }: Discounted): PlanDiscount | undefined => {
  if (!discount) return undefined;
  const { redemption: _, payer: __, isCounted: ___, ...terms } = discount;
  return terms;
};

/** The code of a new plan, with the subscription's existing redemption. */
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

/** True if the code has no period left, so the next period opens at the full price. */
export const isUsedUp = ({ discount }: Discounted): boolean => discount?.periodsLeft === 0;

/** The subscription at the full price after its code has ended. */
export const withoutDiscount = <S extends Prices & Discounted>(subscription: S): S => ({
  ...subscription,
  ...subscription.discount?.full,
  discount: undefined,
});

/** The code and its discount amount; undefined without a code. */
export const codesPart = ({
  discount,
  discountCents,
}: Discounted & Pick<Prices, 'discountCents'>): { readonly code: string; readonly cents: number } | undefined =>
  discount && { code: discount.code, cents: discountCents - discount.full.discountCents };

/** The code's remaining periods after the period being charged. Null for a permanent code. */
export const shownPeriodsLeft = ({ discount, charge }: Discounted & { readonly charge?: unknown }): number | null =>
  discount?.periodsLeft === undefined ? null : Math.max(0, discount.periodsLeft - (charge === undefined ? 0 : 1));

/** The discount without the hash of an erased payer. */
export const withoutPayer = ({ discount }: Discounted): Discounted =>
  discount?.payer === undefined ? {} : { discount: { ...discount, payer: undefined } };
