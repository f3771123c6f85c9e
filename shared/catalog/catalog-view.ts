/** @module Views of products, projects, tiers and invites for buyers, members and the merchant. */

import type { Showing } from '../access/included-records.ts';
import { type Invite, type Product, type Project, productRecord, projectRecord, type Tier } from './catalog-records.ts';

export const productView = (product: Product) => ({
  id: product.id,
  name: product.name,
  description: product.description ?? null,
  organization_id: product.organization_id ?? null,
  project_id: product.project_id ?? null,
  is_active: product.is_active,
  subtotal_cents: product.subtotal_cents,
  tax_cents: product.tax_cents,
  discount_cents: product.discount_cents,
  total_cents: product.total_cents,
  currency: product.currency,
  billing_interval: product.billing_interval ?? null,
  interval_multiplier: product.interval_multiplier,
  trial_days: product.trial_days,
  min_quantity: product.min_quantity,
  max_quantity: product.max_quantity ?? null,
  provider_refs: product.provider_refs,
  metadata: product.metadata,
  created_at: product.created_at,
  updated_at: product.updated_at,
});

/** The fields of a product that buyers see. A buyer is a caller without a role in the product's organization. */
const BUYER_FIELDS = [
  ...(['id', 'name', 'description', 'is_active'] as const),
  ...(['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'currency'] as const),
  ...(['billing_interval', 'interval_multiplier', 'trial_days', 'min_quantity', 'max_quantity'] as const),
] satisfies readonly (keyof ReturnType<typeof productView>)[];

export const buyersProductView = (product: Product) => {
  const whole = productView(product);
  return Object.fromEntries(BUYER_FIELDS.map((field) => [field, whole[field]]));
};

export const productBeside: Showing<Product> = {
  kind: productRecord,
  view: productView,
  buyersView: buyersProductView,
};

/** The fields of a project that buyers and invite holders see. */
export const buyersProjectView = ({ id, name, slug }: Project) => ({ id, name, slug });

const projectView = (project: Project) => ({
  ...buyersProjectView(project),
  billing_email: project.billing_email ?? null,
});

export const projectBeside: Showing<Project> = {
  kind: projectRecord,
  view: projectView,
  buyersView: buyersProjectView,
};

export const tierView = (tier: Tier) => ({
  id: tier.id,
  name: tier.name,
  slug: tier.slug,
  description: tier.description ?? null,
  rank: tier.rank,
  entity_type: tier.entity_type,
  features: tier.features,
  product_ids: tier.product_ids,
  is_active: tier.is_active,
});

export const wholeProjectView = (project: Project) => ({
  ...projectView(project),
  organization_id: project.organization_id ?? null,
  owner_user_id: project.owner_user_id ?? null,
  metadata: project.metadata,
  created_at: project.created_at,
  updated_at: project.updated_at,
});

export const wholeTierView = (tier: Tier) => ({
  ...tierView(tier),
  created_at: tier.created_at,
  updated_at: tier.updated_at,
});

export const inviteView = (invite: Invite) => ({
  id: invite.id,
  project_id: invite.project_id,
  organization_id: invite.organization_id ?? null,
  inviter_name: invite.inviter_name,
  role: invite.role,
  email: invite.email,
  status: invite.status,
  expires_at: invite.expires_at,
  created_at: invite.created_at,
  updated_at: invite.updated_at,
});
