import * as z from 'zod';
import type { RecordKind } from '../access/record-kind.ts';
import { MAX_CENTS } from '../core/money.ts';
import { type ReferenceKind, referenceKey } from '../table/keys.ts';

/**
 * Products, projects, tiers and invites: owned by other services, kept here as reference records that platform admins
 * write. A product's price is the only price a payment for it can have.
 */
const id = z.string().min(1).max(64);
const optionalId = id.nullish();
const cents = z.int().min(0).max(MAX_CENTS);
const timestamps = { created_at: z.string(), updated_at: z.string() };

export const BILLING_INTERVALS = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;

export const productBody = z
  .object({
    name: z.string().min(1).max(200),
    description: z.string().max(1000).nullish(),
    organization_id: optionalId,
    project_id: optionalId,
    is_active: z.boolean().default(true),
    subtotal_cents: cents.optional(),
    tax_cents: cents.default(0),
    discount_cents: cents.default(0),
    total_cents: cents,
    currency: z.string().trim().toUpperCase().length(3),
    billing_interval: z.enum(BILLING_INTERVALS).nullish(),
    interval_multiplier: z.int().min(1).max(100).default(1),
    trial_days: z.int().min(0).max(730).default(0),
    provider_refs: z.record(z.string().max(64), z.string().max(255)).default({}),
    metadata: z.record(z.string().max(40), z.json()).default({}),
  })
  .transform((body) => ({
    ...body,
    subtotal_cents: body.subtotal_cents ?? body.total_cents - body.tax_cents + body.discount_cents,
  }))
  .refine((body) => body.subtotal_cents + body.tax_cents - body.discount_cents === body.total_cents, {
    path: ['total_cents'],
    message: 'must be subtotal_cents + tax_cents - discount_cents',
    params: { rule: 'prices' },
  });

export const projectBody = z.object({
  name: z.string().min(1).max(200),
  slug: z.string().min(1).max(100),
  billing_email: z.string().max(254).nullish(),
  organization_id: optionalId,
  owner_user_id: optionalId,
  metadata: z.record(z.string().max(40), z.json()).default({}),
});

export const tierBody = z.object({
  name: z.string().min(1).max(200),
  slug: z.string().min(1).max(100),
  description: z.string().max(1000).nullish(),
  rank: z.int().default(0),
  entity_type: z.enum(['user', 'organization', 'project']),
  features: z.array(z.string().max(200)).max(100).default([]),
  product_ids: z.array(id).max(100).default([]),
  is_active: z.boolean().default(true),
});

export const inviteBody = z.object({
  project_id: id,
  organization_id: optionalId,
  inviter_name: z.string().min(1).max(200),
  role: z.string().min(1).max(50),
  email: z.string().trim().toLowerCase().max(254).pipe(z.email()),
  status: z.enum(['pending', 'accepted', 'revoked']).default('pending'),
  expires_at: z.iso.datetime({ offset: true }),
});

export const REFERENCE_BODIES = {
  products: productBody,
  projects: projectBody,
  tiers: tierBody,
  invites: inviteBody,
} as const satisfies Record<ReferenceKind, z.ZodType>;

const stored = { id, version: z.int(), ...timestamps };
const productSchema = z.looseObject(stored).and(productBody);
const projectSchema = projectBody.extend(stored);
export const tierSchema = tierBody.extend(stored);
export const inviteSchema = inviteBody.extend(stored);
export type Product = z.infer<typeof productSchema>;
export type Project = z.infer<typeof projectSchema>;
export type Tier = z.infer<typeof tierSchema>;
export type Invite = z.infer<typeof inviteSchema>;

export const productRecord: RecordKind<Product> = {
  resource: 'product',
  key: (productId) => referenceKey('products', productId),
  parse: (item) => productSchema.parse(item),
  ownedBy: () => ({}),
  rule: 'open',
};

/** Edit permission: its owner, or canManagePayments in its organization. */
export const projectRecord: RecordKind<Project> = {
  resource: 'project',
  key: (projectId) => referenceKey('projects', projectId),
  parse: (item) => projectSchema.parse(item),
  ownedBy: (project) => ({
    userId: project.owner_user_id ?? undefined,
    organizationId: project.organization_id ?? undefined,
  }),
  rule: 'project',
};

export const projectView = ({ id: projectId, name, slug, billing_email }: Project) => ({
  id: projectId,
  name,
  slug,
  billing_email: billing_email ?? null,
});
