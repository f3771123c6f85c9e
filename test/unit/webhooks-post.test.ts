import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { signedHeaders } from '../../shared/webhooks/delivery-attempt.ts';
import { openPost } from '../../shared/webhooks/post-webhook.ts';

const servers: (Server | TcpServer)[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  }
});

const listening = async <T extends Server | TcpServer>(server: T): Promise<string> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const target = async (answer: RequestListener) => `http://${await listening(createHttpServer(answer))}/in`;

const SHORT = { timeoutMs: 150, allowPrivate: true };
const PATIENT = { timeoutMs: 8_000, allowPrivate: true };
const posted = (url: string, headers = {}) => ({ url, headers, body: Buffer.from('{"a":"ä"}') });

describe('a webhook POST', () => {
  test('sends the body unchanged, with its headers', async () => {
    const seen: unknown[] = [];
    const url = await target((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const { host: _, ...headers } = request.headers;
        seen.push([request.method, request.url, headers, Buffer.concat(chunks).toString()]);
        response.writeHead(201, { 'content-type': 'text/plain' }).end('taken');
      });
    });
    expect(await openPost(PATIENT)(posted(url, { 'webhook-id': 'msg_1' }))).toEqual({
      kind: 'answered',
      status: 201,
      body: 'taken',
      durationMs: expect.any(Number),
    });
    expect(seen).toEqual([
      ['POST', '/in', { 'webhook-id': 'msg_1', 'content-length': '10', connection: 'keep-alive' }, '{"a":"ä"}'],
    ]);
  });

  test('follows no redirect', async () => {
    let calls = 0;
    const url = await target((_, response) => {
      calls += 1;
      response.writeHead(307, { location: url }).end();
    });
    expect(await openPost(PATIENT)(posted(url))).toMatchObject({ kind: 'answered', status: 307 });
    expect(calls).toBe(1);
  });

  test('keeps the first 2 KB of a response, and does not wait for the rest', async () => {
    const url = await target((_, response) => {
      response.writeHead(200);
      response.write('ä'.repeat(1_500));
    });
    const answer = await openPost(PATIENT)(posted(url));
    expect(answer).toMatchObject({ kind: 'answered', status: 200, body: 'ä'.repeat(1_024) });
  });

  test('cuts no character of a response in two', async () => {
    const url = await target((_, response) => void response.end(`a${'ä'.repeat(1_500)}`));
    expect(await openPost(PATIENT)(posted(url))).toMatchObject({ body: `a${'ä'.repeat(1_023)}` });
  });

  const timedOut = { kind: 'failed', reason: 'timeout', detail: 'no response in time', durationMs: expect.any(Number) };

  test('ends at its time limit if the name is never resolved', async () => {
    const resolve = vi.fn(() => new Promise<never>(() => undefined));
    const post = openPost({ timeoutMs: 150, allowPrivate: false, resolve });
    expect(await post(posted('https://hooks.example/in'))).toEqual(timedOut);
    expect(resolve).toHaveBeenCalledOnce();
  });

  test('ends at its time limit if the TLS handshake never ends', async () => {
    const silent = await listening(createTcpServer((socket) => void socket.on('error', () => undefined)));
    expect(await openPost(SHORT)(posted(`https://${silent}/in`))).toEqual(timedOut);
  });

  test('ends at its time limit without a response', async () => {
    const url = await target(() => undefined);
    expect(await openPost(SHORT)(posted(url))).toEqual(timedOut);
  });

  test('ends at its time limit if a response never ends', async () => {
    const url = await target((_, response) => {
      response.writeHead(200);
      response.write('{');
    });
    expect(await openPost(SHORT)(posted(url))).toEqual(timedOut);
  });

  test('reports a target that cannot be reached or that closes the connection', async () => {
    const gone = await target(() => undefined);
    servers.splice(0).forEach((server) => void server.close());
    expect(await openPost(PATIENT)(posted(gone))).toMatchObject({ reason: 'unreachable', detail: 'ECONNREFUSED' });
    const rude = await target((request) => void request.socket.destroy());
    expect(await openPost(PATIENT)(posted(rude))).toMatchObject({ reason: 'unreachable', detail: 'ECONNRESET' });
    const halfway = await target((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('{', () => response.destroy());
    });
    expect(await openPost(PATIENT)(posted(halfway))).toMatchObject({ reason: 'unreachable' });
    const plain = (await target(() => undefined)).replace('http:', 'https:');
    expect(await openPost(PATIENT)(posted(plain))).toMatchObject({ reason: 'unreachable' });
  });
});

describe('the connection of a webhook POST', () => {
  const counted = async (answer: RequestListener) => {
    let connections = 0;
    let calls = 0;
    const server = createHttpServer((request, response) => {
      calls += 1;
      answer(request, response);
    });
    server.on('connection', () => {
      connections += 1;
    });
    const url = `http://${await listening(server)}/in`;
    return { server, url, counts: () => ({ connections, calls }) };
  };

  test('is reused, and replaced after a pause in which a function can have been frozen', async () => {
    const { url, counts } = await counted((_, response) => void response.end('{}'));
    const post = openPost(PATIENT);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      for (let calls = 0; calls < 3; calls += 1) await post(posted(url));
      expect(counts()).toEqual({ connections: 1, calls: 3 });
      vi.setSystemTime(Date.now() + 60_000);
      expect(await post(posted(url))).toMatchObject({ status: 200 });
      expect(counts()).toEqual({ connections: 2, calls: 4 });
    } finally {
      vi.useRealTimers();
    }
  });

  test('is replaced if the target closes it', async () => {
    const { url, counts } = await counted((request, response) => {
      if (counts().calls === 2) request.socket.resetAndDestroy();
      else response.end('{}');
    });
    const post = openPost(PATIENT);
    await post(posted(url));
    expect(await post(posted(url))).toMatchObject({ kind: 'answered', status: 200 });
    expect(counts()).toEqual({ connections: 2, calls: 3 });
  });
});

describe('the signature of a webhook', () => {
  const NEW = 'whsec_bmV3LXNlY3JldC1vZi10aGlydHktdHdvLWJ5dGVzLi4=';
  const OLD = 'whsec_b2xkLXNlY3JldC1vZi10aGlydHktdHdvLWJ5dGVzLi4=';
  const body = Buffer.from('{"event":"payment.succeeded","data":{"name":"Ä 💳"}}');

  test('is made with every secret, so that a target can verify it with any of them', () => {
    const headers = signedHeaders({ id: 'msg_1', at: Date.now(), body, secrets: [NEW, OLD] });
    for (const secret of [NEW, OLD]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body.toString()));
    }
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(() => new Webhook('whsec_bm90IG9mIHRoZW0=').verify(body, headers)).toThrow('No matching signature');
  });

  test('is absent without a secret', () => {
    const at = Date.parse('2026-03-01T12:00:00.999Z');
    expect(signedHeaders({ id: 'msg_1', at, body, secrets: [] })).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1772366400',
    });
  });

  test('matches the published example', () => {
    // Source: https://github.com/standard-webhooks/standard-webhooks, the tests of its libraries
    const headers = signedHeaders({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      at: 1_614_265_330_000,
      body: Buffer.from('{"test": 2432232314}'),
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});
