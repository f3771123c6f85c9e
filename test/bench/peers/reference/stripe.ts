/** @module Stripe's SDK with its HTTP client for Node, set up to call the simulator. */
import Stripe from 'stripe';

const base = new URL(process.env['PROVIDER_A_BASE_URL'] ?? 'https://api.stripe.com');

/**
 * Adds the simulator's path prefix to each request, because the SDK's settings allow only a host, a port and a
 * protocol.
 */
const behindPath = (path: string): Stripe.HttpClient => {
  const client = Stripe.createNodeHttpClient();
  const makeRequest = client.makeRequest.bind(client);
  client.makeRequest = (...[host, port, ofStripe, ...rest]) => makeRequest(host, port, `${path}${ofStripe}`, ...rest);
  return client;
};

export const stripe = new Stripe(process.env['PROVIDER_A_API_KEY'] ?? '', {
  host: base.hostname,
  ...(base.port !== '' && { port: base.port }),
  protocol: base.protocol === 'http:' ? 'http' : 'https',
  httpClient: behindPath(base.pathname.replace(/\/$/, '')),
});
