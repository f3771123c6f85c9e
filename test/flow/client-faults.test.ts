import { createServer } from 'node:http';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { openPaymentsClient, PaymentsError, unwrap } from '../../infra/make/client/client.ts';
import { typedDocument } from '../../infra/make/client/typed-document.ts';
import { constructEvent } from '../../infra/make/client/webhook-event.ts';
import { startTestHost, withHost } from './host.ts';

/** Runs the client against the service, over a network that loses, delays and refuses requests. */
const service = withHost({ env: { PROVIDER_TIMEOUT_MS: '14000' } });

const KEYED = new Set(typedDocument(JSON.parse(JSON.stringify(apiDocumentAt('')))).keyedPosts);
const OWNER = { 'X-Session-ID': 'demo-owner' };
const ADMIN = { 'X-Session-ID': 'demo-admin' };

interface Network {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The requests that the client sent, with their keys. */
  readonly sent: { readonly method: string; readonly key: string | null }[];
}

type Fault =
  | 'none'
  | 'lost response'
  | 'no connection'
  | 'error after'
  | 'error before'
  | 'busy'
  | 'limited'
  | 'timeout';

const refused = (status: number, headers: Record<string, string> = {}): Response =>
  Response.json({ code: 'X' }, { status, headers });

/** Applies the faults in turn, and then passes requests through. */
const faulty = (faults: readonly Fault[]): Network => {
  const left = [...faults];
  const sent: Network['sent'] = [];
  const reach = async (request: Request, fault: Fault): Promise<Response> => {
    if (fault === 'no connection') throw new TypeError('fetch failed');
    if (fault === 'error before') return refused(500);
    if (fault === 'busy') return refused(503, { 'Retry-After': '0' });
    if (fault === 'limited') return refused(429, { 'Retry-After': '0' });
    const response = await fetch(request);
    if (fault === 'none') return response;
    await response.body?.cancel();
    if (fault === 'lost response') throw new TypeError('socket hang up');
    return refused(fault === 'timeout' ? 504 : 500);
  };
  return {
    sent,
    fetch: (request) => {
      sent.push({ method: request.method, key: request.headers.get('Idempotency-Key') });
      return reach(request, left.shift() ?? 'none');
    },
  };
};

const clientOf = (network: Network, headers: Record<string, string> = OWNER) =>
  openPaymentsClient({ baseUrl: service.host().baseUrl, headers, fetch: network.fetch }, KEYED);

const call = (client: ReturnType<typeof clientOf>, method: 'GET' | 'POST' | 'PUT', path: string, init: object) =>
  Reflect.apply(client[method], undefined, [path, init]);

const orderOf = (reference: string) => ({
  body: { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa', reference_code: reference },
});

const paymentsOf = async (reference: string): Promise<readonly { id: string; status: string }[]> => {
  const { body } = await service.get('/payments?limit=50', { session: 'demo-owner' });
  return JSON.parse(JSON.stringify(body)).data.filter(
    (one: { reference_code: string }) => one.reference_code === reference,
  );
};

const FAULTS: readonly Fault[] = [
  'lost response',
  'no connection',
  'error after',
  'error before',
  'busy',
  'limited',
  'timeout',
];
const SIMULTANEOUS = 17;
const PAIRS = FAULTS.flatMap((first) => FAULTS.map((second) => [first, second] as const));

describe('the client under faults', () => {
  test('charges an order once despite any two faults during its creation and its confirmation', async () => {
    const order = async ([first, second]: (typeof PAIRS)[number]) => {
      const reference = `${first} ${second}`.replaceAll(' ', '-');
      const creates = faulty([first, second]);
      const created: { id: string } = await unwrap(
        call(clientOf(creates), 'POST', '/payments/intents', orderOf(reference)),
      ).then((body) => JSON.parse(JSON.stringify(body)));
      const confirms = faulty([second, first]);
      const params = { path: { id: created.id } };
      await unwrap(call(clientOf(confirms), 'POST', '/payments/confirm/{id}', { params, body: {} }));
      return { reference, id: created.id, sent: [creates.sent, confirms.sent] };
    };
    const ends: Awaited<ReturnType<typeof order>>[] = [];
    for (let at = 0; at < PAIRS.length; at += SIMULTANEOUS)
      ends.push(...(await Promise.all(PAIRS.slice(at, at + SIMULTANEOUS).map(order))));
    await service.settle();
    for (const { reference, id, sent } of ends) {
      expect(await paymentsOf(reference)).toEqual([expect.objectContaining({ id, status: 'succeeded' })]);
      expect((await service.ledger(id)).charges).toHaveLength(1);
      for (const tries of sent) {
        expect(tries).toHaveLength(3);
        expect(new Set(tries.map(({ key }) => key)).size).toBe(1);
      }
    }
  });

  test('retries a request without a key only after 429 and 503', async () => {
    const update = (faults: readonly Fault[]) => {
      const network = faulty(faults);
      const params = { path: { id: 'cust_none' } };
      const done = call(clientOf(network), 'PUT', '/customers/{id}', { params, body: { name: 'Ada' } });
      return Promise.resolve(done).then(
        ({ response }) => ({ tries: network.sent.length, status: response.status }),
        () => ({ tries: network.sent.length, status: 'thrown' }),
      );
    };
    expect(await update(['busy', 'limited'])).toEqual({ tries: 3, status: 404 });
    expect(await update(['error after', 'busy'])).toEqual({ tries: 1, status: 500 });
    expect(await update(['timeout'])).toEqual({ tries: 1, status: 504 });
    expect(await update(['lost response'])).toEqual({ tries: 1, status: 'thrown' });
    expect(await update(['busy', 'no connection'])).toEqual({ tries: 2, status: 'thrown' });
  });

  test('gives up after three tries, and returns the last failure', async () => {
    const network = faulty(['busy', 'error before', 'limited', 'busy']);
    const { response } = await call(clientOf(network), 'POST', '/payments/intents', orderOf('given-up'));
    expect([response.status, network.sent.length]).toEqual([429, 3]);
    expect(await paymentsOf('given-up')).toEqual([]);
  });

  test('retries nothing if the program wants no retries or has given up', async () => {
    const network = faulty(['busy', 'busy']);
    const client = openPaymentsClient({ baseUrl: service.host().baseUrl, fetch: network.fetch, retries: 0 }, KEYED);
    await call(client, 'GET', '/me', { headers: OWNER });
    expect(network.sent).toHaveLength(1);
    const stopped = faulty(['limited', 'limited']);
    const signal = AbortSignal.timeout(1);
    const waiting = openPaymentsClient({ baseUrl: service.host().baseUrl, fetch: slowly(stopped.fetch) }, KEYED);
    await expect(call(waiting, 'GET', '/me', { headers: OWNER, signal })).resolves.toBeDefined();
    expect(stopped.sent).toHaveLength(1);
  });

  test('keeps a key set by the program', async () => {
    const network = faulty(['lost response']);
    const params = { header: { 'Idempotency-Key': 'order-2001' } };
    await unwrap(call(clientOf(network), 'POST', '/payments/intents', { params, ...orderOf('order-2001') }));
    expect(network.sent.map(({ key }) => key)).toEqual(['order-2001', 'order-2001']);
  });
});

/** Withholds each response until the program has given up. */
const slowly =
  (reach: Network['fetch']): Network['fetch'] =>
  async (request) => {
    const response = await reach(request);
    while (!request.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    return response;
  };

describe('paginate', () => {
  beforeAll(async () => {
    const session = 'demo-owner';
    for (let index = 0; index < 8; index += 1) {
      await service.post('/customers', { provider_id: 'provider_a', email: `paged.${index}@example.com` }, { session });
      await service.post('/organizations', { name: `Paged ${index}` }, { session });
      await service.post('/payments/intents', { total_cents: 500, currency: 'USD' }, { session });
    }
    await service.settle();
  });

  test.each([
    ['/payments', { limit: 7 }],
    ['/customers', { limit: 3 }],
    ['/admin/payments', { limit: 6 }],
    ['/organizations', { limit: 1 }],
  ])('yields every record of %s once', async (path, query) => {
    const network = faulty([]);
    const ids: string[] = [];
    const pages = clientOf(network, path.startsWith('/admin') ? ADMIN : OWNER).paginate(path, { params: { query } });
    for await (const record of pages) ids.push(JSON.parse(JSON.stringify(record)).id);
    expect(ids.length).toBeGreaterThanOrEqual(8);
    expect(new Set(ids).size).toBe(ids.length);
    expect(network.sent.length).toBeGreaterThanOrEqual(Math.ceil(ids.length / query.limit));
  });

  test('throws the error of a failing list', async () => {
    const pages = clientOf(faulty([]), { 'X-Session-ID': 'an-unknown-session' }).paginate('/payments');
    const error = await pages.next().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentsError);
    expect(error).toMatchObject({ status: 401, body: { success: false } });
  });
});

describe('constructEvent', () => {
  const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  test('returns the events of a target, refuses another secret, and keeps the form of raw events', async () => {
    const received: { readonly body: Buffer; readonly headers: Record<string, string> }[] = [];
    const target = createServer(async (message, response) => {
      const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)]);
      received.push({ body: Buffer.concat(await message.toArray()), headers: Object.fromEntries(headers) });
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void target.close());
    const address = target.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const host = await startTestHost({
      env: {
        EXTERNAL_WEBHOOKS_ENABLED: 'true',
        ...{ WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: `http://127.0.0.1:${port}/in` },
        ...{ WEBHOOK_1_EVENTS: 'all', WEBHOOK_1_EVENT_MODE: 'both', WEBHOOK_1_SECRET: SECRET },
      },
    });
    onTestFinished(() => host.stop());
    const { id } = (await host.post('/payments/intents', orderOf('x').body, { session: 'demo-owner' })).body;
    await host.post(`/payments/confirm/${id}`, {}, { session: 'demo-owner' });
    await host.settle();
    const events = received.map(({ body, headers }) => constructEvent(body, headers, SECRET));
    expect(events).toContainEqual(expect.objectContaining({ event: 'payment.succeeded', provider: 'provider_a' }));
    expect(events).toContainEqual({
      event: 'provider_a:payment_intent.succeeded',
      data: expect.objectContaining({ type: 'payment_intent.succeeded' }),
    });
    const [{ body, headers }] = received as [(typeof received)[number]];
    expect(() => constructEvent(body, headers, SECRET.replace('MfKQ', 'AAAA'))).toThrow(/signature/);
    expect(() => constructEvent(`${body.toString()} `, new Headers(headers), SECRET)).toThrow(/signature/);
    expect(() => constructEvent(body, { ...headers, 'webhook-timestamp': '1' }, SECRET)).toThrow(/too old/);
  });
});
