/**
 * @module The outcome of each status and network error at every adapter, and the retry of a call that certainly had no
 * effect.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { retryAfterSeconds } from '../../shared/platform/retry-after.ts';
import type { AdapterOptions } from '../../shared/providers/adapter.ts';
import { openBraintree } from '../../shared/providers/braintree/braintree.ts';
import { openPayPal } from '../../shared/providers/paypal/paypal.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { openSquare } from '../../shared/providers/square/square.ts';
import { openStripe } from '../../shared/providers/stripe/stripe.ts';
import { freePort } from '../builders/free-port.ts';
import { logLines } from '../builders/log-lines.ts';

type Kind = Outcome<never>['kind'];

const { slots } = parseSettings({
  PROVIDER_A: 'stripe',
  PROVIDER_A_API_KEY: 'sk_test_x',
  PROVIDER_B: 'paypal',
  PROVIDER_B_CLIENT_ID: 'id',
  PROVIDER_B_CLIENT_SECRET: 'secret',
  PROVIDER_C: 'square',
  PROVIDER_C_ACCESS_TOKEN: 'token',
  PROVIDER_C_LOCATION_ID: 'L1',
});
const SUBJECTS = {
  Stripe: { slot: 'provider_a', open: openStripe },
  PayPal: { slot: 'provider_b', open: openPayPal },
  Square: { slot: 'provider_c', open: openSquare },
} as const;
type Name = keyof typeof SUBJECTS;
const NAMES: readonly Name[] = ['Stripe', 'PayPal', 'Square'];

const REFUSALS: Readonly<Record<Name, object>> = {
  Stripe: { error: { type: 'invalid_request_error', message: 'no' } },
  PayPal: { name: 'NO' },
  Square: { errors: [{ category: 'INVALID_REQUEST_ERROR', code: 'NO' }] },
};

/** An adapter whose calls go to `send`, except PayPal's call for its token. */
const opened = (name: Name, send: () => Promise<Response>, timeoutMs = 40) => {
  const { slot, open } = SUBJECTS[name];
  const keys: (string | null)[] = [];
  const options: AdapterOptions = {
    slot,
    settings: slots[slot],
    timeoutMs,
    log: logLines().log,
    fetch: (input, init) => {
      if (String(input).includes('/oauth2/'))
        return Promise.resolve(Response.json({ access_token: 't', expires_in: 9_000 }));
      const headers = new Headers(init?.headers);
      const { idempotency_key: inBody = null } = name === 'Square' ? JSON.parse(String(init?.body)) : {};
      keys.push(headers.get('idempotency-key') ?? headers.get('paypal-request-id') ?? inBody);
      return send();
    },
  };
  const provider = open(options);
  if (!provider) throw new Error(`${name} stays closed`);
  return { provider, keys };
};

const confirm = (provider: PaymentProvider) =>
  provider.confirmIntent({
    idempotencyKey: 'pay_1:confirm:1',
    intentId: 'I1',
    paymentId: 'pay_1',
    amountCents: 2_500,
    currency: 'USD',
    method: 'm',
    methodKind: 'wallet',
    customerId: undefined,
    returnUrl: undefined,
  });

const answering =
  (name: Name, status: number, headers: Record<string, string> = {}) =>
  async () =>
    Response.json(REFUSALS[name], { status, headers });

const networkError = (code: string) => async (): Promise<Response> => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
};

const STATUSES: readonly (readonly [status: number, kind: Kind])[] = [
  [301, 'unknown'],
  [400, 'refused'],
  [401, 'refused'],
  [403, 'refused'],
  [404, 'refused'],
  [408, 'unknown'],
  [409, 'unknown'],
  [425, 'unknown'],
  [429, 'not_done'],
  [500, 'unknown'],
  [502, 'unknown'],
  [503, 'unknown'],
  [504, 'unknown'],
];
const NETWORK: readonly (readonly [code: string, kind: Kind])[] = [
  ['ECONNREFUSED', 'not_done'],
  ['ENOTFOUND', 'not_done'],
  ['EAI_AGAIN', 'not_done'],
  ['UND_ERR_CONNECT_TIMEOUT', 'not_done'],
  ['ECONNRESET', 'unknown'],
  ['EPIPE', 'unknown'],
  ['UND_ERR_SOCKET', 'unknown'],
  ['UND_ERR_HEADERS_TIMEOUT', 'unknown'],
  ['ETIMEDOUT', 'unknown'],
];

describe.each(NAMES)('%s', (name) => {
  test.each(STATUSES)('maps status %i to the outcome %s', async (status, kind) => {
    expect(await confirm(opened(name, answering(name, status)).provider)).toMatchObject({ kind });
  });

  test.each(NETWORK)('maps %s to the outcome %s', async (code, kind) => {
    expect(await confirm(opened(name, networkError(code)).provider)).toEqual({ kind, reason: 'unreachable' });
  });

  test('reports the retry delay that the provider requests', async () => {
    const { provider } = opened(name, answering(name, 429, { 'retry-after': '7' }));
    expect(await confirm(provider)).toEqual({ kind: 'not_done', reason: 'rate_limited', retryAfterSeconds: 7 });
  });

  test.each([
    ['too many requests', answering(name, 429)],
    ['a refused connection', networkError('ECONNREFUSED')],
  ])('is called again once after %s, under the same key, and not a second time', async (_, send) => {
    const { provider, keys } = opened(name, send, 2_000);
    expect(await confirm(provider)).toMatchObject({ kind: 'not_done' });
    expect(keys).toHaveLength(2);
    expect(keys[0]).not.toBeNull();
    expect(keys[1]).toBe(keys[0]);
  });

  test.each([
    ['500', answering(name, 500)],
    ['409', answering(name, 409)],
    ['400', answering(name, 400)],
    ['a reset', networkError('ECONNRESET')],
    ['a wait longer than 2 s', answering(name, 429, { 'retry-after': '3' })],
    ['a wait of more than half the deadline', answering(name, 429, { 'retry-after': '2' })],
  ])('is not called again after %s', async (_, send) => {
    const { provider, keys } = opened(name, send, 2_000);
    await confirm(provider);
    expect(keys).toHaveLength(1);
  });
});

test('a Stripe call is not retried if Stripe advises against a retry', async () => {
  const { provider, keys } = opened('Stripe', answering('Stripe', 429, { 'stripe-should-retry': 'false' }), 2_000);
  expect(await confirm(provider)).toMatchObject({ kind: 'not_done' });
  expect(keys).toHaveLength(1);
});

describe('a Stripe call whose response has advice on a retry', () => {
  const WANTED = { 'stripe-should-retry': 'true' };
  const PAID = {
    id: 'pi_1',
    object: 'payment_intent',
    amount: 2_500,
    currency: 'usd',
    status: 'succeeded',
    metadata: {},
  };
  /** The responses in order; the last response repeats. */
  const inTurn = (...answers: readonly (() => Promise<Response>)[]) => {
    let calls = 0;
    return opened(
      'Stripe',
      () => {
        const answer = answers[Math.min(calls, answers.length - 1)];
        calls += 1;
        if (!answer) throw new Error('no answer');
        return answer();
      },
      2_000,
    );
  };
  const paid = async () => Response.json(PAID);

  test.each([409, 500, 503])(
    'is retried once after %i on advice, under the same key, and the second response counts',
    async (status) => {
      const { provider, keys } = inTurn(answering('Stripe', status, WANTED), paid);
      expect(await confirm(provider)).toMatchObject({ kind: 'done', value: { status: 'succeeded' } });
      expect(keys).toEqual(['pay_1:confirm:1', 'pay_1:confirm:1']);
    },
  );

  test('is not retried twice', async () => {
    const { provider, keys } = inTurn(answering('Stripe', 500, WANTED));
    expect(await confirm(provider)).toMatchObject({ kind: 'unknown' });
    expect(keys).toHaveLength(2);
  });

  test.each([
    ['too many requests', answering('Stripe', 429)],
    ['a refused connection', networkError('ECONNREFUSED')],
  ])(
    'has an unknown outcome even if its retry ends with %s, because the first call can have acted',
    async (_, second) => {
      const { provider, keys } = inTurn(answering('Stripe', 500, WANTED), second);
      expect(await confirm(provider)).toMatchObject({ kind: 'unknown' });
      expect(keys).toHaveLength(2);
    },
  );

  test('is not retried after a refusal with the advice against a retry', async () => {
    const { provider, keys } = inTurn(answering('Stripe', 400, { 'stripe-should-retry': 'false' }));
    expect(await confirm(provider)).toMatchObject({ kind: 'refused' });
    expect(keys).toHaveLength(1);
  });
});

test('the response to the retry of a Square call counts', async () => {
  let calls = 0;
  const { provider } = opened(
    'Square',
    async () => {
      calls += 1;
      return calls === 1
        ? Response.json({}, { status: 429 })
        : Response.json({
            payment: {
              id: 'P1',
              order_id: 'I1',
              status: 'COMPLETED',
              amount_money: { amount: 2_500, currency: 'USD' },
            },
          });
    },
    2_000,
  );
  expect(await confirm(provider)).toMatchObject({ kind: 'done', value: { status: 'succeeded' } });
});

describe('Braintree', () => {
  const braintreeAt = (baseUrl: string, timeoutMs = 5_000): PaymentProvider => {
    const { slots: own } = parseSettings({
      PROVIDER_D: 'braintree',
      PROVIDER_D_MERCHANT_ID: 'm',
      PROVIDER_D_PUBLIC_KEY: 'p',
      PROVIDER_D_PRIVATE_KEY: 'k',
      PROVIDER_D_BASE_URL: baseUrl,
    });
    const provider = openBraintree({
      slot: 'provider_d',
      settings: own.provider_d,
      timeoutMs,
      log: logLines().log,
      fetch,
    });
    if (!provider) throw new Error('Braintree stays closed');
    return provider;
  };
  const create = (provider: PaymentProvider) =>
    provider.createCustomer({
      idempotencyKey: 'k',
      ourCustomerId: 'c',
      email: 'a@b.example',
      name: undefined,
      phone: undefined,
    });

  const serving = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  };

  test.each<readonly [number, Kind]>([
    [401, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [408, 'unknown'],
    [426, 'refused'],
    [429, 'not_done'],
    [500, 'unknown'],
    [503, 'unknown'],
    [504, 'unknown'],
    [418, 'unknown'],
  ])('maps status %i to the outcome %s', async (status, kind) => {
    const url = await serving((_, response) => response.writeHead(status).end());
    expect(await create(braintreeAt(url))).toMatchObject({ kind });
  });

  test('maps a refused connection to not_done, and a reset to an unknown outcome', async () => {
    const refused = await create(braintreeAt(`http://127.0.0.1:${await freePort()}`));
    expect(refused).toEqual({ kind: 'not_done', reason: 'unreachable' });
    const url = await serving((request) => request.socket.destroy());
    expect(await create(braintreeAt(url))).toEqual({ kind: 'unknown', reason: 'unreachable' });
  });

  test('is called again once after a 429, and not a second time', async () => {
    let calls = 0;
    const url = await serving((_, response) => {
      calls += 1;
      response.writeHead(429).end();
    });
    expect(await create(braintreeAt(url))).toMatchObject({ kind: 'not_done' });
    expect(calls).toBe(2);
  });
});

test.each([
  ['0', 0],
  ['120', 120],
  ['9'.repeat(400), 999_999],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
  ['Thu, 01 Jan 2025 00:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('the Retry-After header %s is read as %s s', (header, seconds) => {
  expect(retryAfterSeconds(header, Date.parse('2026-01-01T00:00:00Z'))).toBe(seconds);
});
