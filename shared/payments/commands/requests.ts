import * as z from 'zod';
import type { NamedRecord } from '../../access/record-kind.ts';
import { addressRecord } from '../../addresses/address.ts';
import { productRecord, projectRecord } from '../../catalog/records.ts';
import { MAX_CENTS } from '../../core/money.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { customerRecord } from '../../customers/customer.ts';
import {
  guestDataSchema,
  hasAnyField,
  idSchema,
  metadataSchema,
  requiredRule,
  tagsSchema,
  verificationTokenSchema,
} from '../../http/fields.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';

/** The bodies of payment requests. Lengths are limits of the service; `null` means absent, and clears the field on PUT. */
const text = (max: number) => z.string().max(max).nullish();
const cents = z.int().min(0).max(MAX_CENTS).optional();

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

/** With a product, price and currency are those of the product. */
export const createIntentBody = z
  .object(updatable)
  .refine(
    (body) => hasAnyField(body, 'total_cents', 'subtotal_cents', 'amount_cents', 'product_id'),
    requiredRule('total_cents', 'total_cents, subtotal_cents, amount_cents or product_id is required'),
  )
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredRule('currency'));
export type CreateIntentBody = z.output<typeof createIntentBody>;

/** provider_id, organization_id and guest_data may be sent unchanged only. */
export const updateIntentBody = z.object(updatable);
export type UpdateIntentBody = z.output<typeof updateIntentBody>;

export const confirmBody = z.object({
  payment_method_id: fields.payment_method_id,
  return_url: webUrl,
  verification_token: verificationTokenSchema,
});

/** The records that a payment request may name; the chain reads and checks them before the use case runs. */
interface Naming {
  readonly project_id?: string | null | undefined;
  readonly product_id?: string | null | undefined;
  readonly customer_id?: string | null | undefined;
  readonly billing_address_id?: string | null | undefined;
  readonly payment_method_id?: string | null | undefined;
}

export const recordsNamedBy = (body: Naming): readonly NamedRecord[] => [
  ...(body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  ...(body.product_id ? [{ kind: productRecord, id: body.product_id }] : []),
  ...(body.customer_id ? [{ kind: customerRecord, id: body.customer_id }] : []),
  ...(body.billing_address_id ? [{ kind: addressRecord, id: body.billing_address_id }] : []),
];

/** The payment method of a request: our id, the provider's id of a saved method, or a one-time token. */
export const methodsUsedBy = ({ payment_method_id: id }: Pick<Naming, 'payment_method_id'>): readonly NamedRecord[] =>
  id ? [{ kind: paymentMethodRecord, id }] : [];
