/** @module Applies a discount code to a new or updated payment. This sets the price and the terms, and reserves a use. */

import { type Product, productRecord } from '../catalog/catalog-records.ts';
import { priceOf } from '../catalog/price.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import type { Prices } from '../core/money.ts';
import { iso, MINUTE_MS, type Now } from '../core/time.ts';
import { cutListPrice, type ListPrice, listPrice, requireSentPrices } from '../discounts/discounted-price.ts';
import { codeOf, type NewUse, newUse, payerOfDiscount, type ReadCode } from '../discounts/redemption.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Item } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { unitOfAmount } from './accepted-amount.ts';
import type { PaymentDiscount } from './discount-of-payment.ts';
import type { CreateIntentBody } from './payment-requests.ts';

export interface CodeDeps extends Pick<IdDeps, 'newId'> {
  readonly now: Now;
  /** How long an unpaid payment reserves a use of a limited code. */
  readonly placeHoldMinutes: number;
}

interface PricedPayment extends Prices {
  readonly currency: string;
  readonly discount?: PaymentDiscount | undefined;
}

/** A price, and the use of its discount code. The write of the payment reserves this use. */
export interface CodedPrice {
  readonly price: PricedPayment;
  readonly reserving?: NewUse | undefined;
}

type CreateRequest = ApiRequest<unknown, unknown, CreateIntentBody>;

/**
 * Returns the price of a new payment. Calls the provider only if the request has a discount code.
 * @param items the items whose keys `codeKeysOf` returns
 * @throws DomainError DISCOUNT_INVALID, PRICING_MISMATCH, AMOUNT_TOO_SMALL, or as `priceOf`
 */
export const priceNewPayment = async (
  deps: CodeDeps,
  { body, named, owner }: Pick<CreateRequest, 'body' | 'named' | 'owner'>,
  { provider, items }: { readonly provider: PaymentProvider; readonly items: readonly (Item | undefined)[] },
): Promise<CodedPrice> => {
  const product = named(productRecord);
  if (body.discount_code === undefined || body.discount_code === null || !owner) {
    return { price: priceOf(body, product) };
  }
  const list = listPrice(body, product);
  const payer = payerOfDiscount(owner);
  const bought = { payer, productId: product?.id, currency: list.currency };
  const use = newPaymentUse(deps, codeOf(items), bought);
  const price = await cutPayment(list, use, { product, provider });
  requireSentPrices(body, price, { isFree: product === undefined });
  return { price, reserving: use.reserving };
};

type Terms = Omit<PaymentDiscount, 'cents' | 'fullTaxCents'>;

/** `reserving` is undefined if the payment already has the code. */
interface Use {
  readonly discount: Terms;
  readonly reserving: NewUse | undefined;
}

/**
 * Makes a new use of a code. The use of a limited code expires if the payment stays unpaid.
 * @throws DomainError DISCOUNT_INVALID
 */
export const newPaymentUse = (deps: CodeDeps, read: ReadCode, bought: Parameters<typeof newUse>[2]): Use => {
  const { terms, redemption, isLimited, reserving } = newUse(deps, read, bought);
  const heldUntil = isLimited ? iso(deps.now() + deps.placeHoldMinutes * MINUTE_MS) : undefined;
  return { discount: { ...terms, ...redemption, ...(heldUntil !== undefined && { heldUntil }) }, reserving };
};

/**
 * Returns the price of a payment after the code's discount.
 * @throws DomainError DISCOUNT_INVALID no_effect, AMOUNT_TOO_SMALL
 */
export const cutPayment = async (
  list: ListPrice,
  { discount }: Use,
  { product, provider }: { readonly product: Product | undefined | 'kept'; readonly provider: PaymentProvider },
): Promise<PricedPayment> => {
  const { prices, cutCents } = await cutListPrice(list, discount, {
    keepsTax: product === undefined,
    leastTotal: 1,
    unitOf: (total) => unitOfAmount(provider, total),
  });
  return {
    ...prices,
    currency: list.currency,
    discount: { ...discount, cents: cutCents, fullTaxCents: list.taxCents },
  };
};
