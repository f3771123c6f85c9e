/** @module The price of an updated payment, whose discount code may stay, change or go. */

import { ownerOfRecord } from '../access/record-kind.ts';
import { type Product, productRecord } from '../catalog/catalog-records.ts';
import { canonicalCode } from '../catalog/discount.ts';
import { priceOf, quantityOf } from '../catalog/price.ts';
import { DomainError } from '../core/errors.ts';
import { currencyCode, derivePrices, type Prices } from '../core/money.ts';
import { discountInvalid, misfitOf } from '../discounts/discount-terms.ts';
import { type ListPrice, listPrice, requireSentPrices, subtotalRequired } from '../discounts/discounted-price.ts';
import { payerOfDiscount, readCode } from '../discounts/redemption.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Table } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { type CodeDeps, type CodedPrice, cutPayment, newPaymentUse } from './apply-code.ts';
import { type PaymentDiscount, pricesBeforeCode } from './discount-of-payment.ts';
import type { VisiblePayment } from './payment.ts';
import type { UpdateIntentBody } from './payment-requests.ts';

interface Update {
  readonly request: Pick<ApiRequest<unknown, unknown, UpdateIntentBody>, 'body' | 'named'>;
  readonly payment: VisiblePayment;
  readonly provider: PaymentProvider;
}

/** @throws DomainError DISCOUNT_INVALID, PRICING_MISMATCH, AMOUNT_TOO_SMALL, QUANTITY_INVALID or VALIDATION_ERROR */
export const priceUpdate = async (
  deps: CodeDeps & { readonly table: Table },
  { request, payment, provider }: Update,
): Promise<CodedPrice> => {
  const { discount_code: sent } = request.body;
  const product = request.named(productRecord);
  const code = sent === undefined ? payment.discount?.code : (sent ?? undefined);
  const body = withOwnDiscount(request.body, payment);
  if (code === undefined && !payment.discount) return { price: pricesOf(body, payment, product) };
  const isFree = product === undefined && !keepsProduct(body, payment);
  const list = listOf(body, payment, { product, isFree });
  if (code === undefined) {
    requireSentPrices(body, list, { isFree });
    if (list.totalCents < 1) throw new DomainError('AMOUNT_TOO_SMALL');
    return { price: { ...list, discount: undefined } };
  }
  const productId = product?.id ?? (isFree ? undefined : payment.productId);
  const use = await useOf(deps, { payment, code: canonicalCode(code), list, productId });
  const price = await cutPayment(list, use, { product: product ?? (isFree ? undefined : 'kept'), provider });
  if (isTotalAlone(body, payment) && price.totalCents !== statedTotal(body)) throw subtotalRequired();
  requireSentPrices(body, price, { isFree });
  return { price, reserving: use.reserving };
};

/**
 * The body, with `own_discount_cents` as its discount. For a payment with a code, ignores a `discount_cents` that
 * repeats the stored value.
 * @throws DomainError PRICING_MISMATCH if `discount_cents` is neither the stored value nor `own_discount_cents`
 */
const withOwnDiscount = (body: UpdateIntentBody, payment: VisiblePayment): UpdateIntentBody => {
  const { own_discount_cents: own, discount_cents: sum, ...others } = body;
  const isStored = payment.discount !== undefined && sum === payment.discountCents;
  if (own === undefined && (sum === undefined || payment.discount === undefined)) return body;
  if (own === undefined && isStored) return others;
  if (own !== undefined && (sum === undefined || isStored || sum === own)) return { ...others, discount_cents: own };
  const expected = pricesBeforeCode(payment).discountCents;
  const message =
    'discount_cents contains the part of the discount code; send own_discount_cents to change your own part';
  throw new DomainError('PRICING_MISMATCH', { message, details: { path: 'own_discount_cents', expected } });
};

const keepsProduct = (body: UpdateIntentBody, payment: VisiblePayment): boolean =>
  payment.productId !== undefined && body.product_id === undefined;

/** The price before the code. */
const listOf = (
  body: UpdateIntentBody,
  payment: VisiblePayment,
  { product, isFree }: { readonly product: Product | undefined; readonly isFree: boolean },
): ListPrice => {
  if (product) return listPrice(body, product);
  const before = { ...payment, ...pricesBeforeCode(payment) };
  const { total_cents, amount_cents, ...parts } = body;
  if (isFree) return pricesOf(parts, before, undefined);
  const { subtotal_cents, tax_cents, discount_cents, ...unpriced } = parts;
  return pricesOf(unpriced, before, undefined);
};

interface Using {
  readonly payment: VisiblePayment;
  readonly code: string;
  readonly list: ListPrice;
  readonly productId: string | undefined;
}

/** A code of the payment, or of its update under way, is not reserved again and keeps its terms. */
const useOf = async (deps: CodeDeps & { readonly table: Table }, { payment, code, list, productId }: Using) => {
  const kept = [payment.discount, payment.draft?.discount].find((one) => one?.code === code);
  if (kept) return { discount: keptTerms(kept, { payment, list, productId }), reserving: undefined };
  const owner = ownerOfRecord(payment);
  if (!owner) throw discountInvalid('unknown');
  const payer = payerOfDiscount(owner);
  const bought = { payer, productId, currency: list.currency };
  return newPaymentUse(deps, await readCode(deps.table, code, payer), bought);
};

/**
 * @throws DomainError DISCOUNT_INVALID wrong_product, or wrong_currency if the kept code takes off an amount of another
 * currency
 */
const keptTerms = (kept: PaymentDiscount, { payment, list, productId }: Omit<Using, 'code'>): PaymentDiscount => {
  const isOtherCurrency = kept.percentBp === undefined && list.currency !== payment.currency;
  const reason = isOtherCurrency ? 'wrong_currency' : misfitOf(kept, productId);
  if (reason) throw discountInvalid(reason);
  return kept;
};

const statedTotal = ({ total_cents, amount_cents }: UpdateIntentBody): number | undefined =>
  total_cents ?? amount_cents;

/** True if the request sends a total without a subtotal for a payment without a product. */
const isTotalAlone = (body: UpdateIntentBody, payment: VisiblePayment): boolean =>
  statedTotal(body) !== undefined && body.subtotal_cents === undefined && payment.productId === undefined;

/** @throws DomainError QUANTITY_INVALID for another quantity without `product_id`, because its price is unknown */
const requireKnownQuantity = ({ product_id: productId, quantity }: UpdateIntentBody, payment: VisiblePayment): void => {
  const present = productId === undefined && payment.productId !== undefined ? (payment.quantity ?? 1) : undefined;
  if (present === undefined) quantityOf(quantity, undefined);
  else if (quantity !== undefined && quantity !== present) {
    throw new DomainError('QUANTITY_INVALID', { message: 'Another quantity needs product_id', details: { present } });
  }
};

/** If the request sends any price, derives the others. The subtotal stays if only tax or discount change. */
const pricesOf = (
  body: UpdateIntentBody,
  payment: VisiblePayment,
  product: Product | undefined,
): Prices & { readonly currency: string } => {
  if (product) return priceOf(body, product);
  requireKnownQuantity(body, payment);
  const { subtotalCents, taxCents, discountCents, totalCents, currency } = payment;
  const sent = [body.subtotal_cents, body.tax_cents, body.discount_cents, body.total_cents, body.amount_cents];
  const unchanged = sent.every((price) => price === undefined);
  if (keepsProduct(body, payment) && !(unchanged && isSameCurrency(body, currency))) {
    throw new DomainError('PRICING_MISMATCH', { message: `The product's price is ${totalCents} ${currency}` });
  }
  const nextCurrency = body.currency === undefined ? currency : currencyCode(body.currency);
  if (unchanged) return { subtotalCents, taxCents, discountCents, totalCents, currency: nextCurrency };
  const hasBase = (body.subtotal_cents ?? body.total_cents ?? body.amount_cents) !== undefined;
  const prices = derivePrices({
    ...body,
    subtotal_cents: body.subtotal_cents ?? (hasBase ? undefined : subtotalCents),
    tax_cents: body.tax_cents ?? taxCents,
    discount_cents: body.discount_cents ?? discountCents,
  });
  return { ...prices, currency: nextCurrency };
};

const isSameCurrency = (body: UpdateIntentBody, currency: string): boolean =>
  body.currency === undefined || body.currency.toUpperCase() === currency;
