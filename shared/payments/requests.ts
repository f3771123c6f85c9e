import * as z from 'zod';
import { MAX_CENTS } from '../core/money.ts';
import { PROVIDER_SLOTS } from '../settings.ts';

/** What payment routes accept. Lengths are limits of the service; `null` is the same as absent, but clears on PUT. */
export const idSchema = z.string().min(1).max(64);
const text = (max: number) => z.string().max(max).nullish();
const cents = z.int().min(0).max(MAX_CENTS).optional();

const METADATA_KEYS = 50;
const METADATA_VALUE_LENGTH = 500;
const METADATA_BYTES = 16 * 1024;

const metadataValue = z
  .json()
  .refine((value) => (typeof value === 'string' ? value : JSON.stringify(value)).length <= METADATA_VALUE_LENGTH, {
    message: `must be at most ${METADATA_VALUE_LENGTH} characters`,
    params: { rule: 'too_big' },
  });

export const metadataSchema = z
  .record(z.string().min(1).max(40), metadataValue)
  .refine((metadata) => Object.keys(metadata).length <= METADATA_KEYS, {
    message: `must have at most ${METADATA_KEYS} keys`,
    params: { rule: 'too_big' },
  })
  .refine((metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES, {
    message: `must be at most ${METADATA_BYTES} bytes`,
    params: { rule: 'too_big' },
  });

export const tagsSchema = z
  .string()
  .max(500)
  .refine((tags) => tags.split(',').length <= 20 && tags.split(',').every((tag) => tag.trim().length <= 50), {
    message: 'must be at most 20 tags of at most 50 characters, separated by commas',
    params: { rule: 'tags' },
  })
  .nullish();

export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

export const guestDataSchema = z.object({
  email: emailSchema,
  name: z.string().trim().min(1).max(200),
  phone: text(32),
});

const webUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .nullish();

const fields = {
  subtotal_cents: cents,
  tax_cents: cents,
  discount_cents: cents,
  total_cents: cents,
  amount_cents: cents,
  currency: z.string().trim().min(1).max(10),
  provider_id: z.enum(PROVIDER_SLOTS).optional(),
  description: text(1000),
  concept: text(200),
  reference_code: text(100),
  category: text(100),
  tags: tagsSchema,
  setup_future_usage: z.enum(['off_session']).nullish(),
  payment_method_id: z.string().min(1).max(255).nullish(),
  customer_id: idSchema.nullish(),
  organization_id: z.string().max(64).nullish(),
  project_id: idSchema.nullish(),
  product_id: idSchema.nullish(),
  billing_address_id: idSchema.nullish(),
  return_url: webUrl,
  metadata: metadataSchema.nullish(),
};

const updatable = { ...fields, currency: fields.currency.optional(), guest_data: guestDataSchema.nullish() };

/** Refinements that run beside other problems, so that all are named at once. */
const also = (path: string, message: string) => ({
  path: [path],
  message,
  params: { rule: 'required' },
  when: () => true,
});
const given = (body: unknown, ...names: readonly string[]): boolean =>
  typeof body === 'object' &&
  body !== null &&
  Object.entries(body).some(([name, value]) => names.includes(name) && value !== undefined && value !== null);

/** With a product, price and currency are the product's. */
export const createIntentBody = z
  .object(updatable)
  .refine(
    (body) => given(body, 'total_cents', 'subtotal_cents', 'amount_cents', 'product_id'),
    also('total_cents', 'total_cents, subtotal_cents, amount_cents or product_id is required'),
  )
  .refine((body) => given(body, 'currency', 'product_id'), also('currency', 'is required'));
export type CreateIntentBody = z.output<typeof createIntentBody>;

/** provider_id, organization_id and guest_data may be sent as they are, not changed. */
export const updateIntentBody = z.object(updatable);
export type UpdateIntentBody = z.output<typeof updateIntentBody>;

export const confirmBody = z.object({ payment_method_id: fields.payment_method_id, return_url: webUrl });
