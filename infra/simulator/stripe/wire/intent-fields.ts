/** @module The fields of Stripe's PaymentIntent requests. Unknown fields are refused, as at Stripe. */

import * as z from 'zod';
import type { LedgerPayment } from '../../ledger/documents.ts';
import { methodData } from './method-data.ts';
import { anything, choice, clearable, descriptorText, expand, flag, metadata, text, whole } from './parameters.ts';

const usage = choice(['off_session', 'on_session']);

const ignored = {
  amount_details: anything.optional(),
  application_fee_amount: anything.optional(),
  excluded_payment_method_types: anything.optional(),
  hooks: anything.optional(),
  on_behalf_of: anything.optional(),
  payment_details: anything.optional(),
  payment_method_configuration: anything.optional(),
  payment_method_options: anything.optional(),
  radar_options: anything.optional(),
  transfer_data: anything.optional(),
};

const common = {
  ...ignored,
  capture_method: choice(['automatic', 'automatic_async', 'manual']).optional(),
  payment_method: text().optional(),
  payment_method_data: methodData.optional(),
  receipt_email: clearable().optional(),
  shipping: anything.optional(),
  expand: expand.optional(),
};

/** Stripe refuses a full descriptor for cards, and every simulated payment may be paid by card. */
const descriptors = {
  statement_descriptor: text(22)
    .refine(() => false, {
      error: 'You cannot set `statement_descriptor` for a card charge. Use `statement_descriptor_suffix` instead.',
    })
    .optional(),
  statement_descriptor_suffix: descriptorText.optional(),
};

const described = {
  description: clearable(1_000).optional(),
  metadata: metadata.optional(),
  ...descriptors,
  transfer_group: text().optional(),
};

const confirming = {
  error_on_requires_action: flag.optional(),
  mandate: anything.optional(),
  mandate_data: anything.optional(),
  off_session: choice(['true', 'false', 'one_off', 'recurring'])
    .transform((value) => value !== 'false')
    .optional(),
  return_url: text().optional(),
  use_stripe_sdk: flag.optional(),
};

export const createFields = z.strictObject({
  ...common,
  ...described,
  ...confirming,
  amount: whole,
  currency: text(10),
  automatic_payment_methods: z
    .strictObject({ enabled: flag, allow_redirects: choice(['always', 'never']).optional() })
    .optional(),
  confirm: flag.optional(),
  confirmation_method: choice(['automatic', 'manual']).optional(),
  customer: text().optional(),
  setup_future_usage: usage.optional(),
});

export const updateFields = z.strictObject({
  ...common,
  ...described,
  amount: whole.optional(),
  currency: text(10).optional(),
  customer: text().optional(),
  payment_method: clearable().optional(),
  setup_future_usage: z.union([z.literal(''), usage]).optional(),
});
export type UpdateFields = z.output<typeof updateFields>;

export const confirmFields = z.strictObject({
  ...common,
  ...confirming,
  client_secret: text().optional(),
  setup_future_usage: z.union([z.literal(''), usage]).optional(),
});
export type ConfirmFields = z.output<typeof confirmFields>;

export const cancelFields = z.strictObject({
  cancellation_reason: choice(['abandoned', 'duplicate', 'fraudulent', 'requested_by_customer']).optional(),
  expand: expand.optional(),
});

export const captureFields = z.strictObject({
  amount_to_capture: whole.optional(),
  metadata: metadata.optional(),
  ...descriptors,
  expand: expand.optional(),
});

const WIRE = [
  'capture_method',
  'receipt_email',
  'shipping',
  'statement_descriptor',
  'statement_descriptor_suffix',
  'transfer_group',
] as const;

export const mergeWire = (
  kept: LedgerPayment['wire'],
  sent: { readonly [field in (typeof WIRE)[number]]?: unknown },
): LedgerPayment['wire'] => ({
  ...kept,
  ...Object.fromEntries(
    WIRE.filter((field) => sent[field] !== undefined).map((field) => [field, sent[field] === '' ? null : sent[field]]),
  ),
});
