import * as z from 'zod';
import { guestDataSchema, idSchema } from '../http/fields.ts';
import { offsetQuery } from '../http/paging.ts';
import { ADDRESS_TYPES, TAX_ID_TYPES } from './address.ts';
import { addressProblems, isCountry } from './rules.ts';

/** Bodies and queries of address routes. `null` and blank text mean absent; on PUT they clear the field. */
const text = (max: number) => z.string().trim().max(max).nullish();

const country = z
  .string()
  .trim()
  .toUpperCase()
  .refine(isCountry, { message: 'must be an ISO 3166-1 alpha-2 code such as US', params: { rule: 'iso_3166' } });

const fields = {
  line1: text(200),
  line2: text(200),
  city: text(100),
  state: text(100),
  postal_code: text(20),
  name: text(200),
  business_name: text(200),
  /** Stored as sent. */
  tax_id: z.string().max(50).nullish(),
  tax_id_type: z.enum(TAX_ID_TYPES).nullish(),
  alias: text(100),
  nickname: z.never({ error: 'use alias' }).optional(),
};

const given = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

const factsOf = (body: Readonly<Record<string, unknown>>) => ({
  country: typeof body['country'] === 'string' && isCountry(body['country']) ? body['country'] : undefined,
  isPartial: body['is_partial'] === true,
  isBusiness: body['is_business'] === true,
  line1: given(body['line1']),
  city: given(body['city']),
  postalCode: given(body['postal_code']),
  name: given(body['name']),
  businessName: given(body['business_name']),
});

export const createAddressBody = z
  .object({
    ...fields,
    country,
    is_partial: z.boolean().default(false),
    is_business: z.boolean().default(false),
    type: z.enum(ADDRESS_TYPES).default('billing'),
    is_default: z.boolean().default(false),
    organization_id: z.string().max(64).nullish(),
    guest_data: guestDataSchema.nullish(),
  })
  .superRefine(
    (body, context) => {
      for (const { path, rule, message } of addressProblems(factsOf(body))) {
        context.addIssue({ code: 'custom', path: [path], message, params: { rule } });
      }
    },
    // Runs on an invalid body too, so that one answer lists all problems.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
export type CreateAddressBody = z.output<typeof createAddressBody>;

export const updateAddressBody = z.object({
  ...fields,
  country: country.optional(),
  is_partial: z.boolean().optional(),
  is_business: z.boolean().optional(),
  type: z.enum(ADDRESS_TYPES).optional(),
  is_default: z.boolean().optional(),
});
export type UpdateAddressBody = z.output<typeof updateAddressBody>;

export const listAddressesQuery = z.object({
  ...offsetQuery,
  type: z.enum(ADDRESS_TYPES).optional(),
  organization_id: z.string().max(64).optional(),
  project_id: z.string().optional(),
  completeness: z.enum(['full', 'partial', 'any']).default('any'),
});
export type ListAddressesQuery = z.output<typeof listAddressesQuery>;

export const billingAddressBody = z.object({ billing_address_id: idSchema.nullable() });

export type BillingAddressBody = z.output<typeof billingAddressBody>;
