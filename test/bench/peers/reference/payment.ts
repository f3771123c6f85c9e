/** @module The stored payment of the reference functions. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { failure } from './api.ts';
import type { Session } from './session.ts';
import { paymentKey, TableName, table } from './table.ts';

const paymentSchema = z.object({
  id: z.string(),
  user_id: z.string(),
  customer_id: z.string().nullish(),
  subtotal_cents: z.int(),
  tax_cents: z.int(),
  discount_cents: z.int(),
  total_cents: z.int(),
  currency: z.string(),
  status: z.enum(['creating', 'created', 'processing', 'succeeded', 'failed', 'requires_action']),
  description: z.string().nullish(),
  concept: z.string().nullish(),
  reference_code: z.string().nullish(),
  category: z.string().nullish(),
  tags: z.string().nullish(),
  payment_method: z.string().nullish(),
  intent_id: z.string().optional(),
  client_secret: z.string().nullish(),
  attempt: z.int(),
  metadata: z.record(z.string(), z.string()).optional(),
  created_at: z.string(),
  updated_at: z.string(),
  completed_at: z.string().nullish(),
});
export type Payment = z.infer<typeof paymentSchema>;

/** @throws 404 if the payment does not exist or belongs to another user */
export const loadPayment = async (id: string, session: Session): Promise<Payment> => {
  const { Item } = await table.send(new GetCommand({ TableName, Key: paymentKey(id), ConsistentRead: true }));
  if (!Item || Item['user_id'] !== session.user_id)
    throw failure(404, { code: 'NOT_FOUND', error: 'There is no such payment' });
  return paymentSchema.parse(Item);
};

/** A payment as the API shows it. */
export const view = (payment: Payment) => ({
  id: payment.id,
  user_id: payment.user_id,
  customer_id: payment.customer_id ?? null,
  subtotal_cents: payment.subtotal_cents,
  tax_cents: payment.tax_cents,
  discount_cents: payment.discount_cents,
  total_cents: payment.total_cents,
  currency: payment.currency,
  status: payment.status,
  description: payment.description ?? null,
  concept: payment.concept ?? null,
  reference_code: payment.reference_code ?? null,
  category: payment.category ?? null,
  tags: payment.tags ?? null,
  provider_payment_id: payment.intent_id ?? null,
  metadata: payment.metadata ?? {},
  created_at: payment.created_at,
  updated_at: payment.updated_at,
  completed_at: payment.completed_at ?? null,
});
