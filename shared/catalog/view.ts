import type { Product, Tier } from './reference-records.ts';

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
  provider_refs: product.provider_refs,
  metadata: product.metadata,
  created_at: product.created_at,
  updated_at: product.updated_at,
});

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
