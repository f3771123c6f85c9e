import * as z from 'zod';
import { emailSchema, metadataSchema } from '../http/fields.ts';
import type { ReferenceKind } from '../table/keys.ts';
import { cents, inviteFields, productFields, projectFields, tierFields } from './records.ts';

/** Bodies of the platform admins' writes; each write replaces the whole record. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const currency = z
  .string()
  .trim()
  .toUpperCase()
  .refine((code) => CURRENCIES.has(code), {
    message: 'must be an ISO 4217 code such as USD',
    params: { rule: 'iso_4217' },
  });

const metadata = metadataSchema.default({});

const productMetadata = metadata.refine(
  ({ membership_type_id: tier }) => tier === undefined || (typeof tier === 'string' && tier !== ''),
  { path: ['membership_type_id'], message: 'must be the id of a tier', params: { rule: 'invalid_type' } },
);

/** The subtotal is computed from the other amounts if it is absent. */
const productBody = z
  .object({ ...productFields, currency, metadata: productMetadata, subtotal_cents: cents.optional() })
  .transform((body) => ({
    ...body,
    subtotal_cents: body.subtotal_cents ?? body.total_cents - body.tax_cents + body.discount_cents,
  }))
  .refine((body) => body.subtotal_cents + body.tax_cents - body.discount_cents === body.total_cents, {
    path: ['total_cents'],
    message: 'must be subtotal_cents + tax_cents - discount_cents',
    params: { rule: 'prices' },
  })
  .refine((body) => cents.safeParse(body.subtotal_cents).success, {
    path: ['subtotal_cents'],
    message: 'total_cents - tax_cents + discount_cents must be a price',
    params: { rule: 'prices' },
  });

const projectBody = z.object({ ...projectFields, billing_email: emailSchema.nullish(), metadata });

const tierBody = z.object(tierFields);

const inviteBody = z.object({
  ...inviteFields,
  email: emailSchema,
  expires_at: z.iso.datetime({ offset: true }).transform((time) => new Date(time).toISOString()),
});

export const REFERENCE_BODIES = {
  products: productBody,
  projects: projectBody,
  tiers: tierBody,
  invites: inviteBody,
} as const satisfies Record<ReferenceKind, z.ZodType>;
