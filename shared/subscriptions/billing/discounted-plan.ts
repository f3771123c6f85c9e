/** @module Computes a subscription's discounted plan, at creation and after a plan change. */

import type { Product } from '../../catalog/catalog-records.ts';
import type { IdDeps } from '../../core/keyed-ids.ts';
import type { Prices } from '../../core/money.ts';
import type { Now } from '../../core/time.ts';
import { type DiscountTerms, isDiscountRefusal, misfitOf } from '../../discounts/discount-terms.ts';
import { cutListPrice, listPrice, requireSentPrices } from '../../discounts/discounted-price.ts';
import { codeOf, type NewUse, newUse, payerOfDiscount } from '../../discounts/redemption.ts';
import type { ApiRequest } from '../../http/request.ts';
import { unitOfAmount } from '../../payments/accepted-amount.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import type { SubscriptionPlan } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import type { PlanDiscount, SubscriptionDiscount } from '../record/subscription-discount.ts';
import type { CreateSubscriptionBody } from '../record/subscription-requests.ts';
import { planOf } from './subscription-plan.ts';

type NewPlan = Omit<SubscriptionPlan, 'discount'> &
  Pick<Subscription, 'currency'> & { readonly discount?: SubscriptionDiscount | undefined };

export interface CodedPlan {
  readonly plan: NewPlan;
  readonly reserving?: NewUse | undefined;
}

type CreateRequest = Pick<ApiRequest<unknown, unknown, CreateSubscriptionBody>, 'body' | 'owner' | 'alongside'>;

/**
 * The plan of a new subscription, reduced by the request's discount code. Without a code, makes no extra request.
 * @throws DomainError DISCOUNT_INVALID, PRICING_MISMATCH, or as `planOf`
 */
export const planWithCode = async (
  deps: Pick<IdDeps, 'newId'> & { readonly now: Now },
  { body, owner, alongside }: CreateRequest,
  { product, provider }: { readonly product: Product | undefined; readonly provider: PaymentProvider },
): Promise<CodedPlan> => {
  if (!body.discount_code || !owner) return { plan: planOf(body, product) };
  const list = listPrice(body, product);
  const payer = payerOfDiscount(owner);
  const bought = { payer, productId: product?.id, currency: list.currency };
  const { discount, terms, redemption, reserving } = newUse(deps, codeOf(alongside), bought);
  const full = planOf({ ...body, ...sentAs(list) }, product);
  const { plan } = await cutPlan(full, terms, { product, provider });
  requireSentPrices(body, plan, { isFree: product === undefined });
  const { duration, duration_periods: periods } = discount;
  const periodsLeft = duration === 'forever' ? undefined : duration === 'once' ? 1 : (periods ?? 1);
  return { plan: { ...plan, discount: { ...plan.discount, ...redemption, periodsLeft } }, reserving };
};

const sentAs = ({ subtotalCents, taxCents, discountCents, totalCents }: Prices) => ({
  ...{ subtotal_cents: subtotalCents, tax_cents: taxCents, discount_cents: discountCents },
  ...{ total_cents: totalCents, amount_cents: totalCents },
});

interface Cut {
  readonly product: Product | undefined;
  readonly provider: PaymentProvider;
}

const pricesOf = ({ subtotalCents, taxCents, discountCents, totalCents }: Prices): Prices => ({
  ...{ subtotalCents, taxCents, discountCents, totalCents },
});

/** @throws DomainError DISCOUNT_INVALID no_effect, AMOUNT_TOO_SMALL */
const cutPlan = async <P extends Prices & { readonly currency: string }>(
  full: P,
  terms: DiscountTerms,
  { product, provider }: Cut,
): Promise<{ readonly plan: P & { readonly discount: PlanDiscount } }> => {
  const { prices } = await cutListPrice(full, terms, {
    keepsTax: product === undefined,
    leastTotal: 0,
    unitOf: (total) => unitOfAmount(provider, total),
  });
  return { plan: { ...full, ...prices, discount: { ...terms, full: pricesOf(full) } } };
};

/** Applies the subscription's code to the plan, or returns the plan unchanged if the code does not fit. */
export const keepCode = async (
  plan: SubscriptionPlan,
  { discount, currency }: Pick<Subscription, 'discount' | 'currency'>,
  { product, provider }: Cut,
): Promise<SubscriptionPlan> => {
  if (!discount || misfitOf(discount, plan.productId)) return plan;
  const { code, percentBp, amountCents, productIds, periodsLeft } = discount;
  try {
    const cut = await cutPlan(
      { ...plan, currency },
      { code, percentBp, amountCents, productIds },
      { product, provider },
    );
    const { currency: _, ...kept } = cut.plan;
    return { ...kept, discount: { ...kept.discount, periodsLeft } };
  } catch (error) {
    if (isDiscountRefusal(error)) return plan;
    throw error;
  }
};
