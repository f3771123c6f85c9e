import * as z from 'zod';
import type { Reference } from '../access/record-kind.ts';
import { addressRecord } from '../addresses/address.ts';
import { type Product, productRecord, projectRecord } from '../catalog/reference-records.ts';
import { DomainError } from '../core/errors.ts';
import { currencyCode, derivePrices, type GivenPrices, type Prices } from '../core/money.ts';
import { customerRecord } from '../customers/customer.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';

/** What a payment request may name beside itself; the chain reads and checks it before the use case runs. */
interface Naming {
  readonly project_id?: string | null | undefined;
  readonly product_id?: string | null | undefined;
  readonly customer_id?: string | null | undefined;
  readonly billing_address_id?: string | null | undefined;
  readonly payment_method_id?: string | null | undefined;
}

export const namedBy = (body: Naming): readonly Reference[] => [
  ...(body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  ...(body.product_id ? [{ kind: productRecord, id: body.product_id }] : []),
  ...(body.customer_id ? [{ kind: customerRecord, id: body.customer_id }] : []),
  ...(body.billing_address_id ? [{ kind: addressRecord, id: body.billing_address_id }] : []),
];

/** The payment method that a request charges: our id, a provider's id of a saved method, or a one-time token. */
export const methodUsedBy = ({ payment_method_id: id }: Pick<Naming, 'payment_method_id'>): readonly Reference[] =>
  id ? [{ kind: paymentMethodRecord, id }] : [];

/** A list's project. */
export const projectNamed = (query: unknown): readonly Reference[] => {
  const parsed = projectQuery.safeParse(query);
  return parsed.success ? [{ kind: projectRecord, id: parsed.data.project_id }] : [];
};
const projectQuery = z.looseObject({ project_id: z.string() });

/** The price of what is bought: the product's, where one is named; the client never sets it. */
export const priceOf = (
  body: GivenPrices & { readonly currency?: string | undefined },
  product: Product | undefined,
  leastTotal = 1,
): Prices & { readonly currency: string } => {
  if (!product) return { ...derivePrices(body, leastTotal), currency: currencyCode(body.currency ?? '') };
  if (!product.is_active) throw new DomainError('PRODUCT_INACTIVE', { details: { product_id: product.id } });
  const prices = {
    subtotalCents: product.subtotal_cents,
    taxCents: product.tax_cents,
    discountCents: product.discount_cents,
    totalCents: product.total_cents,
  };
  for (const [field, expected] of priceFields(prices)) {
    const sent = body[field];
    if (sent === undefined || sent === expected) continue;
    const message = `The product's price is ${prices.totalCents}: its ${field} is ${expected}, not ${sent}`;
    throw new DomainError('PRICING_MISMATCH', { message, details: { path: field, expected } });
  }
  if (body.currency && body.currency.toUpperCase() !== product.currency) {
    throw new DomainError('PRICING_MISMATCH', { message: `The product is priced in ${product.currency}` });
  }
  if (prices.totalCents < leastTotal) throw new DomainError('AMOUNT_TOO_SMALL');
  return { ...prices, currency: product.currency };
};

const priceFields = (prices: Prices): readonly (readonly [keyof GivenPrices, number])[] => [
  ['subtotal_cents', prices.subtotalCents],
  ['tax_cents', prices.taxCents],
  ['discount_cents', prices.discountCents],
  ['total_cents', prices.totalCents],
  ['amount_cents', prices.totalCents],
];
