// A receiver of webhooks in Node 24: `npm install standardwebhooks`, then `node receiver.mjs`.
// It verifies each event, applies each event once, and keeps the newest state, even if events arrive out of order.
import { createServer } from 'node:http';
import { env, stdout } from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { Webhook } from 'standardwebhooks';

const PORT = Number(env.PORT ?? 4001);
// The local host's secret is public. Yours is a secret: keep it in the environment.
const webhook = new Webhook(env.WEBHOOK_SECRET ?? 'whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=');

const database = new DatabaseSync(env.DATABASE ?? ':memory:');
database.exec(`
  CREATE TABLE IF NOT EXISTS seen (webhook_id TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS payments (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, refunded_cents INTEGER NOT NULL, as_of TEXT NOT NULL)`);
const remember = database.prepare('INSERT INTO seen VALUES (?) ON CONFLICT DO NOTHING');
const keepNewest = database.prepare(`
  INSERT INTO payments VALUES ($id, $status, coalesce($refunded, 0), $at)
  ON CONFLICT (id) DO UPDATE SET status = $status, refunded_cents = coalesce($refunded, refunded_cents), as_of = $at
  WHERE $at > as_of OR ($at = as_of AND status NOT IN ('succeeded', 'failed'))`);
const readPayment = database.prepare('SELECT id, status, refunded_cents, as_of FROM payments WHERE id = ?');

/** Uses one transaction, so a half-applied event is not remembered, and its retry is applied. */
const applyOnce = (webhookId, { timestamp, data }) => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const isNew = remember.run(webhookId).changes === 1;
    if (isNew) {
      const { payment_id: id, status, refunded_cents: refunded = null } = data;
      keepNewest.run({ $id: id, $status: status, $refunded: refunded, $at: timestamp });
    }
    database.exec('COMMIT');
    return isNew ? 'applied' : 'a repeat';
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
};

const receive = (headers, body) => {
  const type = headers['webhook-event'] ?? '';
  try {
    webhook.verify(body, headers);
  } catch {
    return [401, 'refused'];
  }
  if (headers['webhook-test'] === 'true') return [200, 'a test'];
  // Raw events of a provider, such as provider_a:charge.succeeded, and other records are not needed here.
  if (!type.startsWith('payment.')) return [200, 'not needed'];
  return [200, applyOnce(headers['webhook-id'], JSON.parse(body))];
};

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const found = request.method === 'GET' && readPayment.get(request.url.replace('/payments/', ''));
  if (request.method === 'GET') return response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? {}));
  const [status, outcome] = receive(request.headers, body);
  stdout.write(`${request.headers['webhook-event']} ${request.headers['webhook-id']}: ${outcome}\n`);
  return response.writeHead(status).end();
});

server.listen(PORT, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  if (env.FORWARD_FROM) await forwardFrom(env.FORWARD_FROM, url);
  stdout.write(`The receiver listens on ${url}\n`);
});

/** The local host sends a copy of every event here, like `stripe listen --forward-to`. */
const forwardFrom = async (localHost, url) => {
  const body = JSON.stringify({ forward_to: url });
  const { ok } = await fetch(`${localHost}/_local/sink/default/behaviour`, { method: 'POST', body });
  if (!ok) throw new Error('the local host does not forward');
};
