/** @module POST /payments/intents stores a payment, creates its intent at Stripe, and stores the outcome. */
import { createHash, randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { api, failure, json, logger, validated } from './api.ts';
import { loadPayment, type Payment, view } from './payment.ts';
import type { Session } from './session.ts';
import { stripe } from './stripe.ts';
import { customerKey, intentKey, paymentKey, savedMethodKey, TableName, table } from './table.ts';

const cents = z.int().min(0).max(99_999_999);
const text = (length: number) => z.string().max(length).nullish();

const bodySchema = z
  .object({
    subtotal_cents: cents.optional(),
    tax_cents: cents.optional(),
    discount_cents: cents.optional(),
    total_cents: cents.min(1),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/)
      .toUpperCase(),
    payment_method_id: text(255),
    description: text(1000),
    concept: text(200),
    reference_code: text(100),
    category: text(100),
    tags: text(1000),
    return_url: z.url({ protocol: /^https?$/ }).nullish(),
    setup_future_usage: z.enum(['off_session']).nullish(),
    metadata: z.record(z.string().max(40), z.string().max(500)).optional(),
  })
  .refine(
    ({ subtotal_cents: subtotal, tax_cents: tax = 0, discount_cents: discount = 0, total_cents: total }) =>
      subtotal === undefined || subtotal + tax - discount === total,
    { path: ['total_cents'], message: 'The total must be subtotal + tax - discount' },
  );
type Body = z.infer<typeof bodySchema>;

/** With an Idempotency-Key, the id derives from the key, so only the first write creates the payment. */
const idOf = (session: Session, key: string | undefined): string =>
  key === undefined
    ? randomUUID()
    : createHash('sha256').update(`${session.user_id}:${key}`).digest('hex').slice(0, 32);

const customerOf = async (session: Session, { payment_method_id: token }: Body): Promise<string | undefined> => {
  const Keys = [customerKey(session.user_id), ...(token ? [savedMethodKey(token)] : [])];
  const { Responses = {} } = await table.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));
  const found = Responses[TableName] ?? [];
  if (found.some(({ sk, user_id }) => sk === 'METHOD' && user_id !== session.user_id)) {
    throw failure(409, { code: 'CONFLICT', error: 'This method is saved by another user' });
  }
  return found.find(({ sk }) => sk === 'CUSTOMER')?.['stripe_customer_id'];
};

const draftOf = (id: string, session: Session, body: Body): Payment => {
  const now = new Date().toISOString();
  return {
    id,
    user_id: session.user_id,
    subtotal_cents: body.subtotal_cents ?? body.total_cents,
    tax_cents: body.tax_cents ?? 0,
    discount_cents: body.discount_cents ?? 0,
    total_cents: body.total_cents,
    currency: body.currency,
    status: 'creating',
    description: body.description,
    concept: body.concept,
    reference_code: body.reference_code,
    category: body.category,
    tags: body.tags,
    payment_method: body.payment_method_id,
    attempt: 0,
    ...(body.metadata && { metadata: body.metadata }),
    created_at: now,
    updated_at: now,
  };
};

/** @returns whether this request was first with its id */
const claim = async (payment: Payment): Promise<boolean> => {
  const Item = { ...paymentKey(payment.id), ...payment };
  try {
    await table.send(new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' }));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

const createIntent = (payment: Payment, body: Body) =>
  stripe.paymentIntents.create(
    {
      amount: payment.total_cents,
      currency: payment.currency.toLowerCase(),
      ...(payment.description && { description: payment.description }),
      ...(payment.payment_method && { payment_method: payment.payment_method }),
      ...(payment.customer_id && { customer: payment.customer_id }),
      ...(body.setup_future_usage && { setup_future_usage: body.setup_future_usage }),
      metadata: { payment_id: payment.id },
      automatic_payment_methods: { enabled: true, ...(!body.return_url && { allow_redirects: 'never' }) },
    },
    { idempotencyKey: payment.id },
  );

const publish = async (payment: Payment, intentId: string, clientSecret: string | null): Promise<Payment> => {
  const updatedAt = new Date().toISOString();
  await Promise.all([
    table.send(
      new UpdateCommand({
        TableName,
        Key: paymentKey(payment.id),
        UpdateExpression: 'SET #status = :created, intent_id = :intent, client_secret = :secret, updated_at = :now',
        ConditionExpression: '#status = :creating',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ':created': 'created',
          ':creating': 'creating',
          ':intent': intentId,
          ':secret': clientSecret,
          ':now': updatedAt,
        },
      }),
    ),
    table.send(new PutCommand({ TableName, Item: { ...intentKey(intentId), payment_id: payment.id } })),
  ]);
  return { ...payment, status: 'created', intent_id: intentId, updated_at: updatedAt };
};

export const handler = api(
  async (event, session) => {
    const body = validated(bodySchema, event.body);
    const { requestId } = event.requestContext;
    const id = idOf(session, event.headers['idempotency-key']);
    const customer = await customerOf(session, body);
    const draft = { ...draftOf(id, session, body), customer_id: customer };
    if (!(await claim(draft))) {
      const earlier = await loadPayment(id, session);
      if (earlier.status === 'creating')
        throw failure(409, { code: 'IN_PROGRESS', error: 'The first request has not ended' });
      return json(200, { ...view(earlier), client_secret: earlier.client_secret }, requestId);
    }
    const intent = await createIntent(draft, body);
    const payment = await publish(draft, intent.id, intent.client_secret);
    logger.info('payment created', { payment_id: id, intent_id: intent.id });
    return json(201, { ...view(payment), client_secret: intent.client_secret }, requestId);
  },
  { hasBody: true },
);
