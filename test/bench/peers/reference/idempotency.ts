/**
 * @module Keeps one response per Idempotency-Key, as Powertools does. The key's record is in progress until it holds
 * the response.
 */
import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type ApiEvent, failure } from './api.ts';
import type { Session } from './session.ts';
import { idempotencyKey, TableName, table } from './table.ts';

const DAY_SECONDS = 86_400;

/** Runs the work once per key and returns the stored response to repeats. Without a key, simply runs the work. */
export const once = async (
  event: ApiEvent,
  session: Session,
  work: () => Promise<APIGatewayProxyStructuredResultV2>,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const header = event.headers['idempotency-key'];
  if (header === undefined) return work();
  const Key = idempotencyKey(session.user_id, `${event.rawPath}#${header}`);
  const hash = createHash('sha256').update(JSON.stringify(event.body)).digest('base64');
  if (!(await claim(Key, hash))) return repeated(Key, hash);
  const response = await finished(Key, work);
  await table.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET #response = :response, #state = :completed',
      ExpressionAttributeNames: { '#response': 'response', '#state': 'state' },
      ExpressionAttributeValues: { ':response': response, ':completed': 'COMPLETED' },
    }),
  );
  return response;
};

/** A failure frees the key for a retry. */
const finished = async (
  Key: ReturnType<typeof idempotencyKey>,
  work: () => Promise<APIGatewayProxyStructuredResultV2>,
): Promise<APIGatewayProxyStructuredResultV2> => {
  try {
    return await work();
  } catch (error) {
    await table.send(new DeleteCommand({ TableName, Key }));
    throw error;
  }
};

const claim = async (Key: ReturnType<typeof idempotencyKey>, hash: string): Promise<boolean> => {
  const now = Math.floor(Date.now() / 1_000);
  try {
    await table.send(
      new PutCommand({
        TableName,
        Item: { ...Key, hash, state: 'INPROGRESS', expires_at: now + DAY_SECONDS },
        ConditionExpression: 'attribute_not_exists(pk) OR expires_at < :now',
        ExpressionAttributeValues: { ':now': now },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

const repeated = async (
  Key: ReturnType<typeof idempotencyKey>,
  hash: string,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const { Item } = await table.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  if (Item?.['hash'] !== hash)
    throw failure(422, { code: 'KEY_REUSED', error: 'The key was used with another request' });
  if (Item['state'] !== 'COMPLETED')
    throw failure(409, { code: 'IN_PROGRESS', error: 'The first request has not ended' });
  return Item['response'];
};
