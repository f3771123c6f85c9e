/**
 * @module Products, projects, tiers and invites. Other services own them, and the merchant copies them here as
 * reference records. A payment for a product always has the product's price. An invite's id is its token.
 */

import * as z from 'zod';
import type { RecordKind } from '../access/record-kind.ts';
import { boundedList, boundedObject, boundedText, jsonValue } from '../http/fields.ts';
import { referenceKey } from '../platform/keys.ts';
import { BILLING_INTERVALS } from './billing-intervals.ts';

const id = boundedText(64).min(1);
const optionalId = id.nullish();
export const cents = z.int().min(0);
const PROVIDER_REFS = { keys: 20, bytes: 8 * 1024 };
const metadata = z.record(z.string(), jsonValue).default({});

export const MAX_QUANTITY = 10_000;
export const soldQuantity = z.int().min(1).max(MAX_QUANTITY);

export const productFields = () => ({
  name: boundedText(200).min(1),
  description: boundedText(1000).nullish(),
  organization_id: optionalId,
  project_id: optionalId,
  is_active: z.boolean().default(true),
  subtotal_cents: cents,
  tax_cents: cents.default(0),
  discount_cents: cents.default(0),
  total_cents: cents,
  currency: z.string(),
  billing_interval: z.enum(BILLING_INTERVALS).nullish(),
  interval_multiplier: z.int().min(1).max(100).default(1),
  trial_days: z.int().min(0).max(730).default(0),
  min_quantity: soldQuantity.default(1),
  max_quantity: soldQuantity.nullish(),
  provider_refs: boundedObject(PROVIDER_REFS, z.record(boundedText(64), boundedText(255))).default({}),
  metadata,
});

export const projectFields = () => ({
  name: boundedText(200).min(1),
  slug: boundedText(100).min(1),
  billing_email: z.string().nullish(),
  organization_id: optionalId,
  owner_user_id: optionalId,
  metadata,
});

export const tierFields = () => ({
  name: boundedText(200).min(1),
  slug: boundedText(100).min(1),
  description: boundedText(1000).nullish(),
  rank: z.int().default(0),
  entity_type: z.enum(['user', 'organization', 'project']),
  features: boundedList(100, boundedText(200)).default([]),
  product_ids: boundedList(100, id).default([]),
  is_active: z.boolean().default(true),
});

export const inviteFields = () => ({
  project_id: id,
  organization_id: optionalId,
  inviter_name: boundedText(200).min(1),
  role: boundedText(50).min(1),
  email: z.string(),
  status: z.enum(['pending', 'accepted', 'revoked']).default('pending'),
  expires_at: z.string(),
});

const stored = () => ({ id, version: z.int(), created_at: z.string(), updated_at: z.string() });

/**
 * The schemas are built at the first read, because most functions that import this file read only some kinds, or none.
 */
export const productSchema = z.lazy(() => z.object({ ...stored(), ...productFields() }));
export const projectSchema = z.lazy(() => z.object({ ...stored(), ...projectFields() }));
export const tierSchema = z.lazy(() => z.object({ ...stored(), ...tierFields() }));
export const inviteSchema = z.lazy(() => z.object({ ...stored(), ...inviteFields() }));
export type Product = z.infer<typeof productSchema>;
export type Project = z.infer<typeof projectSchema>;
export type Tier = z.infer<typeof tierSchema>;
export type Invite = z.infer<typeof inviteSchema>;

export const productRecord: RecordKind<Product> = {
  resource: 'product',
  readScope: 'payments:read',
  key: (productId) => referenceKey('products', productId),
  parse: (item) => productSchema.parse(item),
  ownedBy: (product) => ({ organizationId: product.organization_id ?? undefined }),
  rule: 'open',
};

/** A project's owner, and members of its organization with canManagePayments, may edit it. */
export const projectRecord: RecordKind<Project> = {
  resource: 'project',
  readScope: 'payments:read',
  key: (projectId) => referenceKey('projects', projectId),
  parse: (item) => projectSchema.parse(item),
  ownedBy: (project) => ({
    userId: project.owner_user_id ?? undefined,
    organizationId: project.organization_id ?? undefined,
  }),
  rule: 'project',
};
