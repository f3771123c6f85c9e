/** @module The HTTP endpoint that lists the products for sale. */

import * as z from 'zod';
import { BILLING_INTERVALS } from '../../shared/catalog/billing-intervals.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';
import { listProductsQuery } from '../../shared/queries/list-products.ts';

const cents = z.int();

const productSchema = z
  .object({
    id: z.string().describe('Id of the product, as `product_id` of payments and subscriptions.'),
    name: z.string().describe('The name to show to people.'),
    description: z.string().nullable().describe('A description of the product; null if it has none.'),
    is_active: z.boolean().describe('Always true in this list.'),
    subtotal_cents: cents.describe('The price of one unit before tax and discount, in minor units.'),
    tax_cents: cents.describe('The tax for a quantity of 1, in minor units.'),
    discount_cents: cents.describe('The discount for a quantity of 1, in minor units.'),
    total_cents: cents.describe('The subtotal plus the tax, less the discount, in minor units.'),
    currency: z.string().describe('The ISO 4217 code of the amounts.'),
    billing_interval: z
      .enum(BILLING_INTERVALS)
      .nullable()
      .describe("The unit of a subscription's period; null for a one-time product."),
    interval_multiplier: z.int().describe('Intervals per period of a subscription.'),
    trial_days: z.int().describe('The free days of a new subscription.'),
    min_quantity: z.int().describe('The smallest quantity that can be bought.'),
    max_quantity: z.int().nullable().describe('The largest quantity that can be bought; null if it has no limit.'),
  })
  .meta({ id: 'SoldProduct', description: 'A product as buyers see it.' });

export const listProductsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'products.list',
  method: 'GET',
  path: '/products',
  summary: 'List the products that can be bought, newest first',
  description: `Lists the active products with their prices, for a choice of plans. A page may hold fewer products than \`limit\` while
    \`has_more\` is true; continue with \`next_cursor\`.`,
  auth: 'session',
  params: z.object({}),
  query: listProductsQuery,
  body: null,
  response: () => z.array(productSchema),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const productEndpoints = [listProductsEndpoint];
