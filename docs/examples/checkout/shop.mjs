// A shop with one product: `node docs/examples/checkout/shop.mjs`, then open http://127.0.0.1:4000.
// The shop's server sets the price and creates the payment. The card number goes from the browser to Stripe.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { env, stdout } from 'node:process';

const PAYMENTS_URL = env.PAYMENTS_URL ?? 'http://127.0.0.1:3000';
// With a real Stripe account: https://js.stripe.com/v3/
const STRIPE_JS = env.STRIPE_JS ?? `${PAYMENTS_URL}/_local/providers/stripe/stripe.js`;
const PORT = Number(env.PORT ?? 4000);

const PRICE = { total_cents: 2500, currency: 'USD', description: 'One blue mug' };
const PROVIDERS = ['provider_a', 'provider_b'];

/** The shop's database stores the payment of each order, and the token for reading that payment. */
const orders = new Map();

const callPayments = async (path, { headers = {}, body } = {}) => {
  const response = await fetch(`${PAYMENTS_URL}${path}`, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.code}: ${answer.error} (request ${answer.request_id})`);
  return answer;
};

/** The order's id is the idempotency key: a retry creates no second payment. */
const createOrder = async ({ name, email, provider }) => {
  if (!PROVIDERS.includes(provider)) throw new Error('choose a way to pay');
  const id = randomUUID();
  const payment = await callPayments('/payments/intents', {
    headers: { 'Idempotency-Key': id },
    body: {
      ...PRICE,
      provider_id: provider,
      reference_code: id,
      guest_data: { name, email },
      return_url: `http://127.0.0.1:${server.address().port}/?order=${id}`,
    },
  });
  orders.set(id, { paymentId: payment.id, guestToken: payment.guest_token });
  return { order: id, client_secret: payment.client_secret, next_action: payment.next_action };
};

const readOrder = async (id) => {
  const order = orders.get(id);
  if (!order) return undefined;
  const headers = { 'X-Guest-Token': order.guestToken };
  const { data } = await callPayments(`/payments/${order.paymentId}`, { headers });
  return { order: id, payment: data.id, status: data.status };
};

const page = async () => {
  const { data } = await callPayments('/config');
  const stripe = data.providers.find(({ provider }) => provider === 'stripe');
  const html = await readFile(new URL('checkout.html', import.meta.url), 'utf8');
  return html.replace('STRIPE_JS', STRIPE_JS).replace('PUBLISHABLE_KEY', stripe.publishable_key);
};

const readBody = async (request) => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
};

const answer = async (request) => {
  const { pathname } = new URL(request.url, 'http://shop');
  const [, id] = /^\/orders\/([\w-]+)$/.exec(pathname) ?? [];
  if (request.method === 'POST' && pathname === '/orders') return ['json', await createOrder(await readBody(request))];
  if (id) return ['json', await readOrder(id)];
  if (pathname === '/checkout.js')
    return ['javascript', await readFile(new URL('checkout.js', import.meta.url), 'utf8')];
  return ['html', pathname === '/' ? await page() : undefined];
};

const server = createServer(async (request, response) => {
  try {
    const [type, body] = await answer(request);
    const mime = type === 'json' ? 'application/json' : `text/${type}; charset=utf-8`;
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': mime });
    response.end(type === 'json' ? JSON.stringify(body ?? {}) : body);
  } catch (error) {
    response.writeHead(502, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: error.message }));
  }
});
server.listen(PORT, '127.0.0.1', () => stdout.write(`The shop listens on http://127.0.0.1:${server.address().port}\n`));
