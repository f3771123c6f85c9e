/** @module POST /payments/confirm/{id} claims the payment, confirms its intent at Stripe, and stores the outcome. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import Stripe from 'stripe';
import * as z from 'zod';
import { api, failure, json, logger, validated } from './api.ts';
import { once } from './idempotency.ts';
import { loadPayment, type Payment } from './payment.ts';
import { stripe } from './stripe.ts';
import { paymentKey, savedMethodKey, TableName, table } from './table.ts';

const bodySchema = z.object({
  payment_method_id: z.string().max(255).nullish(),
  return_url: z.url({ protocol: /^https?$/ }).nullish(),
});

/** @throws 409 if another request came first, or if the payment method was saved in the meantime */
const claim = async (payment: Payment, method: string): Promise<void> => {
  try {
    await table.send(
      new TransactWriteCommand({
        TransactItems: [
          {
            Update: {
              TableName,
              Key: paymentKey(payment.id),
              UpdateExpression: 'SET #status = :processing, attempt = :next, updated_at = :now',
              ConditionExpression: '#status = :was AND attempt = :attempt',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: {
                ':processing': 'processing',
                ':was': payment.status,
                ':attempt': payment.attempt,
                ':next': payment.attempt + 1,
                ':now': new Date().toISOString(),
              },
            },
          },
          {
            ConditionCheck: {
              TableName,
              Key: savedMethodKey(method),
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ],
      }),
    );
  } catch (error) {
    if (error instanceof TransactionCanceledException)
      throw failure(409, { code: 'CONFLICT', error: 'The payment has changed' });
    throw error;
  }
};

const STATUSES: Readonly<Record<string, Payment['status']>> = {
  succeeded: 'succeeded',
  requires_action: 'requires_action',
  processing: 'processing',
};

interface Outcome {
  readonly status: Payment['status'];
  readonly decline?: string | undefined;
}

const charge = async (payment: Payment, method: string, returnUrl?: string | null): Promise<Outcome> => {
  try {
    const intent = await stripe.paymentIntents.confirm(
      payment.intent_id ?? '',
      { payment_method: method, ...(returnUrl && { return_url: returnUrl }) },
      { idempotencyKey: `${payment.id}:${payment.attempt + 1}` },
    );
    return { status: STATUSES[intent.status] ?? 'failed' };
  } catch (error) {
    if (error instanceof Stripe.errors.StripeCardError) return { status: 'failed', decline: error.decline_code };
    throw error;
  }
};

const store = async (payment: Payment, { status, decline }: Outcome, now: string): Promise<void> => {
  await table.send(
    new UpdateCommand({
      TableName,
      Key: paymentKey(payment.id),
      UpdateExpression: 'SET #status = :status, decline_code = :decline, completed_at = :completed, updated_at = :now',
      ConditionExpression: '#status = :processing AND attempt = :attempt',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':status': status,
        ':decline': decline ?? null,
        ':completed': status === 'succeeded' ? now : null,
        ':processing': 'processing',
        ':attempt': payment.attempt + 1,
        ':now': now,
      },
    }),
  );
};

export const handler = api(
  (event, session) =>
    once(event, session, async () => {
      const body = validated(bodySchema, event.body);
      const payment = await loadPayment(event.pathParameters?.['id'] ?? '', session);
      if (payment.status !== 'created' && payment.status !== 'failed') {
        throw failure(409, { code: 'CONFLICT', error: `A payment that is ${payment.status} cannot be confirmed` });
      }
      const method = body.payment_method_id ?? payment.payment_method;
      if (!method) throw failure(400, { code: 'VALIDATION_ERROR', error: 'payment_method_id is required' });
      await claim(payment, method);
      const outcome = await charge(payment, method, body.return_url);
      const now = new Date().toISOString();
      await store(payment, outcome, now);
      logger.info('payment confirmed', { payment_id: payment.id, ...outcome });
      if (outcome.status === 'failed')
        throw failure(402, { code: 'DECLINED', error: 'The payment was declined', details: outcome.decline });
      return json(
        200,
        { id: payment.id, status: outcome.status, provider_payment_id: payment.intent_id, completed_at: now },
        event.requestContext.requestId,
      );
    }),
  { hasBody: true },
);
