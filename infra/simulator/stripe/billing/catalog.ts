import * as z from 'zod';
import type { LedgerPrice, LedgerProduct, LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { seconds } from '../views/payment-views.ts';
import { priceView } from '../views/subscription-views.ts';
import { checkCurrency, mostAmount } from '../wire/currencies.ts';
import { invalidStripeRequest, stripeNotFound } from '../wire/errors.ts';
import {
  anything,
  choice,
  descriptorText,
  expand,
  flag,
  mergeMetadata,
  metadata,
  readParameters,
  text,
  whole,
} from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { getRoute, type StripeRequest, type StripeRoute } from '../wire/request.ts';

/** Products and their recurring prices. Other prices are not supported. */
export const catalogRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: '/v1/products', run: (request) => ({ object: productView(createProduct(request)) }) },
  getRoute('/v1/products/:id', 'product', (unit) => ({ collection: unit.documents.products, view: productView })),
  { method: 'POST', path: '/v1/prices', run: (request) => ({ object: priceView(createPrice(request)) }) },
  getRoute('/v1/prices/:id', 'price', (unit) => ({ collection: unit.documents.prices, view: priceView })),
];

const productFields = z.strictObject({
  id: text().optional(),
  name: text(),
  description: text().optional(),
  active: flag.optional(),
  metadata: metadata.optional(),
  statement_descriptor: descriptorText.optional(),
  tax_code: text().optional(),
  unit_label: text(12).optional(),
  url: text().optional(),
  expand: expand.optional(),
});

const createProduct = ({ call, unit }: StripeRequest): LedgerProduct => {
  const sent = readParameters(call, productFields);
  if (sent.id !== undefined) checkNewId(unit, sent.id);
  return unit.documents.products.put({
    id: sent.id ?? unit.newId('product'),
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: sent.statement_descriptor === undefined ? {} : { statement_descriptor: sent.statement_descriptor },
    createdAt: unit.at,
    name: sent.name,
    description: sent.description ?? null,
  });
};

const checkNewId = (unit: Unit, id: string): void => {
  if (!/^[\w-]+$/.test(id)) {
    throw invalidStripeRequest({
      message: `Invalid id: '${id}'. Ids may contain only letters, numbers, underscores and dashes.`,
      param: 'id',
    });
  }
  if (!unit.documents.products.get(unit.slot, id)) return;
  throw invalidStripeRequest({ code: 'resource_already_exists', message: 'Product already exists.', param: 'id' });
};

export const priceData = z.strictObject({
  currency: text(10),
  product: text(),
  unit_amount: whole,
  recurring: z.strictObject({
    interval: choice(['day', 'week', 'month', 'year']),
    interval_count: whole.optional(),
    usage_type: choice(['licensed']).optional(),
  }),
  tax_behavior: anything.optional(),
});
export type PriceData = z.output<typeof priceData>;

const createPrice = ({ call, unit }: StripeRequest): LedgerPrice => {
  const fields = { ...priceData.shape, metadata: metadata.optional(), nickname: text().optional() };
  const sent = readParameters(call, z.strictObject({ ...fields, expand: expand.optional() }));
  return addPrice(unit, sent, { param: '', metadata: mergeMetadata({}, sent.metadata) });
};

/** The longest interval of a price is three years. */
const MOST: Readonly<Record<LedgerSubscription['unit'], number>> = { day: 1_095, week: 156, month: 36, year: 3 };

interface Adding {
  /** The field of the request that holds the price. */
  readonly param: string;
  readonly metadata: Record<string, string>;
}

export const addPrice = (unit: Unit, data: PriceData, { param, metadata: kept }: Adding): LedgerPrice => {
  const named = (field: string): string => (param === '' ? field : `${param}[${field}]`);
  if (!unit.documents.products.get(unit.slot, data.product))
    throw stripeNotFound('product', data.product, named('product'));
  const { interval, interval_count: count = 1 } = data.recurring;
  if (count < 1 || count > MOST[interval]) {
    throw invalidStripeRequest({
      message: `Invalid interval: the maximum interval is 3 years (${MOST[interval]} ${interval}s).`,
      param: named('recurring'),
    });
  }
  if (data.unit_amount < 0 || data.unit_amount > mostAmount(data.currency)) {
    throw invalidStripeRequest({ message: `Invalid unit_amount: ${data.unit_amount}`, param: named('unit_amount') });
  }
  return unit.documents.prices.put({
    id: unit.newId('price'),
    provider: unit.slot,
    metadata: kept,
    wire: {},
    createdAt: unit.at,
    productId: data.product,
    amount: data.unit_amount,
    currency: checkCurrency(data.currency),
    unit: interval,
    count,
  });
};

const productView = (product: LedgerProduct): StripeObject => ({
  id: product.id,
  object: 'product',
  active: true,
  created: seconds(product.createdAt),
  default_price: null,
  description: product.description,
  images: [],
  livemode: false,
  marketing_features: [],
  metadata: product.metadata,
  name: product.name,
  package_dimensions: null,
  shippable: null,
  statement_descriptor: product.wire['statement_descriptor'] ?? null,
  tax_code: null,
  type: 'service',
  unit_label: null,
  updated: seconds(product.createdAt),
  url: null,
});
