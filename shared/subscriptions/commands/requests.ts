import * as z from 'zod';
import { BILLING_INTERVALS } from '../../catalog/records.ts';
import { MAX_CENTS } from '../../core/money.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { guestDataSchema, hasAnyField, idSchema, metadataSchema, requiredRule, tagsSchema } from '../../http/fields.ts';

/** Requests of the subscription routes; `null` is the same as absent. */
const text = (max: number) => z.string().max(max).nullish();
const cents = z.int().min(0).max(MAX_CENTS).optional();

const MAX_TRIAL_DAYS = 730;
const MAX_MULTIPLIER = 100;

export const createSubscriptionBody = z
  .object({
    customer_id: idSchema,
    product_id: idSchema.nullish(),
    payment_method_id: idSchema,
    provider_id: z.enum(PROVIDER_SLOTS).optional(),
    trial_days: z.int().min(0).max(MAX_TRIAL_DAYS).nullish(),
    subtotal_cents: cents,
    tax_cents: cents,
    discount_cents: cents,
    total_cents: cents,
    amount_cents: cents,
    currency: z.string().trim().min(1).max(10).optional(),
    billing_interval: z.enum(BILLING_INTERVALS).optional(),
    interval_multiplier: z.int().min(1).max(MAX_MULTIPLIER).optional(),
    concept: text(200),
    description: text(1000),
    reference_code: text(100),
    category: text(100),
    tags: tagsSchema,
    organization_id: z.string().max(64).nullish(),
    project_id: idSchema.nullish(),
    billing_address_id: idSchema.nullish(),
    metadata: metadataSchema.nullish(),
    guest_data: guestDataSchema.nullish(),
  })
  .refine(
    (body) => hasAnyField(body, 'total_cents', 'subtotal_cents', 'amount_cents', 'product_id'),
    requiredRule('total_cents', 'total_cents, subtotal_cents, amount_cents or product_id is required'),
  )
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredRule('currency'))
  .refine((body) => hasAnyField(body, 'billing_interval', 'product_id'), requiredRule('billing_interval'));
export type CreateSubscriptionBody = z.output<typeof createSubscriptionBody>;

/** In mode `merge`, a null value of the metadata deletes its key. */
export const updateSubscriptionBody = z
  .object({
    payment_method_id: idSchema.optional(),
    metadata: metadataSchema.nullish(),
    metadata_mode: z.enum(['merge', 'replace']).default('merge'),
  })
  .refine((body) => hasAnyField(body, 'payment_method_id', 'metadata'), {
    message: 'needs payment_method_id or metadata',
    params: { rule: 'required' },
    when: () => true,
  });
export type UpdateSubscriptionBody = z.output<typeof updateSubscriptionBody>;

export const cancelBody = z.object({ cancel_at_period_end: z.boolean().default(true) });
export type CancelBody = z.output<typeof cancelBody>;
