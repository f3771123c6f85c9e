/**
 * @module The terms of a discount code, and whether it fits a purchase. Payments and subscriptions store a copy, so a
 * later change of the code does not affect them.
 */

import * as z from 'zod';
import { canonicalCode, type Discount } from '../catalog/discount.ts';
import { DomainError } from '../core/errors.ts';
import { type Instant, instant } from '../core/time.ts';

/**
 * The stored terms of a code. They have a percentage in basis points, or an amount in minor units of the record's
 * currency.
 */
export const discountTermsFields = {
  code: z.string(),
  percentBp: z.int().optional(),
  amountCents: z.int().optional(),
  /** The code's products; undefined for every product. */
  productIds: z.array(z.string()).optional(),
};
const termsSchema = z.lazy(() => z.object(discountTermsFields));
export type DiscountTerms = z.infer<typeof termsSchema>;

export const UNFIT_REASONS = [
  'unknown',
  'not_started',
  'ended',
  'exhausted',
  'used',
  'wrong_product',
  'wrong_currency',
  'no_effect',
] as const;
type UnfitReason = (typeof UNFIT_REASONS)[number];

export const discountInvalid = (reason: UnfitReason): DomainError =>
  new DomainError('DISCOUNT_INVALID', { message: `The discount code cannot be used: ${reason}`, details: { reason } });

/** True for a refusal of `discountInvalid`. */
export const isDiscountRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.code === 'DISCOUNT_INVALID';

export interface CodeUses {
  /** Reserved and paid redemptions of the code. Counted only with `max_redemptions`. */
  readonly taken: number;
  /** Reserved and paid redemptions by this payer. */
  readonly used: number;
}

interface Purchase {
  readonly productId: string | undefined;
  readonly currency: string;
  readonly now: Instant;
}

/** Why the code fits no purchase at this time. An inactive code counts as unknown. */
const untimely = (discount: Discount | undefined, now: Instant): UnfitReason | undefined => {
  if (!discount?.is_active) return 'unknown';
  if (discount.starts_at && instant(discount.starts_at) > now) return 'not_started';
  return discount.ends_at && instant(discount.ends_at) <= now ? 'ended' : undefined;
};

/** Why these terms do not fit the product or the currency. */
export const misfitOf = (
  { productIds, percentBp, amountCents }: Omit<DiscountTerms, 'code'>,
  productId: string | undefined,
): UnfitReason | undefined => {
  if (productIds && (productId === undefined || !productIds.includes(productId))) return 'wrong_product';
  return percentBp === undefined && amountCents === undefined ? 'wrong_currency' : undefined;
};

export const exhaustionOf = (discount: Discount, { taken, used }: CodeUses): UnfitReason | undefined => {
  if (taken >= (discount.max_redemptions ?? Number.POSITIVE_INFINITY)) return 'exhausted';
  return used >= (discount.max_per_payer ?? Number.POSITIVE_INFINITY) ? 'used' : undefined;
};

/** @throws DomainError DISCOUNT_INVALID with the first reason why the code does not fit */
export const fittingTerms = (
  discount: Discount | undefined,
  { productId, currency, now }: Purchase,
  uses: CodeUses,
): { readonly discount: Discount; readonly terms: DiscountTerms } => {
  const reason = untimely(discount, now);
  if (reason || !discount) throw discountInvalid(reason ?? 'unknown');
  const terms = termsOfDiscount(discount, currency);
  const misfit = misfitOf(terms, productId) ?? exhaustionOf(discount, uses);
  if (misfit) throw discountInvalid(misfit);
  return { discount, terms };
};

const termsOfDiscount = ({ id, percent_bp, amounts, product_ids }: Discount, currency: string): DiscountTerms => ({
  code: canonicalCode(id),
  percentBp: percent_bp ?? undefined,
  amountCents: amounts?.[currency],
  productIds: product_ids ?? undefined,
});
