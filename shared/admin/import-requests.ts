/** @module The body and response of an import of customers created at a provider by another integration. */

import * as z from 'zod';
import { BILLING_INTERVALS } from '../catalog/billing-intervals.ts';
import { soldQuantity } from '../catalog/catalog-records.ts';
import { once } from '../core/once.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import {
  boundedList,
  boundedObject,
  boundedText,
  centsField,
  currencyField,
  hasAnyField,
  idSchema,
  optionalId,
  requiredRule,
  timeField,
  tokenText,
} from '../http/fields.ts';
import { OBSTACLES } from '../providers/holdings-port.ts';

const MOST_ROWS = 20;
const PRODUCTS = { keys: 500, bytes: 64 * 1024 };
const LONGEST_ID = 255;
const LONGEST_REFERENCE = 100;
const MAX_MULTIPLIER = 100;

/** Splits `user:<id>`, `organization:<id>` or `guest:<e-mail>`. */
export const OWNER_FORM = /^(user|organization):(\S{1,64})$|^(guest):([^\s@]+@[^\s@]+)$/;

const requiredOfStart = (path: string) => requiredRule(path, 'is required without product_id');

const startSchema = z
  .object({
    reference: boundedText(LONGEST_REFERENCE)
      .trim()
      .min(1)
      .describe(
        'Your reference of the subscription, at most 100 characters. A repeat with the same customer and reference is `known`.',
      ),
    payment_method: tokenText(LONGEST_ID).describe("The provider's id of the customer's method to charge."),
    product_id: optionalId.describe('The product. Its price, currency and interval apply.'),
    quantity: soldQuantity.optional().describe('Units of the product; 1 if absent. Only with a product.'),
    subtotal_cents: centsField.describe('The price of a period before tax and discount, in minor units.'),
    tax_cents: centsField.describe('The tax of a period in minor units; 0 if absent.'),
    discount_cents: centsField.describe('The discount of a period in minor units; 0 if absent.'),
    total_cents: centsField.describe('The price of a period, in minor units: subtotal + tax − discount.'),
    currency: currencyField.optional().describe('An ISO 4217 code.'),
    billing_interval: z.enum(BILLING_INTERVALS).optional().describe('The unit of a period.'),
    interval_multiplier: z.int().min(1).max(MAX_MULTIPLIER).optional().describe('Units per period; 1 if absent.'),
    paid_until: timeField().describe(
      'End of the time paid elsewhere, 48 hours to 400 days ahead. The first charge follows at this time.',
    ),
    source_ended: z
      .boolean()
      .default(false)
      .describe('True confirms that the old biller no longer charges. Without it the row is refused.'),
  })
  .refine((body) => hasAnyField(body, 'total_cents', 'product_id'), requiredOfStart('total_cents'))
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredOfStart('currency'))
  .refine((body) => hasAnyField(body, 'billing_interval', 'product_id'), requiredOfStart('billing_interval'))
  .meta({
    id: 'StartSubscription',
    description: 'A subscription of another biller; the service bills it from `paid_until` on.',
  });
export type StartBody = z.output<typeof startSchema>;

const rowSchema = z
  .object({
    provider_customer_id: boundedText(LONGEST_ID)
      .min(1)
      .meta({
        description: 'Id of the customer at the provider, such as `cus_…` at Stripe.',
        examples: ['cus_NffrFeUfNV2Hib'],
      }),
    owner: boundedText(320)
      .refine((text) => OWNER_FORM.test(text), {
        message: 'must be user:<id>, organization:<id> or guest:<e-mail>',
        params: { rule: 'invalid_format' },
      })
      .meta({
        description: 'The owner of the records here: `user:<id>`, `organization:<id>` or `guest:<e-mail>`.',
        examples: ['user:user-1'],
      }),
    start: startSchema.optional(),
  })
  .meta({ id: 'ImportRow', description: 'One customer at the provider, and its owner here.' });
export type ImportRow = z.output<typeof rowSchema>;

export const importBody = z
  .object({
    provider_id: z.enum(PROVIDER_SLOTS).describe('The provider slot that has the customers.'),
    dry_run: z.boolean().default(false).describe('True only reads, and returns the outcome of an import.'),
    products: boundedObject(PRODUCTS, z.record(boundedText(LONGEST_ID), idSchema))
      .default({})
      .meta({
        description:
          'Maps Stripe price ids to products. A subscription with such a price gets the product and its tier if total, currency and interval are equal.',
        examples: [{ price_1MoBy5LkdIwHu7ixZhnattbh: 'prod-pro' }],
      }),
    overwrite_metadata: z
      .boolean()
      .default(false)
      .describe("True also imports subscriptions with another system's `subscription_id` in their metadata."),
    rows: boundedList(MOST_ROWS, rowSchema)
      .refine((rows) => rows.length > 0, 'must have at least one row')
      .describe('At most 20 customers.'),
  })
  .meta({ id: 'Import', description: 'Customers of another integration, each with its owner here.' });
export type ImportBody = z.output<typeof importBody>;

const IMPORT_KINDS = ['customer', 'payment_method', 'subscription'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];
const IMPORT_OUTCOMES = ['adopted', 'known', 'refused', 'manual'] as const;

const REFUSALS = [
  'customer_not_found',
  'customer_deleted',
  'owner_unknown',
  'other_owner',
  'metadata_taken',
  'no_method',
  'paid_until',
  'source_not_ended',
  'provider_unavailable',
  'not_reached',
] as const;
export type ImportRefusal = (typeof REFUSALS)[number];

const MANUALS = [
  ...OBSTACLES,
  'no_method',
  'currency',
  'interval',
  'discount_ends',
  'tax',
  'price_differs',
  'too_many_methods',
] as const;
export type ImportManual = (typeof MANUALS)[number];

export const importAnswer = /* @__PURE__ */ once(() =>
  z
    .object({
      rows: z
        .array(
          z.object({
            provider_customer_id: z.string().describe('The customer id from the request.'),
            owner: z.string().describe('The customer id from the request.'),
            records: z
              .array(
                z.object({
                  kind: z.enum(IMPORT_KINDS).describe('Whether the record is a customer, a method or a subscription.'),
                  provider_id: z.string().describe("The provider's id, or the reference of a `start`."),
                  id: z.string().nullable().describe('Our id; null if there is no record here.'),
                  outcome: z
                    .enum(IMPORT_OUTCOMES)
                    .describe('`adopted` is new here; `manual` stays as it is at the provider.'),
                  reason: z
                    .enum([...new Set([...REFUSALS, ...MANUALS])])
                    .nullable()
                    .describe('Why a record is refused or manual; null otherwise.'),
                }),
              )
              .describe('The customer, its methods and its subscriptions.'),
          }),
        )
        .describe('The rows in the order of the request.'),
      counts: z
        .object({
          adopted: z.int().describe('Records that are new here.'),
          known: z.int().describe('Records that were here already.'),
          refused: z.int().describe('Records that were refused.'),
          manual: z.int().describe('Records that need your decision.'),
        })
        .describe('The number of records by outcome.'),
    })
    .meta({ id: 'Imported', description: 'The outcome of the import, per record.' }),
);
type ImportAnswer = z.output<ReturnType<typeof importAnswer>>;
export type ImportCounts = ImportAnswer['counts'];
export type ImportedRecord = Readonly<ImportAnswer['rows'][number]['records'][number]>;
export interface ImportedRow {
  readonly provider_customer_id: string;
  readonly owner: string;
  readonly records: readonly ImportedRecord[];
}
