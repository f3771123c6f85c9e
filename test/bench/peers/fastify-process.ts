/**
 * @module The usual alternative: one Fastify server on PostgreSQL. Like ours, a create reads the session, validates the
 * body, claims the record before the provider call, stores the response, and writes history, a counter and an outbox
 * event. A poller publishes the outbox events.
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import Stripe from 'stripe';
import * as z from 'zod';
import { ready, settingsOfProcess } from '../processes.ts';

const env = settingsOfProcess();
const pool = new pg.Pool({ connectionString: env['DATABASE_URL'], max: 10 });
const stripe = new Stripe(env['PROVIDER_A_API_KEY'] ?? '', {
  httpClient: Stripe.createFetchHttpClient((input, init) =>
    fetch(String(input).replace('https://api.stripe.com', env['PROVIDER_A_BASE_URL'] ?? ''), init),
  ),
  maxNetworkRetries: 0,
  telemetry: false,
});

const TABLES = `
  CREATE TABLE payment (id uuid PRIMARY KEY, user_id text NOT NULL, status text NOT NULL, total_cents bigint NOT NULL,
    currency text NOT NULL, description text, metadata jsonb, intent_id text UNIQUE, version int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(), due_at timestamptz);
  CREATE INDEX ON payment (user_id, created_at DESC);
  CREATE INDEX ON payment (due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE history (payment_id uuid NOT NULL, version int NOT NULL, status text NOT NULL, at timestamptz NOT NULL
    DEFAULT now(), PRIMARY KEY (payment_id, version));
  CREATE TABLE counter (owner text NOT NULL, day date NOT NULL, status text NOT NULL, count bigint NOT NULL,
    PRIMARY KEY (owner, day, status));
  CREATE TABLE outbox (id bigserial PRIMARY KEY, event jsonb NOT NULL, sent boolean NOT NULL DEFAULT false);
  CREATE INDEX ON outbox (id) WHERE NOT sent;`;

const bodySchema = z.object({
  total_cents: z.int().positive(),
  currency: z.string().length(3),
  description: z.string().max(1000).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});
type Body = z.infer<typeof bodySchema>;

const users = new Map<string, string>();
const userOf = async (session: string): Promise<string> => {
  const known = users.get(session);
  if (known) return known;
  const answer = await fetch(`${env['IDENTITY_URL']}/sessions/${session}`);
  const { user_id } = z.object({ user_id: z.string() }).parse(await answer.json());
  users.set(session, user_id);
  return user_id;
};

const create = async (userId: string, body: Body) => {
  const id = randomUUID();
  await pool.query(
    `INSERT INTO payment (id, user_id, status, total_cents, currency, description, metadata, due_at)
     VALUES ($1, $2, 'creating', $3, $4, $5, $6, now() + interval '1 minute')`,
    [id, userId, body.total_cents, body.currency, body.description, body.metadata],
  );
  const intent = await stripe.paymentIntents.create(
    { amount: body.total_cents, currency: body.currency.toLowerCase(), metadata: { payment_id: id } },
    { idempotencyKey: id },
  );
  await commit(id, userId, intent.id);
  return { id, user_id: userId, status: 'created', ...body, client_secret: intent.client_secret };
};

const commit = async (id: string, userId: string, intentId: string): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `UPDATE payment SET status = 'created', version = 1, intent_id = $2, due_at = now() + interval '1 day'
       WHERE id = $1 AND status = 'creating'`,
      [id, intentId],
    );
    await client.query("INSERT INTO history (payment_id, version, status) VALUES ($1, 1, 'created')", [id]);
    await client.query(
      `INSERT INTO counter VALUES ($1, current_date, 'created', 1)
       ON CONFLICT (owner, day, status) DO UPDATE SET count = counter.count + 1`,
      [userId],
    );
    await client.query('INSERT INTO outbox (event) VALUES ($1)', [{ type: 'payment.created', id }]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};

const POLL_MS = 100;
const handOut = () =>
  pool.query(
    `UPDATE outbox SET sent = true WHERE id IN
       (SELECT id FROM outbox WHERE NOT sent ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED) RETURNING event`,
  );

await pool.query(TABLES);
const server = Fastify();
server.post('/payments/intents', async (request, reply) => {
  const userId = await userOf(String(request.headers['x-session-id']));
  return reply.code(201).send(await create(userId, bodySchema.parse(request.body)));
});
const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
const poller = setInterval(() => void handOut(), POLL_MS);
ready({ baseUrl }, async () => {
  clearInterval(poller);
  await server.close();
  await pool.end();
});
