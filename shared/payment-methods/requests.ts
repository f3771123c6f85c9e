import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { guestDataSchema, hasAnyField, idSchema, requiredRule, verificationTokenSchema } from '../http/fields.ts';
import { MAX_OFFSET, PAGE_LIMIT, wholeNumber } from '../http/paging.ts';

const alias = z.string().max(100).nullish();

const rawCard = {
  card_number: z
    .string()
    .regex(/^(?:\d[ -]?){12,18}\d$/, 'must be a card number')
    .optional(),
  card_exp_month: z
    .string()
    .regex(/^(0[1-9]|1[0-2])$/, 'must be MM')
    .optional(),
  card_exp_year: z
    .string()
    .regex(/^20\d{2}$/, 'must be YYYY')
    .optional(),
  card_cvc: z
    .string()
    .regex(/^\d{3,4}$/, 'must be 3 or 4 digits')
    .optional(),
};

export const createMethodBody = z
  .object({
    ...rawCard,
    provider_id: z.enum(PROVIDER_SLOTS),
    provider_payment_method_token: z.string().min(1).max(255).optional(),
    verification_token: verificationTokenSchema,
    type: z.enum(['card', 'bank_account']).optional(),
    billing_address_id: idSchema.nullish(),
    is_default: z.boolean().default(false),
    alias,
    organization_id: z.string().max(64).nullish(),
    guest_data: guestDataSchema.nullish(),
  })
  .refine(
    (body) => hasAnyField(body, 'provider_payment_method_token') || hasAnyField(body, 'card_number'),
    requiredRule('provider_payment_method_token'),
  )
  .refine(
    (body) => !hasAnyField(body, 'card_number') || hasAnyField(body, 'card_exp_month'),
    requiredRule('card_exp_month'),
  )
  .refine(
    (body) => !hasAnyField(body, 'card_number') || hasAnyField(body, 'card_exp_year'),
    requiredRule('card_exp_year'),
  );
export type CreateMethodBody = z.output<typeof createMethodBody>;

export const updateMethodBody = z.object({
  alias,
  billing_address_id: idSchema.nullish(),
  is_default: z.boolean().optional(),
});
export type UpdateMethodBody = z.output<typeof updateMethodBody>;

const METHOD_ORDERS = ['created_at', 'card_brand', 'alias'] as const;

export const listMethodsQuery = z
  .object({
    organization_id: z.string().max(64).optional(),
    project_id: z.string().optional(),
    page: wholeNumber.pipe(z.int().min(1)).default(1),
    limit: wholeNumber
      .pipe(z.int().min(1))
      .transform((limit) => Math.min(limit, PAGE_LIMIT))
      .default(PAGE_LIMIT),
    payment_type: z.enum(['card', 'bank_account']).optional(),
    card_brand: z.string().toLowerCase().max(50).optional(),
    search: z.string().trim().toLowerCase().max(200).optional(),
    orderBy: z.enum(METHOD_ORDERS).default('created_at'),
    orderDir: z.enum(['asc', 'desc']).default('desc'),
    token: z.string().max(2048).optional(),
  })
  // A page that is not a number has its own problem, so NaN passes here.
  .refine(({ page, limit }) => !((page - 1) * limit > MAX_OFFSET), {
    path: ['page'],
    message: `must not lead beyond ${MAX_OFFSET} entries`,
    params: { rule: 'too_big' },
  });
export type ListMethodsQuery = z.output<typeof listMethodsQuery>;
