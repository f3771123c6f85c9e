/** @module A discount code, which is a reference record with the upper-case code as its id. */

import * as z from 'zod';
import { boundedList, boundedObject, boundedText, idSchema, jsonValue, timeField } from '../http/fields.ts';
import { referenceKey } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';

export const DISCOUNT_DURATIONS = ['once', 'repeating', 'forever'] as const;

const CODE = /^[A-Z0-9_-]{3,40}$/;

/** The stored form of a code; codes match in any case. */
export const canonicalCode = (sent: string): string => sent.trim().toUpperCase();

export const isDiscountCode = (code: string): boolean => CODE.test(code);

const MOST_PRODUCTS = 100;
const AMOUNTS = { keys: 200, bytes: 8 * 1024 };
/** The largest amount that providers accept in one charge. */
const MAX_AMOUNT_CENTS = 99_999_999;
const MOST_BASIS_POINTS = 10_000;

export const discountFields = () => ({
  name: boundedText(200).min(1),
  percent_bp: z.int().min(1).max(MOST_BASIS_POINTS).nullish(),
  amounts: boundedObject(AMOUNTS, z.record(boundedText(10), z.int().min(1).max(MAX_AMOUNT_CENTS))).nullish(),
  duration: z.enum(DISCOUNT_DURATIONS).default('once'),
  duration_periods: z.int().min(2).max(120).nullish(),
  product_ids: boundedList(MOST_PRODUCTS, idSchema).nullish(),
  starts_at: timeField().nullish(),
  ends_at: timeField().nullish(),
  max_redemptions: z.int().min(1).max(1_000_000_000).nullish(),
  max_per_payer: z.int().min(1).max(1_000_000).nullish(),
  is_active: z.boolean().default(true),
  metadata: z.record(z.string(), jsonValue).default({}),
});

export const discountRecordSchema = z.lazy(() =>
  z.object({
    ...discountFields(),
    id: z.string(),
    version: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);
export type Discount = z.infer<typeof discountRecordSchema>;

const countSchema = z.object({ taken: z.int().default(0), redeemed: z.int().default(0) });
type DiscountCount = z.infer<typeof countSchema>;

/** The counts of a code; a missing item means 0. */
export const discountCountOf = (item: Item | undefined): DiscountCount => countSchema.parse(item ?? {});

export const discountKey = (code: string) => referenceKey('discounts', code);

/** The view of a code. `reserved` and `redeemed` are counted only for a code with `max_redemptions`. */
export const discountRecordView = (discount: Discount, count: DiscountCount) => {
  const isCounted = typeof discount.max_redemptions === 'number';
  return {
    id: discount.id,
    name: discount.name,
    percent_bp: discount.percent_bp ?? null,
    amounts: discount.amounts ?? null,
    duration: discount.duration,
    duration_periods: discount.duration_periods ?? null,
    product_ids: discount.product_ids ?? null,
    starts_at: discount.starts_at ?? null,
    ends_at: discount.ends_at ?? null,
    max_redemptions: discount.max_redemptions ?? null,
    max_per_payer: discount.max_per_payer ?? null,
    is_active: discount.is_active,
    reserved: isCounted ? count.taken - count.redeemed : null,
    redeemed: isCounted ? count.redeemed : null,
    metadata: discount.metadata,
    created_at: discount.created_at,
    updated_at: discount.updated_at,
  };
};
