import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { fetchOverHttp } from '../../shared/platform/fetch.ts';

const servers: Server[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) server.close();
});

const listening = async (server: Server): Promise<string> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const serving = (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<string> =>
  listening(
    createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => answer(request, response, Buffer.concat(parts).toString('utf8')));
    }),
  );

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return z.object({ cause: z.object({ code: z.string() }) }).parse(error).cause.code;
};

describe('fetchOverHttp', () => {
  test('sends method, headers and body, and reads status, headers and body', async () => {
    const url = await serving((request, response, body) => {
      response.writeHead(201, { 'x-one': 'a', 'set-cookie': ['b=1', 'c=2'] });
      response.end(JSON.stringify({ method: request.method, key: request.headers['x-key'], body, path: request.url }));
    });
    const response = await fetchOverHttp(`${url}/a?b=c`, { method: 'POST', headers: [['X-Key', 'k']], body: 'é' });
    expect([response.status, response.ok, response.headers.get('x-one')]).toEqual([201, true, 'a']);
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'set-cookie': 'b=1, c=2' });
    expect(await response.json()).toEqual({ method: 'POST', key: 'k', body: 'é', path: '/a?b=c' });
  });

  test('returns the same as fetch for every status and body', async () => {
    const url = await serving((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { 'x-two': 'b' });
      response.end(request.url === '/204' ? undefined : 'text');
    });
    for (const status of [200, 202, 204, 400, 402, 404, 409, 429, 500, 503]) {
      const [ours, theirs] = [await fetchOverHttp(`${url}/${status}`), await fetch(`${url}/${status}`)];
      expect([ours.status, ours.ok, ours.headers.get('x-two'), await ours.text()]).toEqual([
        theirs.status,
        theirs.ok,
        theirs.headers.get('x-two'),
        await theirs.text(),
      ]);
    }
  });

  test('fails with the error code if the connection is refused, or is reset before or during the response', async () => {
    const closed = await serving((_, response) => response.end());
    servers.splice(0).map((server) => server.close());
    expect(await codeOf(fetchOverHttp(closed))).toBe('ECONNREFUSED');
    const resetting = await listening(createTcpServer((socket) => socket.on('data', () => socket.resetAndDestroy())));
    expect(await codeOf(fetchOverHttp(resetting))).toBe('ECONNRESET');
    const cut = await listening(
      createTcpServer((socket) =>
        socket.on('data', () =>
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', () => socket.destroy()),
        ),
      ),
    );
    const response = await fetchOverHttp(cut);
    expect(await codeOf(response.text())).toBe('ECONNRESET');
  });

  test("fails with the signal's reason, before and during the response", async () => {
    const url = await serving((request, response) => {
      if (request.url === '/half') response.writeHead(200, { 'content-length': 9 }).write('half');
    });
    const reason = new Error('too late');
    const before = new AbortController();
    const silent = fetchOverHttp(`${url}/silent`, { signal: before.signal });
    before.abort(reason);
    await expect(silent).rejects.toBe(reason);
    const within = new AbortController();
    const half = await fetchOverHttp(`${url}/half`, { signal: within.signal });
    within.abort(reason);
    await expect(half.text()).rejects.toBe(reason);
    await expect(fetchOverHttp(url, { signal: within.signal })).rejects.toBe(reason);
  });

  test('follows a redirected GET but no redirected POST, and fails on any redirect if the caller forbids redirects', async () => {
    const url = await serving((request, response) => {
      if (request.url === '/end') response.end('end');
      else response.writeHead(302, { location: request.url === '/loop' ? '/loop' : '/end' }).end();
    });
    expect(await (await fetchOverHttp(`${url}/start`)).text()).toBe('end');
    expect((await fetchOverHttp(`${url}/start`, { method: 'POST', body: '' })).status).toBe(302);
    await expect(fetchOverHttp(`${url}/start`, { redirect: 'error' })).rejects.toThrow('redirected');
    await expect(fetchOverHttp(`${url}/loop`)).rejects.toThrow('redirected');
  });

  test('reuses a connection, unless the connection was idle while the function was paused', async () => {
    const sockets: (number | undefined)[] = [];
    const url = await serving((request, response) => {
      sockets.push(request.socket.remotePort);
      response.end('a');
    });
    const call = async (): Promise<void> => void (await (await fetchOverHttp(url)).text());
    await call();
    await new Promise(setImmediate);
    await call();
    await new Promise(setImmediate);
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 60_000);
    await call();
    expect(sockets[1]).toBe(sockets[0]);
    expect(sockets[2]).not.toBe(sockets[0]);
  });
});
