/** @module The table of the reference functions, and its keys. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export const table = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  marshallOptions: { removeUndefinedValues: true },
});

export const TableName = process.env['REFERENCE_TABLE'] ?? '';

export const paymentKey = (id: string) => ({ pk: `PAYMENT#${id}`, sk: 'PAYMENT' });
export const intentKey = (intentId: string) => ({ pk: `INTENT#${intentId}`, sk: 'INTENT' });
export const customerKey = (userId: string) => ({ pk: `USER#${userId}`, sk: 'CUSTOMER' });
export const savedMethodKey = (token: string) => ({ pk: `METHOD#${token}`, sk: 'METHOD' });
export const idempotencyKey = (userId: string, key: string) => ({
  pk: `IDEMPOTENCY#${userId}#${key}`,
  sk: 'IDEMPOTENCY',
});
