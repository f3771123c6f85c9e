import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startHost } from '../../infra/local/host/host.ts';
import { slotMistakes, slotStates, takesDemoData, unusedKeys } from '../../infra/local/machine/slots.ts';
import { startTestHost } from './host.ts';

/** Starts a server in place of a provider's sandbox. The server records each request, and declines it. */
const sandbox = async () => {
  const asked: { readonly path: string; readonly authorization: string }[] = [];
  const server = createServer((message, response) => {
    asked.push({ path: message.url ?? '', authorization: message.headers.authorization ?? '' });
    response.writeHead(402, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { type: 'card_error', code: 'card_declined', message: 'declined here' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { asked, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` };
};

const refusal = async (env: Record<string, string>): Promise<string> => {
  const error = await startHost({ dataDir: ':memory:', env }).catch((thrown: unknown) => thrown);
  return error instanceof Error ? error.message : 'started';
};

describe('a slot in the mode sandbox', () => {
  test('calls the provider with the operator’s test key, while the other slots stay simulated', async () => {
    const { asked, url } = await sandbox();
    const env = { PROVIDER_A_MODE: 'sandbox', PROVIDER_A_API_KEY: 'sk_test_mine', PROVIDER_A_BASE_URL: url };
    const host = await startTestHost({ env });
    onTestFinished(() => host.stop());
    const body = { total_cents: 2500, currency: 'USD', guest_data: { email: 'gus@example.com', name: 'Gus' } };
    await host.post('/payments/intents', { ...body, provider_id: 'provider_a' });
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer sk_test_mine']));
    const simulated = await host.post('/payments/intents', { ...body, provider_id: 'provider_c' });
    expect(simulated.status).toBe(201);
    const { data } = (await host.get('/config')).body;
    expect(data.providers.map(({ provider_id }: { provider_id: string }) => provider_id)).toEqual([
      'provider_a',
      'provider_b',
      'provider_c',
    ]);
    expect(slotStates(host.host().env, host.host().baseUrl).map(({ slot, at }) => [slot, at])).toEqual([
      ['provider_a', 'sandbox'],
      ['provider_b', 'simulated'],
      ['provider_c', 'simulated'],
      ['provider_d', 'simulated'],
    ]);
    expect(takesDemoData(host.host().env, host.host().baseUrl)).toBe(false);
  });

  test.each([
    [
      { PROVIDER_A_API_KEY: '' },
      ['PROVIDER_A_API_KEY: is empty, and PROVIDER_A_MODE=sandbox needs your test account at stripe'],
    ],
    [{ PROVIDER_A_API_KEY: 'sk_live_1' }, ['PROVIDER_A_API_KEY: is live, and the local host calls test accounts only']],
    [{ PROVIDER_A_API_KEY: 'rk_live_1' }, ['PROVIDER_A_API_KEY: is live, and the local host calls test accounts only']],
    [
      { PROVIDER_A_API_KEY: 'sk_test_1', PROVIDER_A_PUBLISHABLE_KEY: 'pk_live_1' },
      ['PROVIDER_A_PUBLISHABLE_KEY: is live, and the local host calls test accounts only'],
    ],
    [
      { PROVIDER_A: 'paypal', PROVIDER_A_CLIENT_ID: 'id' },
      ['PROVIDER_A_CLIENT_SECRET: is empty, and PROVIDER_A_MODE=sandbox needs your test account at paypal'],
    ],
    [
      { PROVIDER_A: 'paypal', PROVIDER_A_BASE_URL: 'https://api-m.paypal.com' },
      ['PROVIDER_A_BASE_URL: is live, and the local host calls test accounts only'],
    ],
    [
      { PROVIDER_A: 'square', PROVIDER_A_ACCESS_TOKEN: 'EAAA1', PROVIDER_A_APPLICATION_ID: 'sq0idp-1' },
      ['PROVIDER_A_APPLICATION_ID: is live, and the local host calls test accounts only'],
    ],
    [
      { PROVIDER_A: 'square', PROVIDER_A_ACCESS_TOKEN: 'EAAA1', PROVIDER_A_BASE_URL: 'https://connect.squareup.com' },
      ['PROVIDER_A_BASE_URL: is live, and the local host calls test accounts only'],
    ],
    [
      { PROVIDER_A: 'braintree', PROVIDER_A_BASE_URL: 'https://api.braintreegateway.com' },
      ['PROVIDER_A_BASE_URL: is live, and the local host calls test accounts only'],
    ],
  ])('refuses %o', (env, mistakes) => {
    expect(slotMistakes({ PROVIDER_A_MODE: 'sandbox', ...env })).toEqual(mistakes);
  });

  test('does not start without its own key or with an unknown mode', async () => {
    expect(await refusal({ PROVIDER_A_MODE: 'sandbox' })).toContain('PROVIDER_A_API_KEY: is empty');
    expect(await refusal({ PROVIDER_A_MODE: 'live' })).toContain('PROVIDER_A_MODE');
  });
});

describe('a simulated slot', () => {
  test('uses the base URL and keys of its adapter, and takes a payment', async () => {
    const host = await startTestHost({ env: { PROVIDER_B: 'stripe', PROVIDER_C: 'paypal' } });
    onTestFinished(() => host.stop());
    const body = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa', provider_id: 'provider_b' };
    const { id } = (await host.post('/payments/intents', body, { session: 'demo-owner' })).body;
    const confirmed = await host.post(`/payments/confirm/${id}`, {}, { session: 'demo-owner' });
    expect(confirmed.body).toMatchObject({ status: 'succeeded' });
    const { data } = (await host.get('/config')).body;
    expect(data.providers.map((one: { provider: string }) => one.provider)).toEqual(['stripe', 'stripe', 'paypal']);
  });

  test('is not in /config while its keys are empty', async () => {
    const host = await startTestHost({ env: { PROVIDER_A_API_KEY: '', PROVIDER_C_LOCATION_ID: '' } });
    onTestFinished(() => host.stop());
    const { data } = (await host.get('/config')).body;
    expect(data).toMatchObject({ default_provider: null, providers: [{ provider_id: 'provider_b' }] });
  });

  test('says in one line that the operator’s own key is not used', async () => {
    const host = await startTestHost({ env: { PROVIDER_A_API_KEY: 'sk_test_mine' } });
    onTestFinished(() => host.stop());
    expect(unusedKeys(host.host().env, host.host().baseUrl)).toEqual([
      'provider_a is simulated although PROVIDER_A_API_KEY is set: PROVIDER_A_MODE=sandbox calls stripe',
    ]);
  });
});
