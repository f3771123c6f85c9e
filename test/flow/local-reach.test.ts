import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startHost } from '../../infra/local/host/host.ts';
import { readHostSettings } from '../../infra/local/machine/environment.ts';
import { startTestHost, withHost } from './host.ts';

/** A loopback address in place of the container's address, because a test machine may allow only loopback. */
const ADDRESS = '127.0.0.2';

const ask = async (baseUrl: string, path: string, headers: Record<string, string>, method = 'GET') => {
  const { hostname, port } = new URL(baseUrl);
  const sent = request({ hostname, port, path, method, headers: { 'content-type': 'application/json', ...headers } });
  sent.end(method === 'POST' ? '{}' : undefined);
  const [response] = await once(sent, 'response');
  const chunks = await response.toArray();
  return { status: response.statusCode, body: Buffer.concat(chunks).toString('utf8') };
};

describe('a host with HOST and ALLOWED_HOSTS, as in a container', () => {
  const service = withHost({ env: { HOST: ADDRESS, ALLOWED_HOSTS: 'payments, shop.test' } });
  const at = (headers: Record<string, string>, path = '/_local/host', method = 'GET') =>
    ask(service.host().baseUrl, path, headers, method);

  test('listens on the address, and responds under its name, including the control routes', async () => {
    expect(new URL(service.host().baseUrl).hostname).toBe(ADDRESS);
    for (const host of [
      'payments',
      'payments:3000',
      'PAYMENTS:3000',
      'shop.test',
      '127.0.0.1',
      'localhost:3000',
      ADDRESS,
    ])
      expect({ host, ...(await at({ host }, '/health')) }).toMatchObject({ host, status: 200 });
    expect((await at({ host: 'payments:3000' })).status).toBe(200);
    expect((await at({ host: 'payments:3000' }, '/_local/settle', 'POST')).status).toBe(200);
    expect((await at({ host: 'payments:3000', 'x-session-id': 'demo-owner' }, '/me')).status).toBe(200);
  });

  test.each(['evil.test', 'payments.evil.test', 'payments.', 'xpayments', '0.0.0.0'])(
    'refuses requests for the host %o',
    async (host) => {
      for (const path of ['/health', '/_local/host']) expect((await at({ host }, path)).status).toBe(403);
    },
  );

  test('refuses pages of another origin at the control routes, even under an allowed name', async () => {
    const host = 'payments:3000';
    for (const origin of ['http://evil.test', 'http://shop.test', 'http://localhost:5173', 'null'])
      expect({ origin, ...(await at({ host, origin })) }).toMatchObject({ origin, status: 403 });
    expect((await at({ host, origin: 'http://payments:3000' })).status).toBe(200);
    expect((await at({ host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' })).status).toBe(403);
  });

  test('takes a payment with webhooks, because it can reach itself', async () => {
    const intent = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa' };
    const { id } = (await service.post('/payments/intents', intent, { session: 'demo-owner' })).body;
    await service.post(`/payments/confirm/${id}`, {}, { session: 'demo-owner' });
    await service.settle();
    expect((await service.get(`/payments/${id}`, { session: 'demo-owner' })).body.data.status).toBe('succeeded');
  });
});

describe('the addresses of a host', () => {
  test('are loopback and its own names only by default', async () => {
    expect(readHostSettings({})).toMatchObject({ address: '127.0.0.1', allowedHosts: [] });
    const host = await startTestHost();
    try {
      expect((await ask(host.host().baseUrl, '/health', { host: 'payments:3000' })).status).toBe(403);
    } finally {
      await host.stop();
    }
  });

  test.each(['*', 'payments:3000', 'http://payments', '-x'])('refuse ALLOWED_HOSTS=%s', (names) => {
    expect(() => readHostSettings({ ALLOWED_HOSTS: names })).toThrow('ALLOWED_HOSTS');
  });

  test('must belong to this machine', async () => {
    const start = startHost({ dataDir: ':memory:', env: { HOST: '192.0.2.1' } });
    await expect(start).rejects.toThrow(/^cannot listen on port 0 of 192\.0\.2\.1/);
  });

  test('send payers to PUBLIC_BASE_URL, which browsers in other containers can reach', async () => {
    const host = await startTestHost({ env: { PUBLIC_BASE_URL: 'http://payments:3000' } });
    try {
      const guest = { guest_data: { email: 'gus@example.com', name: 'Gus' }, return_url: 'http://shop.test/' };
      const { body } = await host.post('/payments/intents', {
        total_cents: 500,
        currency: 'USD',
        provider_id: 'provider_b',
        ...guest,
      });
      expect(new URL(body.next_action.url).origin).toBe('http://payments:3000');
    } finally {
      await host.stop();
    }
  });
});
