// The page of a signed-in user's cards: `node docs/examples/cards/shop.mjs`, then open http://127.0.0.1:4000.
// The card number goes from the browser to Stripe. The shop's server saves the token for its signed-in user.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { env, stdout } from 'node:process';

const PAYMENTS_URL = env.PAYMENTS_URL ?? 'http://127.0.0.1:3000';
// With a real Stripe account: https://js.stripe.com/v3/
const STRIPE_JS = env.STRIPE_JS ?? `${PAYMENTS_URL}/_local/providers/stripe/stripe.js`;
// A demo session of the local host. Your server sends the session of its own user, or a service key with X-Act-For.
const SESSION = env.PAYMENTS_SESSION ?? 'demo-member';
const PORT = Number(env.PORT ?? 4000);

const callPayments = async (path, body) => {
  const response = await fetch(`${PAYMENTS_URL}${path}`, {
    headers: { 'x-session-id': SESSION, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.code}: ${answer.error} (request ${answer.request_id})`);
  return answer;
};

const saveCard = ({ token }) =>
  callPayments('/payment-methods', { provider_id: 'provider_a', provider_payment_method_token: token });

const page = async () => {
  const { data } = await callPayments('/config');
  const stripe = data.providers.find(({ provider }) => provider === 'stripe');
  const html = await readFile(new URL('cards.html', import.meta.url), 'utf8');
  return html.replace('STRIPE_JS', STRIPE_JS).replace('PUBLISHABLE_KEY', stripe.publishable_key);
};

const readBody = async (request) => {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
};

const answer = async (request) => {
  const { pathname } = new URL(request.url, 'http://shop');
  if (pathname === '/cards' && request.method === 'POST') return ['json', await saveCard(await readBody(request))];
  if (pathname === '/cards') return ['json', await callPayments('/payment-methods?limit=50')];
  if (pathname === '/cards.js') return ['javascript', await readFile(new URL('cards.js', import.meta.url), 'utf8')];
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
