import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import Stripe from 'stripe';
import * as z from 'zod';

/**
 * A handler written by hand for one Lambda, without this service's chain: a session, a schema, the
 * same calls of table and provider, an answer. The processor time of a warm request is compared with it.
 */
type Fields = Readonly<Record<string, string>>;

interface HttpEvent {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const bodySchema = z.object({
  total_cents: z.int().positive(),
  currency: z.string().length(3),
  payment_method_id: z.string().optional(),
  description: z.string().max(1000).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});
const sessionSchema = z.object({ user_id: z.string() });
const STRIPE = 'https://api.stripe.com';
/** A table of its own, beside the service's. */
export const HAND_TABLE = 'hand-written';

export const handWritten = (env: Fields) => {
  const region = env['AWS_REGION'] ?? '';
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const table = new DynamoDBClient({ region, credentials, endpoint: env['AWS_ENDPOINT_URL_DYNAMODB'] ?? '' });
  const stripe = new Stripe(env['PROVIDER_A_API_KEY'] ?? '', {
    httpClient: Stripe.createFetchHttpClient((input, init) =>
      fetch(String(input).replace(STRIPE, env['PROVIDER_A_BASE_URL'] ?? ''), init),
    ),
    maxNetworkRetries: 0,
    telemetry: false,
  });
  const users = new Map<string, string>();

  const userOf = async ({ headers }: HttpEvent): Promise<string> => {
    const session = headers['x-session-id'] ?? '';
    const known = users.get(session);
    if (known) return known;
    const answer = await fetch(`${env['IDENTITY_URL']}/sessions/${session}`);
    const { user_id } = sessionSchema.parse(await answer.json());
    users.set(session, user_id);
    return user_id;
  };

  return {
    get: async (event: HttpEvent) => {
      const userId = await userOf(event);
      const Key = marshall({ pk: event.pathParameters?.['id'] ?? '', sk: 'PAY' });
      const { Item } = await table.send(new GetItemCommand({ TableName: HAND_TABLE, Key, ConsistentRead: true }));
      const payment = Item && unmarshall(Item);
      if (payment?.['user_id'] !== userId) return answerOf(404, { error: 'not found' });
      return answerOf(200, payment);
    },

    create: async (event: HttpEvent) => {
      const userId = await userOf(event);
      const body = bodySchema.parse(JSON.parse(event.body ?? ''));
      const id = randomUUID();
      const payment = { id, user_id: userId, status: 'creating', created_at: new Date().toISOString(), ...body };
      const key = { pk: id, sk: 'PAY' };
      const Item = marshall({ ...key, ...payment });
      await table.send(
        new PutItemCommand({ TableName: HAND_TABLE, Item, ConditionExpression: 'attribute_not_exists(pk)' }),
      );
      const intent = await stripe.paymentIntents.create(
        { amount: body.total_cents, currency: body.currency.toLowerCase(), metadata: { payment_id: id } },
        { idempotencyKey: id },
      );
      const alias = marshall({ pk: intent.id, sk: 'PAY', id });
      await table.send(new PutItemCommand({ TableName: HAND_TABLE, Item: alias }));
      await table.send(
        new UpdateItemCommand({
          TableName: HAND_TABLE,
          Key: marshall(key),
          UpdateExpression: 'SET #s = :s, intent = :i',
          ConditionExpression: '#s = :was',
          ExpressionAttributeNames: { '#s': 'status' },
          ExpressionAttributeValues: marshall({ ':s': 'created', ':i': intent.id, ':was': 'creating' }),
        }),
      );
      return answerOf(201, { ...payment, status: 'created', client_secret: intent.client_secret });
    },
  };
};

const answerOf = (statusCode: number, body: unknown) => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
