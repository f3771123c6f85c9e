import * as z from 'zod';
import { PAYMENT_STATUSES } from './payment.ts';

/** The shapes that payment routes answer; the API document and the generated tests read them. */
const text = z.string().nullable();
const cents = z.int().nonnegative();
const nextAction = z.object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() });

export const paymentViewSchema = z.looseObject({
  id: z.string(),
  user_id: text,
  customer_id: text,
  subtotal_cents: cents,
  tax_cents: cents,
  discount_cents: cents,
  total_cents: cents,
  amount_cents: cents,
  currency: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  description: text,
  concept: text,
  reference_code: text,
  category: text,
  tags: text,
  provider_id: z.string(),
  provider_payment_id: text,
  provider_intent_id: text,
  client_secret: z.string().optional(),
  payment_method_id: text,
  is_guest_payment: z.boolean(),
  guest_email: text,
  organization_id: z.string().optional(),
  project_id: z.string().optional(),
  product_id: z.string().optional(),
  billing_address_id: text,
  metadata: z.record(z.string(), z.json()),
  failure_code: z.string().optional(),
  next_action: nextAction.optional(),
  created_at: z.string(),
  updated_at: z.string(),
  completed_at: text,
});

export const createdPaymentSchema = paymentViewSchema.extend({
  guest_token: z.string().optional(),
  guest_token_expires_at: z.string().optional(),
});

export const confirmationSchema = z.object({
  id: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  provider_payment_id: text,
  completed_at: text,
  next_action: nextAction.optional(),
});

export const guestPaymentSchema = z.looseObject({
  id: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  amount_cents: cents,
  total_cents: cents,
  currency: z.string(),
  description: text,
  is_guest_payment: z.boolean(),
  created_at: z.string(),
  completed_at: text,
});
